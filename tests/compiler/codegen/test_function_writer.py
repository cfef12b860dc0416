"""Loop metadata for LLVM: short loops are unrolled, those with a known span have a trip count."""

from __future__ import annotations

import re

import pytest

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.marks import (
    NO_UNROLL,
    NO_VECTOR,
    NONTEMPORAL,
    UNROLL,
    UNROLL_BY_4,
    WHILE,
    metadata_definitions,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import Label
from xla_explorer.compiler.codegen.ir.types import F32, I32, I64, PTR


def loop_ends(w: FunctionWriter) -> list[str]:
    return [line for line in w.lines() if line.startswith("  br i1")]


def test_short_constant_loops_are_marked() -> None:
    w = FunctionWriter(unroll=True)
    with w.loop(100), w.loop(3) as j:
        w.add(j, 1)
    inner, outer = loop_ends(w)
    assert inner.endswith(UNROLL) and "llvm.loop" not in outer


def test_a_loop_around_a_kept_loop_is_kept() -> None:
    w = FunctionWriter(unroll=True)
    with w.loop(3), w.loop(100):
        pass
    assert not any("llvm.loop" in line for line in loop_ends(w))


def test_nested_short_loops_count_together() -> None:
    w = FunctionWriter(unroll=True)
    with w.loop(9), w.loop(9), w.loop(9):
        pass
    assert [line.endswith(UNROLL) for line in loop_ends(w)] == [True, False, False]


def test_a_mark_of_the_caller_stays() -> None:
    w = FunctionWriter(unroll=True)
    with w.loop(3, metadata=NO_UNROLL):
        pass
    with w.loop(3, metadata=UNROLL_BY_4):
        pass
    first, second = loop_ends(w)
    assert first.endswith(NO_UNROLL) and second.endswith(UNROLL_BY_4)


@pytest.mark.parametrize("mark", [NO_UNROLL, UNROLL, UNROLL_BY_4, NONTEMPORAL, NO_VECTOR, WHILE])
def test_what_a_line_names_is_defined(mark: str) -> None:
    (number,) = re.findall(r"!(\d+)$", mark)
    definitions = metadata_definitions({mark, ""})
    assert str(definitions[0].name) == str(number)
    named = set(re.findall(r"!(\d+)", " ".join([node.text for node in definitions])))
    assert named == {str(node.name) for node in definitions}


def test_a_writer_keeps_the_marks_of_its_branches() -> None:
    w = FunctionWriter()
    with w.loop(3, metadata=NO_UNROLL):
        pass
    w.branch("loop", WHILE)
    assert w.marks - {""} == {NO_UNROLL, WHILE} and w.has_loop


def test_nothing_is_marked_unless_asked() -> None:
    w = FunctionWriter()
    assert not w.has_loop
    with w.loop(3):
        pass
    assert not metadata_definitions(w.marks)
    assert "llvm.loop" not in loop_ends(w)[0]


def test_a_span_has_an_exact_end() -> None:
    w = FunctionWriter()
    begin, count = w.named("%begin", I64), w.named("%n", I64)
    end = w.span(begin, 64)
    with w.loop(end, begin, 16):
        pass
    with w.loop(end, begin, 24):  # not a divisor: stepping over the end must still end the loop
        pass
    with w.loop(count, begin):
        pass
    assert [("icmp ne" in line, "icmp slt" in line) for line in w.lines() if "icmp" in line] == [
        (True, False),
        (False, True),
        (False, True),
    ]


def test_loop_carried_values_come_from_the_last_block_of_the_body():
    w = FunctionWriter()
    with w.carrying_loop(8, [w.number(0.0, F32)], stem="sum") as loop:
        with w.loop(4) as _:
            term = w.number(1.0, F32) + 2.0
        loop.following = [loop.carried[0] + term]
    phis = [line for line in w.lines() if " phi " in line and "%i" not in line.split("=")[0]]
    assert [line.count("[") for line in phis] == [2, 2]
    (end,) = re.findall(r"^(loop\.end\.\d+):", "\n".join(w.lines()), re.MULTILINE)
    assert all("%entry ]" in line and line.endswith(f"%{end} ]") for line in phis)
    assert loop.following[0].name in phis[1] and phis[0].startswith(
        f"  {loop.index} = phi i64 [ 0, "
    )


def test_each_line_has_a_record_stack_slots_first():
    w = FunctionWriter()
    w.return_()
    w.stack_slot(I32)
    lines = w.lines()
    assert len(w.body(3)) == len(lines) + 1 and w.body(3).records[0] == Label("entry", 3)
    assert lines[0].startswith("  %slot1 = alloca i32") and lines[1] == "  ret void"


def test_routines_are_declared_by_name():
    w = FunctionWriter()
    w.call_routine("dpotrf_", w.named("%a", PTR), w.number(3, I64))
    w.absolute(w.named("%x", F32))
    assert list(w.routines) == ["dpotrf_"]
    assert [d.text for d in w.declarations] == [
        "declare void @dpotrf_(ptr, i64)",
        "declare float @llvm.fabs.f32(float)",
    ]


def test_the_optimization_level_follows_from_the_loops():
    levels = []
    for marks in ([""], [NO_VECTOR, ""], [NO_UNROLL, NO_VECTOR]):
        w = FunctionWriter()
        for mark in marks:
            with w.loop(5, metadata=mark):
                pass
        levels.append(w.optimization_level)
    assert levels == [OptimizationLevel.DEFAULT, OptimizationLevel.SHORT, OptimizationLevel.FINAL]
