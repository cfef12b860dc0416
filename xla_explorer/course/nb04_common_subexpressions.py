"""Notebook 04, common subexpression elimination."""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.course.checking.passes import Afterwards, Pass, check_pass
from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.registry import Cases, exercise
from xla_explorer.course.checking.result import Failure, program_text
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_REDUCERS = """
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
largest { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }
"""
FIXED = (
    """HloModule nothing_equal
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] abs(p)  ROOT r = f32[2] add(a, b) }""",
    """HloModule two_equal
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] negate(p)  ROOT r = f32[2] add(a, b) }""",
    """HloModule equal_after_merging
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] negate(p)  c = f32[2] abs(a)  d = f32[2] abs(b)
  ROOT r = f32[2] add(c, d) }""",
    """HloModule two_parameters
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  ROOT r = f32[2] subtract(p, q) }""",
    """HloModule equal_constants
ENTRY main { p = f32[] parameter(0)  c = f32[] constant(2)  d = f32[] constant(2)  a = f32[] multiply(p, c)  b = f32[] multiply(p, d)
  ROOT r = f32[] add(a, b) }""",
    """HloModule other_constants
ENTRY main { p = f32[] parameter(0)  c = f32[] constant(2)  d = f32[] constant(3)  a = f32[] multiply(p, c)
  ROOT r = f32[] multiply(a, d) }""",
    """HloModule signs_of_zero
ENTRY main { p = f32[] parameter(0)  c = f32[] constant(0)  d = f32[] constant(-0)  a = f32[] multiply(p, c)  b = f32[] multiply(p, d)
  ROOT r = (f32[], f32[]) tuple(a, b) }""",
    """HloModule other_attributes
ENTRY main { p = f32[2,2] parameter(0)  a = f32[2,2] broadcast(f32[2] slice_), dimensions={0}
  b = f32[2,2] broadcast(slice_), dimensions={1}  ROOT r = f32[2,2] subtract(a, b) }""".replace(
        "a = f32[2,2] broadcast(f32[2] slice_)",
        "s = f32[1,2] slice(p), slice={[0:1], [0:2]}  slice_ = f32[2] reshape(s)  a = f32[2,2] broadcast(slice_)",
    ),
    """HloModule other_types
ENTRY main { p = f32[2] parameter(0)  a = f64[2] convert(p)  b = s32[2] convert(p)  ROOT r = (f64[2], s32[2]) tuple(a, b) }""",
    f"""HloModule other_functions
{_REDUCERS}
ENTRY main {{ p = f32[3] parameter(0)  z = f32[] constant(0)  a = f32[] reduce(p, z), dimensions={{0}}, to_apply=sum
  b = f32[] reduce(p, z), dimensions={{0}}, to_apply=largest  ROOT r = f32[] subtract(a, b) }}""",
    f"""HloModule same_function
{_REDUCERS.split("largest")[0]}
ENTRY main {{ p = f32[3] parameter(0)  z = f32[] constant(0)  a = f32[] reduce(p, z), dimensions={{0}}, to_apply=sum
  b = f32[] reduce(p, z), dimensions={{0}}, to_apply=sum  ROOT r = f32[] multiply(a, b) }}""",
    """HloModule effects
ENTRY main { p = f32[2] parameter(0)  t = token[] after-all()  o = token[] outfeed(p, t)  u = token[] outfeed(p, t)
  ROOT n = f32[2] negate(p) }""",
    """HloModule dice
ENTRY main { lo = f32[] constant(0)  hi = f32[] constant(1)  a = f32[3] rng(lo, hi), distribution=rng_uniform
  b = f32[3] rng(lo, hi), distribution=rng_uniform  ROOT r = f32[3] subtract(a, b) }""",
    """HloModule not_commutative
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  a = f32[2] subtract(p, q)  b = f32[2] subtract(q, p)
  ROOT r = (f32[2], f32[2]) tuple(a, b) }""",
    """HloModule root_is_a_copy
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] add(a, a)  ROOT r = f32[2] add(a, a) }""",
)
COMMUTED = (
    """HloModule swapped
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  a = f32[2] add(p, q)  b = f32[2] add(q, p)
  ROOT r = f32[2] multiply(a, b) }""",
    """HloModule swapped_deeper
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  a = f32[2] multiply(p, q)  b = f32[2] multiply(q, p)
  c = f32[2] maximum(a, p)
  d = f32[2] maximum(p, b)  ROOT r = f32[2] add(c, d) }""",
    """HloModule outer_and_inner
ENTRY main { p = f32[2] parameter(0)  q = f32[2] parameter(1)  s = f32[2] parameter(2)  t = f32[2] parameter(3)
  a = f32[2] add(p, t)  b = f32[2] add(q, s)  c = f32[2] add(p, q)  d = f32[2] add(p, s)
  ROOT r = (f32[2], f32[2], f32[2], f32[2]) tuple(a, b, c, d) }""",
)


def modules(count: int = 60) -> Iterator[HloModule]:
    """Yield the fixed edge cases, then random programs with repeated operations."""
    yield from map(parse_hlo, FIXED)
    for seed in range(count):
        yield random_program(seed, duplicates=0.4, constants=0.3)


def equal_pair(
    module: HloModule, commutative: bool
) -> tuple[HloInstruction, HloInstruction] | None:
    """Return two structurally equal instructions of the entry, or None."""
    seen: dict[object, HloInstruction] = {}
    for i in module.entry.post_order():
        if i.opcode.name in ("parameter", "after-all", "tuple") or has_side_effect(i):
            continue
        operands = [o.id for o in i.operands]
        if commutative and i.opcode.commutative:
            operands.sort()
        payload = i.payload.key if isinstance(i.payload, Literal) else i.payload
        called = tuple([str(c).split("{", 1)[-1] for c in i.called])
        first = seen.setdefault(
            (i.opcode.name, i.shape, tuple(operands), i.attributes, called, payload), i
        )
        if first is not i:
            return first, i
    return None


def _none_left(commutative: bool) -> Afterwards:
    def look(before: HloModule, after: HloModule) -> Failure | None:
        pair = equal_pair(after, commutative)
        if pair is None:
            return None
        first, second = pair
        hint = (
            "Visit in post order, and look instructions up after their operands have been merged."
            if first.operands
            else "Constants without operands are equal when their values are: use i.payload.key."
        )
        if commutative and first.operands != second.operands:
            hint = (
                "For a commutative opcode (i.opcode.commutative), the order of operands must not "
                "show in the key: sort it."
            )
        return Failure(
            "equal-left",
            f"%{first.name} and %{second.name} compute the same.",
            "one of the two",
            program_text(after),
            before,
            hint=hint,
        )

    return look


_VALUE_HINT = (
    "Two instructions were merged that are not equal. What must a key contain besides opcode and "
    "operands? Shape, attributes, called "
    "computations, and for constants the value to the bit."
)
_FORM_HINT = (
    "Were two instructions of different shapes or types merged? The replacement of an "
    "instruction must have its shape: put the shape into "
    "the key. If it is there, look at the order of your mutations: replace first, remove "
    "afterwards."
)


@exercise(
    "nb04.cse",
    "Write cse(module): of equal instructions keep one; return whether anything was merged.",
    "Visit the entry in post order with a dictionary from keys to the first instruction seen.",
    hints=(
        (
            "Two instructions are equal when opcode, operands, attributes and shape are: make a "
            "tuple of them."
        ),
        (
            "When the key is known already: computation.replace(i, first), and remember that "
            "something changed."
        ),
        (
            "Instructions with side effects or random numbers are never merged; +0 and -0 are "
            "different constants."
        ),
    ),
)
def cse(run: Pass) -> Cases:
    """Check that values stay, and that no two instructions of the entry are equal.

    Equality is that of opcode, shape, operands, attributes, calls and value.
    """
    yield from check_pass(
        run, modules(), _none_left(False), value_hint=_VALUE_HINT, form_hint=_FORM_HINT
    )


@exercise(
    "nb04.commutative",
    "Merge a + b with b + a too.",
    "Change the key of your cse, nothing else.",
    hints=(
        (
            "i.opcode says whether operands may be swapped; sort the operands' identities then, "
            "and only then."
        ),
        (
            "Sort by something that does not change while the pass runs: the place in the post "
            "order, or id()."
        ),
    ),
)
def commutative(run: Pass) -> Cases:
    """Check the same with swapped operands of commutative opcodes."""
    swapped = [parse_hlo(text) for text in COMMUTED]
    yield from check_pass(
        run,
        [*swapped, *modules(30)],
        _none_left(True),
        value_hint=_VALUE_HINT,
        form_hint=_FORM_HINT,
    )
