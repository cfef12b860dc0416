"""The plan of a tiled GEMM for any kernel: operands, tiles, split-K, launch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
    from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices
    from xla_explorer.backends.gpu.emitters.dots.simt_gemm import SimtGemmPlan
    from xla_explorer.backends.gpu.emitters.dots.tensor_core_plan import TensorCorePlan


class TiledGemmPlan(NamedTuple):
    """Plan of a tiled GEMM. matrices: operands of a dot or convolution.

    tiles: tiles and split-K. on_tensor_cores: rather than on the ordinary lanes. loop_us: estimate
    of one thread an element, infinite for a dot.
    """

    matrices: Matrices | ConvolutionProduct
    tiles: SimtGemmPlan | TensorCorePlan
    launch: LaunchDimensions
    on_tensor_cores: bool
    loop_us: float = math.inf


def tiled_gemm_plan(
    matrices: Matrices | ConvolutionProduct,
    tiles: SimtGemmPlan | TensorCorePlan,
    architecture: GpuArchitecture,
    on_tensor_cores: bool,
    loop_us: float = math.inf,
) -> TiledGemmPlan:
    """Return the plan with its launch. loop_us: see `TiledGemmPlan`."""
    why = f"{matrices.sentence}: {tiles.tiles_of(architecture.multiprocessors)}"
    if loop_us < math.inf:
        own = tiles.estimated_us
        why += f"; estimated at {own:.3g} us, one thread an element at {loop_us:.3g} us"
    launch = LaunchDimensions(tiles.blocks, tiles.threads, tiles.blocks * tiles.threads, why)
    return TiledGemmPlan(matrices, tiles, launch, on_tensor_cores, loop_us)
