"""The terminal form of answers: at 80 columns each has its most important columns."""

from __future__ import annotations

import pandas
import pytest

import xla_explorer as xe
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.display.terminal_table import MOST_LINES
from xla_explorer.explorer.session import Session


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def attention() -> Session:
    session = xe.compile(xe.example("attention"))
    session.profile(repeats=2)
    return session


def head_and_lines(shown: object) -> tuple[list[str], list[str]]:
    lines = repr(shown).split("\n")
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    head = next(line for line in lines if len(line.split()) > 3 and "%" not in line)
    return head.split(), lines


def test_decisions_show_verdict_subjects_and_code(attention: Session) -> None:
    for kind in ("fusion", None):
        head, lines = head_and_lines(attention.decisions(kind))
        assert {"verdict", "producer", "consumer", "code"} <= set(head)
        assert any("refused" in line and "%dot_general.2" in line for line in lines)
        assert any("reason" in line and "columns more" in line for line in lines) or "..." in str(
            lines[-3:]
        )


def test_kernels_show_name_work_time_and_line(attention: Session) -> None:
    head, lines = head_and_lines(attention.kernels())
    assert {"kernel", "computes", "median_us", "line"} <= set(head)
    assert sum("%" in line and "hlo:" in line for line in lines) == len(attention.kernels())


def test_a_profile_shows_name_time_and_line(attention: Session) -> None:
    assert attention.last_profile is not None
    head, lines = head_and_lines(attention.last_profile)
    assert {"kernel", "median_us", "line"} <= set(head)
    assert any("(whole program)" in line for line in lines)


def test_advice_shows_what_to_try(attention: Session) -> None:
    text = repr(attention.explain())
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert "kernels" in text and ("try first" in text or "no rule" in text or "nothing" in text)


def test_loops_show_a_row_per_kernel(attention: Session) -> None:
    _, lines = head_and_lines(attention.loops())
    rows = [line for line in lines if line.startswith("%") and "nest" in line]
    assert len(rows) >= len(attention.kernels())


def test_buffers_show_values_and_sizes(attention: Session) -> None:
    text = repr(attention.buffers())
    assert "live at the peak" in text and "dot_general.2" in text and "2,097,152" in text
    assert all(len(line) <= 80 for line in text.split("\n"))


def test_a_long_table_counts_its_rows_and_says_how_to_print_them(attention: Session) -> None:
    frame = attention.decisions()
    text = repr(frame)
    assert f"{len(frame) - MOST_LINES} of {len(frame)} rows more" in text
    assert "frame.to_string()" in text


def test_reports_print_their_content_and_print_prints_all(attention: Session) -> None:
    reports: list[Report] = [
        attention.buffers(),
        attention.explain(),
        attention.passes,
        attention.passes.provenance(),
        attention.loops(),  # type: ignore[list-item]
    ]
    for report in reports:
        lines = repr(report).split("\n")
        assert 1 < len(lines) <= MOST_LINES + 1, type(report)
        if len(lines) > MOST_LINES:
            assert "print" in lines[-1]
        # A prompt wraps lines and adds at most a sentence on what it left out.
        assert len(str(report).split()) >= len(repr(report).split()) - 20


def test_frames_that_a_user_makes_of_them_still_print(attention: Session) -> None:
    frame = attention.kernels()
    for made in (
        frame.describe(),
        frame.groupby("opcode")[["bytes_read"]].sum(),
        frame.set_index(["opcode", "kernel"]),
        frame.T,
        frame[[]],
        frame.head(0),
        pandas.concat([frame, frame]),
    ):
        assert repr(made)


def test_an_empty_table_keeps_its_columns_and_its_note() -> None:
    empty = wide_frame([], ["kernel", "line"])
    assert repr(empty) == "no rows; columns: kernel, line"
    empty.attrs["note"] = "nothing was decided"
    assert repr(empty) == "nothing was decided"


def test_names_are_cut_in_the_middle_and_lines_in_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    frame = wide_frame([["%" + "long" * 20 + ".17", "x" * 90 + ".py:12"]], ["kernel", "line"])
    text = repr(frame)
    assert ".17" in text and "py:12" in text
    assert all(len(line) <= 40 for line in text.split("\n"))
