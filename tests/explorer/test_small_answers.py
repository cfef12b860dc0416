"""Small questions that were answered wrongly, or not at all: each with what is true now."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions import progress
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.rounds import rounds

TEXT = """HloModule m
ENTRY e {
  a = f32[32,32] parameter(0)
  b = f32[32,32] parameter(1)
  d = f32[32,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[32,32] tanh(d)
  ROOT r = f32[32,32] add(t, d)
}
"""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT)


def test_instructions_name_themselves(session: xe.Session) -> None:
    t, r = [i for i in session.source.instructions() if i.name in ("t", "r")]
    assert (
        session.passes.find(t)
        == session.passes.find("%t")
        == session.passes.find(t.id)
        == session.passes.find(np.int64(t.id))
    )
    assert (
        str(session.why_not("fusion", t, r))
        == str(session.why_not("fusion", "t", "%r"))
        == str(session.why_not("fusion", t.id, r.id))
    )
    assert session.passes.history(t) == session.passes.history("%t")
    for wrong in (1.5, None, True, ["t"]):
        with pytest.raises(XlaExplorerError, match="named by its name"):
            session.passes.find(wrong)


def test_what_is_not_there_is_said() -> None:
    session = xe.compile(TEXT, backend="interpreter")
    with pytest.raises(XlaExplorerError, match="assigned no buffers"):
        _ = session.buffers()


def test_no_passes_is_a_pipeline() -> None:
    trace = xe.optimize(TEXT, "none")
    assert trace.steps == [] and trace.module.instruction_count() == 5


def test_an_empty_table_says_why(session: xe.Session) -> None:
    frame = xe.compile(TEXT, journal="off", backend="interpreter").decisions("fusion")
    assert (
        len(frame) == 0
        and frame.attrs["note"] in repr(frame)
        and "no decisions were recorded" in frame._repr_html_()
    )
    assert "of the kind inlining" in session.decisions("inlining").attrs["note"]


def test_the_gpu_has_the_checklist_of_its_own_policy() -> None:
    def places(one: xe.Session) -> set[str]:
        rows = [row for row in one._explorer_source_().decisions() if row.kind == "fusion"]
        assert rows and all(row.checklist for row in rows)
        return {check.place.split(":")[0] for row in rows for check in row.checklist}

    text = "HloModule m\nENTRY e { x = f32[64] parameter(0) a = f32[64] tanh(x) b = f32[64] add(a, x) ROOT c = f32[64] multiply(b, a) }"
    assert places(xe.compile(text)) == {"fusion/policy.py"}
    assert "fusion/priority_policy.py" in places(xe.compile(text, backend="gpu"))


def test_the_interpreter_knows_the_bytes_of_the_whole() -> None:
    whole, entry = xe.compile(TEXT, backend="interpreter").profile(repeats=1).to_dict("records")
    assert (whole["bytes"], whole["flops"]) == (entry["bytes"], entry["flops"])


def test_an_emulator_has_no_times() -> None:
    session = xe.compile(TEXT, backend="gpu")
    if not session.executable.executor.facts.emulated:
        pytest.skip("there is a device")
    frame = xe.compare(TEXT, backends="cpu,gpu", repeats=2)
    rows = frame[frame["backend"] == "gpu"]
    assert (
        set(rows["status"]) == {"ok"} and set(rows["runs_on"]) == {"PTX emulator"} and len(rows) > 1
    )
    assert (
        rows["median_us"].isna().all()
        and not frame[frame["backend"] == "cpu"]["median_us"].isna().any()
    )


def test_what_is_offered_is_ours() -> None:
    names = dir(xe)
    assert {"compile", "f32", "backends", "hlo", "Session"} <= set(names)
    assert not {"Any", "TYPE_CHECKING", "annotations", "importlib", "foundation"} & set(names)


def test_progress_counts_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    seen = threading.Event()

    class Line:
        def show(self, label: str, done: int, total: int | None, noun: str, seconds: float) -> None:
            said.append(f"{label}: {done} of {total} {noun}")
            seen.set()

        def clear(self) -> None:
            pass

    monkeypatch.setattr(progress, "watched", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "_PACE", 0.01)
    monkeypatch.setattr(progress, "_line", Line)
    with progress.working("profiling"):
        for k in rounds(5):
            if k == 3:
                seen.clear()
                assert seen.wait(30)
    assert "profiling: 3 of 5 runs" in said


def test_equal_kernels_all_have_their_code() -> None:
    """A kernel is written once, for the first of those that are alike."""
    product = "dot({}, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    text = "HloModule m\nENTRY e {\n  a = f32[64,64] parameter(0)\n  b = f32[64,64] parameter(1)\n"
    text += (
        "".join(
            f"  {'ROOT ' if k == 3 else ''}d{k} = f32[64,64] {product.format(f'd{k - 1}' if k > 1 else 'a')}\n"
            for k in (1, 2, 3)
        )
        + "}\n"
    )
    for backend, stages in (("cpu", ("llvm-ir-optimized", "ptx")), ("gpu", ("ptx",))):
        session = xe.compile(text, backend=backend)
        assert len({step.function for step in program_steps(session)}) == 1
        first, *others = session.side_by_side(*stages).kernels
        assert all(len(lines) > 20 for lines in first.code.values())
        assert all(other.code == first.code for other in others)
        assert session.side_by_side(*stages, kernel="d3").kernels[0].code == first.code


def test_reduce_keeps_only_what_fails() -> None:
    text = """HloModule m
f { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  c = f32[4] call(x), to_apply=f
  a = f32[4] add(c, y)
  t = f32[4] tanh(a)
  b = f32[4] multiply(t, a)
  ROOT r = f32[4] subtract(b, x)
}"""

    def shows(module: xe.HloModule) -> bool:
        return any(
            i.opcode.name == "multiply" and len(i.operands) == 2 for i in module.instructions()
        )

    small = xe.minimize(text, shows)
    assert [i.opcode.name for i in small.instructions()] == ["parameter", "multiply"] and len(
        small.computations
    ) == 1
