"""Wrong answers to the exercises of notebook 07."""

from __future__ import annotations

from typing import Any

from tests.explorer.course.mistakes import mistake
from xla_explorer.course.fusion_plan import (
    default_plan,
    is_given,
    plan_cost,
    plan_refusal,
    required,
)


def times(
    write: int = 1,
    reads: Any = None,
    launch: bool = True,
    work: int = 1,
    inputs: Any = None,
    slowest: bool = False,
    width: Any = None,
) -> Any:
    """Answers to nb07.cheaper that count something else."""

    def answer(p: Any, machine: Any) -> Any:
        size = p.elements * (width or p.element_bytes)
        computing, readers = (
            p.elements * p.work / machine.peak,
            p.readers if reads is None else reads(p),
        )
        moved = (p.inputs + size * (write + readers)) / machine.bandwidth
        stored = max(moved, computing * work) if slowest else moved + computing * work
        again = (
            p.readers if inputs is None else inputs(p)
        ) * p.inputs / machine.bandwidth + p.readers * computing
        return stored + machine.launch * launch, again

    return answer


mistake("nb07.cheaper", "wrong-stored")(times(write=0))
mistake("nb07.cheaper", "wrong-stored")(times(reads=lambda p: 1))  # one reader's read
mistake("nb07.cheaper", "wrong-stored")(times(launch=False))
mistake("nb07.cheaper", "wrong-stored")(times(work=2))
mistake("nb07.cheaper", "wrong-stored")(
    times(slowest=True)
)  # as if memory and arithmetic overlapped
mistake("nb07.cheaper", "wrong-stored")(times(width=1))  # elements are not bytes
mistake("nb07.cheaper", "wrong-stored")(times(width=4))
mistake("nb07.cheaper", "wrong-again")(times(inputs=lambda p: 1))  # the inputs read once
mistake("nb07.cheaper", "wrong-again")(times(inputs=lambda p: p.readers + 1))
mistake("nb07.cheaper", "wrong-stored")(lambda p, machine: times()(p, machine)[::-1])
mistake("nb07.cheaper", "no-pair")(lambda p, machine: min(times()(p, machine)))
mistake("nb07.cheaper", "no-pair")(lambda p, machine: "stored")


def improved(better: Any, start: Any = default_plan, rounds: int = 100) -> Any:
    """Answers to nb07.plan that change one instruction at a time."""

    def plan(computation: Any) -> Any:
        stored = set(start(computation))
        for _ in range(rounds):
            free = [
                i
                for i in computation.post_order()
                if not is_given(i) and i not in required(computation)
            ]
            found = [other for i in free if better(computation, stored, other := stored ^ {i})]
            if not found:
                break
            stored = min(found, key=lambda other: plan_cost(computation, other).bytes)
        return stored

    return plan


def fewer(computation: Any, old: Any, new: Any) -> bool:
    return plan_cost(computation, new).bytes < plan_cost(computation, old).bytes


mistake("nb07.plan", "too-much-work")(improved(fewer))  # whatever it costs
mistake("nb07.plan", "no-gain")(
    improved(
        lambda c, old, new: (
            plan_refusal(c, new) is None
            and plan_cost(c, new).operations < plan_cost(c, old).operations
        )
    )
)
mistake("nb07.plan", "must-be-stored")(
    lambda computation: default_plan(computation) - required(computation)
)
mistake("nb07.plan", "another-form")(
    lambda computation: {i.name for i in default_plan(computation)}
)
mistake("nb07.plan", "no-gain")(default_plan)
mistake("nb07.plan", "too-much-work")(required)
mistake("nb07.plan", "must-be-stored", 2)(lambda computation: set())
mistake("nb07.plan", "worse-than-default", 3)(
    lambda computation: {i for i in computation.instructions.values() if not is_given(i)}
)

mistake("nb07.plan", "no-gain")(improved(fewer, rounds=0))
mistake("nb07.plan", "not-of-this-computation")(
    lambda computation: default_plan(computation.module.clone().entry)
)
mistake("nb07.plan", "worse-than-default")(
    lambda computation: (
        default_plan(computation)
        | {i for i in computation.instructions.values() if len(i.users) == 1 and not is_given(i)}
    )
)
mistake("nb07.plan", "too-much-work")(
    lambda computation: (
        required(computation)
        | {computation.root} - {i for i in computation.instructions.values() if is_given(i)}
    )
)
mistake("nb07.plan", "another-form")(lambda computation: len(default_plan(computation)))
mistake("nb07.plan", "another-form")(lambda computation: None)
mistake("nb07.plan", "must-be-stored")(
    lambda computation: {i for i in computation.instructions.values() if i.opcode.name == "reduce"}
)
mistake("nb07.plan", "must-be-stored")(
    lambda computation: {i for i in default_plan(computation) if len(i.users) > 1}
)  # readers, and not the results
mistake("nb07.plan", "must-be-stored")(
    lambda computation: {i for i in default_plan(computation) if i.opcode.name != "dot"}
)
mistake("nb07.plan", "must-be-stored")(lambda computation: {computation.root})
mistake("nb07.plan", "no-gain")(
    lambda computation: (
        default_plan(computation)
        | {i for i in computation.instructions.values() if len(i.users) > 2 and not is_given(i)}
    )
)
mistake("nb07.plan", "too-much-work")(  # of what has several readers only the expensive
    lambda computation: (
        required(computation)
        | {i for i in default_plan(computation) if i.opcode.name in ("tanh", "log")}
    )
)
