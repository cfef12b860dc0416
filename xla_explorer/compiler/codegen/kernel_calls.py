"""Addresses and kernel calls in the entry of a host program.

Kernels are called whole, as tasks on a thread pool, or block by block.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.records import INVARIANT, Access
from xla_explorer.compiler.codegen.ir.types import I8, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.kernel_functions import task_name
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.program_kernels import PreparedKernel, ProgramKernels
from xla_explorer.compiler.codegen.program_records import ArgumentTable, BufferSlice

PARALLEL_FOR = (
    "xla_explorer_parallel_for"  # void (ptr function, ptr context, i64 tasks) of the backend's pool
)


class KernelCalls:
    """Emits addresses, calls and instrumentation into `w`.

    pointers: loaded slots of the argument table, with their values. constant_data: of kernels, with
    its number after the other slots. instrumented: steps count their cycles. is_long: the entry is
    not optimised. callees: functions of the program that it calls. slots: of the argument table
    that it reads.
    """

    def __init__(
        self,
        w: FunctionWriter,
        table: ArgumentTable,
        kernels: ProgramKernels,
        *,
        instrumented: bool,
    ) -> None:
        self.w, self.table, self.kernels, self.instrumented = w, table, kernels, instrumented
        self.pointers: dict[int, Value[Pointer]] = {}
        self.is_long = False
        self.constant_data: dict[bytes, int] = {}
        self.callees: dict[str, None] = {}
        self.slots: set[int] = set()

    def start_function(self) -> None:
        """Drop what belongs to one function."""
        self.pointers, self.callees = {}, {}

    def base(self, slot: int) -> Value[Pointer]:
        """Return the pointer in a slot of the argument table, loaded once at the function's entry.

        In a long entry it is loaded at each use: LLVM's time is quadratic in values that are live
        from the entry to their use.
        """
        self.slots.add(slot)
        if self.is_long:
            at = self.w.address(self.w.named("%arguments", PTR), PTR, slot)
            return self.w.load(at, PTR, tail=INVARIANT)
        if slot not in self.pointers:
            self.pointers[slot] = self.w.named(f"%argument{slot}", PTR)
        return self.pointers[slot]

    def address(self, place: BufferSlice) -> Value[Pointer]:
        """Return the address of a buffer slice."""
        base = self.base(place.slot)
        return base if place.offset == 0 else self.w.address(base, I8, place.offset)

    def kernel(self, kernel: PreparedKernel, block: Word | None = None) -> None:
        """Call a kernel: all of it, or one task `block`."""
        function, made, unique = kernel
        pointers = [self.address(place) for place in unique]
        pointers += [self.base(self._constant_slot(data)) for data in made.constant_data]
        if made.scratch_bytes:
            pointers.append(self.base(self.table.scratch_slot))
        if made.tasks > 1 and block is None:
            self._tasks(function, made, pointers)
        else:
            self.callees[function] = None
            last = [] if block is None else [self.w.named(block, I64)]
            self.w.call(function, *pointers, *last)

    def _constant_slot(self, data: bytes) -> int:
        return self.table.size + self.constant_data.setdefault(data, len(self.constant_data))

    def _tasks(self, function: str, made: Kernel, pointers: list[Value[Pointer]]) -> None:
        """Call the pool, which runs each task of a kernel, phase by phase.

        The pointers are passed in memory.
        """
        w = self.w
        self.kernels.threaded.add(function)
        task = task_name(function)
        self.callees[task] = None
        context = w.stack_slot(PTR, max(len(pointers) + 1, 2))
        for k, pointer in enumerate(pointers):
            w.store(pointer, w.address(context, PTR, k), 8)
        first = 0
        for tasks in made.phases or (made.tasks,):
            if made.phases:
                w.store(w.number(first, I64), w.address(context, PTR, len(pointers)), 8)
            self._parallel_for(task, context, tasks)
            first += tasks

    def chain(self, prepared: list[PreparedKernel], tasks: int) -> None:
        """Call the pool, which runs every kernel of a chain for each block of rows."""
        w = self.w
        places: dict[BufferSlice, int] = {}
        calls = []
        for function, made, unique in prepared:
            own = [
                *unique,
                *[
                    BufferSlice(self._constant_slot(data), 0, len(data))
                    for data in made.constant_data
                ],
            ]
            calls.append(
                (function, tuple([places.setdefault(place, len(places)) for place in own]))
            )
        context = w.stack_slot(PTR, max(len(places), 2))
        for place, k in places.items():
            slot = w.address(context, PTR, k)
            w.store(self.address(place), slot, 8)
        name = self.kernels.chain(tuple(calls))
        self.callees[name] = None
        self._parallel_for(name, context, tasks)

    def _parallel_for(self, task: str, context: Value[Pointer], tasks: int) -> None:
        """Call the pool, which runs a function for each number of a task."""
        w = self.w
        w.call_routine(PARALLEL_FOR, w.named(f"@{task}", PTR), context, w.number(tasks, I64))

    def instrument(self, number: int, start: bool, counted: Condition = None) -> None:
        """Add the elapsed cycles to the counter of a row, and count the call in the next counter.

        counted: true if the call counts.
        """
        if not self.instrumented:
            return
        w = self.w
        now = w.intrinsic("llvm.readcyclecounter", I64)
        cell = w.address(self.base(self.table.counter_slot), I64, 2 * number)
        total = w.emit("load volatile", I64, (cell,), Access(8))
        changed = w.binary("sub" if start else "add", total, now)
        w.effect("store volatile", (changed, cell), Access(8))
        if not start:
            count = w.address(cell, I64, 1)
            calls = w.emit("load volatile", I64, (count,), Access(8))
            one = w.number(1, I64) if counted is None else w.convert("zext", counted, "i64")
            w.effect("store volatile", (calls + one, count), Access(8))
