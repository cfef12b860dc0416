"""Texts to start from: the project's conformance programs, opcodes, workloads, random modules.

If the reference corpora lie beside the checkout, their texts are taken too. Repeated facts of a
text (the layout of the entry, the signatures of computations) are left out. A change of a type or a
size then needs one edit.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tests.support.corpora import SHARED

TESTS = Path(__file__).resolve().parents[1]

OWN = TESTS / "data" / "conformance_extra.json.gz"
_MOST_CHARACTERS = 6000
_RANDOM_SEEDS = 150
_SIGNATURE = re.compile(r"^(ENTRY )?(%?[\w.\-]+) \([^\n]*\) -> [^\n]* \{$", re.MULTILINE)
_LARGE = re.compile(r"\d{5,}|\d+,\d+,\d{4,}")


class Corpus(NamedTuple):
    """texts: to mutate.

    fingerprint: of all of them, so that a seed's number means the same text only where this is
    equal.
    """

    texts: tuple[str, ...]
    fingerprint: str


def plain(text: str) -> str:
    """Return the text without redundant parts: types of parameters and results."""
    head, _, rest = text.partition("\n")
    if "entry_computation_layout" in head:
        head = re.sub(r", entry_computation_layout=.*", "", head)
    return _SIGNATURE.sub(lambda m: f"{m.group(1) or ''}{m.group(2)} {{", head + "\n" + rest)


def _rows(path: Path) -> list[str]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line)["hlo"] for line in lines]


def _programs() -> list[str]:
    from tests.support.opcode_programs import PROGRAMS, module_with

    return [module_with(name).to_text() for name in PROGRAMS]


def _workloads() -> list[str]:
    """Return the benchmarks with small arrays, if they are beside the checkout."""
    return [
        path.read_text()
        for path in sorted((SHARED / "perf" / "dev" / "workloads").glob("m_*.hlo"))
        if not _LARGE.search(path.read_text())
    ]


def _random() -> list[str]:
    from tests.properties.random_modules import random_module

    return [random_module(seed, 5).module.to_text() for seed in range(_RANDOM_SEEDS)]


def _shared() -> list[str]:
    texts: list[str] = []
    for path in sorted((SHARED / "conformance" / "dev").glob("*.jsonl.gz")):
        texts += _rows(path)
    for name in ("exec_cases", "modules"):
        path = SHARED / "xla_corpus" / "dev" / f"{name}.jsonl.gz"
        if path.is_file():
            texts += _rows(path)
    return texts


@lru_cache(maxsize=2)
def corpus(*, shared: bool = True) -> Corpus:
    """All texts, each once. shared: take those beside the checkout too, where they are."""
    with gzip.open(OWN, "rt") as file:
        own: list[str] = json.load(file)
    sources: list[Callable[[], list[str]]] = [
        lambda: own,
        _programs,
        _random,
        *([_workloads, _shared] if shared else []),
    ]
    texts = list(
        dict.fromkeys(
            plain(text) for source in sources for text in source() if len(text) <= _MOST_CHARACTERS
        )
    )
    return Corpus(tuple(texts), hashlib.sha256("\0".join(texts).encode()).hexdigest()[:10])
