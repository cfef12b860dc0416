"""Random loops, branches and calls."""

from __future__ import annotations

from tests.properties.random_families import Families, Known
from xla_explorer.hlo.builder import HloValue


def _inner(s: Families, values: list[HloValue], sources: list[Known], in_loop: bool) -> Families:
    builder = values[0].builder
    scope = Families(builder, s.choice, s.kinds, s.shape, extremes=s.extremes, numbers=s.numbers)
    for value, source in zip(values, sources, strict=True):
        t = value.dtype
        floating = t.is_float or t.is_complex
        scope.known.append(
            Known(value, max(source.bound, 8.0), source.denominator, source.exact and not in_loop)
            if floating
            else Known(value)
        )
    return scope


def _bounded(scope: Families, made: Known, limit: float) -> HloValue | None:
    t = made.value.dtype
    if not (t.is_float or t.is_complex) or made.bound <= limit or scope.extremes:
        return made.value
    return None if t.is_complex else scope.b.clamp(-limit, made.value, limit)


def _next_value(
    scope: Families, number: int, values: list[HloValue], sources: list[Known], i: HloValue
) -> HloValue | None:
    """Return the next iteration's value of an element of the loop's state; None: it stays.

    It is the same, another element, one with row `i` replaced, or a computed value.
    """
    value, source, choice = values[number], sources[number], scope.choice
    way = choice.random()
    if way < 0.2:
        return value
    if way < 0.35:
        return choice.choice(
            [
                v
                for v, o in zip(values, sources, strict=True)
                if o.kind == source.kind and o.dimensions == source.dimensions
            ]
        )
    if way < 0.55 and source.rank and source.value.size and source.dimensions[0] > 0:
        return _with_row(scope, value, source, i)
    fitting = [
        k for k in scope.known if k.kind == source.kind and k.dimensions == source.dimensions
    ]
    return _bounded(scope, choice.choice(fitting), max(source.bound, 8.0))


def _with_row(scope: Families, value: HloValue, source: Known, i: HloValue) -> HloValue | None:
    """Return the value with its row `i` updated in place; None if no update fits the bound."""
    row = [
        k for k in scope.known if k.kind == source.kind and k.dimensions == source.dimensions[1:]
    ]
    one = scope.choice.choice(row) if row else scope.constant_of(source.kind, source.dimensions[1:])
    zero = i.builder.constant(0, i.dtype)
    update = _bounded(scope, one, max(source.bound, 8.0))
    if update is None:
        return None
    return i.builder.dynamic_update_slice(
        value,
        i.builder.reshape(update, (1, *source.dimensions[1:])),
        i,
        *[zero] * (source.rank - 1),
    )


def while_loop(s: Families, depth: int) -> list[Known] | None:
    sources = [k for k in [s.pick() for _ in range(s.choice.randint(1, 4))] if k is not None]
    if not sources:
        return None
    b = s.b
    trips = s.choice.choice((0, 1, 2, 3, 4, 5, 8))
    counter = s.choice.choice(("s32", "s32", "s32", "s64", "u8"))
    start = s.choice.choice((0, 0, 0, 1, 2))
    dynamic = s.choice.random() < 0.3
    limit = b.constant(start + trips, counter)
    if dynamic:
        chosen = s.scalar("s32").value
        limit = b.convert(b.clamp(0, chosen, start + trips), counter)
    step = s.choice.choice((1, 1, 1, 2))
    at = s.choice.choice((0, 0, len(sources)))

    def split(state: tuple[HloValue, ...]) -> tuple[HloValue, HloValue, list[HloValue]]:
        rest = list(state)
        stop = rest.pop()
        return rest.pop(at), stop, rest

    def condition(*state: HloValue) -> HloValue:
        i, stop, _ = split(state)
        return i < stop

    def body(*state: HloValue) -> tuple[HloValue, ...]:
        i, stop, values = split(state)
        scope = _inner(s, values, sources, in_loop=True)
        if counter != "u8":
            scope.known.append(Known(i))
        scope.grow(s.choice.choice((0, 1, 2, 4, 8)), depth - 1)
        following: list[HloValue] = []
        for number, value in enumerate(values):
            new = _next_value(scope, number, values, sources, i)
            following.append(value if new is None else new)
        following.insert(at, i + i.builder.constant(step, counter))
        return (*following, stop)

    # A swap of state elements changes their bounds and their exactness too: all of one kind share
    # them.
    bound, denominator = max([k.bound for k in sources]), max([k.denominator for k in sources])
    sources = [Known(k.value, max(bound, 8.0), denominator, k.exact) for k in sources]
    init = [k.value for k in sources]
    init.insert(at, b.constant(start, counter))
    loop = b.while_loop(condition, body, [*init, limit])
    numbers = [n for n in range(len(sources) + 1) if n != at]
    made = []
    for n, k in zip(numbers, sources, strict=True):
        t = k.value.dtype
        made.append(Known(loop[n], k.bound, k.denominator, not (t.is_float or t.is_complex)))
    if counter == "s32" and s.choice.random() < 0.3:
        made.append(Known(loop[at]))
    return made


def conditional(s: Families, depth: int) -> list[Known] | None:
    sources = [k for k in [s.pick() for _ in range(s.choice.randint(1, 3))] if k is not None]
    if not sources:
        return None
    b, wanted = s.b, [s.choice.choice(sources) for _ in range(s.choice.randint(1, 2))]
    packed = b.tuple(*[k.value for k in sources])

    def branch(*values: HloValue) -> tuple[HloValue, ...]:
        scope = _inner(s, list(values), sources, in_loop=True)
        scope.grow(s.choice.randint(0, 4), depth - 1)
        outputs = []
        for k in wanted:
            made = s.choice.choice(
                [o for o in scope.known if o.kind == k.kind and o.dimensions == k.dimensions]
            )
            bounded = _bounded(scope, made, max(k.bound, 8.0))
            outputs.append(
                bounded
                if bounded is not None
                else values[next(n for n, o in enumerate(sources) if o is k)]
            )
        return tuple(outputs)

    if s.choice.random() < 0.5:
        made = b.cond(s.scalar("pred").value, branch, branch, packed)
    else:
        made = b.switch(s.scalar("s32").value, [branch] * s.choice.randint(1, 4), packed)
    return [
        Known(
            made[n],
            max(k.bound, 8.0),
            k.denominator,
            not (k.value.dtype.is_float or k.value.dtype.is_complex),
        )
        for n, k in enumerate(wanted)
    ]


def call(s: Families, depth: int) -> Known | None:
    sources = [k for k in [s.pick() for _ in range(s.choice.randint(1, 3))] if k is not None]
    if not sources:
        return None
    result: list[Known] = []

    def function(*values: HloValue) -> HloValue:
        scope = _inner(s, list(values), sources, in_loop=False)
        scope.grow(s.choice.randint(1, 4), depth - 1)
        result.append(scope.known[-1])
        return scope.known[-1].value

    made = s.b.call(*[k.value for k in sources], to_apply=function)
    return s.same(made, result[0])


CONTROL = (while_loop, while_loop, while_loop, conditional, call)
