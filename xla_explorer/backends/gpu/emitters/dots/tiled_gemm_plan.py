"""The plan of a tiled GEMM for any kernel: operands, tiles, split-K, launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.dots.result_store import FusedProduct
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchDimensions

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
    from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices
    from xla_explorer.backends.gpu.emitters.dots.simt_gemm import SimtGemmPlan
    from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import TensorCorePlan


class TiledGemmPlan(NamedTuple):
    """Plan of a tiled GEMM. matrices: operands of a dot or convolution.

    tiles: tiles and split-K.
    """

    product: FusedProduct
    matrices: Matrices | ConvolutionProduct
    tiles: SimtGemmPlan | TensorCorePlan
    launch: LaunchDimensions


def tiled_gemm_plan(
    product: FusedProduct, matrices: Matrices | ConvolutionProduct, tiles: SimtGemmPlan | TensorCorePlan, what: str,
    architecture: GpuArchitecture, compared: str = "",
) -> TiledGemmPlan:  # fmt: skip
    """Return the plan with its launch.

    what, compared: the product as text, and its estimate beside an alternative's.
    """
    why = f"{what}: {tiles.tiles_of(architecture.multiprocessors)}{compared}"
    return TiledGemmPlan(
        product,
        matrices,
        tiles,
        LaunchDimensions(tiles.blocks, tiles.threads, tiles.blocks * tiles.threads, why),
    )
