"""An executable on this CPU: one native call per execution; inputs by address, pooled outputs."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.backends.cpu.activation import ARENA, Activation, NativeCalls
from xla_explorer.backends.cpu.aligned_arena import OutputPool, OutputSlot, aligned_copy
from xla_explorer.backends.cpu.array_address import data_address
from xla_explorer.backends.cpu.blas import blas_symbols
from xla_explorer.backends.cpu.cycle_counter import cycle_counter
from xla_explorer.backends.cpu.threads import PARALLEL_FOR_SYMBOL, thread_pool
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.cpu_program.program_writing import ENTRY, write_program
from xla_explorer.backends.interfaces import KernelTiming, ProfileResult, ProgramStep
from xla_explorer.backends.interfaces.host_arguments import LeafReader, wrong_count
from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary, program_library
from xla_explorer.backends.llvm.target_machine import host_target, why_not_here
from xla_explorer.compiler.buffers.assignment import BufferAssignment
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.codegen.program_records import HostProgram
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels, Schedules
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.rounds import rounds
from xla_explorer.hlo.evaluator import Host
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_POOL = OutputPool()
_executables: weakref.WeakSet[CpuExecutable] = weakref.WeakSet()


class CpuExecutable:
    """See `backends.interfaces.Executable`.

    Calls are serialised: `execute` has one arena; callers side by side use `native_calls`.
    """

    def __init__(
        self,
        module: HloModule,
        assignment: BufferAssignment,
        program: HostProgram,
        compiled: CompiledObject,
        schedules: Schedules | None = None,
    ) -> None:
        self.module, self._schedules = module, schedules or {}
        self.assignment = assignment
        self.program = program
        self.compiled = compiled
        self.steps = [ProgramStep(*row[:-1], refused=row.refused) for row in program.rows]
        self._lock = threading.Lock()
        _executables.add(self)
        self._readers = [
            LeafReader(p.name, leaf)
            for p in module.entry.parameters()
            for _, leaf in p.shape.leaves()
        ]
        self._outputs: list[tuple[OutputSlot, tuple[int, ...] | None]] = []
        for _, leaf in module.entry.root.shape.leaves():
            if leaf.is_array:
                major_to_minor = tuple(reversed(leaf.layout.minor_to_major))
                natural = major_to_minor == tuple(range(leaf.rank))
                stored = tuple([leaf.dimensions[d] for d in major_to_minor])
                self._outputs.append(
                    (
                        _POOL.slot(stored, leaf.element_type.dtype),
                        None if natural else tuple(np.argsort(major_to_minor).tolist()),
                    )
                )
        self._results_in_place, self._donated = self._donated_leaves()
        self._library = self._load(program, compiled)
        self._constants = [
            np.ascontiguousarray(literal.array).reshape(literal.shape.dimensions)
            for literal in program.constants
        ]
        shared = []
        for k, literal in enumerate(program.constants):
            if not literal.shape.layout.is_default and literal.shape.rank > 1:
                self._constants[k] = np.ascontiguousarray(
                    literal.array.transpose(tuple(reversed(literal.shape.layout.minor_to_major)))
                )
            shared.append(
                (program.constant_slot + k, self._constants[k].__array_interface__["data"][0])
            )
        for k, data in enumerate(program.constant_data):
            self._constants.append(aligned_copy(data))
            shared.append(
                (program.constant_data_slot + k, self._constants[-1].__array_interface__["data"][0])
            )
        self.host = Host()
        self._activation = functools.partial(
            Activation, program, assignment.arena_size, shared, self.host
        )
        self._own = self._activation()
        self._entry = self._library.bind(ENTRY, ctypes.c_int, [ctypes.c_void_p])
        self._instrumented: tuple[NativeLibrary, Any] | None = None

    def _donated_leaves(self) -> tuple[dict[int, int], frozenset[int]]:
        """Return the reused parameter leaf of each result leaf, and all written parameter leaves.

        The latter are written for results or for intermediate values.
        """
        entry = self.module.entry
        leaves = [
            (int(p.payload), index) for p in entry.parameters() for index, _ in p.shape.leaves()
        ]
        outputs = [index for index, leaf in entry.root.shape.leaves() if leaf.is_array]
        results, written = {}, set()
        for alias in self.assignment.aliases:
            if alias.given_away:
                written.add(leaves.index((alias.parameter, alias.leaf)))
            if alias.reason is None and alias.output is not None:
                results[outputs.index(alias.output)] = leaves.index((alias.parameter, alias.leaf))
        return results, frozenset(written)

    def _load(self, program: HostProgram, compiled: CompiledObject) -> NativeLibrary:
        symbols = {}
        for name in program.symbols:
            symbols[name] = (
                self._pool_symbols(program.threads)[name]
                if name == PARALLEL_FOR_SYMBOL
                else blas_symbols()[name]
            )
        return program_library(compiled, symbols, [ENTRY])

    def _pool_symbols(self, threads: int) -> dict[str, int]:
        self._pool = thread_pool(threads)  # kept, for the code calls into it
        return self._pool.symbols

    # -- execution ---------------------------------------------------------------------------------
    def execute(self, arrays: list[Array], entry: Any = None) -> list[Array]:
        """Run the program on parameter leaves and return the result leaves.

        Inputs are only read, but for those that were given away (`donate=True`): their memory is
        that of the result, unless it is read-only or part of another argument, too. entry: of
        another build.
        """
        with self._lock:
            _, results = self._fill_table(arrays, self._own)
            self._enter(self._own, entry or self._entry)
        return results

    @staticmethod
    def _enter(own: Activation, entry: Any) -> None:
        status = entry(own.address)
        if status:
            raise own.take_failure() or XlaExplorerError(f"execution ended with status {status}")

    def activate(self) -> Activation:
        """Return another table and arena, for a run beside others."""
        made = self._activation()
        made.take_memory()
        return made

    def execute_on(
        self, own: Activation, arrays: list[Array], counters: Array | None = None
    ) -> list[Array]:
        """Execute on a table that no other caller uses (see `execute`, `execute_watched`)."""
        # The arguments that are read must outlive the run.
        prepared, results = self._fill_table(arrays, own)
        entry = self._entry
        if counters is not None:
            assert self._instrumented is not None, "see prepare_watched"
            own.table[self.program.counter_slot] = counters.__array_interface__["data"][0]
            entry = self._instrumented[1]
        self._enter(own, entry)
        del prepared
        return results

    def place(self, arrays: list[Array]) -> list[Array]:
        """Copy arguments to aligned memory, in the parameter's layout (see `ArgumentPlacer`).

        numpy's own arrays begin 16 bytes after a cache line, so that every vector of 64 bytes lies
        in two. Placed arrays begin at a line, large ones at a huge page.
        """
        if len(arrays) != len(self._readers):
            raise wrong_count(self._readers, len(arrays))
        placed = []
        for reader, array in zip(self._readers, arrays, strict=True):
            stored = reader.prepare(array)
            if reader.has_sizes:
                placed.append(stored)
                continue
            own = _POOL.array(stored.shape, stored.dtype)
            own[...] = stored
            placed.append(own if reader.order is None else own.transpose(np.argsort(reader.order)))
        return placed

    def calls_of(
        self, arrays: list[Array]
    ) -> tuple[Callable[[], object], list[Array], list[Array]]:
        """Return (a call that only runs, its input arrays, its output arrays), for timing.

        The call is valid while these arrays live and nothing else of this executable runs.
        """
        with self._lock:
            prepared, results = self._fill_table(arrays, self._own)
        return functools.partial(self._entry, self._own.address), prepared, results

    def _fill_table(self, arrays: list[Array], own: Activation) -> tuple[list[Array], list[Array]]:
        """Store all addresses in the table; return (the arrays that are read, the results)."""
        readers = self._readers
        if len(arrays) != len(readers):
            raise wrong_count(readers, len(arrays))
        if own.arena is None:
            own.take_memory()
        table = own.table
        prepared = [reader.prepare(array) for reader, array in zip(readers, arrays, strict=True)]
        if self._donated:
            read_elsewhere = _overlapping(prepared)
            for k in self._donated:
                if k in read_elsewhere or not prepared[k].flags.writeable:
                    prepared[k] = prepared[k].copy()
        for k, array in enumerate(prepared):
            table[k] = data_address(array)
        results = []
        at = len(readers)
        for number, (slot, order) in enumerate(self._outputs):
            if number in self._results_in_place:
                array = prepared[self._results_in_place[number]]
                table[at] = data_address(array)  # the result is written over this argument
            else:
                array, table[at] = slot.take()
            at += 1
            results.append(array if order is None else array.transpose(order))
        return prepared, results

    def native_calls(self) -> NativeCalls | None:
        """Return the interface for native callers.

        None if an argument or a result does not lie in memory in the default layout of its shape.
        None also if the code is for a CPU above this one: `execute` refuses it.
        """
        if why_not_here(host_target()) is not None:
            return None
        other = any(reader.order is not None or reader.has_sizes for reader in self._readers)
        if other or any(order is not None for _, order in self._outputs):
            return None

        results = [
            (slot.nbytes, self._results_in_place.get(k))
            for k, (slot, _) in enumerate(self._outputs)
        ]
        entry, calls_python = (
            self._library.function_address(ENTRY),
            bool(self.program.evaluator_steps),
        )
        return NativeCalls(
            entry, len(self._readers), results, self._donated, self.activate, calls_python
        )

    def execute_watched(self, arrays: list[Array], counters: Array) -> list[Array]:
        """Execute the instrumented build and add to `counters`: int64 [steps, 2], cycles, calls.

        While a step runs its cycles are negative: a process that shares the memory can name the
        step in which a program hangs.
        """
        self.prepare_watched()
        assert self._instrumented is not None
        self._own.table[self.program.counter_slot] = counters.__array_interface__["data"][0]
        return self.execute(arrays, self._instrumented[1])

    def prepare_watched(self) -> None:
        """Compile the instrumented build, unless it exists."""
        if self._instrumented is None:
            kernels = ProgramKernels(
                described_cpu(libraries=True),
                self.program.threads,
                ENTRY,
                scheduled=ScheduledKernels(self._schedules),
            )
            program = write_program(self.module, self.assignment, kernels, instrumented=True)
            library = self._load(program, optimize_and_emit(program.module))
            self._instrumented = library, library.bind(ENTRY, ctypes.c_int, [ctypes.c_void_p])

    @property
    def llvm_module(self) -> LlvmModule:
        """The program before LLVM's passes."""
        return self.program.module

    # -- profile -----------------------------------------------------------------------------------
    def profile(self, arrays: list[Array], repeats: int = 20) -> ProfileResult:
        """Time the program, then each step by the cycle counters of the instrumented build."""
        totals = []
        for _ in range(3):
            self.execute(arrays)
        for _ in rounds(repeats):
            started = time.perf_counter_ns()
            self.execute(arrays)
            totals.append((time.perf_counter_ns() - started) / 1e3)
        counters = np.zeros((max(len(self.steps), 1), 2), np.int64)
        samples: list[Array] = []
        self.execute_watched(arrays, counters)
        clock = cycle_counter()
        for _ in rounds(repeats):
            counters[...] = 0
            self.execute_watched(arrays, counters)
            samples.append(counters.copy())
        timings = []
        for k, step in enumerate(self.steps):
            calls = int(samples[-1][k, 1]) if samples else 0
            timings.append(
                KernelTiming(
                    step,
                    calls,
                    tuple(
                        [float(s[k, 0]) / clock.per_microsecond / max(calls, 1) for s in samples]
                    ),
                )
            )
        return ProfileResult(
            tuple(totals), tuple(timings), clock.instrumentation_us, clock.per_microsecond
        )


def _after_fork() -> None:
    """Renew all locks in a forked child.

    Another thread may have held one during the fork, and does not exist in the child to release it.
    """
    for executable in list(_executables):
        executable._lock = threading.Lock()
    ARENA.forget_holder()
    _POOL.forget_holder()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _overlapping(arrays: list[Array]) -> set[int]:
    """Return the numbers of contiguous arrays that overlap another one in memory."""
    found: set[int] = set()
    last, end = -1, 0
    for address, k in sorted(
        [(data_address(array), k) for k, array in enumerate(arrays) if array.nbytes]
    ):
        if address < end:
            found |= {k, last}
        if address + arrays[k].nbytes > end:
            last, end = k, address + arrays[k].nbytes
    return found
