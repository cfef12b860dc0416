"""The base of `HloValue`, which distinguishes values from numbers without an import cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.value import HloValue


class AnyValue:
    """A value of a builder; `HloValue` is the only subclass."""


def is_value(operand: Any) -> TypeGuard[HloValue]:
    """Return True if an operand is a value of a builder."""
    return isinstance(operand, AnyValue)
