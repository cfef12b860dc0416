"""Answers fit a budget: the most important first, the rest counted and kept."""

from __future__ import annotations

import pandas
import pytest

from xla_explorer.agents.budget import LEAST_TOKENS, Part, Reply, cells, rows_part, tokens


class Kept:
    def __init__(self) -> None:
        self.parts: list[Part] = []

    def __call__(self, parts: list[Part]) -> str:
        self.parts = parts
        return "r1"


def test_the_estimate_counts_pieces() -> None:
    assert tokens("") == 0
    assert tokens("multiply") == 2
    assert tokens("f32[8,256]") == 7
    assert tokens("a b\n") == 3
    assert tokens("█é") == 4


@pytest.mark.parametrize("budget", [LEAST_TOKENS, 500, 2000])
def test_nothing_is_larger_than_the_budget(budget: int) -> None:
    lines = [f"%multiply.{k} | f32[{k},{k}] | reads-multiply" for k in range(400)]
    kept = Kept()
    text = Reply("head", [Part(lines, "name | shape | code")], ["why(...)"]).fitted(budget, kept)
    assert tokens(text) <= budget
    shown = [line for line in text.splitlines() if line.startswith("%multiply")]
    assert shown == lines[: len(shown)]
    assert shown + kept.parts[0].lines == lines
    assert f'[{len(lines) - len(shown)} more lines: more(handle="r1")]' in text
    assert text.endswith("next: why(...)")


def test_a_rest_repeats_the_head_of_its_table() -> None:
    kept = Kept()
    lines = [f"row {k} with some words" for k in range(200)]
    Reply("head", [Part(["first"], "a"), Part(lines, "columns")]).fitted(300, kept)
    text = Reply("", kept.parts).fitted(2000, Kept())
    assert text.splitlines()[0] == "columns" and "row 199" in text


def test_one_endless_line_is_cut_and_counted() -> None:
    text = Reply("", [Part(["x" * 100_000])]).fitted(1000, Kept())
    assert tokens(text) <= 1000 and "more characters" in text


def test_control_characters_do_not_reach_the_client() -> None:
    text = Reply("", [Part(["a\x1b[31mred\u202e"])]).fitted(500, Kept())
    assert "\x1b" not in text and "\u202e" not in text


def test_rows_leave_out_empty_columns() -> None:
    frame = pandas.DataFrame({"kernel": ["%a"], "code": [None], "us": [1.23456]})
    part = rows_part(frame, ("kernel", "code", "us", "missing"))
    assert (part.head, part.lines) == ("kernel | us", ["%a | 1.235"])
    assert cells(["a"], []).head == "none"


def test_source_lines_have_two_parts_of_their_path() -> None:
    lines = ["%a | /home/me/work/models/gpt.py:12 | (/srv/x/model.py:3); /etc/passwd a/b.py:1"]
    text = Reply("", [Part(lines)]).fitted(500, Kept())
    assert text == "%a | models/gpt.py:12 | (x/model.py:3); /etc/passwd a/b.py:1"
