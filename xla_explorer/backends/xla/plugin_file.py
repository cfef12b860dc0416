"""The conformance programs on a PJRT plugin that is a file, in a process of its own."""

from __future__ import annotations

import ctypes
import multiprocessing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.testing.outcome import Outcome, Run, judged, reference
from xla_explorer.backends.xla.child import XlaChild, XlaProcessError, XlaTimeoutError
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_REFUSALS = ("UNIMPLEMENTED", "NOT_FOUND", "INVALID_ARGUMENT", "unimplemented", "not supported")
"""Codes with which a plugin says that it does not run a program."""


class PluginError(XlaExplorerError):
    """A file that is no PJRT plugin, or one that does not start."""


class ApiVersion(NamedTuple):
    """The version of the interface that a plugin states."""

    major: int
    minor: int


class _Version(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    )


class _Api(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", _Version),
    )


def api_version(path: str | Path) -> ApiVersion:
    """Load a plugin in a process of its own and return the version of its interface.

    Raises
    ------
    PluginError
        The file cannot be loaded, has no GetPjrtApi, or ends its process.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    # The loader looks for a bare name in the system's folders, not in this one.
    whole = str(Path(path).absolute())
    process = context.Process(target=_send_version, args=(whole, sender))
    process.start()
    sender.close()
    try:
        found: Any = receiver.recv()
    except EOFError:
        found = "its process ended while it was loaded"
    process.join()
    if isinstance(found, str):
        raise PluginError(
            f"{path} is not a PJRT plugin: {found}", "give a shared object with GetPjrtApi"
        )
    return ApiVersion(*found)


def _send_version(path: str, sender: Any) -> None:
    try:
        get = ctypes.PyDLL(path).GetPjrtApi
        get.restype = ctypes.POINTER(_Api)
        found = get()
        sender.send(
            (found[0].version.major, found[0].version.minor) if found else "it gives no table"
        )
    except (OSError, AttributeError) as problem:
        sender.send(str(problem))


class PluginRunner:
    """Runs modules on a plugin; after a crash the next module has a new process.

    path: the plugin; None for JAX's own CPU, which no plugin file holds.
    """

    def __init__(self, path: str | Path | None) -> None:
        self._path = str(Path(path).absolute()) if path is not None else None
        self._child: XlaChild | None = None

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def platform_version(self) -> str:
        """Return what the plugin says about itself. PluginError if it does not start."""
        try:
            return str(self._process().ask("plugin_version"))
        except XlaProcessError as problem:
            self.close()
            raise PluginError(
                f"{self._path} does not start: {str(problem).splitlines()[0]}",
                "load it in JAX alone first: PJRT_NAMES_AND_LIBRARY_PATHS=name:FILE",
            ) from problem

    def _process(self) -> XlaChild:
        if self._child is None:
            self._child = XlaChild(dumped="", plugin=self._path)
        return self._child

    def __call__(self, module: HloModule, values: str, seed: int) -> Run:
        """Return the outcome of a module on random arguments, as `run_module` does."""
        return self._run(module, *reference(module, values, seed))

    def run_on(self, module: HloModule, arguments: list[Array]) -> Run:
        """Return the outcome of a module on arguments. Raises the evaluator's exceptions."""
        return self._run(module, arguments, flatten_value(evaluate(module, *arguments)))

    def _run(self, module: HloModule, arguments: list[Array], expected: list[Array]) -> Run:
        try:
            child = self._process()
            child.ask(*SourceNames(module).request)
            got = [np.asarray(one) for one in child.ask("run", arguments)]
        except XlaProcessError as problem:
            return _failed(self, problem), arguments, expected, None
        return judged(got, expected, "plugin"), arguments, expected, got


def _failed(runner: PluginRunner, problem: XlaProcessError) -> Outcome:
    text = str(problem).splitlines()[0]
    if isinstance(problem, XlaTimeoutError) or "ended during" in text:
        runner.close()
        return Outcome("crashed", "process-ended", text)
    if any(word in text for word in _REFUSALS):
        return Outcome("refused", "refused-by-plugin", text)
    return Outcome("crashed", "error", text)
