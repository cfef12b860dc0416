"""Public names whose room is not built yet: each says so, and what to use meanwhile."""

from __future__ import annotations

from typing import Any, NoReturn

from xla_explorer.foundation.diagnostic import XlaExplorerError


class NotYetError(XlaExplorerError, NotImplementedError):
    """The function is part of the contract and not implemented in this version."""


def aot(module: Any, triple: str = "", cpu: str | None = None, features: str | None = None) -> NoReturn:
    """Ahead-of-time object code with a C header. Always NotYetError in this version."""
    raise NotYetError(
        "xe.aot is not there yet: this version compiles for the machine that it runs on",
        "session.assembly() shows the native code of this machine",
    )


def sweep(modules: Any, options: Any, executor: Any = None) -> NoReturn:
    """Many compiles, one table. Always NotYetError in this version."""
    raise NotYetError("xe.sweep is not there yet", "compile the modules in a loop and concatenate session.profile(...)")
