"""The LLVM IR of a whole program for a CPU: its memory places and its kernels."""

from __future__ import annotations

from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.buffers import BufferAssignment
from xla_explorer.compiler.codegen.foreign_calls import is_foreign_call
from xla_explorer.compiler.codegen.host_program import HostProgramWriter
from xla_explorer.compiler.codegen.program_kernels import ProgramKernels
from xla_explorer.compiler.codegen.program_records import ArgumentTable, BufferSlice, HostProgram
from xla_explorer.compiler.codegen.single_device import runs_on_several
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

ENTRY = "xe_entry"
"""The name of a program's entry function, unless another is given."""


def write_program(
    module: HloModule,
    assignment: BufferAssignment,
    kernels: ProgramKernels | None = None,
    *,
    instrumented: bool = False,
) -> HostProgram:
    """Return the program of a scheduled module with assigned buffers.

    kernels: its kernels, empty; by default of one thread, for this machine with libraries.
    instrumented: steps count cycles and calls.
    """
    kernels = kernels or ProgramKernels(described_cpu(libraries=True), 1, ENTRY)
    leaves = [
        (p.payload, index, leaf)
        for p in module.entry.parameters()
        for index, leaf in p.shape.leaves()
    ]
    parameter_slots = {(number, index): k for k, (number, index, _) in enumerate(leaves)}
    outputs = [(index, leaf) for index, leaf in module.entry.root.shape.leaves() if leaf.is_array]
    output_slots = {index: len(leaves) + k for k, (index, _) in enumerate(outputs)}
    constants: dict[HloInstruction, int] = {}
    for computation in module.computations.values():
        for i in computation.instructions.values():
            if i.opcode.name == "constant" and i.shape.is_array:
                constants[i] = len(constants)
    foreign = sum(
        [is_foreign_call(i) for c in module.computations.values() for i in c.instructions.values()]
    )
    table = ArgumentTable(
        len(leaves),
        len(leaves),
        len(leaves) + len(outputs),
        [i.literal for i in constants],
        foreign,
        runs_on_several(module),
    )

    def place_of(instruction: HloInstruction, index: tuple[int, ...]) -> BufferSlice:
        found = assignment.slice_of(instruction, index)
        allocation = found.allocation
        if allocation.kind == "parameter":
            slot = parameter_slots[allocation.number, allocation.index]
        elif allocation.kind == "output":
            slot = output_slots[allocation.index]
        elif allocation.kind == "constant":
            assert allocation.instruction is not None
            slot = table.constant_slot + constants[allocation.instruction]
        else:
            slot = table.arena_slot
        return BufferSlice(slot, found.offset, found.size)

    # Memory that was given away is a parameter's and a result's.
    noalias = not any(alias.reason is None for alias in assignment.aliases)
    return HostProgramWriter(
        module, kernels, place_of, table, instrumented=instrumented, noalias=noalias
    ).write()
