"""`xe.verify` and `xe.evaluate` of whatever holds a module: the module, its text, the path of its file, a traced function, a session."""

from __future__ import annotations

from typing import Any

from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.hlo import evaluator, verifier
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.verifier import VerifierOptions


def verify(module: Any, options: VerifierOptions | None = None) -> None:
    """Raise HloVerifyError with every violation, each with code, span and message; return when there is none.

    module: an HloModule, HLO text, the path of a file, or what has a module. Source: xla/service/hlo_verifier.cc for the module, the
    StableHLO constraints of each opcode for instructions.

    Raises:
        HloParseError: it is text, and malformed. LoadError: it is a path that cannot be read.
    """
    if options is None:
        verifier.verify(as_module(module))
    else:
        verifier.verify(as_module(module), options)


def evaluate(module: Any, *arrays: Any, **options: Any) -> Any:
    """The entry's result by the numpy reference: an array, or (nested) tuples of arrays as the module says.

    module: as for `verify`. arrays: one argument a parameter: an array of the parameter's dtype and dimensions, a tuple of such for a
    tuple parameter, or a Python number. options: `evaluator`, `max_elements`, `as_xla_cpu`, as `hlo.evaluator.evaluate` takes them.
    EvaluationError names the parameter, what it wants and what it got. ElidedConstantsWarning where the text left values out.
    """
    source = as_module(module)
    warn_of_elided_constants(source)
    return evaluator.evaluate(source, *arrays, **options)
