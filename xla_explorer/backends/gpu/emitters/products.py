"""The kernels of products in order of preference: plan, writer and estimate of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import plan_dot
from xla_explorer.backends.gpu.emitters.dots.tiled_gemm_plan import TiledGemmPlan
from xla_explorer.backends.gpu.emitters.dots.warpgroup_dot import (
    plan_faster_warpgroup_dot,
    write_warpgroup_dot,
)
from xla_explorer.backends.gpu.emitters.kernel_descriptors import OperationDescriptor
from xla_explorer.backends.gpu.emitters.nests.skinny_gemm import (
    plan_depthwise_convolution,
    plan_skinny_dot,
    scheduled_us,
    write_scheduled,
)
from xla_explorer.backends.gpu.emitters.tiled_gemm import (
    plan_simt_convolution,
    plan_simt_dot,
    plan_tensor_core_convolution,
    write_tiled_gemm,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction

P = TypeVar("P")


@dataclass(frozen=True)
class ProductRow(Generic[P]):
    """A kernel family of products.

    plan: returns a plan or a refusal. write: returns the kernels of a plan. estimate: microseconds
    of its arithmetic; None: memory-bound.
    """

    opcode: str
    name: str
    plan: Callable[[HloInstruction, GpuArchitecture], P | Reason]
    write: Callable[
        [HloInstruction, P, GpuArchitecture, tuple[int, ...]], OperationDescriptor | Reason
    ]
    estimate: Callable[[P, GpuArchitecture], float | None]

    def __call__(
        self, i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]
    ) -> OperationDescriptor | Reason:
        """Return the kernels, or a refusal."""
        plan = self.plan(i, architecture)
        return plan if isinstance(plan, Reason) else self.write(i, plan, architecture, slots)


def _estimate(plan: TiledGemmPlan, _: GpuArchitecture) -> float:
    return plan.tiles.estimated_us


PRODUCT_ROWS: tuple[ProductRow[Any], ...] = (
    ProductRow(
        "dot",
        "warpgroup-dot",
        plan_faster_warpgroup_dot,
        write_warpgroup_dot,
        lambda plan, _: plan.estimated_us,
    ),
    ProductRow("dot", "tensor-core-dot", plan_dot, write_tiled_gemm, _estimate),
    ProductRow("dot", "skinny-dot", plan_skinny_dot, write_scheduled, lambda plan, _: None),
    ProductRow("dot", "simt-dot", plan_simt_dot, write_tiled_gemm, _estimate),
    ProductRow(
        "convolution",
        "depthwise-convolution",
        plan_depthwise_convolution,
        write_scheduled,
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
