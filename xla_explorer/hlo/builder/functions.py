"""Control flow as functions of values, for `@hlo` functions, which see values but no builder.

    @xe.hlo
    def power_of_two(n: xe.s32, x: xe.f32[4]):
        return xe.while_loop(lambda k, y: k < n, lambda k, y: (k + 1, y * 2), (n * 0, x))[1]

Each asks the builder of the first value among its arguments; at least one of them must be a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.value import HloValue

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder

Function = Callable[..., Any]


def _values(given: Any) -> Iterator[HloValue]:
    if isinstance(given, HloValue):
        yield given
    elif isinstance(given, (tuple, list)):
        for part in given:
            yield from _values(part)


def _builder_of(name: str, *given: Any) -> HloBuilder:
    value = next(_values(given), None)
    if value is None:
        raise HloBuilderError(
            f"{name}: none of its arguments is a value of a builder",
            f"make one of them a value, or call the method of a builder: b.{name}(...)",
        )
    return value.builder


def while_loop(condition: Function, body: Function, init: Any) -> HloValue:
    """Apply `body` while `condition` holds; see `HloBuilder.while_loop`."""
    return _builder_of("while_loop", init).while_loop(condition, body, init)


def fori_loop(lower: Any, upper: Any, body: Function, init: Any) -> HloValue:
    """`body(i, state)` for i in range(lower, upper); see `HloBuilder.fori_loop`."""
    return _builder_of("fori_loop", lower, upper, init).fori_loop(lower, upper, body, init)


def cond(predicate: Any, on_true: Function, on_false: Function, *operands: Any) -> HloValue:
    """One of two functions of the operands, by a pred scalar; see `HloBuilder.cond`."""
    return _builder_of("cond", predicate, operands).cond(predicate, on_true, on_false, *operands)


def switch(selector: Any, branches: Sequence[Function], *operands: Any) -> HloValue:
    """One of several functions of the operands, by an s32 scalar; see `HloBuilder.switch`."""
    return _builder_of("switch", selector, operands).switch(selector, branches, *operands)


def where(predicate: Any, on_true: Any, on_false: Any) -> HloValue:
    """Element by element one of two values; see `HloBuilder.select`."""
    return _builder_of("where", predicate, on_true, on_false).where(predicate, on_true, on_false)
