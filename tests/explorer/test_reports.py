"""Buffers, times, comparisons, catalogue, loading, doctor, and what is not there yet."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.display.blocks import frame_table
from xla_explorer.explorer.display.display import cell_text
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.arguments import largest_error
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.explorer.tables.kernel import PROFILE_COLUMNS as COLUMNS
from xla_explorer.hlo.evaluator import evaluates_custom_call

X = np.random.default_rng(1).standard_normal((64, 96)).astype(np.float32)
OF_THE_EVALUATOR = 'HloModule h\nENTRY e {\n  x = c64[8,16] parameter(0)\n  ROOT y = c64[8,16] custom-call(x), custom_call_target="tests.reports.as_it_is"\n}'


def test_profile_has_a_row_for_the_program_and_each_kernel(softmax: Session) -> None:
    frame = softmax.profile(X, repeats=4)
    assert list(frame.columns) == list(COLUMNS) and len(frame) == len(program_steps(softmax)) + 1
    whole = frame.iloc[0]
    assert whole["kernel"] == "(whole program)" and whole["n"] == 4 and whole["median_us"] > 0
    measurable = frame[
        frame["median_us"] >= 0.2
    ]  # shorter than the counter's resolution: no share of the roof
    assert (frame["bytes"] > 0).all() and measurable["roof_share"].notna().all()
    counted = frame["intensity"] * frame["bytes"]
    assert (
        np.allclose(counted, frame["flops"])
        and (frame["cycles"] >= 0).all()
        and whole["cycles"] > whole["median_us"]
    )
    assert (
        "the arguments given" in frame.attrs["note"]
        and "random" in softmax.profile(repeats=1).attrs["note"]
    )
    with pytest.raises(xe.XlaExplorerError, match="repeats"):
        softmax.profile(X, repeats=0)
    assert "<table" in frame._repr_html_()


def test_double_precision_has_a_roof_of_its_own() -> None:
    from xla_explorer.backends.cpu.machine_limits import machine_limits

    for kind, peak in (("f32", machine_limits().f32_flops), ("f64", machine_limits().f64_flops)):
        b = xe.HloBuilder("product")
        x = b.parameter(getattr(xe, kind)[256, 256], "x")
        frame = xe.compile(b.build(x @ x), threads=1).profile(repeats=3)
        row = frame[frame["opcode"] == "dot"].iloc[0]
        assert row["intensity"] > 10  # so that arithmetic is the roof
        assert row["roof_share"] == pytest.approx(row["flops"] / peak / row["median_us"] * 1e6)


@evaluates_custom_call("tests.reports.as_it_is")
def as_it_is(i, operands, evaluator):
    return operands[0]


def test_what_runs_on_the_evaluator_is_marked_everywhere() -> None:
    session = xe.compile(OF_THE_EVALUATOR)
    x = np.ones((8, 16), np.complex64)
    np.testing.assert_array_equal(session(x), x)
    assert "on the evaluator" in repr(session) and "evaluator" in set(session.kernels()["runs_on"])
    row = session.decisions("native-code").iloc[0]
    assert row["verdict"] == "refused" and row["code"] and row["subjects"] == ("%y",)
    assert "evaluator" in set(session.profile(x, repeats=2)["runs_on"])
    assert "evaluator" in session._repr_mimebundle_()["text/html"]


def test_buffers(softmax: Session) -> None:
    report = softmax.buffers()
    frame = report.to_frame()
    assert report.peak_bytes > 0 and {"parameter", "output", "arena"} <= set(frame["kind"])
    assert report.chart().svg.startswith("<svg") and "arena" in repr(report)
    assert "<svg" in report._repr_mimebundle_()["text/html"]
    arena = [
        value for value, kind in zip(frame["value"], frame["kind"], strict=True) if kind == "arena"
    ]
    reason = report.why_not_shared(arena[0], "x")
    assert reason is not None and reason.code and reason.message
    with pytest.raises(xe.XlaExplorerError, match="assigned no buffers"):
        _ = xe.compile(softmax.source, backend="interpreter").buffers()


def test_time_and_compare(softmax: Session) -> None:
    timing = softmax.time(X, repeats=3)
    assert timing.n == 3 and "median" in repr(timing) and "iqr" in repr(timing)
    frame = xe.compare(softmax.source, X, backends=["cpu", "interpreter", "gpu"], repeats=2)
    assert set(frame["backend"]) == {"cpu", "interpreter", "gpu"}
    assert set(frame["status"]) == {"ok"}
    with pytest.raises(xe.XlaExplorerError, match="no backend"):
        xe.compare(softmax.source, X, backends=["nothing"])


def test_largest_error_knows_types() -> None:
    one = np.ones(3, np.float32)
    assert largest_error([one], [one * (1 + 1e-6)])[1] and not largest_error([one], [one * 1.1])[1]
    assert not largest_error([np.ones(3, np.int32)], [np.array([1, 1, 2], np.int32)])[1]
    nan = np.array([np.nan, np.inf], np.float32)
    assert largest_error([nan], [nan])[1] and not largest_error([nan], [-nan])[1]
    assert not largest_error([one], [])[1]


def test_random_arguments_are_the_same_for_the_same_seed() -> None:
    text = "HloModule m\nENTRY e { a = (f32[3], s8[2]) parameter(0)\n b = pred[4] parameter(1)\n ROOT c = bf16[5] parameter(2) }"
    first, again, other = (xe.random_arguments(text, seed) for seed in (0, 0, 1))
    assert (
        first[0][0].dtype == np.float32 and first[0][1].dtype == np.int8 and first[1].dtype == bool
    )
    assert first[2].dtype == xe.bf16.dtype
    assert np.array_equal(first[0][0], again[0][0]) and not np.array_equal(first[0][0], other[0][0])


def test_load(tmp_path: Path, softmax: Session) -> None:
    text = softmax.source.to_text()
    (tmp_path / "m.hlo").write_text(text)
    (tmp_path / "m.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "{m}.hlo").write_text(text)
    for name in ("m.hlo", "m.txt.gz", "{m}.hlo"):
        module = xe.load(str(tmp_path / name))
        assert module.to_text() == text and module.filename.endswith(name)
    assert xe.compile(tmp_path / "m.hlo").source.name == "softmax"
    with pytest.raises(xe.XlaExplorerError, match="holds no XLA dump"):
        xe.load(tmp_path)
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        xe.load(tmp_path / "m.mlir")
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        xe.load(tmp_path / "nothing.hlo")
    with pytest.raises(xe.XlaExplorerError, match="a module's text"):
        xe.load(text)
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        xe.load(tmp_path / "bad.gz")


def test_examples_catalogue_doctor_and_later() -> None:
    assert xe.example("mlp_train").name == "jit_mlp_train"
    assert xe.example("mlp").name == "jit_mlp_train"
    for name in ("nothing", ""):
        with pytest.raises(xe.XlaExplorerError, match="attention"):
            xe.example(name)
    frame = xe.passes()
    assert {"algsimp", "fusion", "dce"} <= set(frame["pass"]) and all(frame["summary"])
    rows = {row.name: row.state for row in xe.doctor()}
    assert rows["backend cpu"] == "ok" and rows["backend interpreter"] == "ok"


def test_what_is_no_module_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected an HLO module"):
        xe.compile(3)
    with pytest.raises(xe.XlaExplorerError, match="cannot explore"):
        xe.explore(3)


def test_buffers_by_program_point_and_at_the_peak(softmax: Session) -> None:
    frame = softmax.buffers().by_program_point()
    assert list(frame.columns) == [
        "position",
        "instruction",
        "opcode",
        "live_bytes",
        "share",
        "line",
    ]
    peak = softmax.buffers().at_peak()
    assert (
        frame["live_bytes"].max() == softmax.buffers().assignment.arena_lower_bound == peak.bytes
        and frame["share"].max() == 1.0
    )
    assert (
        peak.instruction
        and peak.line
        and peak.holders
        and peak.holders[0][3].startswith(("<hlo>:", "model.py:"))
    )
    assert f"%{peak.instruction}" in str(peak) and "text/html" in peak._repr_mimebundle_()
    assert not len(softmax.buffers().aliases())


def test_a_given_away_argument_becomes_the_result() -> None:
    text = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  a = f32[8] parameter(0)
  u = f32[2] parameter(1)
  z = s32[] constant(3)
  ROOT d = f32[8] dynamic-update-slice(a, u, z)
}"""
    u = np.ones(2, np.float32)
    want = np.array([0, 1, 2, 1, 1, 5, 6, 7], np.float32)
    kept, given = xe.compile(text), xe.compile(text, donate=True)
    a = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(kept(a, u), want)
    np.testing.assert_array_equal(a, np.arange(8))
    assert (
        kept.buffers().aliases()["code"].tolist() == ["parameters-are-kept"]
        and given.buffers().aliases()["shared"].all()
    )
    result = given(a, u)
    assert result is a
    np.testing.assert_array_equal(a, want)
    frozen = np.arange(8, dtype=np.float32)
    frozen.flags.writeable = False
    np.testing.assert_array_equal(given(frozen, u), want)
    np.testing.assert_array_equal(frozen, np.arange(8))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (20740.4, "20,740"),
        (9999.6, "10,000"),
        (1234.5, "1234"),
        (0.00038454, "0.0003845"),
        (float("nan"), "–"),
    ],
)
def test_numbers_of_tables_have_no_exponent_where_they_are_large(value: float, text: str) -> None:
    assert cell_text(value) == text


def test_numbers_have_one_dress_in_every_form_and_stay_numbers() -> None:
    frame = wide_frame([["%a", 0.1589, 18_923_520, 2_717_953.0], ["%b", None, 0, 0.5]], ["kernel", "share", "bytes", "us"])  # fmt: skip
    table = frame_table(frame)
    for text in (table.to_text(), table.to_html(), table.to_markdown(), frame._repr_html_()):
        assert "16 %" in text and "18,923,520" in text and "2,717,953" in text
        assert "0.1589" not in text and "18923520" not in text
    assert "16 %" in repr(frame) and "0.1589" not in repr(frame)
    assert frame["share"][0] == 0.1589, "what is shown does not change what is there"
