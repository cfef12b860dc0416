"""Programs of a search, compiled by XLA under changes: functions of JAX, and modules."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.backends.xla.worker import CLOCK
from xla_explorer.explorer.xla.forms import rewritten
from xla_explorer.explorer.xla.overrides.hook import overridden
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import make_requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.frontends.hlo_proto.large_constants import with_constants
from xla_explorer.hlo.module import HloModule

Pair = tuple[str, str]


class Change(NamedTuple):
    """A point of the search.

    flags: of XLA. forbid, fuse: pairs of instructions to split and to join. forms: names of
    rewritten forms of the program, in their order.
    """

    flags: tuple[tuple[str, Any], ...] = ()
    forbid: tuple[Pair, ...] = ()
    fuse: tuple[Pair, ...] = ()
    forms: tuple[str, ...] = ()

    def with_step(self, word: str, step: Any) -> Change:
        """Return the point with one more flag, pair or form."""
        if word == "flag":
            others = tuple([one for one in self.flags if one[0] != step[0]])
            return self._replace(flags=(*others, step))
        if word == "form":
            return self._replace(forms=(*self.forms, step))
        return self._replace(**{word: (*getattr(self, word), step)})


def clock() -> Callable[[], float]:
    """Return the clock of trials: processor time if the environment says so."""
    return time.process_time if os.environ.get(CLOCK) == "process" else time.perf_counter


class FunctionProgram:
    """A function with its arguments on the device, compiled by XLA under changes."""

    def __init__(
        self, jax: Any, function: Any, arrays: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> None:
        self.jax, self.function = jax, function
        self.arrays, self.keywords = jax.device_put((arrays, dict(keywords)))
        self.name = getattr(function, "__name__", "function")

    def compiled(self, change: Change, expects: tuple[str, Pair] | None = None) -> Any:
        """Return XLA's executable. XlaExplorerError if the expected request was not granted."""
        if change.forms:
            raise XlaExplorerError("a function has no rewritten forms", "search its module")

        def again(*arrays: Any, **keywords: Any) -> Any:
            return self.function(*arrays, **keywords)

        again.__name__ = self.name  # a function of its own: JAX keeps what it compiled by function
        report = XlaOverrides(make_requests(change.fuse, change.forbid), overridden)
        with overridden(report, clear_caches=False):
            lowered = self.jax.jit(again).lower(*self.arrays, **self.keywords)
            made = lowered.compile(compiler_options=dict(change.flags) or None)
        _check_granted(report, expects)
        return made

    def values(self, executable: Any) -> list[np.ndarray[Any, Any]]:
        """Return the results as numpy arrays."""
        results = executable(*self.arrays, **self.keywords)
        return [np.asarray(leaf) for leaf in self.jax.tree.leaves(results)]

    def seconds(self, executable: Any, runs: int) -> float:
        """Return the time of a run, of so many one after another."""
        read = clock()
        started = read()
        for _ in range(runs):
            result = executable(*self.arrays, **self.keywords)
        self.jax.block_until_ready(result)
        return (read() - started) / runs


class ModuleProgram:
    """A module with its leaves on the device, compiled by XLA under changes."""

    def __init__(self, module: HloModule, leaves: Sequence[Any]) -> None:
        self.jax = import_optional("jax", "jax")
        self.jaxlib = import_optional("jaxlib._jax", "jax")
        self.options = import_optional("jaxlib.xla_client", "jax").CompileOptions
        self.read = import_optional("jaxlib._hlo", "jax").hlo_module_from_text
        self.module, self.name = module.clone(), module.name
        self.module.attributes.pop("input_output_alias", None)  # each run takes the same arguments
        self.device = self.jax.local_devices(backend="cpu")[0]
        kinds = [p.shape.element_type.dtype for p in module.entry.parameters()]
        with self.jax.enable_x64(True):
            self.leaves = [
                self.jax.device_put(np.asarray(leaf).astype(kind, copy=False), self.device)
                for leaf, kind in zip(leaves, kinds, strict=True)
            ]

    def compiled(self, change: Change, expects: tuple[str, Pair] | None = None) -> Any:
        """Return XLA's executable and its arguments; XlaExplorerError as `FunctionProgram`."""
        module = self.module
        for form in change.forms:
            made = rewritten(form, module)
            if made is None:
                raise XlaExplorerError(f"the program has nothing that {form} changes", "")
            module = made
        options = self.options()
        options.env_option_overrides = list(change.flags)
        report = XlaOverrides(make_requests(change.fuse, change.forbid), overridden)
        with overridden(report, clear_caches=False):
            executable = self.device.client.compile_and_load(
                self._stablehlo(module), self.jaxlib.DeviceList((self.device,)), options
            )
        _check_granted(report, expects)
        return executable, self._arguments(module)

    def _stablehlo(self, module: HloModule) -> Any:
        text, constants = SourceNames(module).request[1:]
        proto = with_constants(self.read(text).as_serialized_hlo_module_proto(), constants or {})
        return self.jaxlib.mlir.hlo_to_stablehlo(proto)

    def _arguments(self, module: HloModule) -> list[Any]:
        """Return the leaves in the types of a rewritten program."""
        kinds = [p.shape.element_type.dtype for p in module.entry.parameters()]
        with self.jax.enable_x64(True):
            return [
                leaf
                if leaf.dtype == kind
                else self.jax.device_put(np.asarray(leaf).astype(kind), self.device)
                for leaf, kind in zip(self.leaves, kinds, strict=True)
            ]

    def values(self, made: Any) -> list[np.ndarray[Any, Any]]:
        """Return the results as numpy arrays."""
        executable, arguments = made
        return [np.asarray(one) for one in executable.execute(arguments)]

    def seconds(self, made: Any, runs: int) -> float:
        """Return the time of a run, of so many one after another."""
        executable, arguments = made
        read = clock()
        started = read()
        for _ in range(runs):
            results = executable.execute(arguments)
        for one in results:
            one.block_until_ready()
        return (read() - started) / runs


def _check_granted(report: XlaOverrides, expects: tuple[str, Pair] | None) -> None:
    """Raise XlaExplorerError if an expected request was refused."""
    for one in report.outcomes:
        if (one.word, one.subjects) == expects and one.result != "granted":
            raise XlaExplorerError(str(one.reason), "")
