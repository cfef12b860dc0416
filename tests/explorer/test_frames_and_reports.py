"""Rows of one noun are DataFrames, answers with a headline Reports; columns are identifiers.

Empty frames have columns too.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import pandas
import pytest

import xla_explorer as xe
from xla_explorer.explorer.code.llvm.llvm_views import Llvm
from xla_explorer.explorer.display import Report
from xla_explorer.explorer.display.frames import column_names
from xla_explorer.explorer.trace import Passes

FULL = """HloModule full
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64,64] parameter(0)
  zero = f32[] constant(0)
  e = f32[64,64] exponential(x)
  unused = f32[64,64] negate(x)
  d = f32[64,64] dot(e, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64] reduce(d, zero), dimensions={1}, to_apply=add
  b = f32[64,64] broadcast(s), dimensions={0}
  ROOT r = f32[64,64] divide(e, b)
}
"""
EMPTY = "HloModule empty\nENTRY main { ROOT x = f32[64,64] parameter(0) }"

FRAMES: dict[str, Callable[[xe.Session], Any]] = {
    "decisions": lambda s: s.decisions(),
    "decisions of a kind": lambda s: s.decisions("fusion"),
    "kernels": lambda s: s.kernels(),
    "profile": lambda s: s.profile(repeats=1),
    "profile by line": lambda s: s.profile(repeats=1).by_line(),
    "profile by scope": lambda s: s.profile(repeats=1).by_scope(),
    "inner loops": lambda s: s.llvm.inner_loops(),
    "remarks": lambda s: s.llvm.remarks(),
    "LLVM's times": lambda s: s.llvm.times(),
    "callers": lambda s: s.passes.callers("%x"),
    "commute": lambda s: s.passes.commute("cse", "dce"),
    "costs": lambda s: s.passes.costs(),
    "effective": lambda s: s.passes.effective(),
    "errors": lambda s: s.passes.errors(*xe.random_arguments(s)),
    "hot rules": lambda s: s.passes.hot_rules(),
    "opcodes": lambda s: s.passes.opcodes(),
    "changes of opcodes": lambda s: s.passes.opcodes(change=True),
    "rule times": lambda s: s.passes.rule_times(),
    "search": lambda s: s.passes.search("opcode:dot"),
    "search order": lambda s: s.passes.search_order("cse", "dce", trials=2),
    "decisions of a pass": lambda s: s.passes[-1].decisions(),
    "backends": lambda s: xe.compare(s.source, backends="cpu", repeats=1),
    "flips": lambda s: s.compare(s.override(skip_rules=["fusion"])).flips(),
    "catalogue": lambda s: xe.passes(),
}
REPORTS: dict[str, Callable[[xe.Session], Any]] = {
    "annotate": lambda s: s.annotate(repeats=1),
    "bisect": lambda s: s.bisect(*xe.random_arguments(s)),
    "buffers": lambda s: s.buffers(),
    "certificate": lambda s: s.certificate(),
    "compare": lambda s: s.compare(s.override(skip_rules=["fusion"])),
    "emulation": lambda s: s.emulation(*xe.random_arguments(s)),
    "explain": lambda s: s.explain("%x"),
    "advice": lambda s: s.explain(),
    "loops": lambda s: s.loops(),
    "overrides": lambda s: s.overrides(),
    "side by side": lambda s: s.side_by_side(),
    "time": lambda s: s.time(repeats=1),
    "flame of LLVM": lambda s: s.llvm.flame(),
    "applicable": lambda s: s.passes.applicable("%x"),
    "flame": lambda s: s.passes.flame(),
    "provenance": lambda s: s.passes.provenance(),
    "passes": lambda s: s.passes,
    "a pass": lambda s: s.passes[-1],
    "a value": lambda s: s.passes.value("%x", *xe.random_arguments(s)),
    "doctor": lambda s: xe.doctor(),
    "structure": lambda s: xe.compare.structure(s.source, s.source),
}
OF_A_KERNEL: dict[str, Callable[[xe.Session], Any]] = {
    "why not": lambda s: s.why_not("fusion", "%e", "%d"),
    "schedule": lambda s: s.schedule("%d"),
    "control flow": lambda s: s.llvm.control_flow("%d"),
    "LLVM's passes": lambda s: s.llvm.passes("%d"),
}
CALLS = {**FRAMES, **REPORTS, **OF_A_KERNEL}
ELSEWHERE = {"try_rule"}  # tests/explorer/questions tries rules
# Columns that the program decides: stages of the compile, and passes that changed something.
OF_THE_PROGRAM = {"opcodes", "changes of opcodes"}


@pytest.fixture(scope="module")
def sessions() -> tuple[xe.Session, xe.Session]:
    return xe.compile(FULL, threads=1), xe.compile(EMPTY, threads=1)


def _columns(frame: pandas.DataFrame) -> list[str]:
    columns = list(map(str, frame.columns))
    assert columns and all(map(str.isidentifier, columns)), columns
    return columns


@pytest.mark.parametrize("name", FRAMES)
def test_rows_of_one_noun_are_a_frame(sessions: tuple[xe.Session, xe.Session], name: str) -> None:
    full, empty = [FRAMES[name](session) for session in sessions]
    assert isinstance(full, pandas.DataFrame) and isinstance(empty, pandas.DataFrame)
    assert (_columns(full) == _columns(empty)) or name in OF_THE_PROGRAM


@pytest.mark.parametrize("name", REPORTS)
def test_an_answer_is_a_report(sessions: tuple[xe.Session, xe.Session], name: str) -> None:
    full, empty = [REPORTS[name](session) for session in sessions]
    assert isinstance(full, Report) and isinstance(empty, Report)
    assert _columns(full.to_frame()) == _columns(empty.to_frame())
    assert all(report.headline() or report.to_text() for report in (full, empty))


@pytest.mark.parametrize("name", OF_A_KERNEL)
def test_answers_about_a_kernel(sessions: tuple[xe.Session, xe.Session], name: str) -> None:
    found = OF_A_KERNEL[name](sessions[0])
    assert isinstance(found, Report | pandas.DataFrame) and _columns(found.to_frame())


@pytest.mark.parametrize("cls", [xe.Session, Passes, Llvm])
def test_every_table_and_report_is_listed(cls: type) -> None:
    called = "".join(map(inspect.getsource, CALLS.values()))
    for name in dir(cls):
        call = inspect.getattr_static(cls, name)
        if name.startswith("_") or not inspect.isfunction(call):
            continue
        result = str(inspect.signature(call).return_annotation)
        made = getattr(sys.modules[call.__module__], result, None)
        is_report = inspect.isclass(made) and issubclass(made, Report)
        if is_report or result.endswith("Frame"):
            assert f".{name}(" in called or name in ELSEWHERE | {"to_frame"}, f"{cls}.{name}"


def test_names_of_columns() -> None:
    headings = ["GB/s", "saves at most, us", "share, %", "", "", "4 threads", "runs_on", "GB/s"]
    assert column_names(headings) == [
        "gb_per_s",
        "saves_at_most_us",
        "share_percent",
        "column_3",
        "column_4",
        "_4_threads",
        "runs_on",
        "gb_per_s_2",
    ]
