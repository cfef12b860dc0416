"""A whole module as one program: scheduled order, branches for control flow, base registers.

Buffers are base registers.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.plugin import (
    Allocation,
    BufferAssignment,
    BufferSlice,
    HloComputation,
    HloInstruction,
    HloModule,
    ProgramStep,
    Shape,
)
from xla_explorer_npu.instruction_set import Address, Instruction
from xla_explorer_npu.lowering.writer import (
    ARENA,
    CONSTANTS,
    CONTROL,
    FIRST_BUFFER,
    RENAMES,
    Label,
    ProgramWriter,
    Region,
    lowering_of,
)

_ALIGNMENT = 64


class NpuProgram(NamedTuple):
    """instructions: with HLO ids.

    notes: comments by instruction number. bases: base register of each allocation (by id) with a
    register of its own. constants: offset in the constant pool, by allocation id. pool_bytes,
    workspace_bytes: sizes. steps: for tables.
    """

    instructions: list[Instruction]
    notes: dict[int, str]
    bases: dict[int, int]
    constants: dict[int, int]
    pool_bytes: int
    workspace_bytes: int
    steps: list[ProgramStep]


class _Lowerer:
    def __init__(self, module: HloModule, assignment: BufferAssignment) -> None:
        self.module, self.assignment = module, assignment
        self.bases: dict[int, int] = {}
        self.constants: dict[int, int] = {}
        self.pool = 0
        for allocation in assignment.allocations:
            self._register(allocation)
        self.writer = ProgramWriter(self.region_of)
        self.steps: list[ProgramStep] = []

    def _register(self, allocation: Allocation) -> None:
        if allocation.kind == "constant":
            self.constants[allocation.id] = self.pool
            self.pool += -(-max(allocation.size, 1) // _ALIGNMENT) * _ALIGNMENT
        elif allocation.kind == "arena":
            self.bases[allocation.id] = ARENA
        else:
            self.bases[allocation.id] = FIRST_BUFFER + len(
                [b for b in self.bases.values() if b >= FIRST_BUFFER]
            )

    def address(self, where: BufferSlice) -> Address:
        allocation = where.allocation
        if allocation.kind == "constant":
            return Address("d", self.constants[allocation.id] + where.offset, CONSTANTS)
        return Address("d", where.offset, self.bases[allocation.id])

    def region_of(self, i: HloInstruction, index: tuple[int, ...] = ()) -> Region:
        shape = i.shape.sub_shape(index)
        return self._region(self.assignment.slice_of(i, index), shape)

    def _region(self, where: BufferSlice, shape: Shape) -> Region:
        return Region(self.address(where), shape.element_type.name, shape.dimensions, shape.strides)

    def computation(self, computation: HloComputation) -> None:
        for i in computation.sequence():
            name = i.opcode.name
            if name in RENAMES or (i.shape.is_array and i.shape.element_count == 0):
                continue
            self.writer.origin = i.id
            if name in CONTROL:
                self._control(i)
                continue
            before = len(self.writer.program)
            self.writer.note(f"%{i.name} = {i.shape.text_without_layout} {name}")
            lowering_of(i)(self.writer, i)
            if len(self.writer.program) > before:
                runs_on = (
                    "copy"
                    if all(
                        x.operation.startswith(("dma", "ctl")) for x in self.writer.program[before:]
                    )
                    else "kernel"
                )
                self.steps.append(
                    ProgramStep(len(self.steps), i.id, i.name, name, runs_on, "main", None)
                )

    def _hand_over(self, source: HloInstruction, target: HloInstruction) -> None:
        for index, leaf in target.shape.leaves():
            if leaf.is_array:
                a, b = self.region_of(source, index), self.region_of(target, index)
                if a.address != b.address:
                    self.writer.copy(b, a._replace(sizes=b.sizes))

    def _control(self, i: HloInstruction) -> None:
        writer, name = self.writer, i.opcode.name
        writer.note(f"%{i.name}: {name}")
        end = Label()
        if name == "while":
            condition, body = i.called
            again = Label()
            self._hand_over(i.operands[0], i)
            writer.place(again)
            self.computation(condition)
            writer.origin = i.id
            writer.emit(
                "ctl.branch-unless-equal", "pred", self.region_of(condition.root).address, 1, end
            )
            self.computation(body)
            writer.origin = i.id
            self._hand_over(body.root, i)
            writer.emit("ctl.jump", "", again)
        elif name == "conditional":
            selector = self.region_of(i.operands[0])
            values = (1, 0) if selector.element_type == "pred" else tuple(range(len(i.called)))
            for number, branch in enumerate(i.called):
                otherwise = Label()
                if number < len(i.called) - 1:
                    writer.emit(
                        "ctl.branch-unless-equal",
                        selector.element_type,
                        selector.address,
                        values[number],
                        otherwise,
                    )
                self.computation(branch)
                writer.origin = i.id
                self._hand_over(branch.root, i)
                writer.emit("ctl.jump", "", end)
                writer.place(otherwise)
        else:
            self.computation(i.called[0])
            writer.origin = i.id
            self._hand_over(i.called[0].root, i)
        writer.place(end)


def write_program(module: HloModule, assignment: BufferAssignment) -> NpuProgram:
    """Return the program of a scheduled module with assigned buffers.

    `supports` must accept every instruction.
    """
    lowerer = _Lowerer(module, assignment)
    lowerer.computation(module.entry)
    lowerer.writer.origin = None
    lowerer.writer.emit("ctl.halt", "")
    writer = lowerer.writer
    return NpuProgram(
        writer.finished(),
        writer.notes,
        lowerer.bases,
        lowerer.constants,
        lowerer.pool,
        writer.workspace,
        lowerer.steps,
    )
