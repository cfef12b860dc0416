"""xla_explorer's CPU backend as a contender of the performance harness: HLO text in, arrays out.

    python perf.py dev --contender 'xla=JAX_PYTHON@contenders_xla:XLA?threads=1' \
        --contender 'mine=PYTHON@contender:Contender?threads=1&path=tests/performance'
"""

from __future__ import annotations

import os
import sys
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps


class Contender:
    """A contender of the performance harness, which compiles from scratch by default (cache=0).

    placed=0: numpy's own arrays as inputs.
    """

    def __init__(
        self, cache: int = 0, journal: str = "off", backend: str = "cpu", placed: int = 1
    ) -> None:
        self.placed = bool(placed)
        # XLA's contender makes its client here: neither side's imports and initialisation count as
        # compilation.
        xe.warm_up(backend)
        self.options = {"backend": backend, "journal": journal, "cache": bool(cache)}

    def compile(self, hlo_text: str) -> Any:
        """Parse, passes, LLVM, load."""
        return xe.compile(hlo_text, **self.options)

    def prepare(self, session: Any, inputs: list[Any]) -> list[Any]:
        """Copy inputs into the backend's memory, untimed, as XLA's contender by `device_put`."""
        return session.signature.leaves(session.place(*inputs)) if self.placed else inputs

    def run(self, session: Any, inputs: list[Any]) -> list[Any]:
        """Execute; the leaves of the result."""
        return session.run_flat(inputs)

    def info(self, session: Any) -> dict[str, Any]:
        """Phase times, and how many steps run where."""
        found: dict[str, Any] = {
            f"{name}_ms": seconds * 1e3 for name, seconds in session.seconds.items()
        }
        for step in program_steps(session):
            found[f"steps_{step.runs_on}"] = found.get(f"steps_{step.runs_on}", 0) + 1
        return found
