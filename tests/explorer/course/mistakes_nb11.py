"""Wrong answers to the exercises of notebook 11."""

from __future__ import annotations

from typing import Any

from tests.explorer.course.mistakes import mistake
from tests.notebooks.course_notebooks import solution_cells

SCOPE: dict[str, Any] = {"MOVES": {"broadcast", "transpose", "copy", "reshape"}}
exec("import math", SCOPE)
for _cell in ("nb11.cost", "nb11.fused", "nb11.predict"):
    if solution_cells():
        exec(solution_cells()[_cell], SCOPE)

mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: (i.shape.element_count, i.shape.byte_size))  # operands come from nowhere
mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: (i.shape.element_count, 2 * i.shape.element_count))  # elements are not bytes
mistake("nb11.cost", "wrong-cost-convert", 2)(
    lambda i: SCOPE["cost"](i) if i.opcode.name != "convert" else (i.shape.element_count, 2 * i.shape.byte_size)
)
mistake("nb11.cost", "wrong-cost-exponential", 2)(
    lambda i: SCOPE["cost"](i) if i.opcode.name != "exponential" else (10 * i.shape.element_count, 2 * i.shape.byte_size)
)
mistake("nb11.cost", "wrong-cost-negate", 2)(lambda i: list(SCOPE["cost"](i)))  # not a pair as asked
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: max(o / peak, b / bandwidth))  # seconds
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: peak if b == 0 else max(peak, o / b * bandwidth))
mistake("nb11.bound", "wrong-roof")(lambda o, b, peak, bandwidth: peak if b == 0 else o / b * bandwidth)  # no flat part
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
        return sum([SCOPE["cost"](i)[0] for i in work]), sum([i.shape.byte_size for i in [*read, *written]])

    return answer


mistake("nb11.fused", "wrong-bytes", 3)(fused(needed=False))  # what is dead costs nothing
mistake("nb11.fused", "wrong-bytes", 3)(fused(once=False))  # x * x reads x once now
mistake("nb11.fused", "wrong-bytes", 5)(fused(constants=True))
mistake("nb11.fused", "wrong-bytes", 3)(fused(inner=True))  # as if nothing was fused
mistake("nb11.fused", "no-pair")(lambda computation: sum(fused()(computation)))
mistake("nb11.fused", "wrong-operations", 2)(lambda computation: (computation.root.shape.element_count * 2, fused()(computation)[1]))
mistake("nb11.fused", "wrong-bytes", 2)(lambda computation: (fused()(computation)[0], 2 * computation.root.shape.byte_size + 1))
mistake("nb11.fused", "wrong-bytes", 4)(  # all parameters, needed or not
    lambda computation: (
        fused()(computation)[0],
        fused()(computation)[1] + sum([p.shape.byte_size for p in computation.parameters() if not p.users and p is not computation.root]),
    )
)


def level(machine, touched):
    return next(speed for size, speed in machine.levels if touched <= size)


mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: max(o / machine.peak, m / level(machine, t)))  # no launch
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: machine.launch + o / machine.peak + m / level(machine, t))
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: machine.launch + max(o / machine.peak, m / level(machine, m)))  # what moves
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: machine.launch + max(o / machine.peak, t / level(machine, t)))
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: machine.launch + max(o / machine.peak, m / machine.levels[-1][1]))
mistake("nb11.predict", "wrong-time")(lambda o, m, t, machine: max(machine.launch, o / machine.peak, m / level(machine, t)))


@mistake("nb11.predict", "wrong-time")
def _(operations, moved, touched, machine):  # a level that is just full is taken for too small
    speed = next((speed for size, speed in machine.levels if touched < size), machine.levels[-1][1])
    return machine.launch + max(operations / machine.peak, moved / speed)
