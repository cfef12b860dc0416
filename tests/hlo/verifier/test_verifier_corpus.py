"""Modules that XLA made or runs are well formed: no false alarm on dumps and corpus."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.support.corpora import SHARED
from xla_explorer.hlo.text import HloParseError, parse_hlo
from xla_explorer.hlo.verifier import violations

pytestmark = pytest.mark.shared


def texts(value: object) -> Iterator[str]:
    """Every HLO text inside a JSON value."""
    if isinstance(value, str):
        if "HloModule" in value and "ENTRY" in value:
            yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def test_dumps_of_xla_are_sound() -> None:
    checked = 0
    for path in sorted((SHARED / "reference" / "dumps").rglob("*.txt")):
        text = path.read_text(errors="replace")
        if text.startswith("HloModule"):
            assert violations(parse_hlo(text, filename=path.name)) == [], path
            checked += 1
    assert checked > 10


CORPORA = [
    "conformance/dev/interpret.jsonl.gz",
    "conformance/dev/dynamic.jsonl.gz",
    "xla_corpus/dev/models.jsonl.gz",
]


@pytest.mark.parametrize(
    ("corpus", "every"),
    [
        *[(corpus, 4) for corpus in CORPORA],
        *[pytest.param(corpus, 1, marks=pytest.mark.slow) for corpus in CORPORA],
    ],
)
def test_corpus_is_sound(corpus: str, every: int) -> None:
    path = SHARED / corpus
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    checked = 0
    with gzip.open(path, "rt") as lines:
        for line in islice(lines, 0, None, every):
            for text in texts(json.loads(line)):
                try:
                    module = parse_hlo(text)
                except HloParseError:
                    continue
                assert violations(module) == []
                checked += 1
    assert checked > 20 / every
