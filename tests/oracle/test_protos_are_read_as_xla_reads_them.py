"""HLO protos that XLA writes of the corpora's texts: we read the module that XLA reads.

A sample by default, all of them under the marker `slow`. XLA prints the module that it read of its
own proto. Our reading of that print must equal our module, or XLA must print our module as its own:
wrapped asynchronous computations have other names in protos.
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

from tests.oracle.xla_parser import XlaParser
from tests.support.corpora import SHARED
from xla_explorer.frontends.hlo_proto import read_hlo_proto
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

# Of a collective-permute of several arrays XLA reads the slices of the first only.
_SLICES = re.compile(r", slice_sizes=\{\{[\d,{}]*\}\}")
# XLA aborts the process on some texts, so each answer is written as it comes.
WRITER = """
import base64, json, sys
from jaxlib import _hlo
full, short = _hlo.HloPrintOptions(), _hlo.HloPrintOptions()
full.print_large_constants = True
for number, line in enumerate(open(sys.argv[1])):
    if number < int(sys.argv[2]):
        continue
    print(json.dumps([number]), flush=True)
    try:
        raw = _hlo.hlo_module_from_text(json.loads(line)).as_serialized_hlo_module_proto()
        again = _hlo.HloModule.from_serialized_hlo_module_proto(raw)
    except Exception:
        continue
    answer = [number, base64.b64encode(raw).decode(), again.to_string(full), again.to_string(short)]
    print(json.dumps(answer), flush=True)
"""


def _texts() -> list[str]:
    files = sorted((SHARED / "conformance" / "dev").glob("*.jsonl.gz")) + sorted(
        (SHARED / "xla_corpus" / "dev").glob("*.jsonl.gz")
    )
    rows = [json.loads(line) for file in files for line in gzip.open(file, "rt")]
    # XLA fills placeholders with numbers, of arrays that may be huge.
    return [row["hlo"] for row in rows if "hlo" in row and "{...}" not in row["hlo"]]


def _written(texts: list[str], folder: Path) -> list[tuple[bytes, str, str]]:
    path = folder / "texts.jsonl"
    path.write_text("".join([json.dumps(text) + "\n" for text in texts]))
    found: list[tuple[bytes, str, str]] = []
    start = 0
    while start < len(texts):
        child = subprocess.run(
            [sys.executable, "-c", WRITER, str(path), str(start)],
            capture_output=True,
            text=True,
            timeout=3000,
            check=False,
        )
        said = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        assert said, child.stderr[-2000:]
        found += [
            (base64.b64decode(answer[1]), answer[2], answer[3])
            for answer in said
            if len(answer) > 1
        ]
        start = said[-1][0] + 1
    return found


def _check(every: int, folder: Path) -> int:
    written = _written(_texts()[::every], folder)
    wrong, doubtful = [], []
    for raw, full, short in written:
        module = read_hlo_proto(raw).module
        try:
            same = module.to_text() == parse_hlo(full).to_text()
        except HloParseError:  # XLA may print a computation behind one that calls it, and then does not read its own print
            same = False
        if not same:
            doubtful.append((module.to_text(), short))
    with XlaParser() as parser:
        verdicts = parser.verdicts([text for text, _ in doubtful])
    for (text, short), verdict in zip(doubtful, verdicts, strict=True):
        theirs, again = _SLICES.sub("", short), _SLICES.sub("", verdict.text)
        if theirs != again:
            pairs = zip(theirs.split("\n"), again.split("\n"), strict=False)
            wrong.append(next((f"{a[:300]}\n   {b[:300]}" for a, b in pairs if a != b), text[:500]))
    assert not wrong, f"{len(wrong)} of {len(written)} differ:\n" + "\n".join(wrong[:10])
    return len(written)


@pytest.mark.long
def test_a_sample_is_read_as_xla_reads_it(tmp_path: Path) -> None:
    assert _check(61, tmp_path) > 150


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_are_read_as_xla_reads_them(tmp_path: Path) -> None:
    assert _check(1, tmp_path) > 11_000
