"""The sharding rule of each opcode, by the decorator `sharding_rule`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from xla_explorer.compiler.spmd.rules.factor_rule import FactorRule, RuleBuilder
from xla_explorer.hlo.instruction import HloInstruction

RuleFunction = Callable[[HloInstruction], FactorRule | None]
_F = TypeVar("_F", bound=RuleFunction)
_RULES: Final[dict[str, RuleFunction]] = {}
_BY_SHAPES: Final = frozenset(
    ["broadcast", "convert", "copy", "dot", "reduce", "reshape", "transpose"]
)
"""Opcodes whose rules follow from attributes and shapes alone, as those of element-wise ones do."""
_KNOWN: Final[dict[tuple[object, ...], FactorRule | None]] = {}
_MOST_KNOWN: Final = 1 << 14


def sharding_rule(*opcodes: str) -> Callable[[_F], _F]:
    """Register the decorated function as the sharding rule of some opcodes."""

    def register(function: _F) -> _F:
        for name in opcodes:
            if name in _RULES:
                raise ValueError(f"opcode {name} has two sharding rules")
            _RULES[name] = function
        return function

    return register


def rule_of(i: HloInstruction) -> FactorRule | None:
    """Return the sharding rule of an instruction; None if shardings do not pass through it."""
    name = i.opcode.name
    found = _RULES.get(name)
    if found is None:
        return None
    if not (i.opcode.elementwise or name in _BY_SHAPES):
        return found(i)
    shapes = [o.shape.dimensions if o.shape.is_array else None for o in i.operands]
    results = [leaf.dimensions if leaf.is_array else None for _, leaf in i.shape.leaves()]
    key = name, i.attributes, *shapes, *results
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = found(i)
    return _KNOWN[key]


def opcodes_with_rules() -> frozenset[str]:
    """Return the opcodes that have a sharding rule."""
    return frozenset(_RULES)


def sizes_of(i: HloInstruction) -> tuple[int, ...]:
    """Return the dimensions of the (first) result."""
    return next(leaf.dimensions for _, leaf in i.shape.leaves())


def builder_of(i: HloInstruction) -> RuleBuilder:
    """Return a rule builder for the operands and results of an instruction."""
    return RuleBuilder(
        [operand.shape.rank if operand.shape.is_array else 0 for operand in i.operands],
        [leaf.rank if leaf.is_array else 0 for _, leaf in i.shape.leaves()],
    )


def at(i: HloInstruction, places: dict[int, int]) -> Sequence[int | None]:
    """Return the dimension of each operand and result of a factor, by its place.

    places: operand number, or the number of operands plus the number of the result, to dimension.
    """
    count = len(i.operands) + sum([1 for _ in i.shape.leaves()])
    return [places.get(k) for k in range(count)]
