"""Passes with diffs, remarks by line, llvm-mca's loops: of one small program."""

from __future__ import annotations

import shutil

import pytest

import xla_explorer as xe
from xla_explorer.backends.llvm.llvm_passes import parse_pass_times
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule

MODULE = """HloModule views
ENTRY e {
  x = f32[64,512] parameter(0)  i = s64[64,512] iota(), iota_dimension=1  f = f32[64,512] convert(i)
  y = f32[64,512] multiply(x, f)
  ROOT z = f32[64,512] exponential(y)
}"""
"""Its kernel has loops that are left to LLVM: they count in more bits than they store."""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(MODULE, threads=1)


def test_passes_that_changed_a_kernel_have_diffs(session: xe.Session) -> None:
    kernel = session.kernels().kernel[0]
    frame = session.llvm.passes(kernel)
    vectorized = frame[frame["pass"] == "LoopVectorizePass"]
    assert len(vectorized) == 1
    row = vectorized.iloc[0]
    assert "+" in row["diff"] and " x float>" in row["diff"] and row["added"] > 0
    assert "!dbg" not in row["diff"]
    assert {"ir", "machine"} == set(frame["level"])
    assert (frame["added"] + frame["removed"] > 0).all()
    assert set(session.llvm.passes(kernel, machine_passes=False)["level"]) == {"ir"}


def test_unknown_kernels_are_named(session: xe.Session) -> None:
    with pytest.raises(xe.XlaExplorerError, match="no kernel is called nothing"):
        session.llvm.passes("nothing")


def test_remarks_have_instruction_and_line(session: xe.Session) -> None:
    frame = session.llvm.remarks()
    passed = frame[(frame["kind"] == "passed") & (frame["pass"] == "loop-vectorize")]
    assert passed["message"].str.contains("vectorized loop").any()
    assert passed["instruction"].str.startswith("%").all()
    assert passed["line"].str.contains(":[45]$").all()


def test_a_kernel_that_code_generation_finishes_says_so() -> None:
    text = "HloModule f\nENTRY e {\n  x = f32[64] parameter(0)\n  ROOT t = f32[64] negate(x)\n}"
    finished = xe.compile(
        text, threads=1, schedules="%wrapped_negate: split{i,16},unroll{io},vectorize{ii}"
    )
    assert '"optimization-level"="final"' in finished.llvm_ir(optimized=False), (
        "the example must be one"
    )
    rows = finished.llvm.remarks().values.tolist()
    assert [row[0] for row in rows] == ["finished"] and "emitted in its final form" in rows[0][2]
    assert rows[0][3] == "%wrapped_negate" and rows[0][4].endswith(":4")


@pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="llvm-mca is not installed")
def test_loops_have_cycles(session: xe.Session) -> None:
    frame = session.llvm.inner_loops()
    assert len(frame) >= 1
    row = frame.iloc[0]
    assert row["cycles"] >= row["instructions"] / 12 and row["ipc"] > 0
    assert ":5" in row["lines"]
    assert row["model"]


def test_without_llvm_mca_it_says_so(session: xe.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(xe.XlaExplorerError, match="llvm-mca is not installed"):
        session.llvm.inner_loops()


def test_the_passes_of_a_gpu_kernel_are_those_of_nvptx() -> None:
    session = xe.compile(MODULE, backend="gpu")
    frame = session.llvm.passes(session.kernels().kernel[0])
    assert any(name.startswith("NVPTX") for name in frame["pass"]) and set(frame["level"]) == {
        "ir",
        "machine",
    }
    assert list(session._explorer_source_().view().llvm_kernels()) == [session.kernels().kernel[0]]


TWO = """HloModule two
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] exponential(x)
  d = f32[64,64] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[64,64] tanh(d)
}"""


def test_explain_optimises_the_kernel_in_question_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_explorer.backends.llvm import llvm_compiler

    session = xe.compile(TWO, threads=1)
    asked: list[LlvmModule] = []
    real = llvm_compiler.optimized_parts
    monkeypatch.setattr(
        llvm_compiler,
        "optimized_parts",
        lambda module, *rest: asked.append(module) or real(module, *rest),
    )
    told = session.explain("t").code["llvm-ir-optimized"]
    assert not session.stage("llvm-ir-optimized").is_made and len(asked) == 1
    assert len([f for f in asked[0].functions if not f.is_inlined]) == 1
    assert session.stage("llvm-ir-optimized").text and len(
        session.explain("t").code["llvm-ir-optimized"]
    ) == len(told)


def test_other_backends_are_refused() -> None:
    with pytest.raises(xe.XlaExplorerError, match="for the backends cpu, gpu"):
        xe.compile(MODULE, backend="interpreter").llvm.remarks()


def test_each_pass_of_llvm_has_its_time(session: xe.Session) -> None:
    frame = session.llvm.times()
    assert {"ir", "machine"} == set(frame["level"]) and abs(frame["share"].sum() - 1) < 1e-6
    names = set(frame["pass"])
    assert (
        "InstCombinePass" in names
        and any("Instruction Selection" in name for name in names)
        and "Total" not in names
    )
    assert not any(name.startswith("DAG Combining") for name in names), (
        "a table that takes a pass apart is none of passes"
    )
    flame = session.llvm.flame().to_frame()
    assert any("Instruction Selection" in path for path in flame["path"])


def test_the_columns_of_llvms_table_are_read_by_their_heads() -> None:
    table = """
                          Pass execution timing report
   ---User Time---   --User+System--   ---Wall Time---  --- Name ---
   0.0250 ( 50.0%)   0.0300 ( 50.0%)   0.1647 ( 46.6%)  GVNPass
   0.0100 ( 50.0%)   0.0100 ( 50.0%)   0.0456 ( 12.9%)  Greedy Register Allocator #2
   0.0100 ( 50.0%)   0.0200 ( 50.0%)   0.0456 ( 12.9%)  Greedy Register Allocator
   0.0450 (100.0%)   0.0600 (100.0%)   0.2559 (100.0%)  Total
                      Instruction Selection and Scheduling
   ---User Time---   --User+System--   ---Wall Time---  --- Name ---
   0.0250 ( 50.0%)   0.0300 ( 50.0%)   0.1647 ( 46.6%)  DAG Combining 1
"""
    rows = [tuple(row) for row in parse_pass_times(table)]
    assert rows == [("GVNPass", "ir", 0.03, 1), ("Greedy Register Allocator", "machine", 0.03, 2)]
