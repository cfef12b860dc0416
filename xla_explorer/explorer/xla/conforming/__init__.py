"""JAX's own test programs on a PJRT plugin, with the evaluator as the reference."""

from xla_explorer.explorer.xla.conforming.harnesses import Harnesses, HarnessRow, run_harnesses

__all__ = ["HarnessRow", "Harnesses", "run_harnesses"]
