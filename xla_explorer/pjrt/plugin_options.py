"""Options of a user: from the environment, `xla_explorer.pjrt.options`, or for one compile.

JAX's `compiler_options` are those of one compile.
"""

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
"""A program whose last run took more nanoseconds runs asynchronously; -1: none does."""


DEVICE_RUNS = ("partitioned", "joined")


class PluginOptionError(XlaExplorerError, ValueError):
    """An unknown option of a compile, or an invalid value of one."""


@dataclass
class PluginOptions:
    """Options of compiles by the plugin.

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
        The number of newest sessions that stay alive.
    devices : int
        The number of virtual devices; read when JAX first lists them.
    platform : str
        The name of the devices: xla_explorer, or cpu for programs that refuse unknown platforms.
    dispatch : str
        adaptive: a program whose last run took long runs while Python continues; asynchronous:
        every program; synchronous: none.
        A program that calls Python always runs on the caller's thread.
    xla_dump_to : str
        A folder that gets the module of each compile before and after the passes, as text and proto
        with XLA's file names;
        "" for none.
    device_runs : str
        Of programs for several devices. partitioned: each device is a thread that runs its
        partition or replica. joined: one program computes the values of all partitions.
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
    device_runs: str = DEVICE_RUNS[0]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> PluginOptions:
        """Return the options of the environment variables.

        They are XLA_EXPLORER_PJRT_BACKEND, _THREADS, _JOURNAL, _DUMP, _KEEP, _DEVICES, _PLATFORM,
        _DISPATCH, _XLA_DUMP_TO and _DEVICE_RUNS.
        """
        given = {
            f.name: environment[PREFIX + f.name.upper()]
            for f in fields(cls)
            if environment.get(PREFIX + f.name.upper())
        }
        return cls().changed(given)

    def changed(self, given: Mapping[str, Any]) -> PluginOptions:
        """Return a copy with other values, given as texts or in their own types.

        PluginOptionError for unknown names. Names that begin with `xla_` are XLA's own flags: their
        values are checked, and have no effect.
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
        if values.get("device_runs", self.device_runs) not in DEVICE_RUNS:
            raise PluginOptionError(
                f"device_runs must be one of {', '.join(DEVICE_RUNS)}, got {values['device_runs']!r}"
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
"""The options of the next compiles of this process."""
