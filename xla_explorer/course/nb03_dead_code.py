"""Notebook 03, a pass is a function: dead code elimination."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.course.checking.passes import Pass, check_pass
from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, exercise, looking_at
from xla_explorer.course.checking.result import Failure, program_text
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

FIXED = (
    """HloModule nothing_to_do
ENTRY main { p = f32[2] parameter(0)  ROOT n = f32[2] negate(p) }""",
    """HloModule one_dead
ENTRY main { p = f32[2] parameter(0)  d = f32[2] exponential(p)  ROOT n = f32[2] negate(p) }""",
    """HloModule a_dead_chain
ENTRY main { p = f32[2] parameter(0)  a = f32[2] exponential(p)  b = f32[2] add(a, a)  c = f32[2] multiply(b, a)
  ROOT n = f32[2] negate(p) }""",
    """HloModule unused_parameter
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  ROOT n = f32[2] negate(p) }""",
    """HloModule dead_parameter_user
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  d = f32[2] add(p, q)  ROOT n = f32[2] negate(p) }""",
    """HloModule prints_something
ENTRY main { p = f32[2] parameter(0)  e = f32[2] exponential(p)  t = token[] after-all()  o = token[] outfeed(e, t)
  ROOT n = f32[2] negate(p) }""",
    """HloModule dead_inside
body { c = (s32[], f32[2]) parameter(0)  k = s32[] get-tuple-element(c), index=0  x = f32[2] get-tuple-element(c), index=1
  one = s32[] constant(1)
  next = s32[] add(k, one)  unused = f32[2] exponential(x)  y = f32[2] add(x, x)  ROOT r = (s32[], f32[2]) tuple(next, y) }
condition { c = (s32[], f32[2]) parameter(0)  k = s32[] get-tuple-element(c), index=0  limit = s32[] constant(3)
  ROOT less = pred[] compare(k, limit), direction=LT }
ENTRY main { p = f32[2] parameter(0)  zero = s32[] constant(0)  start = (s32[], f32[2]) tuple(zero, p)
  w = (s32[], f32[2]) while(start), condition=condition, body=body  ROOT r = f32[2] get-tuple-element(w), index=1 }""",
    """HloModule dead_reduce
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main { p = f32[2] parameter(0)  zero = f32[] constant(0)  d = f32[] reduce(p, zero), dimensions={0}, to_apply=add
  ROOT n = f32[2] negate(p) }""",
)


# A search that visits an operand once for each of its readers takes 2^60 visits here.
SHARED = (
    "HloModule shared_sixty_times\nENTRY main { x0 = f32[2] parameter(0)  "
    + "".join(
        [
            f"{'ROOT ' if k == 60 else ''}x{k} = f32[2] add(x{k - 1}, x{k - 1})  "
            for k in range(1, 61)
        ]
    )
    + "}"
)


def modules(count: int = 60) -> Iterator[HloModule]:
    """Yield the fixed edge cases, then random programs."""
    yield from map(parse_hlo, FIXED)
    for seed in range(count):
        yield random_program(seed)


def live_instructions(module: HloModule) -> set[HloInstruction]:
    """Return all parameters, and the instructions that roots and side effects need.

    All computations that the entry reaches are searched.
    """
    live: set[HloInstruction] = set()
    for computation in module.post_order_computations():
        stack = [
            i
            for i in computation.instructions.values()
            if i is computation.root or i.opcode.name == "parameter" or has_side_effect(i)
        ]
        while stack:
            i = stack.pop()
            if i not in live:
                live.add(i)
                stack += [*i.operands, *i.control_predecessors]
    return live


@exercise(
    "nb03.live",
    "Write live(computation): the set of instructions that the root needs, the root among them.",
    "Put the root on a stack; while the stack is not empty, take one and push its operands.",
    hints=(
        (
            "Look at each instruction once: a set of those already seen decides whether its "
            "operands are pushed."
        ),
        (
            "Without that set a shared operand would be visited again and again: 2^60 times in "
            "one of the programs."
        ),
    ),
)
def live(function: object) -> Cases:
    """Check sets of instructions of one computation, without side effects."""

    def test(module: HloModule) -> Failure | None:
        with looking_at(module):
            got = function(module.entry)  # type: ignore[operator]
            names = sorted([i.name for i in got])
        needed: set[HloInstruction] = set()
        stack = [module.entry.root]
        while stack:
            i = stack.pop()
            if i not in needed:
                needed.add(i)
                stack += i.operands
        want = sorted([i.name for i in needed])
        if names == want:
            return None
        missing = sorted(set(want) - set(names))
        hint = (
            f"%{missing[0]} is an operand of something that is needed."
            if missing
            else f"Nothing that the root needs reads %{sorted(set(names) - set(want))[0]}."
            if set(names) - set(want)
            else "Return a set: each instruction once."
        )
        return Failure(
            "other-set", "The root needs another set.", str(want), str(names), module, hint=hint
        )

    yield from cases_of(
        [parse_hlo(text) for text in (*FIXED[:5], FIXED[7], SHARED)]
        + [random_program(seed) for seed in range(30)],
        test,
    )


def _nothing_dead_left(before: HloModule, after: HloModule) -> Failure | None:
    live = live_instructions(after)
    dead = [
        i
        for computation in after.post_order_computations()
        for i in computation.instructions.values()
        if i not in live
    ]
    if not dead:
        return None
    inside = dead[0].parent is not after.entry
    needed = live_instructions(before)
    chain = any(
        o not in needed and i not in needed for i in before.instructions() for o in i.operands
    )
    hint = (
        "Every computation has dead code of its own: walk module.computations.values()."
        if inside
        else "Removing an instruction can make its operands dead: walk from users to operands."
        if chain
        else "It has no users and is not the root: nothing keeps it alive."
    )
    return Failure(
        "dead-left",
        f"%{dead[0].name} is dead and still there.",
        f"no %{dead[0].name}",
        program_text(after),
        before,
        hint=hint,
    )


@exercise(
    "nb03.dce",
    "Write dce(module): remove what cannot be observed, return whether anything was removed.",
    "First find the instructions without users that are not the root.",
    hints=(
        "An instruction stays if it has users, is the root, is a parameter, or has a side effect.",
        (
            "Walk from users to operands: the reversed post order visits an instruction after "
            "all its users."
        ),
        "Every computation has dead code of its own: module.computations.values().",
    ),
)
def dce(run: Pass) -> Cases:
    """Check that values, effects and signature stay, and that no computation has dead code."""
    yield from check_pass(
        run,
        modules(),
        _nothing_dead_left,
        value_hint="Something that was needed is gone: what keeps an instruction alive?",
    )
