"""What a user sets: by the environment, by `xla_explorer.pjrt.options`, or for one compile by JAX's `compiler_options`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.pjrt import xla_flags

PLATFORMS = ("xla_explorer", "cpu")
PREFIX = "XLA_EXPLORER_PJRT_"
DISPATCHES = {"adaptive": 500_000, "asynchronous": 0, "synchronous": -1}
"""A program whose last run took so many nanoseconds runs while Python goes on; -1: none does."""


class PluginOptionError(XlaExplorerError, ValueError):
    """An option of a compile that the plugin does not know, or a value that it cannot take."""


@dataclass
class PluginOptions:
    """How the plugin compiles.

    Attributes
    ----------
    backend : str
        As `xe.compile` takes it: `cpu`, `interpreter`, `gpu` (the emulator, without a device).
    threads : int or None
        Threads of a program; None lets the backend choose.
    journal : str
        off, passes, decisions or everything.
    dump : str
        A folder that gets an HTML page for each compile; "" for none.
    keep : int
        So many of the newest sessions stay alive.
    devices : int
        Virtual devices, as they are when JAX first asks for them.
    platform : str
        The name that the devices bear: xla_explorer, or cpu for programs that refuse a platform
        which they do not know.
    dispatch : str
        adaptive: a program whose last run took long runs while Python goes on; asynchronous: every
        program; synchronous: none. A program that calls Python always runs where it is called.
    xla_dump_to : str
        A folder that gets the module of each compile before and after the passes, as text and proto
        under the names that XLA gives such files; "" for none.
    """

    backend: str = "cpu"
    threads: int | None = None
    journal: str = "decisions"
    dump: str = ""
    keep: int = 100
    devices: int = 1
    platform: str = PLATFORMS[0]
    dispatch: str = "adaptive"
    xla_dump_to: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> PluginOptions:
        """XLA_EXPLORER_PJRT_BACKEND, _THREADS, _JOURNAL, _DUMP, _KEEP, _DEVICES, _PLATFORM, _DISPATCH and _XLA_DUMP_TO."""
        given = {
            f.name: environment[PREFIX + f.name.upper()]
            for f in fields(cls)
            if environment.get(PREFIX + f.name.upper())
        }
        return cls().changed(given)

    def changed(self, given: Mapping[str, Any]) -> PluginOptions:
        """A copy with other values, given as texts or as what they are.

        PluginOptionError for other names.

        Other names that begin with `xla_` are XLA's own flags, which mean nothing here; their
        values are checked.
        """
        names = [f.name for f in fields(self)]
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name.startswith(xla_flags.PREFIX):
                problem = xla_flags.flag_problem(name, value)
                if problem is not None:
                    raise PluginOptionError(
                        problem, "XLA's own flags change nothing here; leave it out"
                    )
                if name not in names:
                    continue
            if name not in names:
                near = nearest(name, names, 1)
                hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}"
                raise PluginOptionError(f"No such compile option: '{name}'", hint)
            values[name] = (
                _integer(name, value) if name in ("threads", "keep", "devices") else str(value)
            )
        if values.get("dispatch", self.dispatch) not in DISPATCHES:
            raise PluginOptionError(
                f"dispatch must be one of {', '.join(DISPATCHES)}, got {values['dispatch']!r}"
            )
        if values.get("platform", self.platform) not in PLATFORMS:
            raise PluginOptionError(
                f"platform must be one of {', '.join(PLATFORMS)}, got {values['platform']!r}"
            )
        return replace(self, **values)


def _integer(name: str, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise PluginOptionError(
            f"{name} must be an integer of at least 1, got {value!r}", f"write {name}=1"
        )
    return number


options = PluginOptions.from_environment()
"""Those of the next compiles of this process."""
