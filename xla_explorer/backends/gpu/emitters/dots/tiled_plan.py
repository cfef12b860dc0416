"""The plan of a product that is computed in tiles, by whatever kernel: what is multiplied, and how it is cut into tiles and parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.dots.result_store import Product
from xla_explorer.backends.gpu.launch_dimensions import LaunchDimensions

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emitters.convolutions.geometry import ConvolutionProduct
    from xla_explorer.backends.gpu.emitters.dots.blocked_product import BlockedPlan
    from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices
    from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import TensorCorePlan


class TiledPlan(NamedTuple):
    """matrices: operands of a dot, or what a convolution multiplies. tiles: how the products are cut into tiles and parts."""

    product: Product
    matrices: Matrices | ConvolutionProduct
    tiles: BlockedPlan | TensorCorePlan
    launch: LaunchDimensions


def tiled_plan(
    product: Product, matrices: Matrices | ConvolutionProduct, tiles: BlockedPlan | TensorCorePlan, what: str,
    architecture: GpuArchitecture, compared: str = "",
) -> TiledPlan:  # fmt: skip
    """The plan with its launch. what, compared: the product in words, and its estimate beside that of another way."""
    why = f"{what}: {tiles.tiles_of(architecture.multiprocessors)}{compared}"
    return TiledPlan(
        product,
        matrices,
        tiles,
        LaunchDimensions(tiles.blocks, tiles.threads, tiles.blocks * tiles.threads, why),
    )
