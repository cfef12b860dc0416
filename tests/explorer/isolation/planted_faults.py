"""Imported by the child process in tests: faults in code that has none.

Which one says the environment variable PLANTED_FAULT.
"""

import os
from typing import Any

from xla_explorer.backends.cpu import cpu_executable
from xla_explorer.backends.gpu.device_executor import GpuExecutionError

_honest = cpu_executable.CpuExecutable.execute_watched


def _with_a_fault(self: Any, arrays: list[Any], counters: Any) -> list[Any]:
    fault = os.environ.get("PLANTED_FAULT")
    if (
        fault == "address"
    ):  # the kernel that reads the first constant array reads what no process owns
        self._own.table[self.program.constant_slot] = 64
    elif fault == "exit":
        os._exit(3)
    elif fault == "context":
        lost = GpuExecutionError(f"the device of process {os.getpid()} is lost", "planted")
        lost.fatal = True
        raise lost
    return _honest(self, arrays, counters)


cpu_executable.CpuExecutable.execute_watched = _with_a_fault  # type: ignore[method-assign]
