"""XLA's parser (jaxlib) as a function, in a child process restarted after aborts and hangs."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import NamedTuple

_CHILD = """
import json, os, sys
from jaxlib import _hlo
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
options = _hlo.HloPrintOptions()
for line in sys.stdin:
    row = []
    for text in json.loads(line):
        try:
            module = _hlo.hlo_module_from_text(text)
        except Exception as error:
            row.append(["refused", str(error)])
        else:
            row.append(["accepted", module.to_string(options)])
        answers.write(json.dumps(row[-1]) + "\\n")
        answers.flush()
"""


_STUCK_SECONDS = 120


class Verdict(NamedTuple):
    """The parser's verdict: `accepted`, `refused` or `aborted`.

    text: XLA's print of an accepted module, else the reason. aborted: the process died or hung.

    aborted: the process died or hung.
    """

    kind: str
    text: str


class XlaParser:
    """Asks one child after the other. A context manager."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> XlaParser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.close()
            child.stdout.close()
            child.wait(30)

    def _ask(self, texts: Sequence[str]) -> list[Verdict]:
        """Return the verdicts until the child ends."""
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-c", _CHILD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._child.stdin is not None and self._child.stdout is not None
        found = []
        try:
            self._child.stdin.write(json.dumps(texts) + "\n")
            self._child.stdin.flush()
            for _ in texts:
                stuck = threading.Timer(_STUCK_SECONDS, self._child.kill)
                stuck.start()
                line = self._child.stdout.readline()
                stuck.cancel()
                if not line:
                    break
                found.append(Verdict(*json.loads(line)))
        except BrokenPipeError:
            pass
        return found

    def verdicts(self, texts: Sequence[str]) -> list[Verdict]:
        """Return XLA's answer to each text."""
        found: list[Verdict] = []
        lived = True
        while len(found) < len(texts):
            said = self._ask(texts[len(found) : len(found) + 200])
            if not said and not lived and not found:
                raise RuntimeError("the child that parses with jaxlib does not start")
            found += said
            lived = len(said) == len(texts[len(found) - len(said) : len(found) - len(said) + 200])
            if not lived:
                found.append(Verdict("aborted", ""))
                self._end_dead_child()
        return found

    def _end_dead_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            assert child.stdin is not None and child.stdout is not None
            child.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
