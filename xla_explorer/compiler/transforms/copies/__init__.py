"""Copies that the sharing of buffers requires."""

from xla_explorer.compiler.transforms.copies.copy_insertion import CopyInsertion
from xla_explorer.compiler.transforms.copies.flatten_call_graph import FlattenCallGraph
from xla_explorer.compiler.transforms.copies.loop_double_buffer import LoopDoubleBuffer

__all__ = ["CopyInsertion", "FlattenCallGraph", "LoopDoubleBuffer"]
