"""Real XLA behind the interfaces of a backend."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import (
    CompileOptions,
    CompileResult,
    KernelTiming,
    LinearTransferManager,
    ProfileResult,
    ProgramStep,
)
from xla_explorer.backends.interpreter.interpreter_platform import HostMemoryExecutor
from xla_explorer.backends.xla.child import XlaChild
from xla_explorer.backends.xla.dumped_compile import dumped_stages, dumped_trace
from xla_explorer.backends.xla.host_callbacks import without_host_callbacks
from xla_explorer.backends.xla.several_devices import (
    SeveralDevicesWarning,
    collective_error,
    manual_region_error,
    measured_on_one,
)
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.compiler.pipeline import PassPipeline, PassTrace
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.xla_dump import DumpFolder, read_stages
from xla_explorer.frontends.xla_profile import KernelEvent, kernel_events, read_space
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import UnsupportedOpcodeError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_CONTROL_FLOW = frozenset({"while", "conditional", "call"})
_NOTHING_RUNS = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


class XlaPlatform:
    """See `backends.interfaces.Platform`.

    python: the environment whose jaxlib it is, as a folder or an interpreter; None for this one.
    """

    description = (
        "Real XLA:CPU of jaxlib, in a child process, with its dump of every pass; for comparison."
    )
    option_names: tuple[str, ...] = ("read_passes",)
    """`read_passes`: names of passes; XLA dumps only the modules around them, which is faster."""

    def __init__(self, python: str | None = None) -> None:
        self.python = python
        self.name = "xla" if python is None else f"xla:{python}"

    def compiler(self) -> XlaCompiler:
        """Return the compiler."""
        return XlaCompiler(self.python)

    def stream_executor(self) -> HostMemoryExecutor:
        """Return host memory; the child has its own."""
        return HostMemoryExecutor()

    def transfer_manager(self) -> LinearTransferManager:
        """Return the converter between literals and numpy arrays."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None if jaxlib is installed, else the reason."""
        if self.python is None and (find_spec("jaxlib") is None or find_spec("jax") is None):
            return Reason(
                "jax-not-installed",
                'real XLA comes with jax: pip install "xla-explorer[jax]"',
                {"extra": "jax"},
            )
        return None


class XlaCompiler:
    """See `backends.interfaces.Compiler`.

    XLA decides about its passes: `passes=`, journal levels and overrides do not reach it.
    """

    name = "xla"

    def __init__(self, python: str | None = None) -> None:
        self.python = python

    def default_pipeline(self) -> PassPipeline:
        """Return a pipeline without passes of ours."""
        return PassPipeline("xla", ())

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None: XLA answers when it compiles."""
        return None

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Let XLA compile the module and read its dump.

        Raises
        ------
            MissingExtraError: jax is not installed.
            XlaProcessError: XLA refuses the module or dies of it.
            UnsupportedOpcodeError: a region of `shard_map`.
        """
        reason = XlaPlatform(self.python).availability()
        if reason is not None:
            raise MissingExtraError(reason.message, 'pip install "xla-explorer[jax]"')
        if (region := manual_region_error(module)) is not None:
            raise region
        refusal = collective_error(module)
        if refusal is None and (note := measured_on_one(module)) is not None:
            warn(note, SeveralDevicesWarning)
        module, zeroed = without_host_callbacks(module)
        wanted: Collection[str] | None = options.backend_options.get("read_passes")
        child = XlaChild(
            options.threads,
            python=self.python,
            dumped=".*" if wanted is None else f"^({'|'.join(map(re.escape, wanted))})$",
        )
        names = SourceNames(module)
        seconds = child.ask(*names.request)
        # The client itself compiles nothing, so the one module of the dump is ours.
        with collector_paused():
            dumped = DumpFolder(child.folder).module()
            stages, optimised = read_stages(dumped, module, names.restore, wanted)
            trace = dumped_trace(stages, optimised)
        trace.seconds = sum(seconds.values())
        executable = XlaExecutable(child, trace.module, names.restored, refusal, zeroed)
        self._last = executable, seconds, dumped, HloModule.from_snapshot(stages[0].snapshot)
        return trace

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Return the result that the child compiled in run_hlo_passes."""
        executable, seconds, dumped, source = self._last
        return CompileResult(
            trace,
            executable,
            dumped_stages(dumped, source, trace.module, executable.restored),
            None,
            seconds,
        )


class XlaExecutable:
    """See `backends.interfaces.Executable`.

    restored: XLA's names of instructions to ours. refusal: why it must not run. zeroed: calls of
    host functions whose results are zeros, so that times can be measured and values cannot be had.
    """

    def __init__(
        self, child: XlaChild, module: HloModule, restored: Mapping[str, str], refusal: UnsupportedOpcodeError | None,
        zeroed: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.child, self.module, self.restored = child, module, restored
        self.refusal, self.zeroed = refusal, zeroed
        self.steps = [
            ProgramStep(k, i.id, i.name, i.opcode.name, "kernel", i.name, None)
            for k, i in enumerate(_executed(module.entry))
            if i.opcode.name not in _NOTHING_RUNS
        ]

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run in the child; arrays travel by pipe.

        Raises
        ------
            UnsupportedOpcodeError: a collective between several devices; the child has one, whose
            value alone would be an answer.
        """
        if self.zeroed:
            raise UnsupportedOpcodeError(
                "custom-call", f"%{self.zeroed[0]} calls a Python function, which real XLA's process does "
                "not have",
                "run the program on another backend; its times can be measured here",
            )  # fmt: skip
        return self.run(arrays)

    def run(self, arrays: list[Array]) -> list[Array]:
        """Run in the child, for a measurement: results of host functions are zeros."""
        self._refuse()
        return list(self.child.ask("run", [np.asarray(a) for a in arrays]))

    def profile(self, arrays: list[Array], repeats: int = 5) -> ProfileResult:
        """Time whole programs in the child, and kernels in further runs by XLA's own profiler.

        A kernel's time excludes that of kernels inside it.
        """
        self.run(arrays)
        samples = tuple(self.time(arrays, repeats))
        runs: dict[str, dict[Any, list[int]]] = {}
        for event in self.record(arrays, repeats):
            runs.setdefault(event.op, {}).setdefault(event.run, []).append(event.self_ps)
        kernels = [
            KernelTiming(
                step,
                len(next(iter(found.values()))),
                tuple([sum(own) / len(own) / 1e6 for own in found.values()]),
            )
            for step in self.steps
            if (found := runs.get(step.name))
        ]
        return ProfileResult(samples, tuple(kernels), 0.0)

    def time(self, arrays: list[Array], repeats: int, *, by_wall: bool = False) -> list[float]:
        """Return the microseconds of whole runs, timed in the child with the arguments in place.

        by_wall: of wall time, though XLA_EXPLORER_WORKER_CLOCK sets another clock.
        """
        self._refuse()
        return [float(sample) for sample in self.child.ask("time", arrays, repeats, by_wall)]

    def record(self, arrays: list[Array], repeats: int) -> list[KernelEvent]:
        """Return the events of XLA's own profiler for some runs, with the names of the source."""
        self._refuse()
        events = kernel_events(read_space(self.child.ask("profile", arrays, repeats)))
        return [event._replace(op=self.restored.get(event.op, event.op)) for event in events]

    def _refuse(self) -> None:
        if self.refusal is not None:
            raise self.refusal


def _executed(computation: HloComputation) -> Iterator[HloInstruction]:
    """Yield the instructions that run for a computation, in order.

    Those of called computations follow the instruction that calls them.
    """
    for i in computation.sequence():
        yield i
        if i.opcode.name in _CONTROL_FLOW:
            for called in i.called:
                yield from _executed(called)
