"""`xe.xla.overrides`: fusions, rules and passes of the user inside real XLA's own compile."""

from xla_explorer.explorer.xla.overrides.hook import overrides
from xla_explorer.explorer.xla.overrides.measured_search import Trial, XlaSearch, search
from xla_explorer.explorer.xla.overrides.report import Outcome, XlaOverrides

__all__ = ["Outcome", "Trial", "XlaOverrides", "XlaSearch", "overrides", "search"]
