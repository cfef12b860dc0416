"""Buffer assignment as XLA:CPU does it: which values share an allocation, and what the temporary one takes. For replays."""

from xla_explorer.compiler.buffers.xla.assignment import XlaAllocation, XlaBuffers, assign_as_xla
from xla_explorer.compiler.buffers.xla.values import NotFlatError, XlaValue, XlaValues

__all__ = ["NotFlatError", "XlaAllocation", "XlaBuffers", "XlaValue", "XlaValues", "assign_as_xla"]
