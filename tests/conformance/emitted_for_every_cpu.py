"""Compiles the corpora for every description of a CPU, and names what ends a process.

    python -m tests.conformance.emitted_for_every_cpu [--every N] [--first K] [--corpus NAMES]
        [DESCRIPTION ...]

Nothing runs. A DESCRIPTION is a value of XLA_EXPLORER_TARGET (`x86-64-v3`, `znver4`), or a backend
for another CPU (`backend=riscv64`). Each compiles in its own process. A program that ends a process
is listed, and the next process goes on after it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tests.conformance.bits_beside import CORPORA

DESCRIPTIONS = (
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4,prefer-256", "native,cores=1", "haswell", "skylake-avx512", "znver3", "znver4",
    "backend=aarch64", "backend=riscv64", "backend=x86-64", "backend=wasm32", "backend=hexagon",
)  # fmt: skip


def texts(corpora: str, every: int) -> Iterator[tuple[str, str]]:
    """List (corpus/name, text) of every n-th program."""
    for corpus in corpora.split(","):
        for name, text, _ in islice(CORPORA[corpus](), 0, None, every):
            yield f"{corpus}/{name}", text


def compile_all(corpora: str, every: int, first: int, backend: str) -> None:
    """Run the child: print a line before each program, and one with its outcome."""
    import xla_explorer as xe

    warnings.simplefilter("ignore")
    for number, (name, text) in enumerate(islice(texts(corpora, every), first, None), first):
        print(json.dumps([number, name, "begins"]), flush=True)
        try:
            session = xe.compile(text, backend=backend, cache=False)
            outcome = (
                "compiled"
                if session.stages().get("object") or session.executable is not None
                else "refused"
            )
        except xe.XlaExplorerError as problem:
            outcome = f"error {type(problem).__name__}: {str(problem).splitlines()[0][:160]}"
        except Exception as problem:
            outcome = f"internal {type(problem).__name__}: {str(problem)[:160]}"
        print(json.dumps([number, name, outcome]), flush=True)


def outcomes(
    description: str, corpora: str, every: int, first: int = 0
) -> Iterator[tuple[str, str]]:
    """Compile the corpora for one description; (name, outcome) of each program."""
    is_backend = description.startswith("backend=")
    backend = description.removeprefix("backend=") if is_backend else "cpu"
    environment = (
        {**os.environ} if is_backend else {**os.environ, "XLA_EXPLORER_TARGET": description}
    )
    while True:
        command = [
            sys.executable,
            "-m",
            __spec__.name,
            "--child",
            "--corpus",
            corpora,
            "--every",
            str(every),
            "--first",
            str(first),
            backend,
        ]
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=_ROOT,
        )
        begun = None
        assert child.stdout is not None
        for line in child.stdout:
            number, name, outcome = json.loads(line)
            begun = (number, name) if outcome == "begins" else None
            if begun is None:
                yield name, outcome
        status = child.wait()
        if begun is None:
            if status:
                yield (
                    description,
                    f"the process ended with status {status} before its first program",
                )
            return
        yield begun[1], f"the process ended with status {status}"
        first = begun[0] + 1


_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Print a line a description, and each program that went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("descriptions", nargs="*", default=DESCRIPTIONS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--corpus", default="conformance,perf")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        compile_all(given.corpus, given.every, given.first, given.descriptions[0])
        return 0
    bad = 0
    for description in given.descriptions:
        started, counts = time.monotonic(), Counter[str]()
        for name, outcome in outcomes(description, given.corpus, given.every, given.first):
            counts[outcome.split(" ")[0]] += 1
            if outcome.startswith(("the process", "internal")):
                bad += 1
                print(f"{description}: {name}: {outcome}", flush=True)
        print(f"{description}: {dict(counts)} in {time.monotonic() - started:.0f} s", flush=True)
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
