"""One of JAX's test files under pytest, in this process: a row of JSON at start and end.

Each test writes both rows.

python tests/pjrt/jax_files/recorder.py FILE ROWS SECONDS [SKIP_FILE]
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest


class Recorder:
    """Runs tests in an order that is shuffled but fixed, until the time is up.

    rows: where each is noted; done: names that are left out; only: the names that run, None for
    all.
    """

    def __init__(self, rows: Path, seconds: float, done: set[str], only: set[str] | None) -> None:
        self.rows, self.until, self.done, self.only = rows, time.monotonic() + seconds, done, only

    def note(self, **row: Any) -> None:
        """One row, at once on the disk: this process may die."""
        with self.rows.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Shuffle, and leave out what is done."""
        self.note(tests=len(items))
        items.sort(key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
        names = {item: item.nodeid.partition("::")[2] for item in items}
        items[:] = [
            i
            for i, n in names.items()
            if n not in self.done and (self.only is None or n in self.only)
        ]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note what begins."""
        self.note(begin=nodeid.partition("::")[2])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the outcome; of a skip and a failure the reason."""
        if report.when == "call" or report.outcome != "passed":
            reason = (
                ""
                if report.outcome == "passed"
                else str(report.longrepr[2] if report.skipped else report.longreprtext)[-1500:]
            )
            self.note(
                name=report.nodeid.partition("::")[2],
                outcome=report.outcome,
                seconds=round(report.duration, 3),
                reason=reason,
            )

    def pytest_runtest_protocol(self, item: Any) -> None:
        """Stop when the time is up."""
        if time.monotonic() > self.until:
            item.session.shouldstop = "the time is up"


def main(file: str, rows: str, seconds: str, only: str = "") -> int:
    noted = (
        [json.loads(line) for line in Path(rows).read_text(encoding="utf-8").splitlines()]
        if Path(rows).exists()
        else []
    )
    done = {row[key] for row in noted for key in ("name", "begin") if key in row}
    chosen = set(Path(only).read_text(encoding="utf-8").split("\n")) if only else None
    os.chdir(
        Path(file).parents[1]
    )  # of JAX's repository: its pytest settings hold, warnings are errors
    options = ["-q", "-s", "-p", "no:cacheprovider", "--timeout=300", file]
    return int(pytest.main(options, plugins=[Recorder(Path(rows), float(seconds), done, chosen)]))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[3])
    sys.exit(main(*sys.argv[1:]))
