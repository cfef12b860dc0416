"""A process of a sweep: a task in, its row out, until the pipe closes. Arguments: modules to import first."""

from __future__ import annotations

import importlib
import os
import signal
import sys

from xla_explorer.explorer.comparisons.sweep.task import run_task
from xla_explorer.foundation.messages import receive, send


def main() -> None:
    """Answer tasks; None asks whether the process is ready."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupt is for the sweep, which ends its workers
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not get between messages
    for name in sys.argv[1:]:
        importlib.import_module(name)
    while True:
        try:
            (task,) = receive(requests)
        except EOFError:
            return
        send(answers, None if task is None else run_task(task))
