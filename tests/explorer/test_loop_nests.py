"""`session.loops`: a kernel's loop nest, plain and after directives; refusals with advice."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.support.loop_program import TEXT
from xla_explorer.foundation.diagnostic import XlaExplorerError


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


def test_the_nest_of_a_fusion_names_the_instructions_and_their_elements(
    session: xe.Session,
) -> None:
    (fusion,) = [i for i in session.module.entry.instructions.values() if i.opcode.name == "fusion"]
    assert session.loops(f"%{fusion.name}") == session.loops(fusion.id)
    text = session.loops(fusion.name, "")
    assert text.startswith("kernel @")
    (line,) = [line for line in text.splitlines() if "= tanh" in line]
    assert line.endswith("[i, j]") and "%t" in line
    scheduled = session.loops(fusion.name, "split{j,16},vectorize{ji},parallel{i,2}")
    assert (
        "tasks 2" in scheduled
        and "jo in 4 @serial, ji in 16 @vector" in scheduled
        and "for i in 8 @parallel {" in scheduled
    )


@pytest.mark.parametrize(
    ("kernel", "schedule", "message"),
    [
        ("sorted", "", "sorted has no loop nest: no-loop-nest"),
        ("nothing", "", "nothing"),
        ("x", "", "has no loop nest"),
    ],
)
def test_what_cannot_be_shown_says_why(
    session: xe.Session, kernel: str, schedule: str, message: str
) -> None:
    with pytest.raises(XlaExplorerError, match=message):
        session.loops(kernel, schedule)


def test_a_directive_that_is_not_legal_says_why(session: xe.Session) -> None:
    (fusion,) = [i for i in session.module.entry.instructions.values() if i.opcode.name == "fusion"]
    for schedule, message in (
        ("vectorize{i}", "at every 64th element"),
        ("split{q,2}", "unknown axis q"),
        ("split(j,2)", "expected a directive"),
    ):
        with pytest.raises(XlaExplorerError, match=message):
            session.loops(fusion.name, schedule)


def test_explain_says_which_elements_an_instruction_reads(session: xe.Session) -> None:
    assert "element [i] <- %t[i, s0] for s0 in 64, %z[]" in str(session.explain("sums"))
