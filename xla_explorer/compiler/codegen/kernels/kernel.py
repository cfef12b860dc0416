"""Kernels, and the context in which a writer emits one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.definitions import (
    Declaration,
    Definition,
    Global,
    constant_bytes,
)
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.marks import metadata_definitions
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import Body
from xla_explorer.compiler.codegen.ir.types import I8, PTR, type_named
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.kernels.thread_number import thread_number
from xla_explorer.compiler.codegen.kernels.work_partition import WorkPartition
from xla_explorer.compiler.codegen.lowering.body import BodyStep, KernelBody
from xla_explorer.compiler.codegen.lowering.features import features_of
from xla_explorer.compiler.codegen.lowering.pipeline import lower_records
from xla_explorer.compiler.codegen.lowering.recording import begin_kernel
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction


class Kernel(NamedTuple):
    """A finished kernel function, without its name.

    parameters: number of pointer parameters. slots: for each operand leaf, then each output leaf,
    the number of its parameter; equal numbers are the same memory. threads: number of independent
    elements (GPU: threads to launch). globals: constants that the body uses. constant_data: of code
    generation, each with a parameter `%data<k>`. scratch_bytes: private memory during execution; if
    not zero, a parameter `%scratch` points to it.

    tasks: if not one, a last parameter `i64 %task` is the number of the task; each needs its own
    scratch memory. phases: calls of each phase (see `WorkPartition.phase`), in the order of
    `%task`; all use the same scratch memory. Empty without phases. optimization_level: of LLVM on
    the function. nest: the schedule of the loop nest, or the reason for opaque code. has_loop: the
    body has a loop. has_variables: `globals` has a mutable variable. routines: called functions
    whose address the backend supplies.
    """

    body: Body
    parameters: int
    slots: tuple[int, ...]
    declarations: tuple[Declaration, ...]
    math: tuple[str, ...]
    globals: tuple[Definition, ...]
    threads: int
    scratch_bytes: int = 0
    constant_data: tuple[bytes, ...] = ()
    tasks: int = 1
    phases: tuple[int, ...] = ()
    optimization_level: OptimizationLevel = OptimizationLevel.DEFAULT
    nest: Schedule | Reason | None = None
    has_loop: bool = False
    has_variables: bool = False
    routines: tuple[str, ...] = ()


class KernelContext:
    """The context of a kernel writer: roots, arrays in memory, scratch memory, iteration."""

    def __init__(
        self, target: Target, instruction: HloInstruction, slots: tuple[int, ...], tasks: int = 1
    ) -> None:
        self.target = target
        self.instruction = instruction
        self.writer = FunctionWriter(not target.is_launched, target.stack_space)
        self.partition = WorkPartition(self.writer, tasks)
        self.constant_data: list[bytes] = []
        self._in_nest = False
        self.globals: dict[Definition, None] = {}
        self._has_variables = False
        self.threads = 1
        self.arrays: dict[HloInstruction, ArrayInMemory] = {}
        self.outputs: list[ArrayInMemory] = []
        is_fusion = instruction.opcode.name == "fusion"
        body = instruction.called[0] if is_fusion else None
        inner = body.parameters() if body is not None else list(dict.fromkeys(instruction.operands))
        written = set(slots[len(inner) :])
        for number, parameter in enumerate(inner):
            if parameter.shape.is_array:
                slot = slots[number]
                # invariant.load is a promise for the whole program: true of a GPU launch, false of
                # a CPU kernel inlined into a loop.
                invariant = target.abilities.reads_invariant and slot not in written
                self.arrays[parameter] = ArrayInMemory(
                    self._parameter(slot), parameter.shape, invariant
                )
        for number, (_, leaf) in enumerate(instruction.shape.leaves()):
            self.outputs.append(ArrayInMemory(self._parameter(slots[len(inner) + number]), leaf))
        root = body.root if body is not None else instruction
        self.roots: list[HloInstruction] = (
            list(root.operands) if root.opcode.name == "tuple" else [root]
        )
        if body is not None:
            self._constant_arrays(list(body.instructions.values()))
        self._iteration_start: Value[Integer] | None = None
        self._scratch_bytes = 0

    def pointer(self, name: str) -> Value[Pointer]:
        """Return a parameter or a global by its name, in the memory of the target's arrays."""
        return self.writer.named(name, type_named(self.target.pointer))

    def _parameter(self, slot: int) -> Value[Pointer]:
        return self.pointer(f"%a{slot}")

    def scratch(self, size: int) -> Value[Pointer]:
        """Return the address of `size` bytes of scratch memory, aligned to 64 (CPU only)."""
        return self.scratch_address(self.reserve_scratch(size))

    def reserve_scratch(self, size: int) -> int:
        """Return the offset of `size` bytes of scratch memory.

        For basic blocks that do not dominate each other: each emits the address itself.
        """
        offset = self._scratch_bytes
        self._scratch_bytes += -(-size // 64) * 64
        return offset

    def scratch_address(self, offset: Word) -> Value[Pointer]:
        """Return the address of an offset in scratch memory."""
        return self.writer.address(self.writer.named("%scratch", PTR), I8, offset)

    def add_constant_data(self, data: bytes) -> Value[Pointer]:
        """Return the address of constant data, passed to the kernel as a parameter (CPU only)."""
        if data not in self.constant_data:
            self.constant_data.append(data)
        return self.writer.named(f"%data{self.constant_data.index(data)}", PTR)

    def _constant_arrays(self, instructions: list[HloInstruction]) -> None:
        """Turn array constants of the fused computation into private globals."""
        for i in instructions:
            if i.opcode.name == "constant" and i.literal.splat is None and i.shape.is_array:
                data = i.literal.array
                import hashlib

                raw = data.tobytes()
                name = f"constant_{hashlib.sha256(raw).hexdigest()[:16]}"
                self.globals[constant_bytes(name, raw, 64, self.target.address_space)] = None
                self.arrays[i] = ArrayInMemory(self.pointer(f"@{name}"), i.shape.base, True)

    def define_variable(
        self,
        name: str,
        t: str,
        value: str,
        alignment: int,
        linkage: str = "internal",
        space: int = 0,
    ) -> None:
        """Define a mutable variable of the module. See `Global`."""
        self.globals[Global(name, t, value, alignment, linkage, space, False)] = None
        self._has_variables = True

    def emitter(self) -> ElementalEmitter:
        """Return a new emitter that reads the arrays in memory."""
        w = self.writer

        def reader(array: ArrayInMemory) -> Callable[[IndexTuple], Scalar]:
            return lambda index: array.load(w, index)

        return ElementalEmitter(w, {i: reader(array) for i, array in self.arrays.items()})

    @contextmanager
    def iterate(
        self,
        extents: list[int],
        *,
        partitioned: bool = True,
        partition_along: Collection[int] | None = None,
    ) -> Iterator[IndexTuple]:
        """Open loops over all indices below the extents: nested on a CPU, one thread each on a GPU.

        In a kernel with tasks, one loop of each outermost nest is partitioned. partitioned: False
        if the writer partitions an inner loop. partition_along: the loops that may be partitioned
        (None: any).
        """
        w = self.writer
        if self.target.is_launched:
            yield from self._threads(extents)
            return
        partitioned = partitioned and self.partition.tasks > 1 and not self._in_nest
        with ExitStack() as loops:
            outer, self._in_nest = self._in_nest, True
            limits: list[tuple[Word, Word]] = [(0, extent) for extent in extents]
            if partitioned:
                place = self.partition.loop_to_partition(extents, partition_along)
                if place is None:
                    loops.enter_context(self.partition.only(0))
                else:
                    limits[place[0]] = self.partition.bounds(extents[place[0]], place[1])
            yield tuple([loops.enter_context(w.loop(end, begin)) for begin, end in limits])
        self._in_nest = outer

    def _threads(self, extents: list[int]) -> Iterator[IndexTuple]:
        w = self.writer
        total = math.prod(extents)
        self.threads = max(self.threads, total)
        if self._iteration_start is None:
            self._iteration_start = thread_number(w, self.target)
        linear = self._iteration_start
        with w.where(w.test("ult", linear, total)):
            yield tuple(w.unravel(linear, extents))

    def finish(self, slots: tuple[int, ...], steps: Iterable[BodyStep] = ()) -> Kernel:
        """Return the finished kernel. steps: those of a backend, after the lowering of records."""
        begin_kernel(self.instruction.id)
        w = self.writer
        w.return_()
        body = lower_records(KernelBody(w.records, w.declarations), features_of(self.target), steps)
        w.records, w.declarations = body.records, body.declarations
        self.globals.update(dict.fromkeys(metadata_definitions(self.writer.marks)))
        return Kernel(
            self.writer.body(self.instruction.id),
            max(slots, default=-1) + 1,
            slots,
            tuple(body.declarations),
            body.math_functions(),
            tuple(self.globals),
            self.threads,
            self._scratch_bytes,
            tuple(self.constant_data),
            self.partition.tasks,
            tuple(self.partition.phases),
            self.writer.optimization_level,
            has_loop=self.writer.has_loop,
            has_variables=self._has_variables,
            routines=tuple(self.writer.routines),
        )


def argument_slots(instruction: HloInstruction) -> tuple[int, ...]:
    """Return parameter numbers without aliasing: one for each operand leaf and output leaf."""
    operands = (
        len(instruction.called[0].parameters())
        if instruction.opcode.name == "fusion"
        else len(dict.fromkeys(instruction.operands))
    )
    return tuple(range(operands + len(list(instruction.shape.leaves()))))
