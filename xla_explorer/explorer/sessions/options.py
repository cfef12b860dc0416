"""`xe.options`: defaults for every compile, which a call may override."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xla_explorer.explorer.display.blocks import Blocks, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import Bounds, limits

_MEANINGS = {
    "isolate": "run generated code in a child process (XLA_EXPLORER_ISOLATE=1)",
    "timeout": "seconds that xe.load, verify, optimize or evaluate, an isolated compile, run or "
    "question, a request to real XLA or an "
    "emulated PTX run may take; None: no end (XLA_EXPLORER_TIMEOUT)",
    "emulated_instructions": (
        "PTX instructions that a batch of blocks may execute on the emulator "
        "(XLA_EXPLORER_EMULATED_INSTRUCTIONS)"
    ),
    "memory_limit": (
        "bytes that isolated code and real XLA may take; None: no limit (XLA_EXPLORER_MEMORY_LIMIT)"
    ),
    "isolated_imports": "modules that the child process imports first, for plug-ins that no entry point names",
    "progress": (
        "show progress of work over a second; a function gets label, done, total and seconds "
        "instead, and its False cancels"
    ),
    "embed": (
        "characters of a notebook's output that may hold the explorer itself, which steps "
        "without a kernel; 0: a still form alone"
    ),
    "paths": "show whole paths of this machine in exported pages, not only the names of files",
}


def _in_child(work: str, *arguments: Any) -> Any:
    """Do work of Python in the child process, under the limits of these options."""
    # By name: the messages to a child read these options, and are not loaded without need.
    calls = importlib.import_module("xla_explorer.explorer.sessions.isolation.limited_calls")
    return calls.run_in_child_by_options(work, *arguments)


class Options(Report):
    """Set an attribute, or use `with xe.options.set(isolate=True, timeout=10): ...` for a while.

    The environment gives the defaults.
    """

    __slots__ = ("_values",)
    _values: dict[str, Any]
    isolate: bool
    timeout: float | None
    memory_limit: int | None
    emulated_instructions: int
    isolated_imports: tuple[str, ...]
    progress: bool | Callable[[str, int, int | None, float], Any]
    embed: int
    paths: bool

    def __init__(self) -> None:
        environment = os.environ
        object.__setattr__(self, "_values", {})
        self.isolate = environment.get("XLA_EXPLORER_ISOLATE", "") not in ("", "0", "false", "no")
        self.timeout = self.checked("timeout", environment.get("XLA_EXPLORER_TIMEOUT") or None)
        self.memory_limit = self.checked(
            "memory_limit", environment.get("XLA_EXPLORER_MEMORY_LIMIT") or None
        )
        most = environment.get("XLA_EXPLORER_EMULATED_INSTRUCTIONS") or limits.emulated_instructions
        self.emulated_instructions = self.checked("emulated_instructions", most)
        self.isolated_imports = ()
        self.progress = True
        self.embed = 500_000
        self.paths = False

    @staticmethod
    def checked(name: str, value: Any) -> Any:
        """Return the value of an option in its own type. XlaExplorerError if it does not fit."""
        if name not in _MEANINGS:
            raise XlaExplorerError(
                f"xe.options has no option {name!r}", f"choose from {', '.join(_MEANINGS)}"
            )
        if name == "progress" and callable(value):
            return value
        if name in ("isolate", "progress", "paths"):
            return bool(value)
        if name == "isolated_imports":
            return (value,) if isinstance(value, str) else tuple(value)
        if name == "embed" and not value:
            return 0
        if value is None and name != "emulated_instructions":
            return None
        try:
            number = float(value) if name == "timeout" else int(value)
        except (TypeError, ValueError):
            number = 0
        if not number > 0:
            unit = {"timeout": "seconds", "memory_limit": "bytes", "embed": "characters"}.get(
                name, "instructions"
            )
            hint = "None takes the limit away" if unit != "instructions" else "such as 20_000_000"
            raise XlaExplorerError(f"{name}={value!r} is not a number of {unit} above zero", hint)
        return number

    def __reduce__(self) -> str:
        """Return the name: there is one set of options in a process."""
        return "options"

    def __getattr__(self, name: str) -> Any:
        if name in _MEANINGS:
            return self._values[name]
        raise AttributeError(
            f"xe.options has no option {name!r}; choose from {', '.join(_MEANINGS)}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        self._values[name] = self.checked(name, value)
        self._tell()

    def _tell(self) -> None:
        """Pass the limits to `foundation.limits`, which the rooms below read."""
        elsewhere = _in_child if self._values.get("isolate") else None
        limits.bounds = Bounds(
            self._values.get("timeout"), self._values.get("memory_limit"), elsewhere
        )
        limits.emulated_instructions = self._values.get(
            "emulated_instructions", limits.emulated_instructions
        )

    def environment(self) -> dict[str, str]:
        """Return the limits as environment variables, for another process to read."""
        values = {
            "XLA_EXPLORER_ISOLATE": int(self.isolate),
            "XLA_EXPLORER_TIMEOUT": self.timeout,
            "XLA_EXPLORER_MEMORY_LIMIT": self.memory_limit,
            "XLA_EXPLORER_EMULATED_INSTRUCTIONS": self.emulated_instructions,
        }
        return {name: "" if value is None else str(value) for name, value in values.items()}

    def __dir__(self) -> list[str]:
        return [*_MEANINGS, "set"]

    @contextmanager
    def set(self, **values: Any) -> Iterator[Options]:
        """Set these values inside a `with` block."""
        before = dict(self._values)
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield self
        finally:
            self._values.update(before)
            self._tell()

    def blocks(self) -> Blocks:
        """Yield a row per option."""
        rows = [(name, repr(self._values[name]), meaning) for name, meaning in _MEANINGS.items()]
        yield Table(["option", "value", "meaning"], rows, width=120)


options = Options()
