"""JAX's own test files through the plugin, and on JAX's CPU what does not pass there.

    python tests/pjrt/jax_files/run.py JAX --out ROWS [lax_test ...] [--devices 1] [--seconds 600]
        [--report]

JAX: a checkout of jax's repository at the tag of the installed version. ROWS: a folder; a second
call goes on where the first one stopped. The devices bear the name `cpu`
(XLA_EXPLORER_PJRT_PLATFORM), so that JAX skips what it skips on its own CPU. See README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.pjrt.child import run

RECORDER = str(Path(__file__).with_name("recorder.py"))
CASES = {"JAX_NUM_GENERATED_CASES": "3", "JAX_SKIP_SLOW_TESTS": "1"}
DEATHS = 20  # of the process, in one file


def outcomes(rows: Path) -> dict[str, dict[str, Any]]:
    """Name -> its row; a test in which the process died has the outcome `died`."""
    found: dict[str, dict[str, Any]] = {}
    for line in rows.read_text(encoding="utf-8").splitlines() if rows.exists() else ():
        row = json.loads(line)
        if "begin" in row:
            found.setdefault(row["begin"], {"outcome": "died", "reason": ""})
        elif "name" in row:
            found[row["name"]] = row
    return found


def run_file(
    file: Path,
    rows: Path,
    seconds: float,
    platforms: str,
    devices: int,
    only: list[str] | None = None,
) -> None:
    """Run the tests of a file without rows yet, until the time is up."""
    until, settings = time.monotonic() + seconds, dict(CASES)
    settings |= {
        "XLA_EXPLORER_PJRT_DEVICES": str(devices),
        "XLA_EXPLORER_PJRT_PLATFORM": "cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
    }
    chosen = rows.with_suffix(".only")
    chosen.write_text("\n".join(only or ()), encoding="utf-8")
    for _ in range(DEATHS):
        left = until - time.monotonic()
        given = [str(file), str(rows), str(left), *([str(chosen)] if only is not None else [])]
        done = run(RECORDER, *given, platforms=platforms, seconds=left + 900, **settings)
        rows.with_suffix(".end").write_text(
            done.stdout[-5000:] + done.stderr[-20000:], encoding="utf-8"
        )
        if done.returncode in (0, 1, 2, 5):
            break


def row(
    name: str, ours: dict[str, dict[str, Any]], cpu: dict[str, dict[str, Any]], tests: int
) -> str:
    """Return a line of the table.

    A test that passes on the plugin is not run on JAX's CPU.
    """
    count = Counter([r["outcome"] for r in ours.values()])
    passes = [
        n
        for n, r in ours.items()
        if r["outcome"] != "passed" and cpu.get(n, {}).get("outcome") == "passed"
    ]
    of_skipped = sum([ours[n]["outcome"] == "skipped" for n in passes])
    share = count["passed"] / max(count["passed"] + len(passes), 1)
    return (
        f"| {name} | {tests} | {len(ours)} | {count['passed']} | {count['failed']} | {count['died']} | {count['skipped']} "
        f"| {len(passes) - of_skipped} | {of_skipped} | {share:.1%} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("jax", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument(
        "--report", action="store_true", help="only print the table of what was run"
    )
    options = parser.parse_intermixed_args()
    options.out.mkdir(parents=True, exist_ok=True)
    names = options.names or sorted(
        [p.stem for p in options.out.glob("*.jsonl") if not p.stem.endswith(".cpu")]
    )
    print(
        "| file | tests | run | passed | failed | died | skipped | failed, passed on cpu | skipped, passed on cpu | of cpu's |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in names:
        file, rows = (
            options.jax.resolve() / "tests" / f"{name}.py",
            options.out.resolve() / f"{name}.jsonl",
        )
        theirs = rows.with_suffix(".cpu.jsonl")
        if not options.report:
            run_file(file, rows, options.seconds, "xla_explorer,cpu", options.devices)
            others = [n for n, r in outcomes(rows).items() if r["outcome"] in ("failed", "died")]
            run_file(file, theirs, options.seconds, "cpu", options.devices, others)
        lines = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
        tests = max([r["tests"] for r in lines if "tests" in r])
        print(row(name, outcomes(rows), outcomes(theirs), tests), flush=True)
        for failed, r in outcomes(rows).items():
            if (
                r["outcome"] in ("failed", "died")
                and outcomes(theirs).get(failed, {}).get("outcome") == "passed"
            ):
                print(f"    {failed}: {r['reason'].strip().splitlines()[-1:]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
