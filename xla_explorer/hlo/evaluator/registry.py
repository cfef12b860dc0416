"""The evaluator's registry (`@evaluates`: one function per opcode), value types and errors.

A registered function is `fn(instruction, operands, evaluator) -> Value`. Operands are numpy arrays
in logical dimension order (any strides), tuples of values, or tokens. A function must not write
into its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    from xla_explorer.hlo.evaluator.evaluator import Evaluator
    from xla_explorer.hlo.instruction import HloInstruction

Array: TypeAlias = np.ndarray[Any, Any]


class Token:
    """The value of shape `token[]`: it orders side effects and holds nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "token"


TOKEN_VALUE = Token()

# A numpy array, a Token, or a tuple of values.
Value: TypeAlias = Any
EvaluationFunction: TypeAlias = "Callable[[HloInstruction, Sequence[Value], Evaluator], Value]"
_F = TypeVar("_F", bound=Callable[..., Any])

EVALUATION_FUNCTIONS: dict[str, EvaluationFunction] = {}
CUSTOM_CALL_FUNCTIONS: dict[str, EvaluationFunction] = {}
CUSTOM_CALL_SOURCES: list[Callable[[str], EvaluationFunction | None]] = []
"""Look-ups, in order, for targets that are not in CUSTOM_CALL_FUNCTIONS."""


class EvaluationError(XlaExplorerError):
    """A value cannot be computed: wrong arguments, too large a result, or an ill-formed program."""


class UnsupportedOpcodeError(XlaExplorerError, NotImplementedError):
    """An opcode (or this use of it) has no evaluation function. `opcode` is its text name."""

    def __init__(self, opcode: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.opcode = opcode


def evaluates(*opcodes: str) -> Callable[[_F], _F]:
    """Register the decorated function for the opcodes; a second registration is an error."""

    def register(function: _F) -> _F:
        for name in opcodes:
            if name in EVALUATION_FUNCTIONS:
                raise ValueError(f"opcode {name!r} has two evaluation functions")
            EVALUATION_FUNCTIONS[name] = function
        return function

    return register


def evaluates_custom_call(*targets: str) -> Callable[[_F], _F]:
    """Register the decorated function for custom calls by `custom_call_target`.

    The last one wins.
    """

    def register(function: _F) -> _F:
        for target in targets:
            CUSTOM_CALL_FUNCTIONS[target] = function
        return function

    return register


def custom_call_function(target: str) -> EvaluationFunction | None:
    """Return the evaluation function of a target, or None."""
    found = CUSTOM_CALL_FUNCTIONS.get(target)
    return found or next(
        (meaning for source in CUSTOM_CALL_SOURCES if (meaning := source(target)) is not None), None
    )


def supported_opcodes() -> frozenset[str]:
    """Return the names of opcodes with an evaluation function.

    Collectives need several devices for larger groups, custom calls need a registered target.
    """
    return frozenset(EVALUATION_FUNCTIONS)
