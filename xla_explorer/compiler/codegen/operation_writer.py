"""One instruction in the entry function: a kernel call, a copy, a foreign call, the evaluator."""

from __future__ import annotations

from typing import Protocol

from xla_explorer.compiler.codegen.dispatch import (
    ChosenStrategy,
    LoweringKind,
    cpu_strategy,
    operation_strategy,
)
from xla_explorer.compiler.codegen.foreign_calls import FOREIGN_CALL, write_foreign_call
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I1, I32, I64, type_named
from xla_explorer.compiler.codegen.kernel_calls import KernelCalls
from xla_explorer.compiler.codegen.parallel_plan import plan_parallel
from xla_explorer.compiler.codegen.program_kernels import (
    KernelWriter,
    PreparedKernel,
    ProgramKernels,
)
from xla_explorer.compiler.codegen.program_records import (
    ArgumentTable,
    BufferSlice,
    EvaluatorStep,
    ProgramRow,
)
from xla_explorer.compiler.codegen.single_device import IDENTIFIERS
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.custom_calls import is_pad_to_static
from xla_explorer.hlo.evaluator.devices.foreign_call import in_place_operands
from xla_explorer.hlo.instruction import HloInstruction

LONG_PROGRAM = 150  # steps from which the entry function is not optimised (its kernels are)


class PlaceOf(Protocol):
    """The interface to buffer assignment: (instruction, leaf index) -> slice."""

    def __call__(self, instruction: HloInstruction, index: tuple[int, ...]) -> BufferSlice:
        """Return the buffer slice of a leaf."""
        ...


class OperationWriter:
    """Emits instructions other than control flow, each with a row in the list of steps.

    Attributes
    ----------
    rows : list of ProgramRow
        The steps of the program, in order.
    steps : list of EvaluatorStep
        The calls back into Python.
    foreign : dict of HloInstruction to int
        Foreign calls, by their position among the slots of foreign functions.
    """

    def __init__(
        self,
        kernels: ProgramKernels,
        place_of: PlaceOf,
        table: ArgumentTable,
        *,
        instrumented: bool = False,
    ) -> None:
        self.kernels, self.place_of, self.table = kernels, place_of, table
        self.target, self.threads = kernels.target, kernels.threads
        self.w = FunctionWriter()
        self.rows: list[ProgramRow] = []
        self.steps: list[EvaluatorStep] = []
        self.foreign: dict[HloInstruction, int] = {}
        self._strategies: dict[HloInstruction, ChosenStrategy] = {}
        self.calls = KernelCalls(self.w, table, kernels, instrumented=instrumented)

    def strategy_of(self, i: HloInstruction) -> ChosenStrategy:
        """Return the lowering strategy of an instruction, chosen once."""
        found = self._strategies.get(i)
        if found is None:
            found = self._strategies[i] = cpu_strategy(i, self.target, self.kernels.control)
        return found

    def leaves(self, i: HloInstruction) -> list[BufferSlice]:
        """Return the buffer slices of an instruction's array leaves."""
        return [self.place_of(i, index) for index, leaf in i.shape.leaves() if leaf.is_array]

    def copy(self, source: BufferSlice, target: BufferSlice) -> None:
        """Emit a memcpy unless source and target are the same."""
        if source == target or target.size == 0:
            return
        size = f"i{self.target.cores.pointer_bits}"
        there, here = self.calls.address(target), self.calls.address(source)
        w = self.w
        length = w.number(target.size, type_named(size))
        w.call_effect(f"llvm.memcpy.p0.p0.{size}", there, here, length, w.number(0, I1))

    def operands(self, i: HloInstruction) -> list[BufferSlice]:
        """Return the buffer slices of a kernel's operands.

        A fusion has one parameter per operand; other kernels read a repeated operand once.
        """
        operands = i.operands if i.opcode.name == "fusion" else tuple(dict.fromkeys(i.operands))
        return [self.place_of(o, ()) for o in operands]

    def prepared(
        self, i: HloInstruction, kind: str, write: KernelWriter, blocks: int = 0
    ) -> PreparedKernel:
        """Return the kernel of an instruction, new or shared with an equal one."""
        return self.kernels.prepare(i, kind, write, self.operands(i), self.leaves(i), blocks)

    def write(self, i: HloInstruction) -> None:
        """Emit one instruction, if it needs code."""
        chosen = self.strategy_of(i)
        if chosen.kind is LoweringKind.COPY and i.opcode.name == "copy":
            self._copy_instruction(i)
        elif chosen.kind is LoweringKind.COPY and is_pad_to_static(i):
            self._pad_to_static(i)
        elif chosen.kind is LoweringKind.COPY and i.opcode.name in IDENTIFIERS:
            self._device_number(i)
        elif chosen.kind is LoweringKind.COPY:
            self._collective(i)
        elif chosen.kind is not LoweringKind.NOTHING:
            self._operation(i, chosen)

    def _copy_instruction(self, i: HloInstruction) -> None:
        """Emit a copy: memcpy if the layout stays and one thread is enough, else a loop kernel."""
        moves = (
            i.shape.is_array
            and i.shape.layout is not i.operands[0].shape.layout
            and i.shape.rank > 1
        )
        if moves or (
            self.threads > 1
            and i.shape.is_array
            and plan_parallel(i, self.threads, "kernel", self.target).tasks > 1
        ):
            self._operation(i, operation_strategy(i, self.target, self.kernels.control))
            return
        number = self.row(i, "copy", "memcpy", None)
        self.calls.instrument(number, True)
        for source, target in zip(self.leaves(i.operands[0]), self.leaves(i), strict=True):
            self.copy(source, target)
        self.calls.instrument(number, False)

    def _pad_to_static(self, i: HloInstruction) -> None:
        """Copy a dynamic argument and the sizes of its dimensions.

        In memory the argument has its bound, then the s32 sizes (see `LeafReader`).
        """
        number = self.row(i, "copy", "memcpy", None)
        self.calls.instrument(number, True)
        given, (whole, *sizes) = self.place_of(i.operands[0], ()), self.leaves(i)
        self.copy(given, whole)
        for d, size in enumerate(sizes):
            self.copy(
                BufferSlice(given.slot, given.offset + given.size + size.size * d, size.size), size
            )
        self.calls.instrument(number, False)

    def _collective(self, i: HloInstruction) -> None:
        """Emit a collective on one device: a copy."""
        number = self.row(i, "copy", "memcpy", None)
        self.calls.instrument(number, True)
        for operand, target in zip(i.operands, self.leaves(i), strict=False):
            self.copy(self.place_of(operand, ()), target)
        self.calls.instrument(number, False)

    def _device_number(self, i: HloInstruction) -> None:
        """Copy the device's number from the table; zero in a program of one device."""
        number, target = self.row(i, "copy", "memcpy", None), self.place_of(i, ())
        self.calls.instrument(number, True)
        if self.table.reads_device_number:
            offset = 0 if i.opcode.name == "replica-id" else 4
            self.copy(BufferSlice(self.table.device_slot, offset, 4), target)
        else:
            self.w.store(self.w.number(0, I32), self.calls.address(target), 4)
        self.calls.instrument(number, False)

    def _operation(self, i: HloInstruction, chosen: ChosenStrategy) -> None:
        """Emit a kernel, a library call, or a call of the evaluator."""
        if chosen.kind is LoweringKind.EXCHANGE:
            self._exchange(i, chosen.reason)
        elif chosen.kind is LoweringKind.EVALUATOR:
            assert chosen.reason is not None
            self._evaluator_step(i, chosen.reason, chosen.refused)
        elif chosen.write is None:
            self._foreign_call(i, chosen)
        else:
            self._kernel(i, chosen.kind.value, chosen.write, chosen.reason, chosen.refused)

    def _kernel(
        self,
        i: HloInstruction,
        kind: str,
        write: KernelWriter,
        reason: Reason | None,
        refused: tuple[tuple[str, Reason], ...] = (),
    ) -> None:
        """Call the kernel of an instruction, after writing it if it is new."""
        if all(place.size == 0 for place in self.leaves(i)):
            return
        prepared = self.prepared(i, kind, write)
        number = self.row(i, kind, prepared.function, reason, refused)
        self.calls.instrument(number, True)
        self.calls.kernel(prepared)
        self.calls.instrument(number, False)

    def _evaluator_step(
        self, i: HloInstruction, reason: Reason, refused: tuple[tuple[str, Reason], ...] = ()
    ) -> None:
        """Emit a call of the evaluator; a non-zero status ends the program with it."""
        self._python_step(i, self.row(i, "evaluator", "evaluator", reason, refused))

    def _exchange(self, i: HloInstruction, reason: Reason | None) -> None:
        """Emit a call of the rendezvous of several devices."""
        self._python_step(i, self.row(i, "exchange", "rendezvous", reason), is_exchange=True)

    def _python_step(self, i: HloInstruction, number: int, *, is_exchange: bool = False) -> None:
        operands = tuple([tuple(self.leaves(o)) for o in i.operands])
        step = len(self.steps)
        self.steps.append(
            EvaluatorStep(i, operands, tuple(self.leaves(i)), is_exchange=is_exchange)
        )
        self.calls.instrument(number, True)
        self._callback(step)
        self.calls.instrument(number, False)

    def _callback(self, step: int) -> None:
        w = self.w
        callback = self.calls.base(self.table.callback_slot)
        status = w.emit("call", I32, (w.number(step, I64),), f"i32 {callback}")
        good, bad = w.fresh_label("ok"), w.fresh_label("failed")
        w.branch_if(status.equals(0), good, bad)
        w.start_block(bad)
        w.return_(status)
        w.start_block(good)

    def _foreign_call(self, i: HloInstruction, chosen: ChosenStrategy) -> None:
        """Emit a foreign call; only a result other than success needs Python."""
        w, calls = self.w, self.calls
        slot = self.table.foreign_slot + self.foreign.setdefault(i, len(self.foreign))
        number, step = (
            self.row(i, chosen.kind.value, FOREIGN_CALL, chosen.reason, chosen.refused),
            len(self.steps),
        )
        self.steps.append(EvaluatorStep(i, (), (), slot))
        calls.instrument(number, True)
        results = [
            self.place_of(i, index) if leaf.is_array else None for index, leaf in i.shape.leaves()
        ]
        places = [self.place_of(o, ()) if o.shape.is_array else None for o in i.operands]
        for operand, result in in_place_operands(i).items():
            source, target = places[operand], results[result]
            if source is not None and target is not None:
                self.copy(source, target)
                places[operand] = target
        addresses = [
            calls.address(place) if place is not None else None for place in (*places, *results)
        ]
        calls.callees[FOREIGN_CALL] = None
        status = write_foreign_call(w, calls.base(slot), addresses)
        with w.where(status.differs(0)):
            self._callback(step)
        calls.instrument(number, False)

    def row(
        self,
        i: HloInstruction,
        runs_on: str,
        function: str,
        reason: Reason | None,
        refused: tuple[tuple[str, Reason], ...] = (),
    ) -> int:
        """Add a step to the list of steps; return its number."""
        self.rows.append(
            ProgramRow(
                len(self.rows), i.id, i.name, i.opcode.name, runs_on, function, reason, refused
            )
        )
        self.calls.is_long = self.is_long
        return len(self.rows) - 1

    @property
    def is_long(self) -> bool:
        """True if the entry is a long list of calls.

        LLVM's optimiser gains nothing there, and takes more than linear time.
        """
        return len(self.rows) > LONG_PROGRAM
