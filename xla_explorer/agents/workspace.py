"""The open programs of one server, and the rests of answers that can be continued."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple

from xla_explorer.agents.budget import Part
from xla_explorer.agents.folders import Folders, RefusedError
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.examples import example
from xla_explorer.explorer.sessions.file_formats import MLIR_SUFFIXES
from xla_explorer.explorer.sessions.isolation import Isolation
from xla_explorer.explorer.sessions.loading import module_of_bytes
from xla_explorer.explorer.sessions.options import options
from xla_explorer.hlo.module import HloModule

_MOST_PROGRAMS: Final = 8
_MOST_RESTS: Final = 64
_MOST_INSTRUCTIONS: Final = 20_000
_MOST_TEXT: Final = 400_000
_EXAMPLE: Final = "example:"
BACKENDS: Final = ("cpu", "gpu", "interpreter", "xla")


class Limits(NamedTuple):
    """Limits of a server. seconds, megabytes: of a compile or run in its child process.

    runs: True if tools may run programs on a device.
    """

    seconds: float = 120.0
    megabytes: int = 4096
    runs: bool = True


class Workspace:
    """Programs by handle (`p1`, `p2`), the most recent ones, and rests of answers."""

    def __init__(self, folders: Folders, limits: Limits | None = None) -> None:
        self.folders, self.limits = folders, limits if limits is not None else Limits()
        self.lock = threading.Lock()
        self._programs: OrderedDict[str, Session] = OrderedDict()
        self._rests: OrderedDict[str, list[Part]] = OrderedDict()
        self._opened = self._kept = 0

    def bounded(self, isolate: bool) -> AbstractContextManager[Any]:
        """Return a context in which reading, compiling, running and real XLA end at the limits.

        isolate: also of new sessions that a question makes.
        """
        megabytes = self.limits.megabytes
        return options.set(
            isolate=isolate, timeout=self.limits.seconds, memory_limit=megabytes << 20
        )

    def module(self, path: str, text: str) -> HloModule:
        """Return the module of a path, of an example or of a text; exactly one is given."""
        if bool(path) == bool(text):
            raise RefusedError("open needs either a path or a text", 'open(path="model.hlo")')
        if text:
            if len(text) > _MOST_TEXT:
                raise RefusedError(
                    f"the text has {len(text)} characters, more than {_MOST_TEXT}",
                    "write it into a file of the server's folders",
                )
            return self._checked(module_of_bytes(text.encode(), "<text>"))
        if path.startswith(_EXAMPLE):
            return example(path.removeprefix(_EXAMPLE))
        raw, name = self.folders.read(path)
        is_mlir = any(name.lower().endswith((one, f"{one}.gz")) for one in MLIR_SUFFIXES)
        return self._checked(module_of_bytes(raw, name, mlir=is_mlir))

    @staticmethod
    def _checked(module: HloModule) -> HloModule:
        count = module.instruction_count()
        if count > _MOST_INSTRUCTIONS:
            raise RefusedError(
                f"the module has {count} instructions, more than {_MOST_INSTRUCTIONS}",
                "open a part of it",
            )
        return module

    def compiled(self, module: HloModule, backend: str, passes: str) -> Session:
        """Return a module compiled under the limits of the server."""
        limits = self.limits
        isolation = Isolation(timeout=limits.seconds, memory=limits.megabytes << 20)
        return compile(module, backend, passes, isolate=isolation)

    def add(self, session: Session) -> str:
        """Keep a program; return its handle."""
        self._opened += 1
        key = f"p{self._opened}"
        self._programs[key] = session
        while len(self._programs) > _MOST_PROGRAMS:
            self._programs.popitem(last=False)
        return key

    def program(self, key: str) -> Session:
        """Return a program by its handle; RefusedError if it is not open."""
        if key not in self._programs:
            known = ", ".join(self._programs) or "none"
            raise RefusedError(f"no program {key[:20]!r} is open (open: {known})", "open(path=...)")
        self._programs.move_to_end(key)
        return self._programs[key]

    def keep(self, parts: list[Part]) -> str:
        """Keep the rest of an answer; return its handle."""
        self._kept += 1
        key = f"r{self._kept}"
        self._rests[key] = parts
        while len(self._rests) > _MOST_RESTS:
            self._rests.popitem(last=False)
        return key

    def rest(self, key: str) -> list[Part]:
        """Return the rest of an answer; RefusedError if it is unknown or too old."""
        if key not in self._rests:
            raise RefusedError(f"no rest {key[:20]!r} of an answer", "ask the question again")
        return self._rests[key]
