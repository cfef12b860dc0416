"""Layouts: row-major inside, the caller's at the border."""

from xla_explorer.compiler.transforms.layout.layout_assignment import LayoutAssignment
from xla_explorer.compiler.transforms.layout.layout_normalization import LayoutNormalization
from xla_explorer.compiler.transforms.layout.move_copy_to_users import MoveCopyToUsers
from xla_explorer.compiler.transforms.layout.reshape_decomposer import ReshapeDecomposer

__all__ = ["LayoutAssignment", "LayoutNormalization", "MoveCopyToUsers", "ReshapeDecomposer"]
