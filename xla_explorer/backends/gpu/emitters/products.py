"""The kernels of products in order of preference, and their plans, made once per product.

A product is a dot or a convolution, alone or in a fusion with its epilogue. `ProductPlans` is an
ability of the target, so one object serves a whole compilation. `library-rewriter` compares the
plans' estimates with the library, fusion estimates kernels by them, and code generation writes
them. The reasons against a library call repeat the estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.convolutions.implicit_gemm import (
    loop_us,
    served_convolution,
)
from xla_explorer.backends.gpu.emitters.dots.result_store import FusedProduct, product_in
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import plan_dot
from xla_explorer.backends.gpu.emitters.dots.tiled_gemm_plan import TiledGemmPlan
from xla_explorer.backends.gpu.emitters.dots.warpgroup_dot import (
    plan_warpgroup_dot,
    write_warpgroup_dot,
)
from xla_explorer.backends.gpu.emitters.kernel_descriptors import OperationDescriptor
from xla_explorer.backends.gpu.emitters.nests.skinny_gemm import (
    plan_depthwise_convolution,
    plan_skinny_dot,
    scheduled_us,
    write_depthwise_convolution,
    write_skinny_dot,
)
from xla_explorer.backends.gpu.emitters.tiled_gemm import (
    plan_simt_convolution,
    plan_simt_dot,
    plan_tensor_core_convolution,
    write_tiled_gemm,
)
from xla_explorer.compiler.target import OwnProduct
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

P = TypeVar("P")
ProductWriter = Callable[
    [HloInstruction, GpuArchitecture, tuple[int, ...]], OperationDescriptor | Reason
]


@dataclass(frozen=True)
class ProductRow(Generic[P]):
    """A kernel family of products.

    plan: returns the plan of a dot or convolution, whatever its epilogue, or a refusal. write:
    returns the kernels of a plan. estimate: microseconds of its arithmetic; None: memory-bound.
    rival: a later row that is preferred if its estimate is lower. fuses: the kernel may have an
    epilogue.
    """

    opcode: str
    name: str
    plan: Callable[[HloInstruction, GpuArchitecture], P | Reason]
    write: Callable[
        [HloInstruction, FusedProduct, P, GpuArchitecture, tuple[int, ...]],
        OperationDescriptor | Reason,
    ]
    estimate: Callable[[P, GpuArchitecture], float | None]
    rival: str = ""
    fuses: bool = True


def _estimate(plan: TiledGemmPlan, _: GpuArchitecture) -> float:
    return plan.tiles.estimated_us


PRODUCT_ROWS: tuple[ProductRow[Any], ...] = (
    ProductRow(
        "dot",
        "warpgroup-dot",
        plan_warpgroup_dot,
        write_warpgroup_dot,
        lambda plan, _: plan.estimated_us,
        rival="tensor-core-dot",
    ),
    ProductRow("dot", "tensor-core-dot", plan_dot, write_tiled_gemm, _estimate),
    ProductRow(
        "dot", "skinny-dot", plan_skinny_dot, write_skinny_dot, lambda plan, _: None, fuses=False
    ),
    ProductRow("dot", "simt-dot", plan_simt_dot, write_tiled_gemm, _estimate),
    ProductRow(
        "convolution",
        "depthwise-convolution",
        plan_depthwise_convolution,
        write_depthwise_convolution,
        scheduled_us,
    ),
    ProductRow(
        "convolution",
        "tensor-core-convolution",
        plan_tensor_core_convolution,
        write_tiled_gemm,
        _estimate,
    ),
    ProductRow(
        "convolution", "simt-convolution", plan_simt_convolution, write_tiled_gemm, _estimate
    ),
)


@dataclass(frozen=True)
class ProductPlans:
    """The plans of a compilation's products, each made when it is first read.

    A plan belongs to a product, not to an instruction: passes that move a product into a fusion
    keep its name, shapes and attributes, and so its plan.
    """

    architecture: GpuArchitecture
    plans: dict[tuple[Any, ...], Any] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, dot: HloInstruction) -> OwnProduct | None:
        """Return the kernel of a product without an epilogue, and its arithmetic.

        None if the plan has no estimate (skinny products are memory-bound), or no family has one.
        """
        for row in PRODUCT_ROWS:
            plan = self.plan(row, FusedProduct(dot, dot))
            if not isinstance(plan, Reason):
                estimate = row.estimate(plan, self.architecture)
                return None if estimate is None else OwnProduct(row.name, estimate)
        if dot.opcode.name != "convolution":
            return None
        served = served_convolution(dot)
        return (
            None
            if isinstance(served, Reason)
            else OwnProduct("loop", loop_us(served.geometry, dot, self.architecture))
        )

    def writers(self) -> list[tuple[str, ProductWriter]]:
        """Return the writers of all families, by name."""
        return [(row.name, partial(self.write, row)) for row in PRODUCT_ROWS]

    def write(
        self,
        row: ProductRow[Any],
        i: HloInstruction,
        architecture: GpuArchitecture,
        slots: tuple[int, ...],
    ) -> OperationDescriptor | Reason:
        """Return the kernels of a family for a product or its fusion, or a refusal."""
        product = product_in(i, row.opcode)
        if isinstance(product, Reason):
            return product
        plan = self.plan(row, product)
        if isinstance(plan, Reason):
            return plan
        return row.write(i, product, plan, architecture, slots)

    def plan(self, row: ProductRow[Any], product: FusedProduct) -> Any | Reason:
        """Return the plan of a family for a product, or a refusal."""
        dot = product.dot
        if dot.opcode.name != row.opcode:
            return refuse("no-dot", f"%{dot.name} must be a {row.opcode}")
        if product.is_fused and not row.fuses:
            return refuse("no-dot", f"a {row.name} kernel has no epilogue")
        plan = self._planned(row, dot)
        if isinstance(plan, Reason):
            return plan
        if row.rival:
            return self._faster_than_warps(row, dot, plan) or plan
        if isinstance(plan, TiledGemmPlan) and not product.is_fused:
            return _faster_than_a_loop(dot, plan) or plan
        return plan

    def _planned(self, row: ProductRow[P], dot: HloInstruction) -> P | Reason:
        shapes = [o.shape for o in dot.operands]
        key = (row.name, dot.name, dot.opcode, dot.shape, *shapes, dot.attributes)
        if key not in self.plans:
            self.plans[key] = row.plan(dot, self.architecture)
        found: P | Reason = self.plans[key]
        return found

    def _faster_than_warps(self, row: ProductRow[P], dot: HloInstruction, plan: P) -> Reason | None:
        rival = next(other for other in PRODUCT_ROWS if other.name == row.rival)
        warps = self._planned(rival, dot)
        if isinstance(warps, Reason):
            return None
        ours, theirs = [
            one.estimate(found, self.architecture) or math.inf
            for one, found in ((row, plan), (rival, warps))
        ]
        if ours <= theirs:
            return None
        text = (
            f"%{dot.name}: by warpgroups it is estimated at {ours:.3g} us, by single warps at "
            f"{theirs:.3g} us"
        )
        return refuse("warps-are-faster", text, us=round(ours, 2), by_warps_us=round(theirs, 2))


def _faster_than_a_loop(dot: HloInstruction, plan: TiledGemmPlan) -> Reason | None:
    loop, own = plan.loop_us, plan.tiles.estimated_us
    if own < loop:
        return None
    what = "tensor cores" if plan.on_tensor_cores else "tiles"
    text = (
        f"%{dot.name}: one thread an element is estimated at {loop:.3g} us, {what} at {own:.3g} us"
    )
    return refuse("loop-is-faster", text, own_us=round(own, 2), loop_us=round(loop, 2))
