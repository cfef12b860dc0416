"""Real XLA's parser (jaxlib, extra `jax`) reads our prints as the original modules.

In a child process: XLA's parser aborts the process on some malformed texts.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
import sys
import time

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(
        importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
    ),
]

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
WORKLOADS = SHARED / "perf" / "dev" / "workloads"

READER = """
import json, sys, time
from jaxlib import _hlo
rows = []
for pair in json.load(sys.stdin):
    texts, seconds = [], []
    for text in pair:
        started = time.perf_counter()
        module = _hlo.hlo_module_from_text(text)
        seconds.append(time.perf_counter() - started)
        texts.append(module.to_string())
    rows.append([texts, seconds])
print(json.dumps(rows))
"""


def _through_xla(pairs: list[list[str]]) -> list[tuple[list[str], list[float]]]:
    result = subprocess.run(
        [sys.executable, "-c", READER],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return [(row[0], row[1]) for row in json.loads(result.stdout.splitlines()[-1])]


def _texts() -> dict[str, str]:
    paths = sorted(DATA.glob("*.hlo"))
    if WORKLOADS.is_dir():
        paths += [p for p in sorted(WORKLOADS.glob("*.hlo")) if p.stat().st_size < 40_000]
    return {path.stem: path.read_text() for path in paths}


def test_printed_modules_are_read_as_the_same_module() -> None:
    texts = _texts()
    rows = _through_xla([[text, xe.parse_hlo(text).to_text()] for text in texts.values()])
    different = [
        name for name, (printed, _) in zip(texts, rows, strict=True) if printed[0] != printed[1]
    ]
    assert not different, f"{len(different)} of {len(texts)} modules differ: {different}"
    assert len(texts) >= 2


@pytest.mark.long
def test_optimised_modules_are_read() -> None:
    """Fusions, copies and schedules too."""
    texts = [
        xe.compile(text, journal="off").module.to_text() for text in list(_texts().values())[:12]
    ]
    for printed, _ in _through_xla([[text] for text in texts]):
        assert "fusion" in printed[0] or "dot" in printed[0] or "copy" in printed[0]


@pytest.mark.performance
def test_parsing_takes_at_most_twice_the_time_of_xla() -> None:
    name = "c_tf48_unrolled_d64.hlo.gz"
    if not (WORKLOADS / name).exists():
        pytest.skip("the workload is not beside the checkout")
    import gzip

    text = gzip.open(WORKLOADS / name, "rt").read()
    theirs = min(_through_xla([[text] * 5])[0][1])
    ours = []
    for _ in range(5):
        started = time.perf_counter()
        xe.parse_hlo(text)
        ours.append(time.perf_counter() - started)
    assert min(ours) <= 2 * theirs, f"ours {min(ours) * 1e3:.1f} ms, XLA's {theirs * 1e3:.1f} ms"
