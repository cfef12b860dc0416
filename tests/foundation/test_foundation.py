"""Reasons, spans with carets, the journal, unique names, optional packages, the collector."""

from __future__ import annotations

import gc
import json
import math
import pathlib

import pytest

from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.foundation.measured import at_most
from xla_explorer.foundation.naming import UniqueNames
from xla_explorer.foundation.optional import MissingExtraError, import_optional
from xla_explorer.foundation.reason import (
    Reason,
    checklist,
    first_refusal,
    named,
    refuse,
    settled,
    value_formatter,
)


def is_even(number: int) -> Reason | None:
    return None if number % 2 == 0 else refuse("odd", f"{number} is odd", number=number)


def is_small(number: int) -> Reason | None:
    return None if number < 10 else refuse("too-big", f"{number} is 10 or more", number=number)


def test_the_first_check_that_refuses_answers() -> None:
    assert first_refusal((is_even, is_small), 4) is None
    assert first_refusal((is_even, is_small), 13) == refuse("odd", "13 is odd", number=13)
    assert str(first_refusal((is_even, is_small), 12)) == "too-big: 12 is 10 or more"


def test_a_policy_shows_as_a_checklist() -> None:
    answers = checklist((is_even, is_small), 13)
    assert [(check.name, check.ok, check.code, check.message) for check in answers] == [
        ("is-even", False, "odd", "13 is odd"),
        ("is-small", False, "too-big", "13 is 10 or more"),
    ]
    assert refuse("too-big", "13 is 10 or more", number=13).to_json() == {
        "code": "too-big",
        "message": "13 is 10 or more",
        "facts": {"number": 13},
    }


def test_a_check_tells_what_it_measured_and_where_it_is_written() -> None:
    small = value_formatter(lambda number: at_most("number", number, 9))(is_small)
    check, other = checklist((small,), 4)[0], checklist((small,), 1300)[0]
    assert check.ok and (check.value, check.message, check.code) == ("number 4 <= 9", "", "")
    assert (other.value, other.message, other.code) == (
        "number 1,300 > 9",
        "1300 is 10 or more",
        "too-big",
    )
    name, line = check.place.rsplit(":", 1)
    assert name == "foundation/test_foundation.py"
    assert "def is_small" in "".join(
        pathlib.Path(__file__).read_text().splitlines(keepends=True)[int(line) - 1 : int(line) + 1]
    )


def test_what_relies_on_a_check_that_refused_is_not_asked() -> None:
    def is_positive(number: int) -> Reason | None:
        return refuse("negative", f"{number} is negative") if number < 0 else None

    def has_a_root(number: int) -> Reason | None:
        return None if math.isqrt(number) >= 0 else refuse("no-root", "none")

    assert [check.ok for check in checklist((is_positive, has_a_root), -4)] == [False, None]
    with pytest.raises(ValueError, match="isqrt"):
        checklist((has_a_root,), -4)


def test_an_answer_that_is_known_already_is_a_check_too() -> None:
    held, refused = checklist(
        (settled("copy-is-free", None, lambda: "0 bytes"), named("is-odd", is_even)), 3
    )
    assert (
        (held.name, held.value) == ("copy-is-free", "0 bytes")
        and held.ok
        and held.place.startswith("foundation/test_foundation.py:")
    )
    assert (refused.name, refused.code) == ("is-odd", "odd") and refused.place.startswith(
        "foundation/test_foundation.py:"
    )


@pytest.mark.parametrize(
    ("text", "offset", "length", "line", "column"),
    [
        ("abc\ndef", 5, 1, 2, 2),
        ("abc", 3, 1, 1, 4),
        ("", 0, 1, 1, 1),
        ("a\n\nb", 2, 4, 2, 1),
        ("abc", 99, 1, 1, 4),
    ],
)
def test_spans_count_from_one(text: str, offset: int, length: int, line: int, column: int) -> None:
    span = SourceSpan.from_offset(text, offset, length, "m.hlo")
    assert (span.line, span.column) == (line, column)
    assert span.caret().splitlines()[0] == f"m.hlo:{line}:{column}"


def test_the_caret_stands_under_the_place() -> None:
    span = SourceSpan.from_offset("x = add(a, nowhere)", 11, 7)
    _place, source, caret = span.caret().splitlines()
    assert source[caret.index("^") :].startswith("nowhere") and caret.count("^") == 7


def test_long_lines_are_cut_around_the_place() -> None:
    text = "a" * 5000 + "HERE" + "b" * 5000
    _, source, caret = SourceSpan.from_offset(text, 5000, 4).caret().splitlines()
    assert len(source) < 200 and source[caret.index("^") :].startswith("HERE")


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in SourceSpan.from_offset("a\x1b[31mb", 0).caret()


def test_errors_carry_a_next_step() -> None:
    assert str(XlaExplorerError("no", "try yes")) == "no\n  hint: try yes"
    assert str(XlaExplorerError("no")) == "no"


def test_names_are_unique_in_the_manner_of_xla() -> None:
    names = UniqueNames()
    assert [
        names.unique("add"),
        names.unique("add"),
        names.unique("add.1"),
        names.unique("mul"),
    ] == ["add", "add.1", "add.2", "mul"]
    assert not names.reserve("mul") and names.reserve("new")


def test_a_name_is_a_stem_and_a_number() -> None:
    names = UniqueNames()
    assert [names.unique(n) for n in ("add.0", "add", "x.007", "x.7", "one.0", "one.0.0", "one")] == [
        "add.0", "add.1", "x.7", "x.0", "one.0", "one.0.0", "one.1",
    ]  # fmt: skip


def test_names_are_reserved_together_only_as_they_are() -> None:
    names = UniqueNames()
    assert names.reserve_all(["p", "q.0", "q.1"])
    assert not names.reserve_all(["fresh", "q"]) and names.reserve(
        "fresh"
    )  # q is number 0 of q, like q.0
    assert (
        not names.reserve_all(["p.0"])
        and not names.reserve_all(["r", "r.0"])
        and not names.reserve_all(["s.01"])
    )
    assert names.reserve_all(["one.0", "two"])


def test_spans_nest_and_keep_what_went_wrong() -> None:
    journal = Journal("decisions")
    with (
        pytest.raises(RuntimeError),
        journal.span("pipeline", "outer"),
        journal.span("pass", "inner"),
    ):
        journal.write("rewrite", "rule-a", (1, 2), accepted=True)
        raise RuntimeError("broken")
    outer, inner = journal.spans
    assert inner.parent == outer.id and inner.error == outer.error == "RuntimeError: broken"
    assert [e.by for e in journal.of_span(outer.id)] == ["rule-a"] and journal.about(
        2
    ) == journal.events


def test_a_journal_survives_json_lines() -> None:
    journal = Journal("everything")
    with journal.span("pass", "fusion") as span:
        journal.write(
            "decision",
            "fusion",
            (1, 2),
            ("a", "b"),
            refuse("too-big", "it is", bytes=7),
            accepted=False,
        )
        journal.write("rewrite", "add-zero", (3,), ("c",), accepted=True)
    span.changed = True
    again = Journal.from_json_lines(journal.to_json_lines())
    assert [e.to_json() for e in again.events] == [e.to_json() for e in journal.events]
    assert again.spans[0].changed and again.hot_rules() == [("add-zero", 1, 0)]
    assert [(e.kind, e.verdict, e.acted) for e in again.events] == [
        ("decision", "refused", False),
        ("rewrite", "accepted", True),
    ]


def test_a_journal_of_before_verdicts_had_one_word_is_read() -> None:
    row = {
        "sequence": 0,
        "span": -1,
        "by": "fusion",
        "subjects": [1, 2],
        "names": ["a", "b"],
        "reason": None,
        "facts": None,
    }
    lines = [
        json.dumps({**row, "kind": kind})
        for kind in ("allowed", "denied", "applied", "refused", "created")
    ]
    found = [(e.kind, e.verdict) for e in Journal.from_json_lines("\n".join(lines)).events]
    verdicts = ["accepted", "refused"]
    assert found == [
        *[("decision", v) for v in verdicts],
        *[("rewrite", v) for v in verdicts],
        ("created", ""),
    ]


def test_an_event_is_a_decision_as_a_value() -> None:
    event = Journal().write(
        "decision",
        "fusion",
        (1, 1),
        ("a", "a"),
        refuse("too-big", "it is", bytes=7),
        {"n": 1},
        accepted=False,
    )
    decision = decision_of(event, 3)
    assert (decision.kind, decision.verdict, decision.subjects, decision.step) == (
        "fusion",
        "refused",
        (1,),
        3,
    )
    assert (
        decision.refused
        and decision.code == "too-big"
        and decision.facts == {"n": 1, "bytes": 7}
        and decision.about == ("%a",)
    )
    assert decision.reason == refuse("too-big", "it is", n=1, bytes=7)
    assert str(decision) == "fusion of %a refused: too-big: it is"


def test_levels_are_words() -> None:
    assert (
        Level.parse("off")
        < Level.parse("passes")
        < Level.parse("decisions")
        < Level.parse("everything")
    )
    with pytest.raises(ValueError, match="choose from"):
        Level.parse("loud")


def test_a_missing_package_names_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r'pip install "xla-explorer\[jax\]"'):
        import_optional("surely_not_installed_anywhere", "jax")
    assert import_optional("json", "jax").loads("1") == 1


def test_the_collector_comes_back() -> None:
    assert gc.isenabled()
    with collector_paused(), collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
