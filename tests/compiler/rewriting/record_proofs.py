"""Prove every declared rule and write the table of proofs.

Run `python -m tests.compiler.rewriting.record_proofs [RULE ...]` after a change of a rule or of the
prover; with names, only these rows change. A rule with a counterexample is printed, and the table
is not written.
"""

from __future__ import annotations

import json
import sys

from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.proofs.prover import RuleProof, prove_rule
from xla_explorer.compiler.rewriting.recorded_proofs import PROOF_TABLE


def row_of(proof: RuleProof) -> list[object]:
    """Return a proof as a row of the table."""
    why = [*dict.fromkeys([*proof.unknown.values(), *proof.unknown_shapes])]
    return [
        proof.claim,
        proof.outcome,
        list(proof.types),
        list(proof.real_types),
        list(proof.tried),
        proof.shapes,
        why,
    ]


def main(names: list[str]) -> int:
    """Prove rules; return the number of refuted ones."""
    rows = json.loads(PROOF_TABLE.read_text(encoding="utf-8")) if PROOF_TABLE.exists() else {}
    wrong = 0
    rules = declared_rules()
    for name in names or sorted(rules):
        proof = prove_rule(rules[name])
        rows[name] = row_of(proof)
        print(name, proof.outcome, flush=True)
        for example in proof.counterexamples:
            print(f"{name}: {example.problem}, of {example.arguments}")
            wrong += 1
    if not wrong:
        lines = [f"{json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows)]
        PROOF_TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
