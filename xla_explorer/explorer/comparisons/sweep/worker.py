"""A process of a sweep: a task in, its row out, until the pipe closes.

Arguments: modules to import first.
"""

from __future__ import annotations

import importlib
import sys

from xla_explorer.explorer.comparisons.sweep.task import run_task
from xla_explorer.foundation.messages import own_streams, received, send


def main() -> None:
    """Answer tasks; the task None checks that the process is ready."""
    requests, answers = own_streams()
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for (task,) in received(requests):
        send(answers, None if task is None else run_task(task))
