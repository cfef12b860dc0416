"""PTX of the reference corpora beside the checkout passes ptxas for the architectures we promise.

Minutes each: run with -m slow.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.gpu.assemble_corpora import assemble_all
from tests.support.corpora import SHARED
from xla_explorer.backends.gpu.ptx_assembler import find_ptxas, why_no_ptxas

EVERY = 3  # one in so many of the cases with recorded outputs: about 1,000


def _lines(folder: Path) -> Iterator[dict[str, str]]:
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            for line in file:
                yield json.loads(line)


def conformance() -> Iterator[tuple[str, str]]:
    """All modules."""
    for case in _lines(SHARED / "conformance" / "dev"):
        yield case["name"], case["hlo"]


def exec_cases() -> Iterator[tuple[str, str]]:
    """Yield a thousand modules over all opcodes."""
    with gzip.open(SHARED / "xla_corpus" / "dev" / "exec_cases.jsonl.gz", "rt") as file:
        for number, line in enumerate(file):
            if number % EVERY == 0:
                case = json.loads(line)
                yield case.get("name", case.get("id", str(number))), case["hlo"]


def workloads() -> Iterator[tuple[str, str]]:
    """Yield the performance suite's m_* and b_*."""
    base = SHARED / "perf" / "dev"
    for path in sorted([*base.glob("workloads/m_*"), *base.glob("workloads/b_*")]):
        yield path.name, gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.timeout(1200)
@pytest.mark.skipif(find_ptxas() is None, reason=str(why_no_ptxas()))
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"])
@pytest.mark.parametrize(
    ("corpus", "least"), [(conformance, 1800), (exec_cases, 1000), (workloads, 200)]
)
def test_every_module_assembles(corpus, least, architecture):
    if not SHARED.is_dir():
        pytest.skip(f"the corpora are not at {SHARED}")
    kernels, refused = assemble_all(corpus(), architecture)
    assert refused == {}
    assert kernels > least
