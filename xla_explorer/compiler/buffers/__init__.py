"""Buffer assignment: from live ranges to allocations."""

from xla_explorer.compiler.buffers.assignment import (
    BufferAssignment,
    BufferAssignmentError,
    assign_buffers,
)
from xla_explorer.compiler.buffers.checking import check_assignment
from xla_explorer.compiler.buffers.slices import Allocation, BufferSlice, renames_memory

__all__ = [
    "Allocation",
    "BufferAssignment",
    "BufferAssignmentError",
    "BufferSlice",
    "assign_buffers",
    "check_assignment",
    "renames_memory",
]
