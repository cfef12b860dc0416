"""Wrong answers to the exercises of notebook 18."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.explorer.course.mistakes import mistake
from tests.notebooks.course_notebooks import solution_cells
from xla_explorer.course.nb18_jax_step import ArrayArgument, PythonNumber, StaticArgument

SCOPE: dict[str, Any] = {"np": np, "ArrayArgument": ArrayArgument, "StaticArgument": StaticArgument}
for _cell in ("nb18.traces", "nb18.pullback", "nb18.gradients"):
    if solution_cells():
        exec(solution_cells()[_cell], SCOPE)


def counted(array: Any = None, number: Any = None, static: Any = None, whole: Any = tuple) -> Any:
    """Answers to nb18.traces with another key for arrays, numbers, static arguments or calls."""
    narrow = {"float64": "float32", "int64": "int32"}
    of_array = array or (lambda a: (narrow.get(a.dtype, a.dtype), a.shape))
    of_number, of_static = (
        number or (lambda a: type(a.value)),
        static or (lambda a: ("static", a.value)),
    )

    def key(argument: Any) -> Any:
        kinds = {ArrayArgument: of_array, PythonNumber: of_number, StaticArgument: of_static}
        return kinds[type(argument)](argument)

    return lambda calls: len({whole(map(key, call)) for call in calls})


mistake("nb18.traces", "too-many")(len)
mistake("nb18.traces", "too-many")(lambda calls: len(set(calls)))
mistake("nb18.traces", "too-many")(counted(array=lambda a: a))  # float64 stays float64
mistake("nb18.traces", "too-few")(counted(array=lambda a: a.shape))
mistake("nb18.traces", "too-few")(counted(array=lambda a: a.dtype))
mistake("nb18.traces", "too-few")(counted(array=lambda a: (a.dtype, int(np.prod(a.shape)))))
mistake("nb18.traces", "too-few")(
    counted(array=lambda a: (a.dtype, len(a.shape), max(a.shape, default=0)))
)
mistake("nb18.traces", "too-many")(counted(number=lambda a: a.value))
mistake("nb18.traces", "too-few")(counted(number=lambda a: "number"))
mistake("nb18.traces", "too-few")(
    counted(number=lambda a: "int" if isinstance(a.value, int) else "float")
)  # True is an int
mistake("nb18.traces", "too-few")(counted(number=lambda a: ("float32", ())))  # weak types are types
mistake("nb18.traces", "too-few")(counted(static=lambda a: type(a.value)))
mistake("nb18.traces", "too-few")(counted(whole=frozenset))
mistake("nb18.traces", "no-number")(lambda calls: set(calls))


def pulled(name: str, change: Any) -> Any:
    """Return the reference with another answer for an operation."""
    return lambda i, operands, g: (change if i.opcode.name == name else lambda i, o, g, r: r)(
        i, operands, g, SCOPE["pullback"](i, operands, g)
    )


mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("tanh", lambda i, o, g, r: (g * (1 - o[0] ** 2),))
)  # of the operand, not the result
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("tanh", lambda i, o, g, r: (1 - np.tanh(o[0]) ** 2,))
)  # without g
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("multiply", lambda i, o, g, r: (g * o[0], g * o[1]))
)
mistake("nb18.pullback", "wrong-gradient", 3)(pulled("subtract", lambda i, o, g, r: (g, g)))
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("divide", lambda i, o, g, r: (g / o[1], g * o[0] / o[1] ** 2))
)
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("divide", lambda i, o, g, r: (g / o[1], -g * o[0] / o[1]))
)
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("cosine", lambda i, o, g, r: (g * np.sin(o[0]),))
)
mistake("nb18.pullback", "wrong-gradient", 3)(pulled("log", lambda i, o, g, r: (g * o[0],)))
mistake("nb18.pullback", "another-shape", 3)(pulled("transpose", lambda i, o, g, r: (g,)))
mistake("nb18.pullback", "another-shape", 3)(pulled("reshape", lambda i, o, g, r: (g,)))
mistake("nb18.pullback", "another-shape", 3)(pulled("broadcast", lambda i, o, g, r: (g,)))
mistake("nb18.pullback", "wrong-gradient", 3)(
    pulled("broadcast", lambda i, o, g, r: (np.ones_like(r[0]) * g.mean(),))
)
mistake("nb18.pullback", "another-shape", 6)(pulled("reduce", lambda i, o, g, r: (g, g.sum())))
mistake("nb18.pullback", "wrong-gradient", 6)(
    pulled("reduce", lambda i, o, g, r: (r[0], 0.0))
)  # the initial value
mistake("nb18.pullback", "wrong-gradient", 6)(
    pulled("reduce", lambda i, o, g, r: (r[0] / o[0].size, r[1]))
)  # as for a mean
mistake("nb18.pullback", "raised-ValueError", 4)(
    pulled("dot", lambda i, o, g, r: (g @ o[1], o[0] @ g))
)
mistake("nb18.pullback", "no-gradients", 3)(pulled("negate", lambda i, o, g, r: -g[0]))
mistake("nb18.pullback", "no-gradients", 3)(pulled("add", lambda i, o, g, r: (g,)))


def backwards(
    order: Any = reversed,
    joined: Any = np.add,
    start: Any = None,
    unused: Any = None,
    each_time: bool = False,
) -> Any:
    """Answers to nb18.gradients that go another way."""

    def answer(computation: Any, values: Any, pullback: Any) -> Any:
        found = {
            computation.root: np.ones(computation.root.shape.dimensions)
            if start is None
            else start(values[computation.root.name])
        }
        for i in order(computation.post_order()):
            if i in found and i.operands:
                given = pullback(i, [values[o.name] for o in i.operands], found[i])
                for operand, g in zip(i.operands, given, strict=True):
                    found[operand] = joined(found[operand], g) if operand in found else g
        return [
            found.get(p, np.zeros(p.shape.dimensions) if unused is None else unused)
            for p in computation.parameters()
        ]

    return answer


mistake("nb18.gradients", "wrong-gradient", 14)(
    backwards(joined=lambda old, new: new)
)  # the last share only
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(joined=lambda old, new: old))
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(order=list))  # forwards
mistake("nb18.gradients", "wrong-gradient", 14)(
    backwards(start=lambda value: value)
)  # the loss itself
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(joined=np.multiply))
mistake("nb18.gradients", "another-shape", 14)(backwards(unused=0.0))
mistake("nb18.gradients", "no-gradients", 14)(
    lambda computation, values, pullback: backwards()(computation, values, pullback)[:1]
)
mistake("nb18.gradients", "wrong-gradient", 14)(
    lambda c, values, pullback: [np.zeros(p.shape.dimensions) for p in c.parameters()]
)


@mistake("nb18.gradients", "wrong-gradient", 14)
def _(
    computation, values, pullback
):  # by users, each pulled back by itself: an instruction is handed on before it is complete
    found = {i: np.zeros(i.shape.dimensions) for i in computation.post_order()}
    todo = [(computation.root, np.ones(()))]
    while todo:
        i, g = todo.pop()
        found[i] = found[i] + g
        if i.operands:
            todo += list(
                zip(
                    i.operands,
                    pullback(i, [values[o.name] for o in i.operands], found[i]),
                    strict=True,
                )
            )
    return [found[p] for p in computation.parameters()]


def given_back(change):
    return lambda computation, values, pullback: change(
        backwards()(computation, values, pullback), computation
    )


mistake("nb18.gradients", "wrong-gradient", 14)(backwards(start=lambda value: np.ones(()) * 2))
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(start=lambda value: np.zeros(())))
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(joined=np.maximum))
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(joined=lambda old, new: (old + new) / 2))
mistake("nb18.gradients", "wrong-gradient", 14)(backwards(joined=np.subtract))
mistake("nb18.gradients", "wrong-gradient", 14)(
    given_back(lambda found, c: [-g for g in found])
)  # a step downhill
mistake("nb18.gradients", "no-gradients", 14)(
    given_back(lambda found, c: found[::-1] if len(found) < 2 else found[:-1])
)
mistake("nb18.gradients", "no-gradients", 14)(
    given_back(lambda found, c: dict(zip(c.parameters(), found, strict=True)))
)
mistake("nb18.gradients", "no-gradients", 14)(given_back(lambda found, c: None))
mistake("nb18.gradients", "another-shape", 14)(
    given_back(lambda found, c: [np.sum(g) for g in found])
)
mistake("nb18.gradients", "no-gradients", 14)(given_back(lambda found, c: found[0]))
