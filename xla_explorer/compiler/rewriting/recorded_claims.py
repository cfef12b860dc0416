"""The recorded checks of the claims of the package's rules: the tier of each, in words.

`claims.json` is written by `python -m tests.compiler.rewriting.record_claims`; a test
repeats a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xla_explorer.compiler.rewriting.recorded_proofs import proof_text
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

EXHAUSTIVE, SAMPLED = "exhaustive", "sampled"
NO_OPERANDS = "no operands"
"""Stands in the list of complete types for an example whose result is constant."""
_TABLE = Path(__file__).parent / "claims.json"
_NARROW = [k for k in PRIMITIVE_TYPES.values() if k.is_array_type and k.bits <= 16]
_GROUPS: dict[str, list[str]] = {
    "booleans": ["pred"],
    "integers of at most 8 bits": [k.name for k in _NARROW if k.is_integer and k.bits <= 8],
    "integers of 16 bits": [k.name for k in _NARROW if k.is_integer and k.bits == 16],
    "floats of at most 8 bits": [k.name for k in _NARROW if k.is_float and k.bits <= 8],
    "f16 and bf16": [k.name for k in _NARROW if k.is_float and k.bits == 16],
}


class RecordedClaim(NamedTuple):
    """The recorded check of a rule.

    claim: as the rule stated it. complete: types whose every value was tried, every combination for
    several operands. points: compared elements. shapes: tried shapes. why_sampled: a sentence, or
    empty for the tier `exhaustive`.
    """

    claim: str
    complete: tuple[str, ...]
    points: int
    shapes: int
    why_sampled: str

    @property
    def tier(self) -> str:
        """`exhaustive` or `sampled`."""
        return EXHAUSTIVE if self.complete else SAMPLED

    def __str__(self) -> str:
        return described_tier(self.complete, self.points, self.shapes, self.why_sampled)


def described_tier(complete: Sequence[str], points: int, shapes: int, why_sampled: str) -> str:
    """Return the tier in words: `every value of f16 and bf16, 1.2 million points`."""
    count = f"{points / 1e6:.1f} million" if points >= 1e6 else f"{points:,}"
    tried = f"{count} points" + (f", {shapes} other shapes" if shapes > 1 else "")
    if NO_OPERANDS in complete:
        return f"every value of the result, which has no operands; {tried}"
    if complete:
        return f"every value of {', '.join(_grouped(complete))}; {tried}"
    return f"samples, {tried}: {why_sampled}"


def _grouped(names: Sequence[str]) -> Iterable[str]:
    for title, members in _GROUPS.items():
        found = [name for name in members if name in names]
        if found == members:
            yield title
        elif 0 < len(found) <= 3:
            yield ", ".join(found)
        elif found:
            yield f"{len(found)} of the {len(members)} {title}"


@cache
def recorded_claims() -> dict[str, RecordedClaim]:
    """Return the recorded checks by the names of the rules."""
    rows = json.loads(_TABLE.read_text(encoding="utf-8"))
    return {
        name: RecordedClaim(claim, tuple(complete), points, shapes, why)
        for name, (claim, complete, points, shapes, why) in rows.items()
    }


def claim_text(name: str, claim: str) -> str:
    """Return how the claim of a rule was proved and checked; empty without a recorded claim."""
    row = recorded_claims().get(name)
    checked = str(row) if row is not None and row.claim == claim else ""
    return "; ".join([text for text in (proof_text(name, claim), checked) if text])
