"""An executable for a GPU: thunks in order, with control flow on the host or in a CUDA graph."""

from __future__ import annotations

import difflib
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.gpu.device_executor import Array, DeviceExecutor, PtxProgram
from xla_explorer.backends.gpu.emulator import Finding, LaunchOptions, WarpStepper
from xla_explorer.backends.gpu.gpu_program import GpuProgram
from xla_explorer.backends.gpu.runtime.device_array import DeviceArray, foreign_array
from xla_explorer.backends.gpu.runtime.devices import warn_once
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor, LaunchReachedError
from xla_explorer.backends.gpu.runtime.instrumentation import Instrumentation
from xla_explorer.backends.gpu.runtime.thunk_runner import GpuRun
from xla_explorer.backends.interfaces import (
    CompilationStage,
    KernelTiming,
    ProfileResult,
    ProgramStep,
)
from xla_explorer.backends.interfaces.host_arguments import LeafReader, wrong_count
from xla_explorer.compiler.buffers import BufferAssignment
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.limits import limited_run
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.rounds import rounds

_WARM_UP = 3
_ON_THE_HOST = (np.ndarray, np.generic, bool, int, float, complex)


class EmulationResult(NamedTuple):
    """Result of an emulation.

    values: result leaves. findings: faults of all kernels. rows: a row per executed PTX line, by
    `emulator.counters.COLUMNS`.
    """

    values: list[Array]
    findings: list[Finding]
    rows: list[dict[str, Any]]


class GpuExecutable:
    """A GPU program (see `backends.interfaces.Executable`), whose PTX is made at its first run.

    Calls are serialised. why_emulated: reason for the emulator instead of a device; None on a
    device, or if the emulator was requested. graphs: from the second `execute` on, keep the
    program's memory and replay it as a CUDA graph. This requires a device, no host computation, and
    arguments from the host; `release` frees that memory.
    """

    def __init__(
        self,
        assignment: BufferAssignment,
        program: GpuProgram,
        ptx: CompilationStage,
        architecture: str,
        executor: DeviceExecutor,
        why_emulated: Reason | None = None,
        *,
        synchronous: bool = False,
        graphs: bool = True,
    ) -> None:
        module = assignment.module
        self.module, self.assignment, self.program = module, assignment, program
        self.steps: list[ProgramStep] = program.steps
        self.executor, self.why_emulated = executor, why_emulated
        self.synchronous = synchronous
        self._ptx, self._architecture = ptx, architecture
        self._lock = threading.Lock()
        self._replayable = (
            graphs and not synchronous and not executor.facts.emulated and program.can_be_graph
        )
        self._ran_before = False
        self._replay: (
            tuple[GpuRun, Callable[[], None], weakref.finalize[..., GpuExecutable]] | None
        ) = None
        self._readers = [
            LeafReader(p.name, leaf)
            for p in module.entry.parameters()
            for _, leaf in p.shape.leaves()
            if leaf.is_array
        ]

    @property
    def llvm_module(self) -> LlvmModule:
        """The kernels before LLVM's passes."""
        return self.program.module

    @property
    def device(self) -> str:
        """Name of the device."""
        return self.executor.facts.name

    @property
    def ptx(self) -> PtxProgram:
        """The loaded PTX program."""
        return PtxProgram(self._ptx.text, self._architecture, self._ptx.origins)

    def execute(self, arrays: list[Any]) -> list[Array]:
        """Run on parameter leaves (host or device arrays) and return result leaves on the host."""
        with self._lock:
            if self._replayable and all(isinstance(value, _ON_THE_HOST) for value in arrays):
                if self._ran_before:
                    return self._replayed(arrays)
                self._ran_before = True
            with limited_run(), self.start(arrays) as run:
                run.run()
                return run.results()

    def _replayed(self, arrays: list[Any]) -> list[Array]:
        """Run as a graph, on memory that is kept for the next call."""
        if self._replay is None:
            run = self.start(arrays)
            try:
                launch = run.launcher()
            except BaseException:
                run.close()
                raise
            closing = weakref.finalize(self, run.close)
            closing.atexit = False  # the driver, and the memory with it, may be gone by then
            self._replay = run, launch, closing
        run, launch, _ = self._replay
        try:
            # The first time too: recording ran it, and it may write its arguments.
            run.memory.refill([reader.prepare(value) for reader, value in self._paired(arrays)])
            launch()
            return run.results()
        except BaseException:
            self._release()
            raise

    def release(self) -> None:
        """Free the device memory kept between calls, and the graph; later calls still work."""
        with self._lock:
            self._release()

    def _release(self) -> None:
        if self._replay is not None:
            closing, self._replay = self._replay[2], None
            closing()

    def execute_on_device(self, arrays: list[Any]) -> list[DeviceArray]:
        """Run like `execute`, with results that stay on the device.

        Other libraries read them without a copy.
        """
        with self._lock, self.start(arrays) as run:
            run.run()
            self.executor.synchronize()
            return run.memory.results_on_device()

    def place(self, arrays: list[Any]) -> list[Any]:
        """Copy arrays to the device (see `ArgumentPlacer`).

        They stay on the host for the emulator, and for layouts specific to this program.
        """
        if len(arrays) != len(self._readers):
            raise wrong_count(self._readers, len(arrays))
        return [
            self._placed(reader, value) for reader, value in zip(self._readers, arrays, strict=True)
        ]

    def _placed(self, reader: LeafReader, value: Any) -> Any:
        stored = reader.prepare(value)
        if self.executor.facts.emulated or reader.order is not None:
            return value
        memory = self.executor.allocate(max(stored.nbytes, 1))
        self.executor.write(memory.address, stored)
        self.executor.synchronize()
        return DeviceArray(self.executor, memory, reader.shape)

    def start(
        self,
        arrays: Sequence[Any],
        executor: DeviceExecutor | None = None,
        instrumentation: Instrumentation | None = None,
        ptx: PtxProgram | None = None,
    ) -> GpuRun:
        """Return a run with its arguments on the device, which must be closed (or used by `with`).

        It can run any number of times; `run.launcher()` is a CUDA graph if possible. ptx: instead
        of the program's own.
        """
        if executor is None:
            executor = self.executor
            if self.why_emulated is not None:
                warn_once(self.why_emulated)
        run = GpuRun(
            self.module,
            self.assignment,
            self.program,
            executor,
            executor.load_ptx(ptx or self.ptx),
            instrumentation,
            self.synchronous,
        )
        try:
            run.memory.upload(self._prepared(arrays, executor, run))
        except BaseException:
            run.close()
            raise
        return run

    def _prepared(
        self, arrays: Sequence[Any], executor: DeviceExecutor, run: GpuRun
    ) -> list[Array | int]:
        """Return each leaf as a host array in the parameter's layout, or as its device address."""
        return [self._one(reader, value, executor, run) for reader, value in self._paired(arrays)]

    def _paired(self, arrays: Sequence[Any]) -> list[tuple[LeafReader, Any]]:
        if len(arrays) != len(self._readers):
            raise wrong_count(self._readers, len(arrays))
        return list(zip(self._readers, arrays, strict=True))

    @staticmethod
    def _one(reader: LeafReader, value: Any, executor: DeviceExecutor, run: GpuRun) -> Array | int:
        if (
            not executor.facts.emulated
            and not isinstance(value, np.ndarray)
            and reader.shape.layout.is_default
        ):
            found = foreign_array(value, reader.dimensions, reader.dtype, executor)
            if found is not None:
                run.memory.keep(found[1])
                return found[0]
        return reader.prepare(value)

    def edited(self, text: str) -> PtxProgram:
        """Return the program with another PTX text; unchanged lines keep their HLO instruction."""
        matcher = difflib.SequenceMatcher(
            None, self.ptx.text.splitlines(), text.splitlines(), autojunk=False
        )
        origins: list[int | None] = [None] * len(text.splitlines())
        for first, other, count in matcher.get_matching_blocks():
            origins[other : other + count] = self.ptx.origins[first : first + count]
        return self.ptx._replace(text=text, origins=origins)

    @property
    def kernel_threads(self) -> dict[str, int]:
        """The threads of each kernel's launch, by its name."""
        return {
            kernel.name: kernel.launch.blocks * kernel.launch.threads_per_block
            for kernel in self.program.kernels
        }

    def emulate(
        self, arrays: list[Any], options: LaunchOptions | None = None, text: str | None = None
    ) -> EmulationResult:
        """Run on a separate emulator that counts and collects faults, on any device.

        text: PTX instead of the program's.
        """
        findings: list[Finding] = []
        executor = EmulatedExecutor(options or LaunchOptions(counters=True), findings)
        ptx = self.ptx if text is None else self.edited(text)
        with limited_run(), self.start(arrays, executor, ptx=ptx) as run:
            run.run()
            values = run.results()
        kernels = executor.load_ptx(ptx)
        return EmulationResult(
            values, findings, [row for kernel in kernels.values() for row in kernel.counters.rows()]
        )

    def stepper(
        self,
        arrays: list[Any],
        kernel: str,
        first_block: int = 0,
        blocks: int = 1,
        text: str | None = None,
    ) -> WarpStepper:
        """Return a stepper of the first launch of a kernel, after the preceding work has run.

        Only the given blocks of the grid are emulated. text: PTX instead of the program's.
        XlaExplorerError for a kernel that is not in the program, or not launched with these
        arguments, and for blocks that do not exist.
        """
        launches = {k.name: k.launch for k in self.program.kernels}
        if kernel not in launches:
            raise XlaExplorerError(
                f"the program has no kernel {kernel}",
                f"its kernels: {', '.join(launches) or 'none'}",
            )
        if not (
            first_block >= 0 and blocks > 0 and first_block + blocks <= launches[kernel].blocks
        ):
            raise XlaExplorerError(
                f"kernel {kernel} has blocks 0 to {launches[kernel].blocks - 1}",
                "choose among these",
            )
        try:
            # Not closed: the stepper uses its memory.
            executor = EmulatedExecutor(findings=[], stop_before=kernel)
            self.start(arrays, executor, ptx=None if text is None else self.edited(text)).run()
        except LaunchReachedError as at:
            return WarpStepper(
                at.kernel, at.grid, at.block, at.arguments, first_block, blocks, at.shared
            )
        raise XlaExplorerError(
            f"kernel {kernel} is not launched with these arguments",
            "pass arguments for which its branch or loop runs",
        )

    def profile(self, arrays: list[Any], repeats: int = 20) -> ProfileResult:
        """Measure device times of the program, then of each step, by events.

        The program runs as a graph if possible. On the emulator, the times are the emulator's own.
        Arguments are on the device before; copies to and from the host do not count.
        """
        with self._lock:
            with self.start(arrays) as run:
                launch = run.launcher()
                emulated = self.executor.facts.emulated
                for _ in range(0 if emulated else _WARM_UP):
                    launch()
                totals = []
                for _ in rounds(repeats):
                    first = self.executor.record_event()
                    launch()
                    totals.append(self.executor.elapsed_us(first, self.executor.record_event()))
            instrumentation = Instrumentation(self.executor)
            samples: list[dict[int, tuple[int, float]]] = []
            with self.start(arrays, instrumentation=instrumentation) as run:
                run.run()
                instrumentation.take()
                for _ in rounds(repeats):
                    run.run()
                    samples.append(instrumentation.take())
        timings = []
        for step in self.steps:
            found = [sample.get(step.number, (0, 0.0)) for sample in samples]
            timings.append(
                KernelTiming(step, found[-1][0] if found else 0, tuple([mean for _, mean in found]))
            )
        return ProfileResult(tuple(totals), tuple(timings), 0.0)
