"""Mutated texts by the hundred thousand, and the ledger of their results.

    python tests/properties/ledger.py --hours 8 --jobs 2 --resume
    python tests/properties/ledger.py --hours 1 --mode text --resume
    python tests/properties/ledger.py --report

The first compiles, runs and compares texts with the evaluator. The second only parses, verifies,
prints and reads them again. Each line of `ledger.jsonl` is a finished range of seeds with the
results of its texts. `--resume` continues after the last one; an unfinished range runs again.
`text_checks.py show SEED` shows the text of a seed. A text that crashes or hangs ends only its
child process. Hangs are counted in processor time, so that a busy machine causes none.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.properties.seed_texts import corpus  # noqa: E402

LEDGER = HERE / "ledger.jsonl"
HANG_SECONDS = 5.0
STUCK_SECONDS = 120.0  # of the clock, for what waits and uses no processor
SIZES = {"run": 500, "text": 10_000}
# Outcomes of texts that the verifier accepted.
_VERIFIED = ("printed", "compiled", "unsupported", "no-reference", "equal", "explained")
_MOST_FINDINGS = 40


def _processor_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Child:
    """A child process at a range of seeds: its lines, or None where it hangs."""

    def __init__(self, mode: str, first: int, last: int, shared: bool) -> None:
        command = [
            sys.executable,
            str(HERE / "text_checks.py"),
            "serve",
            mode,
            str(first),
            str(last),
            "shared" if shared else "own",
        ]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(
                [str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
            )
        }
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.errors = b""
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors = (self.errors + line)[-4000:]

    def lines(self) -> Iterable[str | None]:
        """Each line as it comes; None once and an end when none comes for too long."""
        assert self.process.stdout is not None
        handle, rest, started = self.process.stdout.fileno(), b"", False
        spent, clock = _processor_seconds(self.process.pid), time.monotonic()
        while True:
            ready, _, _ = select.select([handle], [], [], 1.0)
            if not ready:
                late = (
                    _processor_seconds(self.process.pid) - spent > HANG_SECONDS
                    or time.monotonic() - clock > STUCK_SECONDS
                )
                if started and late:
                    yield None
                    return
                continue
            data = os.read(handle, 1 << 16)
            if not data:
                return
            *full, rest = (rest + data).split(b"\n")
            for line in full:
                started = True
                yield line.decode(errors="replace")
            spent, clock = _processor_seconds(self.process.pid), time.monotonic()

    def end(self) -> int:
        """Kill it where it still runs; its exit status."""
        if self.process.poll() is None:
            try:
                self.process.wait(0.2)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGKILL)
        status = self.process.wait()
        self._reader.join(1)
        return status


@dataclass
class _Tally:
    """Outcomes, classes of explained differences, and the first findings of a range."""

    outcomes: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    findings: list[list[Any]] = field(default_factory=list)

    def find(self, seed: int, kind: str, detail: str) -> None:
        """Count an outcome and keep it as a finding while there are few."""
        self.outcomes[kind] += 1
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append([seed, kind, detail[:200]])

    def add(self, seed: int, kind: str, classes: Iterable[str], detail: str) -> None:
        """Count the outcome of a seed; one with a detail is a finding."""
        self.classes.update(classes)
        if detail:
            self.find(seed, kind, detail)
        else:
            self.outcomes[kind] += 1


def check_range(
    mode: str, first: int, last: int, *, shared: bool, until: float = float("inf")
) -> dict[str, Any]:
    """Return the row of a range.

    until: a time of the monotonic clock; later seeds are left out, and `last` is where it ended.
    """
    tally = _Tally()
    counts = tally.outcomes
    done = first
    wall = time.monotonic()
    while done < last and time.monotonic() < until:
        child = Child(mode, done, last, shared)
        step, hangs, at = "", False, -1
        for line in child.lines():
            if line is None:
                hangs = True
                break
            if line[0] == "S":
                at, step = int(line[2:]), "mutate"
            elif line[0] == "P":
                step = line[2:]
            elif line[0] == "R":
                seed, kind, named, detail, _ = json.loads(line[2:])
                at, done = -1, seed + 1
                tally.add(seed, kind, named, detail)
                if time.monotonic() >= until:
                    break
        stopped = time.monotonic() >= until and not hangs
        status = child.end()
        if hangs:
            tally.find(
                at,
                f"hang-{step}",
                f"over {HANG_SECONDS:g} s of processor time, or {STUCK_SECONDS:g} s of waiting",
            )
            done = at + 1
        elif status and not stopped:
            if at < 0:
                raise RuntimeError(
                    f"the child does not start: {child.errors.decode(errors='replace')}"
                )
            tally.find(
                at,
                f"crash-{step}",
                f"exit status {status}: {child.errors.decode(errors='replace')[:600]}",
            )
            done = at + 1
    texts = done - first
    unfit = counts["refused"] + counts["unverified"]
    return {
        "mode": mode, "first": first, "last": done, "corpus": corpus(shared=shared).fingerprint, "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"), "hours": round((time.monotonic() - wall) / 3600, 4),
        "texts": texts, "verified": texts - unfit, "compared": counts["equal"] + counts["explained"] + sum(n for kind, n in counts.items() if kind.startswith("value-")),
        "outcomes": dict(counts.most_common()), "classes": dict(tally.classes.most_common()), "findings": tally.findings,
    }  # fmt: skip


def _commit() -> str:
    done = subprocess.run(
        ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--exclude", "*"],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or "unknown"


# -- the file --------------------------------------------------------------------------------------
def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows; a line that was cut off is left out."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def append(path: Path, row: dict[str, Any]) -> None:
    """One more row, which is on the disk when this returns."""
    cut = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write(("\n" if cut else "") + json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def next_seed(rows: list[dict[str, Any]], mode: str, fingerprint: str) -> int:
    """Return the seed behind all finished ones of this corpus."""
    return max(
        (row["last"] for row in rows if row["mode"] == mode and row["corpus"] == fingerprint),
        default=0,
    )


def _add(into: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return dict((Counter(into) + Counter(more)).most_common())


def merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge successive rows of one corpus and commit; findings are shortened."""
    result: list[dict[str, Any]] = []
    rows = [
        {
            **row,
            "findings": [
                [seed, kind, detail.split("\n")[0][:120]] for seed, kind, detail in row["findings"]
            ],
        }
        for row in rows
    ]
    for row in sorted(rows, key=lambda row: (row["mode"], row["corpus"], row["first"])):
        before = result[-1] if result else None
        if before and [before[k] for k in ("mode", "corpus", "commit", "last")] == [
            row["mode"],
            row["corpus"],
            row["commit"],
            row["first"],
        ]:
            for name in ("outcomes", "classes"):
                before[name] = _add(before[name], row[name])
            for name in ("texts", "verified", "compared"):
                before[name] += row[name]
            before["hours"] = round(before["hours"] + row["hours"], 4)
            before["findings"] = (before["findings"] + row["findings"])[:_MOST_FINDINGS]
            before["last"] = row["last"]
        else:
            result.append(dict(row))
    return result


def report(rows: list[dict[str, Any]]) -> str:
    """Totals, by mode and class."""
    lines = []
    for mode in ("run", "text"):
        chosen = [row for row in rows if row["mode"] == mode]
        outcomes: Counter[str] = Counter()
        classes: Counter[str] = Counter()
        for row in chosen:
            outcomes.update(row["outcomes"])
            classes.update(row["classes"])
        total = {
            name: sum(row[name] for row in chosen) for name in ("texts", "verified", "compared")
        }
        lines.append(
            f"{mode}: {total['texts']} texts, {total['verified']} verified and printed, {total['compared']} compared, {sum(row['hours'] for row in chosen):.1f} h"
        )
        lines += [f"  {count:8d} {kind}" for kind, count in outcomes.most_common()]
        lines += [
            f"  {count:8d} texts with differences of class {name}"
            for name, count in classes.most_common()
        ]
    return "\n".join(lines)


def main(given: list[str] | None = None) -> int:
    """Run the command; exit code 1 if it found something."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time")
    parser.add_argument("--mode", choices=("run", "text"), default="run")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on behind what the ledger has; without it the ledger must be a new one",
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed of a new ledger")
    parser.add_argument(
        "--own", action="store_true", help="leave the corpora beside the checkout out"
    )
    parser.add_argument("--report", action="store_true", help="print what the ledger has, and end")
    parser.add_argument(
        "--merge", action="store_true", help="write rows that follow each other as one, and end"
    )
    options = parser.parse_args(given)
    rows = read(options.ledger)
    if options.report or options.merge:
        if options.merge:
            temporary = options.ledger.with_suffix(".new")
            temporary.write_text("".join(json.dumps(row) + "\n" for row in merged(rows)))
            temporary.replace(options.ledger)
        print(report(rows))
        return 0
    if rows and not options.resume:
        parser.error(
            f"{options.ledger} has rows: --resume goes on behind them, --ledger names another"
        )
    shared = not options.own
    until = time.monotonic() + options.hours * 3600
    lock = threading.Lock()
    position = max(options.first, next_seed(rows, options.mode, corpus(shared=shared).fingerprint))
    found, written, waiting = 0, position, {}

    def work() -> None:
        nonlocal position, found, written
        while time.monotonic() < until:
            with lock:
                first = position
                position += SIZES[options.mode]
            row = check_range(
                options.mode, first, first + SIZES[options.mode], shared=shared, until=until
            )
            with lock:
                found += len(row["findings"])
                waiting[first] = row
                # In order, so that nothing lies between what is in the ledger and what comes next.
                while written in waiting:
                    ready = waiting.pop(written)
                    written += SIZES[options.mode]
                    if ready["texts"]:
                        append(options.ledger, ready)
                for seed, kind, detail in row["findings"]:
                    print(seed, kind, detail, flush=True)
                print(
                    f"{row['first']}-{row['last']} {row['outcomes']} {row['classes']}", flush=True
                )

    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
