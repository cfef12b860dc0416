"""Kernels of GEMV, skinny GEMM and depthwise convolutions from schedules of loop nests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.convolutions.implicit_gemm import served_convolution
from xla_explorer.backends.gpu.emitters.dots.result_store import FusedProduct
from xla_explorer.backends.gpu.emitters.kernel_descriptors import OperationDescriptor
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_kernels
from xla_explorer.compiler.codegen.nest.gpu_estimate import estimate_launch
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.policies.launched.elementwise import (
    elementwise_schedule,
)
from xla_explorer.compiler.codegen.nest.policies.launched.skinny_gemm import skinny_gemm_schedule
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.tuning import GPU_TUNING
from xla_explorer.compiler.target import NVPTX
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

MOST_FEATURES = 4  # of a group
LARGEST_SUM = 4096  # products that one thread adds


def plan_skinny_dot(i: HloInstruction, architecture: GpuArchitecture) -> Schedule | Reason:
    """Return the schedule of a skinny dot, or a refusal."""
    nest = nest_of(i)
    return nest if isinstance(nest, Reason) else _skinny_schedule(nest, architecture)


def _skinny_schedule(nest: LoopNest, architecture: GpuArchitecture) -> Schedule | Reason:
    return skinny_gemm_schedule(nest, architecture, GPU_TUNING)


def plan_depthwise_convolution(
    i: HloInstruction, architecture: GpuArchitecture
) -> Schedule | Reason:
    """Return the schedule of a convolution in groups of few features, or a refusal.

    Implicit GEMM would leave most of a tile empty, so each thread computes adjacent results,
    and shared taps come from the cache.
    """
    served = served_convolution(i)
    if isinstance(served, Reason):
        return served
    groups, features, depth = (
        served.product.dot.attribute("feature_group_count"),
        served.geometry.features.extent,
        served.geometry.depth,
    )
    if groups == 1:
        return refuse("not-depthwise", f"%{i.name} must have a feature_group_count above 1")
    if features > MOST_FEATURES or depth > LARGEST_SUM:
        text = f"%{i.name}: {groups} groups of {features} features, each a sum of {depth} products, have tiles or are sums"
        return refuse("not-depthwise", text, groups=groups, features=features, products=depth)
    nest = nest_of(i)
    return nest if isinstance(nest, Reason) else _depthwise_schedule(nest, architecture)


def _depthwise_schedule(nest: LoopNest, architecture: GpuArchitecture) -> Schedule | Reason:
    made = elementwise_schedule(nest, architecture, GPU_TUNING)
    return made if isinstance(made, Reason) else replace(made, emitter="depthwise-convolution")


def scheduled_us(plan: Schedule, architecture: GpuArchitecture) -> float:
    """Return the estimated device time of a launch."""
    return estimate_launch(plan.nest, replace(NVPTX, gpu=architecture)).nanoseconds / 1e3


def nest_writer(
    scheduled: Callable[[LoopNest, GpuArchitecture], Schedule | Reason],
) -> Callable[..., OperationDescriptor | Reason]:
    """Return a writer of products that have a schedule as their plan."""

    def write(
        i: HloInstruction,
        product: FusedProduct,
        plan: Schedule,
        architecture: GpuArchitecture,
        slots: tuple[int, ...],
    ) -> OperationDescriptor | Reason:
        nest = nest_of(i)
        if isinstance(nest, Reason):
            return nest
        # The plan does not fit if a pass has renamed an operand, or has fused an epilogue.
        made = plan if nest == plan.start else scheduled(nest, architecture)
        return made if isinstance(made, Reason) else nest_kernels(i, made, slots)

    return write


write_skinny_dot = nest_writer(_skinny_schedule)
write_depthwise_convolution = nest_writer(_depthwise_schedule)
