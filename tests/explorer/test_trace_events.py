"""Chrome traces out of profiles, and traces of other profilers as frames."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pytest

import xla_explorer as xe

TEXT = """HloModule m

ENTRY e {
  x = f32[64,64]{1,0} parameter(0)
  dot = f32[64,64]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={source_file="model.py" source_line=3}
  ROOT tanh = f32[64,64]{1,0} tanh(dot)
}
"""
# In the form of jax.profiler and XProf: threads named by metadata, an HLO operation in the
# arguments.
EVENTS = [
    {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "/device:TPU:0"}},
    {"ph": "M", "pid": 7, "tid": 3, "name": "thread_name", "args": {"name": "XLA Ops"}},
    {
        "ph": "X",
        "pid": 7,
        "tid": 3,
        "ts": 10.0,
        "dur": 4.0,
        "name": "dot",
        "args": {
            "hlo_op": "dot",
            "hlo_module": "jit_f",
            "bytes_accessed": "8000",
            "model_flops": 64000,
        },
    },
    {
        "ph": "X",
        "pid": 7,
        "tid": 3,
        "ts": 20.0,
        "dur": 6.0,
        "name": "dot",
        "args": {
            "hlo_op": "dot",
            "hlo_module": "jit_f",
            "bytes_accessed": "8000",
            "model_flops": 64000,
        },
    },
    {
        "ph": "B",
        "pid": 7,
        "tid": 3,
        "ts": 30.0,
        "name": "fusion.1",
        "args": {"hlo_op": "fusion.1", "hlo_module": "jit_f", "source": "model.py:9"},
    },
    {"ph": "E", "pid": 7, "tid": 3, "ts": 33.0, "name": "fusion.1"},
    {"ph": "X", "pid": 8, "tid": 1, "ts": 0.0, "dur": 99.0, "name": "PjitFunction(f)"},
    {},
]


def test_events_become_rows(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "now"
    folder.mkdir(parents=True)
    (folder / "vm.trace.json.gz").write_bytes(
        gzip.compress(json.dumps({"traceEvents": EVENTS}).encode())
    )
    frame = xe.read_timeline(tmp_path)
    assert list(frame["kernel"]) == ["%dot", "%fusion.1"]
    dot, fusion = frame.to_dict("records")
    assert (
        dot["n"],
        dot["median_us"],
        dot["total_us"],
        dot["bytes"],
        dot["flops"],
        dot["gb_per_s"],
    ) == (2, 5.0, 10.0, 8000.0, 64000.0, 1.6)
    assert dot["runs_on"] == "/device:TPU:0/XLA Ops" and dot["module"] == "jit_f"
    assert fusion["median_us"] == 3.0 and fusion["line"] == "model.py:9"
    assert "PjitFunction(f)" in list(xe.read_timeline(tmp_path, everything=True)["kernel"])


def test_a_module_fills_in_what_the_trace_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(
        json.dumps([{**e, "args": {"hlo_op": "dot"}} for e in EVENTS[2:4]])
    )
    row = xe.read_timeline(tmp_path / "t.json", xe.parse_hlo(TEXT)).to_dict("records")[0]
    assert row["opcode"] == "dot" and row["line"] == "model.py:3" and row["flops"] == 2 * 64**3


def test_a_profile_goes_out_and_comes_back(tmp_path: Path) -> None:
    session = xe.compile(TEXT)
    frame = session.profile(repeats=3)
    trace = session.timeline(tmp_path / "own.json.gz")
    complete = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
    kernels = [e for e in complete if "hlo_op" in e["args"]]
    assert len(complete) == len(frame) and len(kernels) == len(frame) - 1
    for before, after in itertools.pairwise(kernels):
        assert after["ts"] == pytest.approx(before["ts"] + before["dur"])
    back = xe.read_timeline(tmp_path / "own.json.gz")
    want = {row["kernel"]: row["median_us"] for row in frame.to_dict("records")[1:]}
    assert {row["kernel"]: row["median_us"] for row in back.to_dict("records")} == pytest.approx(
        want
    )


def test_a_compile_that_cannot_run_has_a_timeline_of_its_passes() -> None:
    session = xe.compile(TEXT, backend="amdgpu")
    compiling = [e for e in session.timeline()["traceEvents"] if e["ph"] == "X"]
    assert {e["pid"] for e in compiling} == {1}
    passes = [e for e in compiling if "step" in e["args"]]
    assert [e["name"] for e in passes] == [p.name for p in session.passes[1:]]
    assert {e["name"] for e in compiling if e not in passes} == set(session.seconds)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "not JSON"),
        (b"{}", "no list traceEvents"),
        (b"[]", "holds no event"),
        (b"\x1f\x8bbroken", "broken|cannot|not JSON"),
    ],
)
def test_what_is_no_trace_is_said(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.json").write_bytes(content)
    with pytest.raises(xe.XlaExplorerError, match=message):
        xe.read_timeline(tmp_path / "t.json")
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        xe.read_timeline(tmp_path / "gone.json")


@pytest.mark.jax
def test_a_trace_of_jaxs_own_profiler(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    f, x = jax.jit(lambda x: jax.numpy.tanh(x @ x)), jax.numpy.ones((64, 64))
    f(x).block_until_ready()
    with jax.profiler.trace(tmp_path, create_perfetto_trace=True):
        for _ in range(3):
            f(x).block_until_ready()
    frame = xe.read_timeline(tmp_path)
    assert (
        (frame["median_us"] > 0).all()
        and set(frame.groupby("kernel")["n"].sum()) == {3}
        and set(frame["module"]) == {"jit__lambda"}
    )
