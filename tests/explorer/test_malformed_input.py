"""Ten kinds of malformed input give one caret diagnostic with a next step, from Python."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from tests.support.malformed_modules import MALFORMED


@pytest.mark.parametrize("kind", MALFORMED)
def test_one_caret_and_a_next_step(kind: str) -> None:
    text, word = MALFORMED[kind]
    with pytest.raises(xe.errors.HloParseError) as caught:
        xe.compile(text)
    shown = str(caught.value)
    assert word in shown and "hint: " in shown
    assert (
        len([line for line in shown.split("\n") if line.strip() and set(line.strip()) == {"^"}])
        == 1
    )
    assert isinstance(caught.value, SyntaxError) and caught.value.lineno
