"""Addresses and kernel calls in the entry of a host program.

Kernels are called whole, as tasks on a thread pool, or block by block.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.program_kernels import PreparedKernel, ProgramKernels
from xla_explorer.compiler.codegen.program_records import ArgumentTable, BufferSlice
from xla_explorer.compiler.codegen.task_function import task_name

PARALLEL_FOR = (
    "xla_explorer_parallel_for"  # void (ptr function, ptr context, i64 tasks) of the backend's pool
)


class KernelCalls:
    """Emits addresses, calls and instrumentation into `w`.

    pointers: loaded slots of the argument table, with the names of their values. constant_data: of
    kernels, with its number after the other slots. instrumented: steps count their cycles. is_long:
    the entry is not optimised. callees: functions of the program that it calls. slots: of the
    argument table that it reads.
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
        self.pointers: dict[int, str] = {}
        self.is_long = False
        self.constant_data: dict[bytes, int] = {}
        self.callees: dict[str, None] = {}
        self.slots: set[int] = set()

    def base(self, slot: int) -> str:
        """Return the pointer in a slot of the argument table, loaded once at the function's entry.

        In a long entry it is loaded at each use: LLVM's time is quadratic in values that are live
        from the entry to their use.
        """
        self.slots.add(slot)
        if self.is_long:
            return self.w.value(
                f"load ptr, ptr {self.w.value(f'getelementptr inbounds ptr, ptr %arguments, i64 {slot}')}, !invariant.load !0"
            )
        if slot not in self.pointers:
            self.pointers[slot] = f"%argument{slot}"
        return self.pointers[slot]

    def address(self, place: BufferSlice) -> str:
        """Return the address of a buffer slice."""
        base = self.base(place.slot)
        return (
            base
            if place.offset == 0
            else self.w.value(f"getelementptr inbounds i8, ptr {base}, i64 {place.offset}")
        )

    def kernel(self, kernel: PreparedKernel, block: str = "") -> None:
        """Call a kernel: all of it, or one task `block`."""
        function, made, unique = kernel
        pointers = [self.address(place) for place in unique]
        pointers += [self.base(self._constant_slot(data)) for data in made.constant_data]
        if made.scratch_bytes:
            pointers.append(self.base(self.table.scratch_slot))
        if made.tasks > 1 and not block:
            self._tasks(function, made, pointers)
        else:
            self.callees[function] = None
            last = [f"i64 {block}"] if block else []
            self.w.do(
                f"call void @{function}({', '.join([*[f'ptr {p}' for p in pointers], *last])})"
            )

    def _constant_slot(self, data: bytes) -> int:
        return self.table.size + self.constant_data.setdefault(data, len(self.constant_data))

    def _tasks(self, function: str, made: Kernel, pointers: list[str]) -> None:
        """Call the pool, which runs each task of a kernel, phase by phase.

        The pointers are passed in memory.
        """
        w = self.w
        self.kernels.threaded.add(function)
        task = task_name(function)
        self.callees[task] = None
        w.declare_routine(PARALLEL_FOR, "ptr, ptr, i64")
        context = w.stack_slot("ptr", max(len(pointers) + 1, 2))
        for k, pointer in enumerate(pointers):
            w.do(
                f"store ptr {pointer}, ptr {w.value(f'getelementptr inbounds ptr, ptr {context}, i64 {k}')}, align 8"
            )
        first = 0
        for tasks in made.phases or (made.tasks,):
            if made.phases:
                w.do(
                    f"store i64 {first}, ptr {w.value(f'getelementptr inbounds ptr, ptr {context}, i64 {len(pointers)}')}, align 8"
                )
            w.do(f"call void @{PARALLEL_FOR}(ptr @{task}, ptr {context}, i64 {tasks})")
            first += tasks

    def chain(self, prepared: list[PreparedKernel], tasks: int) -> None:
        """Call the pool, which runs every kernel of a chain for each block of rows."""
        w = self.w
        w.declare_routine(PARALLEL_FOR, "ptr, ptr, i64")
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
        context = w.stack_slot("ptr", max(len(places), 2))
        for place, k in places.items():
            slot = w.value(f"getelementptr inbounds ptr, ptr {context}, i64 {k}")
            w.do(f"store ptr {self.address(place)}, ptr {slot}, align 8")
        name = self.kernels.chain(tuple(calls))
        self.callees[name] = None
        w.do(f"call void @{PARALLEL_FOR}(ptr @{name}, ptr {context}, i64 {tasks})")

    def instrument(self, number: int, start: bool, counted: str = "true") -> None:
        """Add the elapsed cycles to the counter of a row, and count the call in the next counter.

        counted: an i1, true if the call counts.
        """
        if not self.instrumented:
            return
        w = self.w
        w.declare("declare i64 @llvm.readcyclecounter()")
        now = w.value("call i64 @llvm.readcyclecounter()")
        cell = w.value(
            f"getelementptr inbounds i64, ptr {self.base(self.table.counter_slot)}, i64 {2 * number}"
        )
        total = w.value(f"load volatile i64, ptr {cell}, align 8")
        changed = w.value(f"{'sub' if start else 'add'} i64 {total}, {now}")
        w.do(f"store volatile i64 {changed}, ptr {cell}, align 8")
        if not start:
            count = w.value(f"getelementptr inbounds i64, ptr {cell}, i64 1")
            calls = w.value(f"load volatile i64, ptr {count}, align 8")
            w.do(
                f"store volatile i64 {w.value(f'add i64 {calls}, ' + w.value(f'zext i1 {counted} to i64'))}, ptr {count}, align 8"
            )
