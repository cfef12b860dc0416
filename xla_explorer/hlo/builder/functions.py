"""Control flow as functions of values, for `@hlo` functions, which have no builder.

    @xe.hlo
    def power_of_two(n: xe.s32, x: xe.f32[4]):
        return xe.hlo.while_loop(lambda k, y: k < n, lambda k, y: (k + 1, y * 2), (n * 0, x))[1]

Each uses the builder of the first value among its arguments; at least one must be a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.foundation.keywords import explains_arguments
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


@explains_arguments
def while_loop(condition: Function, body: Function, init: Any) -> HloValue:
    """Apply `body` while `condition` holds; see `HloBuilder.while_loop`.

    Parameters
    ----------
    condition
        A function of the state that returns a pred scalar.
    body
        A function of the state that returns the next state.
    init
        The first state: a value or a tuple of values.

    Returns
    -------
    HloValue
        The last state.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("doubling")
    >>> x = b.parameter(xe.s32[()])
    >>> module = b.build(xe.hlo.while_loop(lambda v: v < 100, lambda v: v + v, x))
    >>> int(xe.evaluate(module, 3))
    192
    """
    return _builder_of("while_loop", init).while_loop(condition, body, init)


@explains_arguments
def fori_loop(lower: Any, upper: Any, body: Function, init: Any) -> HloValue:
    """Apply `body(i, state)` for i in range(lower, upper); see `HloBuilder.fori_loop`.

    Parameters
    ----------
    lower, upper
        The bounds: Python integers or s32 scalars.
    body
        A function of the index and the state that returns the next state.
    init
        The first state: a value or a tuple of values.

    Returns
    -------
    HloValue
        The last state.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("sum")
    >>> x = b.parameter(xe.s32[()])
    >>> module = b.build(xe.hlo.fori_loop(0, 5, lambda i, total: total + i, x))
    >>> int(xe.evaluate(module, 0))
    10
    """
    return _builder_of("fori_loop", lower, upper, init).fori_loop(lower, upper, body, init)


@explains_arguments
def cond(predicate: Any, on_true: Function, on_false: Function, *operands: Any) -> HloValue:
    """Apply one of two functions to the operands, by a pred scalar; see `HloBuilder.cond`.

    Parameters
    ----------
    predicate
        A pred scalar.
    on_true, on_false
        Functions of the operands; both results have one shape.
    *operands
        Arguments of the chosen function.

    Returns
    -------
    HloValue
        The result of the `conditional`.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("m")
    >>> x = b.parameter(xe.f32[()])
    >>> module = b.build(xe.hlo.cond(x > 0, lambda v: v.sqrt(), lambda v: -v, x))
    >>> float(xe.evaluate(module, 9.0))
    3.0
    """
    return _builder_of("cond", predicate, operands).cond(predicate, on_true, on_false, *operands)


@explains_arguments
def switch(selector: Any, branches: Sequence[Function], *operands: Any) -> HloValue:
    """Apply one of several functions to the operands, by an s32 scalar; see `HloBuilder.switch`.

    Parameters
    ----------
    selector
        An s32 scalar; a number out of range selects the last branch.
    branches
        Functions of the operands; all results have one shape.
    *operands
        Arguments of the chosen function.

    Returns
    -------
    HloValue
        The result of the `conditional`.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("m")
    >>> k, x = b.parameter(xe.s32[()]), b.parameter(xe.f32[()])
    >>> module = b.build(xe.hlo.switch(k, [lambda v: v, lambda v: -v, lambda v: v * v], x))
    >>> float(xe.evaluate(module, 2, 3.0))
    9.0
    """
    return _builder_of("switch", selector, operands).switch(selector, branches, *operands)


@explains_arguments
def where(predicate: Any, on_true: Any, on_false: Any) -> HloValue:
    """Select between two values element by element; see `HloBuilder.select`.

    Parameters
    ----------
    predicate
        A pred array.
    on_true, on_false
        Arrays of its dimensions, or Python numbers.

    Returns
    -------
    HloValue
        The result of the `select`.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("relu")
    >>> x = b.parameter(xe.f32[3])
    >>> module = b.build(xe.hlo.where(x > 0, x, 0.0))
    >>> xe.evaluate(module, np.array([-1, 0, 2], np.float32)).tolist()
    [0.0, 0.0, 2.0]
    """
    return _builder_of("where", predicate, on_true, on_false).where(predicate, on_true, on_false)
