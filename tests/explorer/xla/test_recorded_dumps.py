"""Replays of real XLA's decisions on the CPU, and on a GPU compiled for without a device."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.buffer_view import buffer_view
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.sessions.compilation import NotThereError
from xla_explorer.explorer.xla.replay import replaying

DUMPS = Path(__file__).parent / "dumps"


def test_every_decision_about_attention_on_the_cpu_is_that_of_the_policy() -> None:
    session = xe.load(DUMPS / "cpu_attention").session()
    fusion, library = [xe.xla.replay(session, kind) for kind in ("fusion", "dot-library")]
    assert (len(fusion.rows), len(library.rows)) == (
        7,
        14,
    ) and fusion.agreement == library.agreement == 1
    refused = {(row.subject, row.consumer): row.code for row in library.rows if row.xla == "memory"}
    assert refused == {
        ("exp.1", "reduce_sum.7"): "library-other-readers", ("multiply", "reduce_max.7"): "library-several-readers",
        ("reduce_sum.7", "reduce_max.7"): "library-several-readers", ("divide", "reduce_sum.7"): "library-array-small"}  # fmt: skip
    assert {row.code for row in fusion.rows} == {"", "fused-before", "recomputed-per-element"}


def test_a_dump_of_xla_on_a_gpu_is_replayed_by_priority_fusion() -> None:
    found = xe.xla.replay(xe.load(DUMPS / "gpu_products").session(), "fusion")
    assert found.by == "priority-fusion" and len(found.rows) == 9 and found.agreement == 1
    rows = {(row.subject, row.consumer): row for row in found.rows}
    assert (
        rows["add.3.0", "reduce_sum.15.0"].code == "slower-when-fused"
    )  # 64 columns of a block at a time are too few blocks
    assert all(row.reason for row in found.rows if row.xla == "memory")
    facts = {decision.names: decision.facts for decision in found.decisions()}
    assert (
        facts["triton_softmax.3", "bitcast.3.0"]["xla_message"]
        == "not fusing because there are only bitcast users"
    )
    with pytest.raises(NotThereError, match="XLA:GPU are not replayed"):
        xe.xla.replay(xe.load(DUMPS / "gpu_products").session(), "buffers")


def test_a_norm_with_a_pool_and_a_scatter_is_replayed_by_the_rules_of_xla_on_a_gpu() -> None:
    found = xe.xla.replay(xe.load(DUMPS / "gpu_norm_pool").session(), "fusion")
    rows = {(row.subject, row.consumer): row for row in found.rows}
    assert len(rows) == 44 and found.agreement >= 43 / 44
    assert all(row.code and row.reason for row in found.disagreements() if row.ours == "memory")
    assert rows["mul.0.0", "reduce_window_max.7.0"].why.endswith(
        "fusing is with all of its readers or with none"
    )
    assert all(row.agrees for (_, consumer), row in rows.items() if "scatter" in consumer)
    assert (
        rows["sub.19.0", "mul.16.0"].code == "slower-when-fused"
        and "XLA's estimate" in rows["sub.19.0", "mul.16.0"].xla_reason
    )
    apart = [row for row in found.rows if row.xla == "memory" and row.agrees]
    assert all(row.reason for row in apart)
    assert {row.code for row in apart} == {
        "in-place-update-conflict",
        "stored-anyway",
        "reduce-is-root-only",
        "slower-when-fused",
    }


def test_every_buffer_of_attention_and_of_a_loop_is_where_the_replay_puts_it() -> None:
    for name, rows, allocations, temporary in (
        ("cpu_attention", 14, 11, 2097152),
        ("cpu_loop", 31, 15, 1048),
    ):
        found = xe.xla.replay(xe.load(DUMPS / name).session(), "buffers")
        assert found.agreement == 1 and len(found.rows) == rows
        assert found.ours == found.xla and (found.xla.allocations, found.xla.temporary_bytes) == (
            allocations,
            temporary,
        )
        assert f"allocations: XLA {allocations}, replayed {allocations}" in str(found)


def test_an_older_xla_is_replayed_and_held_against_a_newer() -> None:
    """Jaxlib 0.6 had no library of kernels: every product and reduction was XLA's own."""
    old, new = [
        xe.load(DUMPS / name).session() for name in ("cpu_attention_jaxlib_0_6", "cpu_attention")
    ]
    for kind in ("fusion", "buffers", "schedule"):
        assert xe.xla.replay(old, kind).agreement == 1
    found = xe.xla.compare(old, new)
    assert ("temporary bytes", 4202496, 2097152) in found.counts
    assert ("fusion", 3, 5) in found.kernels and ("dot", 2, 0) in found.kernels
    flipped = {
        (row.kind, row.subject, row.consumer): (row.first, row.second) for row in found.flipped
    }
    assert flipped["fusion", "dot.10", "multiply.11"] == ("memory", "not decided")
    assert flipped["dot-library", "dot_general.2", ""] == ("not decided", "library")


def test_values_that_a_loop_carries_are_read_from_the_dump() -> None:
    buffers = xe.load(DUMPS / "cpu_loop").buffers()
    carried = set(buffers["instruction"] + buffers["shape_index"]) & {
        "l.9{1}",
        "arg_tuple.1{1}",
        "arg_tuple.3{1}",
    }
    assert len(carried) == 3


def test_a_replay_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.load(DUMPS / "cpu_attention").session()
    first = xe.xla.replay(session, "fusion")
    monkeypatch.setattr(replaying, "KINDS", {"fusion": None})
    assert xe.xla.replay(session, "fusion") is first and xe.xla.replay_fusion(session) is first


def test_instructions_run_in_the_order_in_which_they_were_ready() -> None:
    for name, rows in (("cpu_attention", 8), ("cpu_loop", 24)):
        found = xe.xla.replay(xe.load(DUMPS / name).session(), "schedule")
        assert found.agreement == 1 and len(found.rows) == rows
    said = {row.subject: row.reason for row in found.rows}
    assert (
        said["x.1"] == "%x.1 was ready from the start"
        and said["copy.6"] == "%copy.6 was ready as soon as %constant.5 was issued"
    )


def test_an_instruction_that_runs_before_one_that_was_ready_first_is_shown(tmp_path: Path) -> None:
    for path in (DUMPS / "cpu_loop").iterdir():
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        if path.name.endswith("cpu_after_optimizations.txt"):
            first = next(
                k for k, line in enumerate(lines) if line.startswith("  %wrapped_exponential =")
            )
            lines[first : first + 2] = lines[first + 1], lines[first]
        (tmp_path / path.name).write_text("".join(lines))
    (row,) = xe.xla.replay(xe.load(tmp_path).session(), "schedule").disagreements()
    assert (row.subject, row.ours, row.xla) == ("copy.6", "%wrapped_exponential", "%copy.6")


LLVM = """; ModuleID = 'm'
declare ptr @helper(ptr)
define ptr @{name}(ptr %0) {{
  ret ptr %0
}}
"""
PTX = ".version 8.0\n.visible .entry wrapped_reverse(\n\t.param .u64 p\n)\n{\n\tret;\n}\n.entry unknown()\n{\n}\n"


def test_code_of_a_kernel_belongs_to_its_instruction(tmp_path: Path) -> None:
    for path in (DUMPS / "cpu_loop").iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    for name in ("wrapped_reverse", "wrapped_exponential"):
        (tmp_path / f"module_0002.jit_loop.{name}_kernel_module.ir-with-opt.ll").write_text(
            LLVM.format(name=name)
        )
    (tmp_path / "module_0002.jit_loop.ptx").write_text(PTX)
    session = xe.load(tmp_path).session()
    for stage, kernels in (
        ("llvm-ir-optimized", ["wrapped_exponential", "wrapped_reverse"]),
        ("ptx", ["wrapped_reverse"]),
    ):
        made = session.stages()[stage]
        found = [key for key in made.origins if key is not None]
        assert list(dict.fromkeys(found)) == [session.module.find(name).id for name in kernels]
        assert len(made.origins) == len(made.text.split("\n"))
    assert [
        line
        for line, key in zip(made.text.split("\n"), made.origins, strict=True)
        if key is not None
    ][-1] == "}"


def test_the_buffers_of_xla_are_shown_as_ours_are() -> None:
    report = xe.load(DUMPS / "cpu_loop").session().buffers()
    assert report.peak_bytes == 1048 and "XLA: temporary allocation" in report.headline()
    assert report.at_peak().instruction == "b.5" and report.at_peak().holders[0][0] == "%b.5"
    reason = report.why_not_shared("x.1", "wrapped_exponential")
    assert reason is not None and reason.code == "live-ranges-overlap"
    assert report.why_not_shared("wrapped_exponential", "reverse_add_fusion") is None
    assert report.by_program_point()["live_bytes"].max() == 1024


def test_the_page_of_a_dump_has_its_buffers_and_decisions() -> None:
    source = SessionSource(xe.load(DUMPS / "cpu_attention").session())
    assert source.title == "jit_attention · compiled by XLA"
    refused = {row.code for row in source.decisions() if row.refused}
    assert {"fused-before", "recomputed-per-element", "library-array-small"} <= refused
    view = buffer_view(source.session, with_reasons=True)
    assert view is not None and view.arena_bytes == 2097152 and len(view.rows) == 14


@pytest.mark.parametrize("name", ["cpu_loop", "cpu_attention", "cpu_attention_jaxlib_0_6"])
def test_a_dump_without_live_ranges_takes_them_from_its_schedule(name: str, tmp_path: Path) -> None:
    """The text of live ranges is younger than that of the assignment, and not in every dump."""
    folder = tmp_path / "dump"
    shutil.copytree(DUMPS / name, folder)
    for path in folder.glob("*live-range*"):
        path.chmod(0o644)
        path.unlink()
    report = xe.load(folder).session().buffers()
    said, bare = xe.load(DUMPS / name).session().buffers().assignment, report.assignment
    assert (
        bare.arena_lower_bound == said.arena_lower_bound > 0
        and bare.arena_lower_bound <= bare.arena_size
    )
    assert (
        len({row["end"] for row in bare.to_rows()}) > 1
        and "live at the peak" in str(report)
        and "<rect" in report.chart().svg
    )


def test_a_dump_without_schedule_shows_its_buffers(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    shutil.copytree(DUMPS / "cpu_attention", folder)
    for path in folder.glob("*.txt"):
        path.chmod(0o644)
        path.write_text(path.read_text().replace(", is_scheduled=true", ""))
    report = xe.load(folder).session().buffers()
    assert report.assignment.memory_by_position() == [] and "<rect" in report.chart().svg
