"""Notebook 06, fusion I: legality of two operations in one kernel, and reasons against it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of, smallest, tested
from xla_explorer.course.checking.registry import Cases, exercise, looking_at
from xla_explorer.course.checking.result import Failure
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

KERNELS_OF_THEIR_OWN = frozenset(
    ["dot", "convolution", "sort", "fft", "custom-call", "while", "conditional", "call"]
)

_ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }"
TABLE = f"""HloModule table
{_ADD}
ENTRY main {{
  x = f32[4,4] parameter(0)
  zero = f32[] constant(0)
  e = f32[4,4] exponential(x)
  n = f32[4,4] negate(e)
  sum = f32[4] reduce(n, zero), dimensions={{1}}, to_apply=add
  wide = f32[4,4] broadcast(sum), dimensions={{0}}
  quotient = f32[4,4] divide(e, wide)
  product = f32[4,4] dot(quotient, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  tail = f32[4,4] tanh(product)
  start = token[] after-all()
  printed = token[] outfeed(tail, start)
  late = f32[4,4] abs(n), control-predecessors={{n}}
  last = f32[4,4] add(late, tail), control-predecessors={{e}}
  halves = (f32[4,4], f32[4]) tuple(last, sum)
  ROOT first = f32[4,4] get-tuple-element(halves), index=0
}}"""
TABLE_PAIRS = (
    ("e", "n"),
    ("n", "e"),
    ("x", "e"),
    ("zero", "sum"),
    ("n", "sum"),
    ("sum", "wide"),
    ("e", "quotient"),
    ("wide", "quotient"),
    ("quotient", "product"),
    ("product", "tail"),
    ("tail", "printed"),
    ("n", "late"),
    ("late", "last"),
    ("last", "halves"),
    ("sum", "halves"),
    ("halves", "first"),
)


def _ways_round(producer: HloInstruction, consumer: HloInstruction) -> set[str]:
    """Return the names on paths from producer to consumer other than the edge between them.

    Paths consist of operands and control edges.
    """
    readers: dict[HloInstruction, list[HloInstruction]] = defaultdict(list)
    for i in producer.parent.instructions.values():
        for before in (*i.operands, *i.control_predecessors):
            readers[before].append(i)
    below: set[HloInstruction] = set()
    stack = list(readers[producer])
    while stack:
        i = stack.pop()
        if i not in below and i is not consumer:
            below.add(i)
            stack += readers[i]
    found: set[str] = set()
    stack = [*consumer.operands, *consumer.control_predecessors]
    while stack:
        i = stack.pop()
        if i in below and i.name not in found:
            found.add(i.name)
            stack += [*i.operands, *i.control_predecessors]
    return found


def _verdict(producer: HloInstruction, consumer: HloInstruction) -> tuple[str, str]:
    """Return code and sentence of the first rule that refuses, or `accepted`.

    The rules have the order of the notebook.
    """
    if producer not in consumer.operands:
        return "not-an-operand", f"%{consumer.name} does not read %{producer.name}"
    for i in (producer, consumer):
        if i.opcode.name in ("parameter", "constant", "tuple", "get-tuple-element", "after-all"):
            return "no-loop", f"%{i.name} is a {i.opcode.name}: it computes nothing"
        if has_side_effect(i):
            return "side-effect", f"%{i.name} has a side effect"
        if i.opcode.name in KERNELS_OF_THEIR_OWN:
            return "own-kernel", f"%{i.name} is a {i.opcode.name}, a kernel of its own"
    if producer.opcode.name == "reduce":
        return "reduce-is-root-only", f"%{producer.name} is complete only after its loop"
    if producer in consumer.control_predecessors:
        return "control-dependency", f"%{consumer.name} must start after %{producer.name} has ended"
    between = _ways_round(producer, consumer)
    if between:
        return "would-create-cycle", f"the kernel would wait for itself, through %{min(between)}"
    return "accepted", ""


@exercise(
    "nb06.path",
    "Write other_path(producer, consumer): the instructions of a second way, ends included, or "
    "None.",
    "Start from the consumer's operands that are not the producer.",
    hints=(
        "Walk backwards from those operands; the producer found there closes a second way.",
        "Control predecessors are edges, too.",
        (
            "Keep for each instruction the user from which you came: the way can be read off at "
            "the end."
        ),
    ),
)
def path(function: Callable[[HloInstruction, HloInstruction], Any]) -> Cases:
    """Check that a returned path is one, and that None is returned only without a path."""

    def problem(producer: HloInstruction, consumer: HloInstruction) -> tuple[str, str, str] | None:
        between, got = _ways_round(producer, consumer), function(producer, consumer)
        if not between or got is None:
            there = f"a path through %{min(between)}" if between else "None"
            return (
                None
                if not between and got is None
                else ("missed-path" if between else "no-such-path", there, str(got))
            )
        steps = list(got)
        joined = all(
            a in (*b.operands, *b.control_predecessors) for a, b in itertools.pairwise(steps)
        )
        if len(steps) < 3 or steps[0] is not producer or steps[-1] is not consumer or not joined:
            return "not-a-path", f"for example one through %{min(between)}", str(got)
        return None

    hints = {
        "missed-path": (
            "Keep a stack of instructions to look at, and push operands and control predecessors "
            "of each."
        ),
        "no-such-path": "The direct edge does not count: at least one instruction must be between.",
        "not-a-path": (
            "It starts at the producer, ends at the consumer, has something between, and each "
            "reads the one before it."
        ),
    }

    def test(module: HloModule) -> Failure | None:
        with looking_at(module):
            for producer, consumer in _pairs(module):
                found = problem(producer, consumer)
                if found is not None:
                    where = f"From %{producer.name} to %{consumer.name}."
                    return Failure(
                        found[0], where, found[1], found[2], module, hint=hints[found[0]]
                    )
        return None

    yield from cases_of(_modules(30), test, alive=True)
    with looking_at(
        shared := parse_hlo(_SHARED)
    ):  # from %q no way leads anywhere, and 2^40 lead to %p
        asked = problem(shared.find("q"), shared.entry.root)
    yield asked and Failure(
        asked[0], "From %q to %x40.", asked[1], asked[2], shared, hint=hints[asked[0]]
    )


_HINTS = {
    "not-an-operand": "Fusion runs along an edge: is the producer among consumer.operands?",
    "no-loop": (
        "Parameters, constants, tuples, their elements and tokens have no loop to share; check "
        "both."
    ),
    "side-effect": "Check opcode.side_effect of both.",
    "own-kernel": "Some opcodes are a kernel of their own, as producer and as consumer.",
    "reduce-is-root-only": "A consumer that reads one element of a reduction needs its whole loop first.",
    "control-dependency": "consumer.control_predecessors lists the instructions that must have ended before.",
    "would-create-cycle": "Look for a second way from the producer to the consumer: walk from "
    "the consumer's other operands (and control "
    "predecessors) upwards.",
    "accepted": "None of the seven rules refuses this pair. Which of yours did?",
}


def _modules(count: int) -> list[HloModule]:
    diamond = """HloModule diamond
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] abs(a)  ROOT r = f32[2] add(a, b) }"""
    around_dot = """HloModule around
ENTRY main { p = f32[2,2] parameter(0)  a = f32[2,2] negate(p)  d = f32[2,2] dot(a, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[2,2] add(a, d) }"""
    by_control = """HloModule by_control
ENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  w = f32[2] abs(p), control-predecessors={a}  ROOT r = f32[2] add(a, w) }"""
    return [
        *map(parse_hlo, (TABLE, diamond, around_dot, by_control)),
        *[random_program(seed, 8) for seed in range(count)],
    ]


_SHARED = (
    "HloModule shared_forty_times\nENTRY main { q = f32[2] parameter(0)  x0 = f32[2] parameter(1)  "
    + "".join([f"x{k} = f32[2] add(x{k - 1}, x{k - 1})  " for k in range(1, 40)])
    + "ROOT x40 = f32[2] add(x39, x39) }"
)


def _pairs(module: HloModule) -> list[tuple[HloInstruction, HloInstruction]]:
    order = module.entry.post_order()
    return [(p, c) for c in order for p in order if p is not c]


@exercise(
    "nb06.legality",
    "Write may_merge(producer, consumer): None, or an xe.Reason with the right code.",
    "Start with rule 1: `not-an-operand`.",
    hints=(
        "Check the rules in the order of the table: the first that is broken gives the code.",
        "An opcode without a loop, and one with a kernel of its own, have codes of their own.",
        "The last rule is the one of exercise 2: a second way from the producer to the consumer.",
    ),
)
def legality(function: Callable[[HloInstruction, HloInstruction], Any]) -> Cases:
    """Check the code of the first rule that refuses, for listed pairs and small random programs."""

    def test(module: HloModule, only: tuple[tuple[str, str], ...] = ()) -> Failure | None:
        with looking_at(module):
            return first_wrong(module, only)

    def first_wrong(module: HloModule, only: tuple[tuple[str, str], ...]) -> Failure | None:
        pairs = [(module.find(p), module.find(c)) for p, c in only] or _pairs(module)
        for producer, consumer in pairs:
            expected, why = _verdict(producer, consumer)
            got = function(producer, consumer)
            if got is not None and not isinstance(got, Reason):
                return Failure(
                    "no-reason",
                    f"%{producer.name} into %{consumer.name}: a refusal is an xe.Reason(code, "
                    "message).",
                    "None or xe.Reason",
                    repr(got),
                    module,
                )
            if expected != ("accepted" if got is None else got.code):
                return Failure(
                    f"wrong-code-{expected}",
                    f"%{producer.name} into %{consumer.name}.",
                    f"{expected}: {why}" if why else expected,
                    str(got or "accepted"),
                    module,
                    hint=_HINTS[expected],
                )
            if got is not None and not got.message:
                return Failure(
                    "no-message",
                    f"%{producer.name} into %{consumer.name}: the reason has no sentence.",
                    "a sentence that names an instruction",
                    repr(got),
                    module,
                )
        return None

    table = parse_hlo(TABLE)
    for pair in TABLE_PAIRS:
        failure = tested(partial(test, only=(pair,)), table)
        yield (
            smallest(table, test, failure, alive=True)
            if failure and tested(test, table)
            else failure
        )
    yield from cases_of(_modules(30), test, alive=True)
