"""Texts from the grammar and texts one edit away from valid ones: we accept what real XLA's parser accepts, and print what it reads as the same.

What differs stands in `DIFFERENCES` with its reason. A few hundred texts in the suite; under the marker `slow` 100,000 of each kind, in
runs of 10,000 seeds that can be repeated one by one.
"""

from __future__ import annotations

import importlib.util
import re

import pytest

import xla_explorer as xe
from tests.oracle.generated_texts import edited_text, valid_text
from tests.oracle.xla_parser import Verdict, XlaParser

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"),
]

# (what XLA does, words of our message or of XLA's, why we differ). What XLA aborts on counts as refused.
DIFFERENCES = (
    ("accepted", "is no permutation of the dimensions", "XLA's parser does not look at the order of a layout; its verifier refuses it"),
    ("accepted", "entry_computation_layout does not fit", "XLA's parser does not compare it with the entry; its verifier does"),
    ("accepted", "more bytes than 64 bits can count", "no machine holds the array"),
    ("accepted", "expects 2 operands, but has", "XLA drops further operands of a dot without a word"),
    ("accepted", "rng-bit-generator expects", "XLA drops further operands without a word"),
    ("accepted", "ragged-all-to-all expects", "XLA's parser does not count its operands; its verifier does"),
    ("accepted", "expects the name of an operand", "XLA's parser drops an operand that it cannot read, when a comma or ')' follows"),
    ("accepted", "instruction does not exist", "the same: it drops the operand"),
    ("accepted", "expects '[' after the element type", "the same: it drops the operand"),
    ("accepted", "expects a string, but sees", "XLA's parser passes over a missing name of a file or function"),
    ("accepted", "expects an integer, but sees ,", "XLA's parser goes on with a number that it never read"),
    ("accepted", "out of the range of a double", "a statistic that XLA reads as infinite and prints so that it cannot be read"),
    ("accepted", "has the same size as 'size='", "XLA reads behind the end of rhs_reversal"),
    ("accepted", "expects exactly one", "a dimension without a label is number 0 to XLA"),
    ("accepted", "expects sizes of tiles from 1 on", "no device can hold a tile of it"),
    ("refused", "unexpected attribute", "an attribute that no XLA of today knows is kept, so that texts of a later one can be read"),
)


def _is_listed(kind: str, message: str) -> bool:
    return any(kind == one and words in message for one, words, _ in DIFFERENCES)


def _ours(text: str) -> tuple[str, str]:
    """(accepted or refused, how we print it or why not)."""
    try:
        module = xe.parse_hlo(text)
    except xe.XlaExplorerError as problem:
        return "refused", str(problem)
    return "accepted", module.to_text()


def _comparable(text: str) -> str:
    """A print of XLA without what it does not keep.

    It forgets the layouts of parameters where the header says something but not the layouts, and a triangular-solve that does not state
    transpose_a is one to it that has none, which the verifier refuses.
    """
    text = text.replace(", transpose_a=NO_TRANSPOSE", "")
    return re.sub(r"entry_computation_layout=\{\(.*?\}(?=, [a-z_]+=|\n)", "", text, count=1)


def _compare(texts: list[str], xla: XlaParser) -> list[str]:
    """How verdicts and prints differ, where no reason is listed."""
    problems, accepted = [], []
    for text, verdict in zip(texts, xla.verdicts(texts), strict=True):
        kind, ours = _ours(text)
        said = "accepted" if verdict.kind == "accepted" else "refused"
        if kind != said:
            if not _is_listed(said, ours if kind == "refused" else verdict.text):
                problems.append(f"XLA: {verdict.kind} {verdict.text[:300]}\nwe: {kind} {ours[-300:]}\n{text}")
        elif kind == "accepted":
            accepted.append((text, verdict, ours))
    again: list[Verdict] = xla.verdicts([ours for _, _, ours in accepted])
    for (text, first, ours), second in zip(accepted, again, strict=True):
        if second.kind != "accepted":
            problems.append(f"XLA does not read what we print: {second.text[:300]}\n{ours}\n{text}")
        elif _comparable(first.text) != _comparable(second.text):
            problems.append(f"XLA prints another module:\n{first.text}\n{second.text}")
    return problems


def _check(first: int, count: int, edited: bool) -> None:
    with XlaParser() as xla:
        for start in range(first, first + count, 500):
            seeds = range(start, min(start + 500, first + count))
            problems = _compare([edited_text(seed)[0] if edited else valid_text(seed) for seed in seeds], xla)
            assert not problems, f"seeds {seeds}: {len(problems)} differ\n" + "\n\n".join(problems[:3])


@pytest.mark.parametrize("edited", [False, True], ids=["valid", "one edit"])
def test_some_generated_texts(edited: bool) -> None:
    _check(0, 150, edited)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100_000, 10_000))
@pytest.mark.parametrize("edited", [False, True], ids=["valid", "one edit"])
def test_all_generated_texts(edited: bool, first: int) -> None:
    _check(first, 10_000, edited)


def test_differences_have_reasons() -> None:
    assert all(kind in ("accepted", "refused") and words and reason for kind, words, reason in DIFFERENCES)
