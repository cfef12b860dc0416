"""Notebook 07, fusion II: the choice of results to store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.course.fusion_plan import default_plan, plan_cost, plan_refusal
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT total = f32[] add(a, b) }"
MODELS: dict[str, str] = {
    "diamond": """HloModule diamond
ENTRY main { x = f32[1000] parameter(0)  y = f32[1000] parameter(1)  a = f32[1000] add(x, y)  b = f32[1000] negate(a)  c = f32[1000] abs(a)
  ROOT r = (f32[1000], f32[1000]) tuple(b, c) }""",
    "softmax": f"""HloModule softmax
{_ADD}
ENTRY main {{ x = f32[64,128] parameter(0)  m = f32[64] parameter(1)  zero = f32[] constant(0)
  mb = f32[64,128] broadcast(m), dimensions={{0}}
  d = f32[64,128] subtract(x, mb)  e = f32[64,128] multiply(d, d)  s = f32[64] reduce(e, zero), dimensions={{1}}, to_apply=add
  sb = f32[64,128] broadcast(s), dimensions={{0}}  ROOT q = f32[64,128] divide(e, sb) }}""",
    "moments": f"""HloModule moments
{_ADD}
ENTRY main {{ x = bf16[64,256] parameter(0)  zero = f32[] constant(0)  w = f32[64,256] convert(x)
  s = f32[64] reduce(w, zero), dimensions={{1}}, to_apply=add  q = f32[64,256] multiply(w, w)
  t = f32[64] reduce(q, zero), dimensions={{1}}, to_apply=add
  ROOT r = (f32[64], f32[64]) tuple(s, t) }}""",
    "broadcast_twice": """HloModule broadcast_twice
ENTRY main { v = f32[64] parameter(0)  x = f32[64,64] parameter(1)  w = f32[64,64] broadcast(v), dimensions={1}  a = f32[64,64] add(x, w)
  b = f32[64,64] multiply(x, w)  ROOT r = (f32[64,64], f32[64,64]) tuple(a, b) }""",
    "keep_the_expensive": """HloModule keep_the_expensive
ENTRY main { x = f32[500] parameter(0)  y = f32[500] parameter(1)  p = f32[500] power(x, y)  n = f32[500] negate(x)
  a = f32[500] add(p, n)  b = f32[500] multiply(p, n)
  c = f32[500] subtract(p, n)  ROOT r = (f32[500], f32[500], f32[500]) tuple(a, b, c) }""",
    "mlp": """HloModule mlp
ENTRY main { x = f32[32,64] parameter(0)  w = f32[64,48] parameter(1)  bias = f32[48] parameter(2)  u = f32[48,16] parameter(3)
  zero = f32[] constant(0)
  h = f32[32,48] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}  bb = f32[32,48] broadcast(bias), dimensions={1}
  a = f32[32,48] add(h, bb)
  z = f32[32,48] broadcast(zero), dimensions={}  act = f32[32,48] maximum(a, z)
  o = f32[32,16] dot(act, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  mask = pred[32,48] compare(a, z), direction=GT  ROOT r = (f32[32,16], pred[32,48]) tuple(o, mask) }""",
}
# The bytes that the reference solution moves.
REFERENCE_BYTES = {
    "diamond": 24000,
    "softmax": 99328,
    "moments": 66048,
    "broadcast_twice": 66048,
    "keep_the_expensive": 24000,
    "mlp": 58240,
}
TOLERANCE = 1.02


class Producer(NamedTuple):
    """A result that `readers` kernels need.

    elements, element_bytes: its size. inputs: bytes that it is computed from. work: operations for
    each element.
    """

    elements: int
    element_bytes: int
    inputs: int
    work: int
    readers: int


class Processor(NamedTuple):
    """A machine for the exercise's cost model.

    bandwidth: bytes per second. peak: operations per second. launch: seconds that each kernel after
    the first one costs.
    """

    bandwidth: float
    peak: float
    launch: float


CPU, GPU = Processor(20e9, 100e9, 1e-7), Processor(3e12, 60e12, 3e-6)
Planner = Callable[[HloComputation], Iterable[HloInstruction]]


def scores(planner: Planner) -> dict[str, tuple[int, int, int]]:
    """Return the bytes of each of the six programs: default, this planner, reference."""
    rows = {}
    for name, text in MODELS.items():
        entry = parse_hlo(text).entry
        rows[name] = (
            plan_cost(entry, default_plan(entry)).bytes,
            plan_cost(entry, planner(entry)).bytes,
            REFERENCE_BYTES[name],
        )
    return rows


@exercise(
    "nb07.cheaper",
    "Write cheaper(producer, processor): (seconds when it is stored, seconds when each reader "
    "computes it again).",
    "Count bytes, operations and further kernels for both; seconds = launch * kernels + bytes / "
    "bandwidth + operations / peak.",
    hints=(
        (
            "Stored: its inputs are read once, it is written once and read by each reader; one "
            "kernel more."
        ),
        (
            "Computed again: each reader reads all of its inputs and does all of its work; no "
            "kernel more."
        ),
        "element_bytes counts for the result. The inputs are given in bytes.",
    ),
)
def cheaper(function: Callable[[Producer, Processor], Any]) -> Cases:
    """Check cheap and expensive, small and large producers, with few and many readers.

    The processor is a CPU or a GPU.
    """
    free = Processor(1e9, 1e9, 0.0)
    for producer, processor in (
        (Producer(1, 4, 4, 1, 1), free), (Producer(1000, 4, 8000, 1, 2), free), (Producer(1000, 2, 8000, 1, 2), free),
        (Producer(1000, 4, 8000, 20, 2), free), (Producer(1000, 4, 0, 0, 5), free), (Producer(10**6, 4, 4000, 1, 3), CPU),
        (Producer(10**6, 4, 8 * 10**6, 10, 2), CPU), (Producer(100, 4, 400, 100, 8), CPU), (Producer(1000, 4, 8000, 1, 2), GPU),
        (Producer(10**7, 2, 4 * 10**7, 30, 4), GPU), (Producer(10**7, 4, 4 * 10**7, 0, 1), GPU),
    ):  # fmt: skip
        size, operations = (
            producer.elements * producer.element_bytes,
            producer.elements * producer.work,
        )
        stored = (
            processor.launch
            + (producer.inputs + size * (1 + producer.readers)) / processor.bandwidth
            + operations / processor.peak
        )
        again = producer.readers * (
            producer.inputs / processor.bandwidth + operations / processor.peak
        )
        got = function(producer, processor)
        if not (
            isinstance(got, tuple)
            and len(got) == 2
            and all(isinstance(x, (int, float)) for x in got)
        ):
            raise WrongAnswerError(
                Failure(
                    "no-pair",
                    "The answer is a pair.",
                    "(stored, again)",
                    repr(got),
                    arguments=(producer, processor),
                )
            )
        for code, what, want, mine in (
            ("wrong-stored", "stored", stored, got[0]),
            ("wrong-again", "computed again", again, got[1]),
        ):
            if abs(mine - want) > 1e-9 * want:
                yield Failure(code, f"Another time is needed when it is {what}.", f"{want:g} s", f"{mine:g} s", None, (producer, processor),
                              "Write down the bytes, the operations and the kernels by themselves.")  # fmt: skip
        yield None


@exercise(
    "nb07.plan",
    "Write plan(computation): the set of instructions whose results are stored.",
    "Start with required(computation), and look at what default_plan adds.",
    hints=(
        "plan_cost returns the cost of a plan: compare it with and without one instruction.",
        (
            "Storing a value with several readers saves work, registers save traffic: store "
            "required values, then those that pay."
        ),
        "Repeat until no single change makes the plan cheaper.",
    ),
)
def plan(planner: Planner) -> Cases:
    """Check that the plans are valid and move few bytes.

    On each of the six programs a plan must move fewer bytes than the default. The sum may exceed
    the reference by 2 %.
    """

    def test(module: HloModule) -> Failure | None:
        with answering(module):
            stored = set(planner(module.entry))
        reason = plan_refusal(module.entry, stored)
        names = "{" + ", ".join(sorted([f"%{i.name}" for i in stored])) + "}"
        if reason is not None:
            hint = {
                "too-much-work": (
                    "Something expensive is computed in several kernels, or once per element of "
                    "a broadcast: store it."
                ),
                "must-be-stored": "Start from required(computation) and only add to it.",
            }.get(reason.code, "Return instructions of this computation.")
            return Failure(
                reason.code,
                reason.message[0].upper() + reason.message[1:] + ".",
                "a plan",
                names,
                module,
                hint=hint,
            )
        default, mine = (
            plan_cost(module.entry, default_plan(module.entry)),
            plan_cost(module.entry, stored),
        )
        if mine.bytes > default.bytes:
            return Failure(
                "worse-than-default",
                f"This plan moves {mine.bytes} bytes, the default {default.bytes}.",
                f"at most {default.bytes} bytes",
                f"{mine.bytes} bytes, storing {names}",
                module,
                hint="Compare both plans kernel by kernel: a result that is not stored makes each "
                "reader read all of its operands.",
            )
        return None

    programs = [parse_hlo(text) for text in MODELS.values()]
    yield from cases_of(
        [*programs, *[random_program(seed, 8) for seed in range(30)]], test, alive=True
    )
    table = scores(planner)
    total, best = sum([row[1] for row in table.values()]), sum([row[2] for row in table.values()])
    for (name, (default, mine, reference)), module in zip(table.items(), programs, strict=True):
        if mine >= default > reference:
            raise WrongAnswerError(
                Failure(
                    "no-gain",
                    f"On `{name}` this plan moves as many bytes as the default.",
                    f"fewer than {default} bytes",
                    f"{mine} bytes",
                    module,
                    hint="Which stored result is cheap to compute again from arrays that its "
                    "readers read anyway?",
                )
            )
        yield None
    if total > TOLERANCE * best:
        worst = max(table, key=lambda name: table[name][1] - table[name][2])
        raise WrongAnswerError(
            Failure(
                "more-to-gain",
                f"{total} bytes on all six programs; {best} are possible. Most is left on "
                f"`{worst}`.",
                f"at most {TOLERANCE * best:.0f}",
                str(total),
                parse_hlo(MODELS[worst]),
                hint="Try plan_cost with and without each instruction, and keep the best; repeat "
                "until nothing helps.",
            )
        )
    yield (
        f"{total} bytes moved on the six programs; the default moves "
        f"{sum([row[0] for row in table.values()])}, the reference {best}."
    )
