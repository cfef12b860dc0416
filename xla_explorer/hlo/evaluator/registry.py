"""What the evaluator calls: one function per opcode, registered by `@evaluates`; the value types; the errors.

A registered function is `fn(instruction, operands, evaluator) -> Value`. Operands are numpy arrays in logical dimension
order (any strides), tuples of values, or tokens. A function must not write into its operands.
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
"""Asked in turn for the meaning of a target that is not in CUSTOM_CALL_FUNCTIONS."""


class EvaluationError(XlaExplorerError):
    """The evaluator cannot compute a value: wrong arguments, too large a result, or an ill-formed program."""


class UnsupportedOpcodeError(XlaExplorerError, NotImplementedError):
    """The evaluator has no meaning for an opcode (or for this use of it). `opcode` is its text name."""

    def __init__(self, opcode: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.opcode = opcode


def evaluates(*opcodes: str) -> Callable[[_F], _F]:
    """Register the decorated function as the meaning of the opcodes. Registering one twice is an error."""

    def register(function: _F) -> _F:
        for name in opcodes:
            if name in EVALUATION_FUNCTIONS:
                raise ValueError(f"opcode {name!r} has two evaluation functions")
            EVALUATION_FUNCTIONS[name] = function
        return function

    return register


def evaluates_custom_call(*targets: str) -> Callable[[_F], _F]:
    """Register the meaning of custom calls by their `custom_call_target`. A later registration replaces an
    earlier one."""

    def register(function: _F) -> _F:
        for target in targets:
            CUSTOM_CALL_FUNCTIONS[target] = function
        return function

    return register


def custom_call_function(target: str) -> EvaluationFunction | None:
    """The meaning of a target, None where none is registered."""
    found = CUSTOM_CALL_FUNCTIONS.get(target)
    return found or next(
        (meaning for source in CUSTOM_CALL_SOURCES if (meaning := source(target)) is not None), None
    )


def supported_opcodes() -> frozenset[str]:
    """Names of the opcodes that have a meaning here (collectives and custom calls: for one device and known
    targets)."""
    return frozenset(EVALUATION_FUNCTIONS)
