"""Wrong answers to the exercises of notebook 16."""

from __future__ import annotations

from typing import Any

from tests.explorer.course.mistakes import edited, mistake
from tests.notebooks.course_notebooks import solution_cells

SCOPE: dict[str, Any] = {}
for _cell in ("nb16.trip_count", "nb16.invariant", "nb16.running_maximum"):
    if solution_cells():
        exec(solution_cells()[_cell], SCOPE)


def right(loop: Any) -> Any:
    return SCOPE["trip_count"](loop)


def parts(loop: Any) -> tuple[Any, ...]:
    condition, body = loop.called
    start, limit = (
        loop.operands[0].operands[0],
        next((o for o in condition.root.operands if o.opcode.name == "constant"), None),
    )
    step = next((o for o in body.root.operands[0].operands if o.opcode.name == "constant"), None)
    numbers = [
        int(i.literal.scalar) if i is not None and i.opcode.name == "constant" else None
        for i in (start, step, limit)
    ]
    return (*numbers, condition.root.attribute("direction"))


@mistake("nb16.trip_count", "another-count")
def _(loop):  # the limit
    return parts(loop)[2]


@mistake("nb16.trip_count", "another-count")
def _(loop):  # a step of 2 that ends between
    start, step, limit, _direction = parts(loop)
    return None if None in (start, step, limit) or not step else (limit - start) // step


@mistake("nb16.trip_count", "another-count")
def _(loop):  # LE like LT
    found = right(loop)
    return found - 1 if found and parts(loop)[3] == "LE" else found


@mistake("nb16.trip_count", "another-count")
def _(loop):  # GE like GT
    found = right(loop)
    return found - 1 if found and parts(loop)[3] == "GE" else found


@mistake("nb16.trip_count", "another-count")
def _(loop):  # less than no steps
    start, step, limit, direction = parts(loop)
    return (
        limit - start
        if None not in (start, step, limit) and step == 1 and direction == "LT"
        else right(loop)
    )


@mistake("nb16.trip_count", "not-known")
def _(loop):  # a counter that runs away
    start, step, limit, direction = parts(loop)
    return (
        0 if direction == "LT" and None not in (start, step, limit) and step <= 0 else right(loop)
    )


@mistake("nb16.trip_count", "not-known")
def _(loop):  # NE that misses its limit
    start, step, limit, direction = parts(loop)
    return (
        (limit - start + step - 1) // step
        if direction == "NE" and step == 2 and start < limit
        else right(loop)
    )


@mistake("nb16.trip_count", "another-count")
def _(loop):  # only looks at the first operand of the addition
    update = loop.called[1].root.operands[0]
    return None if update.operands[0].opcode.name == "constant" else right(loop)


@mistake("nb16.trip_count", "another-count")
def _(loop):  # takes a comparison that is written the other way round as it stands
    first = loop.called[0].root.operands[0]
    return 0 if first.opcode.name == "constant" else right(loop)


@mistake("nb16.trip_count", "another-count")
def _(loop):  # does not count down
    step = parts(loop)[1]
    return None if step is not None and step < 0 else right(loop)


@mistake("nb16.trip_count", "not-known")
def _(loop):  # any update is an addition
    update = loop.called[1].root.operands[0]
    return (
        right(loop)
        if update.opcode.name in ("add", "subtract") or parts(loop)[1] is None
        else parts(loop)[2]
    )


@mistake("nb16.trip_count", "not-known")
def _(loop):  # an unknown start is 0
    return right(loop) if parts(loop)[0] is not None else parts(loop)[2]


mistake("nb16.trip_count", "no-number")(lambda loop: float(right(loop) or 0))
mistake("nb16.trip_count", "no-number")(lambda loop: True)
mistake("nb16.trip_count", "another-count")(lambda loop: None)


@mistake("nb16.trip_count", "too-slow")
def _(loop):  # runs it
    start, step, limit, direction = parts(loop)
    if None in (start, step, limit) or direction != "LT" or step <= 0:
        return right(loop)
    steps = 0
    while start < limit:
        start, steps = start + step, steps + 1
    return steps


def invariant(
    loop: Any,
    handed_on: Any = None,
    constants: bool = True,
    order: bool = True,
    chance: bool = False,
    all_names: bool = False,
) -> set[str]:
    body = loop.called[1]
    same, names = set(), set()
    for i in list(body.post_order()) if order else sorted(body.post_order(), key=lambda i: i.name):
        name = i.opcode.name
        if name == "get-tuple-element":
            last = body.root.operands[i.attribute("index")]
            kept = last is i or (
                last.opcode.name == name and last.attribute("index") == i.attribute("index")
            )
            if handed_on(i, last) if handed_on is not None else kept:
                same.add(i)
        elif name == "constant":
            if constants:
                same.add(i)
        elif (
            name not in ("parameter", "tuple")
            and (chance or not i.opcode.side_effect)
            and all(o in same for o in i.operands)
        ):
            same.add(i)
            names.add(i.name)
    return {i.name for i in same} if all_names else names


mistake("nb16.invariant", "changes")(
    lambda loop: invariant(loop, lambda i, last: True)
)  # all of the state
mistake("nb16.invariant", "changes")(
    lambda loop: invariant(loop, lambda i, last: last.opcode.name == "get-tuple-element")
)  # exchanged
mistake("nb16.invariant", "missing")(lambda loop: invariant(loop, lambda i, last: False))
mistake("nb16.invariant", "missing")(lambda loop: invariant(loop, constants=False))
mistake("nb16.invariant", "missing")(
    lambda loop: invariant(loop, order=False)
)  # users before operands
mistake("nb16.invariant", "changes")(lambda loop: invariant(loop, chance=True))  # dice
mistake("nb16.invariant", "changes")(
    lambda loop: invariant(loop, all_names=True)
)  # constants and elements, too
mistake("nb16.invariant", "no-names")(
    lambda loop: [i for i in loop.called[1].post_order() if i.name in invariant(loop)]
)
mistake("nb16.invariant", "no-names")(lambda loop: None)
mistake("nb16.invariant", "missing")(lambda loop: set())


@mistake("nb16.invariant", "missing")
def _(loop):  # only what is made of the state at once
    body = loop.called[1]
    return {
        i.name for i in body.post_order()
        if i.name in invariant(loop) and all(o.opcode.name in ("get-tuple-element", "constant") for o in i.operands)
    }  # fmt: skip


def changed(*replacements: tuple[str, str]) -> Any:
    """Return the reference with parts of its text replaced."""

    def answer(n: int) -> str:
        text = SCOPE["running_maximum"](n)
        for old, new in replacements:
            old, new = old.replace("N", str(n)), new.replace("N", str(n))
            assert old in text, old
            text = text.replace(old, new)
        return text

    return answer


mistake("nb16.running_maximum", "wrong-value", 40)(changed(("constant(-inf)", "constant(0)")))
mistake("nb16.running_maximum", "wrong-value", 40)(
    changed(("n = s32[] constant(N)", "n = s32[] constant(1)"))
)
mistake("nb16.running_maximum", "wrong-value", 40)(
    changed(("row = f32[1] reshape(larger)", "row = f32[1] reshape(best)"))
)
mistake("nb16.running_maximum", "wrong-value", 40)(
    changed(("tuple(next, larger, x, written)", "tuple(next, element, x, written)"))
)
mistake("nb16.running_maximum", "wrong-value", 40)(
    changed(("maximum(best, element)", "add(best, element)"), ("constant(-inf)", "constant(0)"))
)
mistake("nb16.running_maximum", "wrong-value", 40)(
    changed(("zero = s32[] constant(0)", "zero = s32[] constant(1)"))
)
mistake("nb16.running_maximum", "wrong-value", 40)(  # loses NaN
    changed(
        (
            "larger = f32[] maximum(best, element)",
            "m = pred[] compare(best, element), direction=GT  larger = f32[] select(m, best, element)",
        )
    )
)
mistake("nb16.running_maximum", "moves-the-array")(  # writes all of y
    changed(
        (
            "written = f32[N] dynamic-update-slice(y, row, k)",
            "places = s32[N] iota(), iota_dimension=0  ks = s32[N] broadcast(k), dimensions={}  here = pred[N] compare(places, ks), direction=EQ  "
            "larges = f32[N] broadcast(larger), dimensions={}  written = f32[N] select(here, larges, y)",
        )
    )
)
mistake("nb16.running_maximum", "no-loop")(
    lambda n: (
        f"""
larger {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }}
ENTRY main {{ x = f32[{n}] parameter(0)  low = f32[] constant(-inf)
  ROOT y = f32[{n}] reduce-window(x, low), window={{size={n} pad={n - 1}_0}}, to_apply=larger }}"""
    )
)
mistake("nb16.running_maximum", "another-signature", 40)(lambda n: SCOPE["running_maximum"](n + 1))
mistake("nb16.running_maximum", "no-text")(lambda n: None)
mistake("nb16.running_maximum", "not-valid")(
    changed(("dynamic_slice_sizes={1}", "dynamic_slice_sizes={2}"))
)


@mistake("nb16.trip_count", "not-known")
def _(loop):  # whatever element is counted up
    return edited("nb16.trip_count", "trip_count", ('and i.attribute("index") == 0', ""))(loop)


@mistake("nb16.invariant", "missing")
def _(loop):  # only what reads something
    return {
        name
        for name in SCOPE["invariant"](loop)
        if next(i for i in loop.called[1].post_order() if i.name == name).operands
    }
