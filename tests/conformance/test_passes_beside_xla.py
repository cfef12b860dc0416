"""Our passes beside XLA's recorded passes and unit tests; a new disagreement fails.

`pass_disagreements.json` classifies every known one. The table by pass is printed (`pytest -s -m
slow tests/conformance/test_passes_beside_xla.py`), and written to the path in
`XLA_EXPLORER_PASS_TABLE`. Fusion and layouts follow a policy of ours. They are compared with XLA's
only under the policy `xla`.
"""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from tests.conformance import pass_tests_adapter as adapter
from xla_explorer.compiler.pipeline.pass_interface import registered_passes

DATA = Path(__file__).with_name("pass_disagreements.json")
ELSEWHERE = frozenset(
    [
        "fusion",
        "fusion-wrapper",
        "multi-output-fusion",
        "layout-assignment",
        "reshape-decomposer",
        "copy-insertion",
    ]
)
# The required share of agreement with the recorded cases, by pass.
REQUIRED = {
    **dict.fromkeys(
        [
            "dce",
            "cse",
            "tuple-simplifier",
            "call-inliner",
            "flatten-call-graph",
            "constant_folding",
        ],
        0.95,
    ),
    **dict.fromkeys(["algsimp", "reshape-mover"], 0.85),
}

pytestmark = [pytest.mark.slow, pytest.mark.shared, pytest.mark.timeout(1800)]
needs_corpus = pytest.mark.skipif(
    not adapter.CORPUS.is_dir(), reason="the corpora do not stand beside the checkout"
)


def judged_passes() -> str:
    """Return a regular expression of every pass that is judged here."""
    return "|".join([re.escape(name) for name in sorted(set(registered_passes()) - ELSEWHERE)])


def table_of(verdicts: list[adapter.Verdict], title: str) -> dict[str, float]:
    """Print agreement by pass, most judged first. Returns the share that agrees for each."""
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for v in verdicts:
        if v.verdict in ("passed", "failed", "error"):
            rows[v.pass_name]["passed" if v.verdict == "passed" else "failed"] += 1
    lines, shares = [title], {}
    for name, row in sorted(rows.items(), key=lambda item: -sum(item[1].values())):
        total = sum(row.values())
        shares[name] = row["passed"] / total
        lines.append(f"  {name:45} {row['passed']:4d} of {total:4d}  {100 * shares[name]:5.1f} %")
    agreed, total = (
        sum([r["passed"] for r in rows.values()]),
        sum([sum(r.values()) for r in rows.values()]),
    )
    lines.append(f"  {'all':45} {agreed:4d} of {total:4d}  {100 * agreed / max(total, 1):5.1f} %")
    print("\n" + "\n".join(lines))
    if path := os.environ.get("XLA_EXPLORER_PASS_TABLE"):
        with open(path, "a") as file:
            file.write("\n".join(lines) + "\n")
    return shares


def new_disagreements(verdicts: list[adapter.Verdict], kind: str) -> list[str]:
    """Disagreements that the data does not list."""
    known = json.loads(DATA.read_text())[kind]
    bad = [v for v in verdicts if v.verdict in ("failed", "error")]
    return [
        f"{v.pass_name}: {v.name}"
        for v in bad
        if v.name not in known.get(v.pass_name.split("+")[0], {})
    ]


@needs_corpus
def test_recorded_passes_agree_or_are_classified() -> None:
    verdicts = adapter.golden_verdicts(judged_passes())
    shares = table_of(verdicts, "recorded passes: the same graph up to names")
    assert not new_disagreements(verdicts, "goldens")
    assert {name: share for name, share in shares.items() if share < REQUIRED.get(name, 0)} == {}


@needs_corpus
def test_passes_asked_for_the_policy_of_xla_do_what_it_recorded() -> None:
    verdicts = adapter.golden_verdicts("|".join(adapter.POLICIES))
    shares = table_of(verdicts, "recorded passes with a policy: the same graph up to names")
    assert {
        name: share
        for name, share in shares.items()
        if name.endswith("{policy=xla}") and share < 0.97
    } == {}


@needs_corpus
@pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the referee reads our text with XLA's parser: needs jaxlib",
)
def test_unit_tests_of_xla_agree_or_are_classified() -> None:
    verdicts = adapter.unit_test_verdicts(judged_passes())
    shares = table_of(verdicts, "XLA's unit tests: what they state holds")
    assert shares["algsimp"] >= 0.9
    assert not new_disagreements(verdicts, "tests")


def test_every_class_of_disagreement_has_its_sentence() -> None:
    data = json.loads(DATA.read_text())
    used = {
        code
        for kind in ("goldens", "tests")
        for found in data[kind].values()
        for code in found.values()
    }
    assert used == set(data["reasons"]) and all(
        text.startswith(("Deliberate", "Defect")) for text in data["reasons"].values()
    )
