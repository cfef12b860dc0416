"""The execution order keeps dependences and low live memory for programs of any shape."""

from __future__ import annotations

import random

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import schedule_computation
from xla_explorer.compiler.transforms.scheduling.sequential_orders import (
    backward_order,
    forward_order,
    peak_bytes,
    written_order,
)
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text import parse_hlo

PIECES = 8


def scheduled(computation: HloComputation) -> list[HloInstruction]:
    return schedule_computation(computation, PassContext())


def pieces_of_a_chain() -> str:
    """Each step of a chain reads a piece of its own, cut out of one large argument."""
    lines, before = ["x = f32[64,16] parameter(0)", "start = f32[64,16] parameter(1)"], "start"
    for k in range(PIECES):
        lines.append(f"p{k} = f32[8,16] slice(x), slice={{[{8 * k}:{8 * k + 8}], [0:16]}}")
        lines.append(
            f"n{k} = f32[64,8] dot({before}, p{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"
        )
        lines.append(
            f"{'ROOT ' if k == PIECES - 1 else ''}o{k} = f32[64,16] dot(n{k}, p{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
        before = f"o{k}"
    return "HloModule m\nENTRY e {\n  " + "\n  ".join(lines) + "\n}"


def results_one_by_one() -> HloComputation:
    """Many wide results of which each is summed at once."""
    lines = ["x = f32[4] parameter(0)"]
    for k in range(PIECES):
        lines += [
            f"w{k} = f32[4,64] broadcast(x), dimensions={{0}}",
            f"t{k} = f32[4,64] tanh(w{k})",
            f"r{k} = f32[4,1] slice(t{k}), slice={{[0:4], [{k}:{k + 1}]}}",
        ]
    lines.append(
        f"ROOT c = f32[4,{PIECES}] concatenate({', '.join(f'r{k}' for k in range(PIECES))}), dimensions={{1}}"
    )
    return parse_hlo("HloModule m\nENTRY e {\n  " + "\n  ".join(lines) + "\n}").entry


def test_pieces_are_cut_when_they_are_wanted() -> None:
    entry = parse_hlo(pieces_of_a_chain()).entry
    piece, scores, result = 8 * 16 * 4, 64 * 8 * 4, 64 * 16 * 4
    assert peak_bytes(forward_order(entry)) >= (PIECES - 1) * piece + scores, (
        "greedy from the operands on: pieces weigh less than products"
    )
    assert peak_bytes(scheduled(entry)) <= piece + scores + 2 * result


def test_wide_results_do_not_wait_for_each_other() -> None:
    assert (
        peak_bytes(scheduled(results_one_by_one()))
        <= 2 * 4 * 64 * 4 + PIECES * 4 * 4 + 4 * PIECES * 4
    )


@pytest.mark.parametrize("order", [forward_order, backward_order, written_order, scheduled])
@pytest.mark.parametrize("seed", range(6))
def test_operands_and_control_predecessors_come_first(order, seed: int) -> None:
    choice, lines, names = random.Random(seed), [], []
    for k in range(60):
        operands = [choice.choice(names[-12:]) for _ in range(2)] if names else []
        after = (
            f", control-predecessors={{{choice.choice(names)}}}"
            if len(names) > 5 and choice.random() < 0.2
            else ""
        )
        shape = f"f32[{choice.choice((1, 8, 64))}]" if not operands else "f32[8]"
        lines.append(
            f'v{k} = {shape} custom-call({", ".join(operands)}), custom_call_target="f"{after}'
        )
        names.append(f"v{k}")
    lines[-1] = "ROOT " + lines[-1]
    entry = parse_hlo("HloModule m\nENTRY e {\n  " + "\n  ".join(lines) + "\n}").entry
    place = {i: number for number, i in enumerate(order(entry))}
    assert len(place) == len(entry.instructions) == 60
    assert all(
        place[before] < place[i] for i in place for before in (*i.operands, *i.control_predecessors)
    )


def test_an_update_in_place_waits_for_the_readers_of_its_buffer_in_every_order() -> None:
    entry = parse_hlo("""HloModule m
    ENTRY e {
      p = f32[64] parameter(0)  i = s32[] parameter(1)  u = f32[8] parameter(2)
      x = f32[64] negate(p)
      d = f32[64] dynamic-update-slice(x, u, i)
      h = f32[32] slice(x), slice={[0:32]}
      ROOT t = (f32[64], f32[32]) tuple(d, h)
    }""").entry
    names = [i.name for i in scheduled(entry)]
    assert names.index("h") < names.index("d")


def test_the_choice_of_an_order_is_a_decision_with_the_peaks_of_all() -> None:
    text = pieces_of_a_chain()
    [row] = (
        xe.compile(text, passes="memory-scheduler").decisions("execution-order").to_dict("records")
    )
    peaks = row["facts"]
    assert row["verdict"] == "accepted" and row["subjects"] == ("%o7",)
    assert peaks["peak_bytes_from_the_results"] < peaks["peak_bytes_from_the_operands"]
    kept = xe.compile(text, passes="memory-scheduler", forbid=[("execution-order", "o7")])
    assert kept.passes.module.entry.schedule == tuple(forward_order(kept.passes.module.entry))


def test_an_order_that_saves_nothing_is_refused_and_can_be_forced() -> None:
    text = """HloModule m
    ENTRY e {
      x = f32[64] parameter(0)
      a = f32[64] negate(x)
      b = f32[64] exponential(x)
      c = f32[64] add(b, a)
      ROOT d = f32[64] multiply(c, b)
    }"""
    session = xe.compile(text, passes="memory-scheduler")
    answer = session.why_not("execution-order", "d")
    assert answer.reason.code == "order-saves-too-little" and answer.checklist
    forced = session.override(force=[("execution-order", "d")])
    names = [[i.name for i in s.passes.module.entry.schedule] for s in (session, forced)]
    assert names[0] != names[1]
    arrays = xe.random_arguments(text)
    assert forced(*arrays).tolist() == session(*arrays).tolist()
