"""The recorded proofs of the package's rules, in words.

`proofs.json` is written by `python -m tests.compiler.rewriting.record_proofs`; a test repeats a
part of it. It is read without the solver.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROOF_TABLE = Path(__file__).parent / "proofs.json"


class RecordedProof(NamedTuple):
    """The recorded proof of a rule.

    claim: as the rule stated it. outcome: `proved` or `unknown`. types: element types, or pairs of
    a conversion such as `f32 to f64`, proved for every value. real_types: those proved over the
    real numbers. tried: those whose values were all tried. shapes: number of further shapes proved.
    why_unknown: sentences for what is left.
    """

    claim: str
    outcome: str
    types: tuple[str, ...]
    real_types: tuple[str, ...]
    tried: tuple[str, ...]
    shapes: int
    why_unknown: tuple[str, ...]

    def __str__(self) -> str:
        parts = [f"for every value of {_counted(len(self.types))}"] if self.types else []
        if self.real_types:
            parts.append(f"over the real numbers for {_counted(len(self.real_types))}")
        if not parts:
            return "no proof: " + "; ".join(self.why_unknown)
        shapes = f", in {self.shapes} other shapes" if self.shapes > 1 else ""
        left = f" (left: {'; '.join(self.why_unknown)})" if self.why_unknown else ""
        return f"proved {' and '.join(parts)}{shapes}{left}"


def _counted(number: int) -> str:
    return f"{number} element type" + "s" * (number != 1)


@cache
def recorded_proofs() -> dict[str, RecordedProof]:
    """Return the recorded proofs by the names of the rules."""
    rows = json.loads(PROOF_TABLE.read_text(encoding="utf-8"))
    return {
        name: RecordedProof(
            claim, outcome, tuple(types), tuple(real_types), tuple(tried), shapes, tuple(why)
        )
        for name, (claim, outcome, types, real_types, tried, shapes, why) in rows.items()
    }


def proof_text(name: str, claim: str) -> str:
    """Return how the claim of a rule was proved; empty if the table lacks this claim."""
    row = recorded_proofs().get(name)
    return str(row) if row is not None and row.claim == claim else ""
