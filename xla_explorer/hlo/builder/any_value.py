"""The base of `HloValue`, by which the helpers below it tell a value from a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue


class AnyValue:
    """What a builder made; `HloValue` is the only one."""


def is_value(operand: Any) -> TypeGuard[HloValue]:
    """Whether an operand is a value of a builder."""
    return isinstance(operand, AnyValue)
