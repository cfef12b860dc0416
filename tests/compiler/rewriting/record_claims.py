"""Check every declared rule and write the table of tiers.

Run `python -m tests.compiler.rewriting.record_claims` after a change of a rule or of the check.
A rule that breaks its claim is printed, and the table is not written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from xla_explorer.compiler.rewriting import recorded_claims
from xla_explorer.compiler.rewriting.claim_check import ClaimCheck, check_claim
from xla_explorer.compiler.rewriting.declared import declared_rules


def row_of(found: ClaimCheck) -> list[object]:
    """Return a check as a row of the table."""
    return [found.claim, list(found.complete), found.points, found.shapes, found.why_sampled]


def main() -> int:
    """Check all rules; return the number of false claims."""
    rows, wrong = {}, 0
    for name, rule in sorted(declared_rules().items()):
        found = check_claim(rule)
        rows[name] = row_of(found)
        for example in found.counterexamples[:1]:
            print(f"{name}: {example.problem}, of {example.arguments}")
            wrong += 1
    if not wrong:
        lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        (Path(recorded_claims.__file__).parent / "claims.json").write_text(text, encoding="utf-8")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
