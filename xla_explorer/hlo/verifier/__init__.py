"""Checks that a module is well formed: `verify` raises, `violations` lists."""

from xla_explorer.hlo.verifier.constraints import constraints_of
from xla_explorer.hlo.verifier.module_constraints import MODULE_CONSTRAINTS
from xla_explorer.hlo.verifier.options import DEFAULT_OPTIONS, VerifierOptions
from xla_explorer.hlo.verifier.verify import verify, violations
from xla_explorer.hlo.verifier.violation import HloVerifyError, Violation

__all__ = [
    "DEFAULT_OPTIONS",
    "MODULE_CONSTRAINTS",
    "HloVerifyError",
    "VerifierOptions",
    "Violation",
    "constraints_of",
    "verify",
    "violations",
]
