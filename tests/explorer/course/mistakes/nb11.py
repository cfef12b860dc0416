"""Wrong answers to the exercises of notebook 11."""

from __future__ import annotations

import math
from typing import Any

from tests.explorer.course.mistakes import mistake, variant
from tests.notebooks.course_notebooks import solution_cells

SCOPE: dict[str, Any] = {"MOVES": {"broadcast", "transpose", "copy", "reshape"}, "math": math}
for _cell in ("nb11.cost", "nb11.fused", "nb11.predict"):
    exec(solution_cells()[_cell], SCOPE)

mistake("nb11.cost", "wrong-cost-negate", 2)(
    lambda i: (i.shape.element_count, i.shape.byte_size)
)  # operands come from nowhere
mistake("nb11.cost", "wrong-cost-negate", 2)(
    lambda i: (i.shape.element_count, 2 * i.shape.element_count)
)  # elements are not bytes
mistake("nb11.cost", "wrong-cost-convert", 2)(
    lambda i: (
        SCOPE["cost"](i)
        if i.opcode.name != "convert"
        else (i.shape.element_count, 2 * i.shape.byte_size)
    )
)
mistake("nb11.cost", "wrong-cost-exponential", 2)(
    lambda i: (
        SCOPE["cost"](i)
        if i.opcode.name != "exponential"
        else (10 * i.shape.element_count, 2 * i.shape.byte_size)
    )
)
mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: list(SCOPE["cost"](i)))  # not a pair
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: max(o / peak, b / bandwidth)
)  # seconds
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: peak if b == 0 else max(peak, o / b * bandwidth)
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: peak if b == 0 else o / b * bandwidth
)  # no flat part
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: None)


def fused(needed=True, once=True, constants=False, results=True, inner=False):
    """Answers to nb11.fused that forget something."""

    def answer(computation):
        found, todo = [], [computation.root]
        while todo:
            i = todo.pop()
            if not once or i not in found:
                found.append(i)
                todo += i.operands
        if not needed:
            found = list(computation.post_order())
        root = computation.root
        written = root.operands if results and root.opcode.name == "tuple" else [root]
        given = ("parameter", "constant") if constants else ("parameter",)
        read = [i for i in found if i.opcode.name in given or inner]
        work = [i for i in found if i.opcode.name not in ("parameter", "constant", "tuple")]
        return sum([SCOPE["cost"](i)[0] for i in work]), sum(
            [i.shape.byte_size for i in [*read, *written]]
        )

    return answer


mistake("nb11.fused", "wrong-bytes", 3)(fused(needed=False))  # what is dead costs nothing
mistake("nb11.fused", "wrong-bytes", 3)(fused(once=False))  # x * x reads x once now
mistake("nb11.fused", "wrong-bytes", 5)(fused(constants=True))
mistake("nb11.fused", "wrong-bytes", 3)(fused(inner=True))  # as if nothing was fused
mistake("nb11.fused", "no-pair")(lambda computation: sum(fused()(computation)))
mistake("nb11.fused", "wrong-operations", 2)(
    lambda computation: (computation.root.shape.element_count * 2, fused()(computation)[1])
)
mistake("nb11.fused", "wrong-bytes", 2)(
    lambda computation: (fused()(computation)[0], 2 * computation.root.shape.byte_size + 1)
)
mistake("nb11.fused", "wrong-bytes", 4)(  # all parameters, needed or not
    lambda computation: (
        fused()(computation)[0],
        fused()(computation)[1]
        + sum(
            [
                p.shape.byte_size
                for p in computation.parameters()
                if not p.users and p is not computation.root
            ]
        ),
    )
)


def level(machine, touched):
    return next(speed for size, speed in machine.levels if touched <= size)


mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: max(o / machine.peak, m / level(machine, t))
)  # no launch
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + o / machine.peak + m / level(machine, t)
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + max(o / machine.peak, m / level(machine, m))
)  # what moves
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + max(o / machine.peak, t / level(machine, t))
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + max(o / machine.peak, m / machine.levels[-1][1])
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: max(machine.launch, o / machine.peak, m / level(machine, t))
)


@mistake("nb11.predict", "wrong-time")
def _(operations, moved, touched, machine):  # a level that is just full is taken for too small
    speed = next((speed for size, speed in machine.levels if touched < size), machine.levels[-1][1])
    return machine.launch + max(operations / machine.peak, moved / speed)


def cost_with(**change):
    def cost(i):
        from xla_explorer.hlo.analysis.cost import instruction_cost

        known = instruction_cost(i)
        return change.get(i.opcode.name, lambda o, b, i: (o, b))(
            int(known.flops + known.transcendentals), int(known.bytes_accessed), i
        )

    return cost


mistake("nb11.cost", "wrong-cost-dot", 3)(cost_with(dot=lambda o, b, i: (o // 2, b)))
mistake("nb11.cost", "wrong-cost-reduce")(
    cost_with(reduce=lambda o, b, i: (i.operands[0].shape.element_count, b))
)
mistake("nb11.cost", "wrong-cost-broadcast", 2)(
    cost_with(broadcast=lambda o, b, i: (i.shape.element_count, b))
)
mistake("nb11.cost", "wrong-cost-reduce")(cost_with(reduce=lambda o, b, i: (o, b - 4)))
mistake("nb11.cost", "wrong-cost-multiply", 2)(
    lambda i: (
        cost_with()(i)[0],
        i.shape.byte_size + sum([o.shape.byte_size for o in set(i.operands)]),
    )
)
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: peak)
mistake("nb11.bound", "divides-by-zero")(lambda o, b, peak, bandwidth: min(peak, o / b * bandwidth))
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: o / (o / peak + b / bandwidth))
PLACES = {
    "add of f32[1000000]": "memory",
    "exponential of f32[1000000]": "memory",
    "sum of f32[1000,1000] over dimension 1": "memory",
    "dot of f32[1024,1024] and f32[1024,1024]": "arithmetic",
    "dot of f32[1024,1024] and f32[1024,1]": "arithmetic",
}
mistake("nb11.place", "wrong-place")(PLACES)
mistake("nb11.place", "wrong-place")(dict.fromkeys(PLACES, "memory"))


def placed(*arithmetic: int) -> dict[str, str]:
    return {name: "arithmetic" if k in arithmetic else "memory" for k, name in enumerate(PLACES)}


for _chosen in (
    (0, 1, 2, 3, 4),
    (0, 3),
    (1, 3),
    (2, 3),
    (1, 2, 3),
    (0, 1, 3),
    (0, 1, 2),
    (4,),
    (0, 1, 2, 4),
    (2, 3, 4),
    (1, 3, 4),
    (0, 3, 4),
    (1,),
    (2,),
):
    mistake("nb11.place", "wrong-place")(
        placed(*_chosen)
    )  # e.g. "exponentials compute", "reductions compute", "the ridge is at 0.2"
mistake("nb11.place", "another-form")({name: word == "memory" for name, word in placed(3).items()})
mistake("nb11.place", "another-form")({name: word.title() for name, word in placed(3).items()})
mistake("nb11.place", "another-form")({name: f"{word} bound" for name, word in placed(3).items()})
mistake("nb11.place", "another-form")(
    {**placed(3), "dot of f32[1024,1024] and f32[1024,1]": 0.5}
)  # operations a byte
mistake("nb11.place", "another-form")({**placed(3), "exponential of f32[1000000]": "both"})

mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: min(peak, bandwidth))
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: peak if o > b else bandwidth
)  # the ridge at 1
mistake("nb11.bound", "divides-by-zero")(
    lambda o, b, peak, bandwidth: peak if o / b >= peak / bandwidth else bandwidth * o / b
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: min(peak, b / o * bandwidth) if o else 0.0
)  # bytes an operation
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: o / min(o / peak, b / bandwidth) if o and b else peak
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: min(peak, o / b * bandwidth) if b else 0.0
)  # no bytes, no rate
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: min(peak, o / b * bandwidth) if b else math.inf
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: o / (o / peak + b / bandwidth) / 2
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: min(peak, o // b * bandwidth) if b else peak
)  # whole numbers
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: str(o / max(o / peak, b / bandwidth))
)
mistake("nb11.bound", "wrong-roof")(
    lambda o, b, peak, bandwidth: "memory" if o / peak < b / bandwidth else "arithmetic"
)

mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch * max(o / machine.peak, m / level(machine, t))
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + min(o / machine.peak, m / level(machine, t))
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + m / level(machine, t)
)  # always memory
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + o / machine.peak
)  # always arithmetic
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + max(o / machine.peak, m / machine.levels[0][1])
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: machine.launch + max(o / machine.peak, (m + t) / level(machine, t))
)
mistake("nb11.predict", "wrong-time")(
    lambda o, m, t, machine: 1e6 * (machine.launch + max(o / machine.peak, m / level(machine, t)))
)  # us
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: None)


@mistake("nb11.predict", "wrong-time")
def _(operations, moved, touched, machine):  # each level gives what it holds, the next one the rest
    seconds, left = 0.0, touched
    for size, speed in machine.levels:
        seconds += min(left, size) / speed
        left -= min(left, size)
    return machine.launch + max(
        operations / machine.peak, seconds * (moved / touched if touched else 1)
    )


@mistake("nb11.predict", "wrong-time")
def _(operations, moved, touched, machine):  # the last level that is too small
    small = [speed for size, speed in machine.levels if touched > size] or [machine.levels[0][1]]
    return machine.launch + max(operations / machine.peak, moved / small[-1])


mistake("nb11.cost", "wrong-cost-dot", 3)(cost_with(dot=lambda o, b, i: (i.shape.element_count, b)))
mistake("nb11.cost", "wrong-cost-dot", 3)(
    cost_with(
        dot=lambda o, b, i: (
            2 * i.operands[0].shape.element_count * i.operands[1].shape.element_count,
            b,
        )
    )
)
mistake("nb11.cost", "wrong-cost-dot", 3)(
    cost_with(
        dot=lambda o, b, i: (2 * i.shape.element_count * i.operands[0].shape.dimensions[0], b)
    )
)
mistake("nb11.cost", "wrong-cost-dot")(
    cost_with(
        dot=lambda o, b, i: (2 * i.shape.element_count * i.operands[0].shape.dimensions[1], b)
    )
)  # batch
mistake("nb11.cost", "wrong-cost-reduce")(
    cost_with(reduce=lambda o, b, i: (i.shape.element_count, b))
)
mistake("nb11.cost", "wrong-cost-transpose", 2)(
    cost_with(transpose=lambda o, b, i: (i.shape.element_count, b))
)
mistake("nb11.cost", "wrong-cost-copy", 2)(
    cost_with(copy=lambda o, b, i: (i.shape.element_count, b))
)
mistake("nb11.cost", "wrong-cost-broadcast", 2)(
    cost_with(broadcast=lambda o, b, i: (o, 2 * i.shape.byte_size))
)
mistake("nb11.cost", "wrong-cost-convert", 2)(
    cost_with(convert=lambda o, b, i: (0, b))
)  # taken for data movement
mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: cost_with()(i)[::-1])
mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: sum(cost_with()(i)))

mistake("nb11.fused", "wrong-operations", 3)(
    lambda c: (
        sum([SCOPE["cost"](i)[0] for i in c.post_order() if i.opcode.name != "tuple"]) + 1,
        fused()(c)[1],
    )
)
mistake("nb11.fused", "wrong-operations", 2)(lambda c: (0, fused()(c)[1]))
mistake("nb11.fused", "wrong-operations", 3)(
    lambda c: (
        sum(
            [
                SCOPE["cost"](i)[0]
                for i in c.instructions.values()
                if i.opcode.name not in ("parameter", "constant", "tuple")
            ]
        ),
        fused()(c)[1],
    )
)
mistake("nb11.fused", "wrong-operations")(
    lambda c: (SCOPE["cost"](c.root)[0], fused()(c)[1])
)  # the root alone
variant("nb11.fused")(fused(results=False))  # the bytes of a tuple are those of its elements
mistake("nb11.fused", "wrong-bytes", 2)(
    lambda c: (fused()(c)[0], fused()(c)[1] + c.root.shape.byte_size)
)  # read again
mistake("nb11.fused", "wrong-bytes")(
    lambda c: (fused()(c)[0], fused()(c)[1] - c.root.shape.byte_size)
)  # nothing is written
mistake("nb11.fused", "wrong-bytes")(lambda c: (fused()(c)[0], fused()(c)[1] // 4))  # elements
mistake("nb11.fused", "wrong-bytes")(lambda c: (fused()(c)[0], 0))
mistake("nb11.fused", "wrong-bytes")(
    lambda c: (
        fused()(c)[0],
        sum([p.shape.byte_size for p in c.parameters()]) + c.root.shape.byte_size,
    )
)
mistake("nb11.fused", "wrong-operations")(lambda c: fused()(c)[::-1])
mistake("nb11.fused", "no-pair")(lambda c: None)
mistake("nb11.fused", "no-pair")(lambda c: list(fused()(c)))
