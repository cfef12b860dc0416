"""`xe.xla.cause_of_difference`: why two compiles of one program by real XLA differ in value."""

from xla_explorer.explorer.xla.differences.report import CauseOfDifference
from xla_explorer.explorer.xla.differences.search import cause_of_difference

__all__ = ["CauseOfDifference", "cause_of_difference"]
