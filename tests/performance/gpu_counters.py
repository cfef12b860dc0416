"""Counts the work of every GPU kernel of the conformance corpus on the emulator, by emitter.

    python -m tests.performance.gpu_counters --every 6 --out before.json
    python -m tests.performance.gpu_counters --every 6 --beside before.json

The first runs in a checkout of one commit, the second in a checkout of the other.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from tests.support.corpora import SHARED
from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.text.parser import parse_hlo

COLUMNS = ("warp_instructions", "sectors", "requests", "conflicts")
LIMIT = 1.02


def corpus() -> list[Any]:
    """Return the development cases."""
    spec = importlib.util.spec_from_file_location(
        "conformance_harness_counters", SHARED / "conformance" / "conformance.py"
    )
    assert spec is not None and spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    return list(harness.load_cases(str(SHARED / "conformance" / "dev")))


def counted(case: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Return emitter and counters of a case's kernels; those of `known` if the PTX is equal."""
    options = CompileOptions(
        journal="off",
        cache=False,
        backend_options={"device": "emulator", "architecture": "sm_80", "libraries": "never"},
    )
    compiler = GpuCompiler()
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(case.hlo), options), options)
    ptx = result.executable.ptx
    found = {
        "ptx": hashlib.sha256(result.stages["ptx"].text.encode()).hexdigest(),
        "emitters": {k.name: k.emitter for k in result.program.kernels},
    }
    if known.get("ptx") == found["ptx"]:
        return {**found, "kernels": known["kernels"]}
    findings: list[Any] = []
    executor = EmulatedExecutor(LaunchOptions(counters=True, global_races=True), findings)
    with result.executable.start(list(case.inputs), executor, ptx=ptx) as run:
        run.run()
    kernels = {
        name: totals(kernel.counters.rows()) for name, kernel in executor.load_ptx(ptx).items()
    }
    return {**found, "kernels": kernels, "findings": [str(f) for f in findings]}


def totals(rows: list[dict[str, Any]]) -> list[int]:
    """Return totals by `COLUMNS`; conflicts are the extra passes of shared-memory accesses."""
    conflicts = sum([(row["requests"] or 0) * ((row["bank_conflict"] or 1) - 1) for row in rows])
    return [*[sum([int(row[name] or 0) for row in rows]) for name in COLUMNS[:3]], round(conflicts)]


def rows(
    before: dict[str, Any], after: dict[str, Any]
) -> Iterator[tuple[str, str, str, list[int], list[int]]]:
    """(case, emitter before, emitter after, counters before and after) of kernels of one name."""
    for case in after.keys() & before.keys():
        for name, new in after[case]["kernels"].items():
            if name in before[case]["kernels"]:
                old = before[case]["kernels"][name]
                yield (
                    f"{case} {name}",
                    before[case]["emitters"].get(name, "?"),
                    after[case]["emitters"].get(name, "?"),
                    old,
                    new,
                )


def report(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return a line for each emitter, then the kernels whose work exceeds the limit."""
    groups: dict[tuple[str, str], list[Any]] = {}
    worse = []
    for name, old_emitter, new_emitter, old, new in rows(before, after):
        if old == new and old_emitter == new_emitter:
            groups.setdefault((old_emitter, "(same)"), []).append((old, new))
            continue
        groups.setdefault((old_emitter, new_emitter), []).append((old, new))
        if any(b > a * LIMIT + 0.5 for a, b in zip(old, new, strict=True)):
            worse.append(
                (
                    max([b / max(a, 1) for a, b in zip(old, new, strict=True)]),
                    f"{name} {old_emitter} -> {new_emitter}: {old} -> {new}",
                )
            )
    lines = [
        f"{'before':20} {'after':20} {'kernels':>7} " + " ".join([f"{c:>18}" for c in COLUMNS])
    ]
    for (a, b), pairs in sorted(groups.items()):
        sums = [
            (sum([p[0][k] for p in pairs]), sum([p[1][k] for p in pairs]))
            for k in range(len(COLUMNS))
        ]
        lines.append(
            f"{a:20} {b:20} {len(pairs):7} "
            + " ".join([f"{y:>10} {y / x if x else 1:>7.3f}" for x, y in sums])
        )
    lines += [
        f"{len(worse)} kernels are worse by more than {LIMIT}",
        *[text for _, text in sorted(worse, reverse=True)],
    ]
    lines += [
        f"FINDING {case}: {text}" for case, row in after.items() for text in row.get("findings", ())
    ]
    return "\n".join(lines)


def main() -> None:
    """Count, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=6)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--out")
    parser.add_argument("--beside")
    given = parser.parse_args()
    before = json.loads(pathlib.Path(given.beside).read_text()) if given.beside else {}
    out = pathlib.Path(given.out) if given.out else None
    after: dict[str, Any] = json.loads(out.read_text()) if out is not None and out.exists() else {}
    for case in corpus()[given.first :: given.every]:
        if given.only in case.name and case.name not in after:
            try:
                after[case.name] = counted(case, before.get(case.name, {}))
            except Exception as problem:
                print(case.name, type(problem).__name__, problem)
            if out is not None:
                out.write_text(json.dumps(after))
    if before:
        print(report(before, after))


if __name__ == "__main__":
    main()
