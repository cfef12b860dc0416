"""Protos written from the corpora's texts: XLA reads the same module as from its own.

A sample by default, all of them under the marker `slow`.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.corpora import SHARED
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.hlo.text import HloParseError, parse_hlo

pytestmark = [
    pytest.mark.jax,
    pytest.mark.shared,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
    pytest.mark.skipif(
        not (SHARED / "xla_corpus" / "dev").is_dir(),
        reason="the corpora are not beside the checkout",
    ),
]

# XLA's proto of the text, and ours, each read by XLA and printed. XLA aborts on some texts.
READER = """
import base64, json, sys
from jaxlib import _hlo
full = _hlo.HloPrintOptions()
full.print_large_constants = True
read = lambda raw: _hlo.HloModule.from_serialized_hlo_module_proto(raw).to_string(full)
for number, line in enumerate(open(sys.argv[1])):
    if number < int(sys.argv[2]):
        continue
    text, ours = json.loads(line)
    print(json.dumps([number]), flush=True)
    try:
        theirs = read(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    except Exception:
        continue
    print(json.dumps([number, theirs]), flush=True)
    try:
        print(json.dumps([number, theirs, read(base64.b64decode(ours))]), flush=True)
    except Exception as problem:
        print(json.dumps([number, theirs, str(problem)]), flush=True)
"""
# XLA's reader of text drops the sign of zeros and the imaginary part beside a NaN, and numbers
# instructions that its asynchronous short forms make; our protos keep values and names.
_TEXT_LOSES = re.compile(r"(?<![\w.])-?0(?![\w.])|\([^()]*nan[^()]*\)|5\.9e-39|1\.2e-38")
_NUMBERED = re.compile(r"(?<=[\w-])\.\d+\b")


def _loose(text: str) -> list[str]:
    """Return the sorted lines of a text without what XLA's reader of text changes."""
    return sorted(_NUMBERED.sub("", _TEXT_LOSES.sub("0", text)).splitlines())


def _check(every: int, folder: Path) -> int:
    files = sorted((SHARED / "conformance" / "dev").glob("*.jsonl.gz")) + sorted(
        (SHARED / "xla_corpus" / "dev").glob("*.jsonl.gz")
    )
    rows = [json.loads(line) for file in files for line in gzip.open(file, "rt")]
    texts = [row["hlo"] for row in rows if "hlo" in row and "{...}" not in row["hlo"]]
    pairs: list[tuple[str, str]] = []
    for text in texts[::every]:
        try:
            module = parse_hlo(text)
        except HloParseError:
            continue
        pairs.append((text, base64.b64encode(write_hlo_proto(module)).decode()))
    path = folder / "pairs.jsonl"
    path.write_text("".join([json.dumps(pair) + "\n" for pair in pairs]))
    start, equal, wrong = 0, 0, []
    while start < len(pairs):
        child = subprocess.run(
            [sys.executable, "-c", READER, str(path), str(start)],
            capture_output=True,
            text=True,
            timeout=3000,
            check=False,
        )
        answers = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        assert answers, child.stderr[-2000:]
        for number, *read in answers:
            if len(read) == 2 and _loose(read[0]) == _loose(read[1]):
                equal += 1
            elif len(read) == 2:
                lines = zip(*[one.splitlines() for one in read], strict=False)
                wrong.append(
                    (number, next((line for line in lines if line[0] != line[1]), read[1]))
                )
        if len(answers[-1]) == 2:  # XLA read its own proto and ended on ours
            wrong.append((answers[-1][0], child.stderr[-500:]))
        start = answers[-1][0] + 1
    assert len(wrong) <= len(pairs) // 2000, wrong[:10]
    return equal


@pytest.mark.long
def test_a_sample_is_read_by_xla(tmp_path: Path) -> None:
    assert _check(61, tmp_path) > 150


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_are_read_by_xla(tmp_path: Path) -> None:
    assert _check(1, tmp_path) > 11_000
