"""Two dumps of one program: the decisions that XLA made otherwise, with their bytes and reasons."""

from __future__ import annotations

from pathlib import Path

import xla_explorer as xe
from tests.explorer.xla.test_replay import AFTER, BEFORE, PARTLY, _dump
from xla_explorer.cli.main import main


def _folder(folder: Path, after: str) -> Path:
    folder.mkdir()
    _dump(folder, dot_library_rewriter=BEFORE, fusion=after)
    (folder / "module_0000.jit_f.cpu_after_optimizations.txt").write_text(after)
    return folder


def test_a_fusion_that_one_of_two_made_is_shown_with_what_it_costs(tmp_path: Path) -> None:
    first, second = [
        xe.load(_folder(tmp_path / name, text)) for name, text in (("a", AFTER), ("b", PARTLY))
    ]
    found = xe.xla.compare(first, second)
    (row,) = found.flipped
    assert (row.kind, row.subject, row.consumer, row.first, row.second) == (
        "fusion",
        "c",
        "r",
        "fused",
        "memory",
    )
    assert row.bytes == 2 * 512 * 512 * 4 and row.delta_us is not None and row.delta_us > 0
    assert found.kernels == [("subtract", 0, 1)] and ("kernels", 2, 3) in found.counts
    assert found and "1 decisions flipped" in str(found)
    back = xe.xla.compare(second, first).flipped[0]
    assert back.delta_us is not None and back.delta_us == -row.delta_us
    assert not xe.xla.compare(first, first)


def test_open_against_writes_a_page_of_the_difference(tmp_path: Path) -> None:
    a, b = [str(_folder(tmp_path / name, text)) for name, text in (("a", AFTER), ("b", PARTLY))]
    assert main(["open", a, "--against", b, "--save", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "compiled by XLA, twice" in page and "decisions that differ" in page
    assert str(tmp_path) not in page and "http://" not in page and "https://" not in page
