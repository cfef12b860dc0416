"""Texts of the corpus, read and printed by us, then read and printed by XLA as the same module.

A sample by default, the whole corpus under the marker `slow`. XLA's own print of the text
(`canonical`) is the measure. A difference must stand in `EXCEPTIONS` with its reason, or appear
when XLA reads its own print too. That print is no fixed point: XLA prints instructions in post
order, and orders computations by their callers in the text.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.corpora import SHARED
from xla_explorer.hlo.text import PrintOptions, parse_hlo

DEV = SHARED / "xla_corpus" / "dev"

pytestmark = [
    pytest.mark.jax,
    pytest.mark.shared,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
    pytest.mark.skipif(
        not DEV.is_dir(), reason="the corpus of XLA's tests is not beside the checkout"
    ),
]

_PLACEHOLDER = "constant({...}) stands for unknown values; XLA fills in a counter that runs on from module to module"
_SINGLE = "a single instruction: XLA names the computation around it before the one inside"
# The end of a name, and why XLA's prints differ.
EXCEPTIONS = {
    "ReshapeMoverTest.DontSinkReshapesOfConstants::m": _PLACEHOLDER,
    "ReshapeMoverTest.OneNontrivialReshapeMoved::m": _PLACEHOLDER,
    "IrEmitterTest.SmallConstantsAreEmittedAsGlobalsLargeAreNot::module": _PLACEHOLDER,
    "MemorySpaceAssignmentTest.ConstantAllocationNear::module": _PLACEHOLDER,
    "HloInstructionTest.CanonicalPrintingSupportsCustomCall::s116": _SINGLE,
}

# Reads pairs (corpus text, our text); answers whether XLA prints the same, or its print.
# XLA aborts the process on some texts, so each answer is written as it comes.
READER = """
import json, sys
from jaxlib import _hlo

def printed(text):
    module = _hlo.hlo_module_from_text(text)
    options = _hlo.HloPrintOptions()
    options.print_metadata = METADATA
    return module.to_string(options)

for number, line in enumerate(open(sys.argv[1])):
    if number < int(sys.argv[2]):
        continue
    given, ours = json.loads(line)
    print(json.dumps([number, "begun"]), flush=True)
    try:
        wanted = printed(given)
    except Exception:
        print(json.dumps([number, "XLA refuses the corpus text"]), flush=True)
        continue
    try:
        found = printed(ours)
        if found == wanted or found == printed(wanted):
            answer = ""
        else:
            answer = next((f"{a!r} is {b!r}" for a, b in zip(wanted.split("\\n"), found.split("\\n")) if a != b), "lengths differ")
    except Exception as error:
        answer = f"refused: {error}"
    print(json.dumps([number, answer]), flush=True)
"""


def _rows() -> list[tuple[str, str]]:
    rows = []
    for part in ("modules", "models"):
        with gzip.open(DEV / f"{part}.jsonl.gz", "rt") as lines:
            rows += [(row["name"], row["hlo"]) for row in map(json.loads, lines) if row["valid"]]
    return rows


def _answers(pairs: list[tuple[str, str]], folder: Path, metadata: bool) -> dict[int, str]:
    """By number of the pair: empty, or how XLA's prints differ.

    A pair on which XLA aborts has no answer.
    """
    path = folder / "pairs.jsonl"
    path.write_text("".join([json.dumps(pair) + "\n" for pair in pairs]))
    answers: dict[int, str] = {}
    start = 0
    while start < len(pairs):
        child = subprocess.run(
            [sys.executable, "-c", READER.replace("METADATA", str(metadata)), str(path), str(start)],
            capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
        said = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        assert said, child.stderr[-2000:]
        answers |= {number: answer for number, answer in said if answer != "begun"}
        start = said[-1][0] + 1
    return answers


def _check(every: int, options: PrintOptions, folder: Path) -> int:
    rows = _rows()[::every]
    answers = _answers(
        [(text, parse_hlo(text).to_text(options)) for _, text in rows], folder, options.metadata
    )
    wrong = {
        rows[number][0]: answer
        for number, answer in answers.items()
        if answer not in ("", "XLA refuses the corpus text")
        and not rows[number][0].endswith(tuple(EXCEPTIONS))
    }
    assert not wrong, f"{len(wrong)} of {len(rows)} differ: " + "\n".join(
        [f"{name}: {how[:300]}" for name, how in list(wrong.items())[:10]]
    )
    same = sum([answer == "" for answer in answers.values()])
    assert same >= 0.99 * len(rows), f"only {same} of {len(rows)} were compared"
    return same


@pytest.mark.long
@pytest.mark.parametrize("preset", ["default", "short_parsable"])
def test_a_sample_is_read_back_as_the_same_modules(preset: str, tmp_path: Path) -> None:
    assert _check(31, getattr(PrintOptions, preset), tmp_path) > 100


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("preset", ["default", "short_parsable"])
def test_the_corpus_is_read_back_as_the_same_modules(preset: str, tmp_path: Path) -> None:
    assert _check(1, getattr(PrintOptions, preset), tmp_path) > 4_700
