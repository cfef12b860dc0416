"""Buffer assignment as XLA:CPU does it, for replays."""

from xla_explorer.compiler.buffers.xla.assignment import XlaAllocation, XlaBuffers, assign_as_xla
from xla_explorer.compiler.buffers.xla.values import NotFlatError, XlaValue, XlaValues

__all__ = ["NotFlatError", "XlaAllocation", "XlaBuffers", "XlaValue", "XlaValues", "assign_as_xla"]
