"""The lowering of a loop nest to SSA records, for a CPU.

The kind of an axis determines its code. serial: a loop. parallel: a loop over the steps of one
task. unrolled: an instance of each value for every step on which it depends. vector: lanes. A
reduction combines accordingly: in a loop-carried value, in a tree over instances, across lanes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Scalar, Value
from xla_explorer.compiler.codegen.lowering.body import body_in_blocks
from xla_explorer.compiler.codegen.lowering.elements import (
    Memory,
    chosen,
    in_lanes,
    lanes_of,
)
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.lower_accesses import AccessLowering
from xla_explorer.compiler.codegen.lowering.lower_reductions import (
    continued_reductions,
    write_reduce,
)
from xla_explorer.compiler.codegen.lowering.lower_scans import LaneScan
from xla_explorer.compiler.codegen.lowering.lowering_checks import (
    phases_of,
    why_not_lowered,
)
from xla_explorer.compiler.codegen.lowering.nest_steps.wide_memory import PAIR, SQUARE, STREAMED
from xla_explorer.compiler.codegen.lowering.pipeline import (
    lower_nest,
    lower_records,
    record_statements,
)
from xla_explorer.compiler.codegen.lowering.register_layouts import metadata_of
from xla_explorer.compiler.codegen.lowering.strided_accesses import (
    load_packed_pairs,
    load_square,
    store_packed_pairs,
    store_streamed,
)
from xla_explorer.compiler.codegen.lowering.unrolled_values import (
    Accumulators,
    Point,
    UnrolledValue,
    points,
    with_origin,
)
from xla_explorer.compiler.codegen.nest.accesses import (
    LINE_BYTES,
    MOST_SCRATCH,
)
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Body,
    For,
    Iota,
    Load,
    LoopNest,
    NestArray,
    Reduce,
    SelectRegion,
    Store,
)
from xla_explorer.compiler.codegen.nest.verifier import denied_facts, facts_of
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, Guard, linearize
from xla_explorer.hlo.primitive_type import S32, S64

I8, LINE = Type("i8"), 64


@dataclass(frozen=True)
class LoweredNest:
    """The function of a lowered nest.

    Its parameters are the addresses of the arrays, that of the scratch memory if there is some, and
    the number of the task (i64).

    scratch_bytes: of `%scratch`. phases: the number of tasks of each phase, see `Kernel.phases`.
    """

    nest: LoopNest
    builder: StructuredBuilder
    scratch_bytes: int = 0
    phases: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The module as LLVM IR, for a CPU with all features; the function is called `kernel`."""
        body = lower_records(body_in_blocks(self.builder), CodeFeatures())
        arrays = [f"ptr noalias %a{k}" for k in range(len(self.nest.arrays))]
        scratch = ["ptr noalias %scratch"] if self.scratch_bytes else []
        head = f"define void @kernel({', '.join([*arrays, *scratch, 'i64 %task'])}) {{"
        definitions = [
            *[d.text for d in body.declarations],
            *[node.text for node in metadata_of(self.nest)],
        ]
        lines = [line for line, _ in body.lines()]
        return "\n".join([head, "entry:", *lines, "  ret void", "}", *definitions, ""])


def lower(
    nest: LoopNest,
    pointers: Sequence[str] | None = None,
    may_alias: bool = False,
) -> LoweredNest | Reason:
    """Return the nest as SSA records, or a Reason if a part of it has no lowering.

    Parameters
    ----------
    pointers : sequence of str, optional
        Names of the arrays' addresses, by default `%a0` and so on. Arrays in the same memory have
        one name.
    may_alias : bool
        Arrays may overlap in memory.
    """
    reason = why_not_lowered(nest)
    if reason is not None:
        return reason
    nest = lower_nest(nest, launched=False)
    lowering = Lowering(nest, pointers or [f"%a{k}" for k in range(len(nest.arrays))], may_alias)
    lowering.kernel()
    record_statements(lowering.b.records)
    lowering.values.clear()  # they refer to the lowering: see `StructuredBuilder.release`
    return LoweredNest(nest, lowering.b, lowering.scratch_bytes, lowering.phases)


class Lowering(AccessLowering):
    """A nest that is being lowered.

    continued: see `continued_reductions`.
    """

    def __init__(self, nest: LoopNest, pointers: Sequence[str], may_alias: bool = False) -> None:
        super().__init__(nest, StructuredBuilder(), pointers, may_alias)
        self.continued = continued_reductions(nest)
        self.phases = phases_of(nest)
        self.task = self.b.named("%task", I64)
        self.scratch_bytes = self.stack_bytes = 0

    def kernel(self) -> None:
        """Write the whole body.

        The last task runs the loops beside parallel ones. If memory carries values from a parallel
        loop to later statements, or these overwrite some, the later statements are a second phase.
        One more task runs it, or as many if its first loop is parallel.
        """
        body, task = self.nest.body, self.task
        after = self.first_of_second_phase(body) if self.phases else len(body)
        self.phase(body[:after], self.nest.tasks)
        if after < len(body):
            tasks = self.phases[1]
            with self.b.only_if(
                self.b.compare("eq" if tasks == 1 else "sge", task, self.nest.tasks)
            ):
                self.task = self.b.add_index(task, -self.nest.tasks)
                self.phase(body[after:], tasks)
        if any(
            a.streamed for a in self.nest.arrays
        ):  # the stores must be visible when another thread sees that this task is done
            self.b.declare("llvm.x86.sse.sfence")
            self.b.effect("call", (), "void @llvm.x86.sse.sfence")

    def first_of_second_phase(self, body: Body) -> int:
        """Return the number of the first statement of the second phase."""
        parallel = [
            k for k, s in enumerate(body) if isinstance(s, For) and s.kind is AxisKind.PARALLEL
        ]
        return parallel[-1] + (1 if self.phases[1] == 1 else 0)

    def phase(self, body: Body, tasks: int) -> None:
        """Write statements of a phase.

        Each task runs its steps of the parallel loops. The last task also runs the other loops and
        stores.
        """
        parallel = [s for s in body if isinstance(s, For) and s.kind is AxisKind.PARALLEL]
        while body:
            scans = tuple(
                itertools.takewhile(lambda s: isinstance(s, Reduce) and s.each, body)
            )  # each continues with the last value of the one before
            some = scans or body[:1]
            body = body[len(some) :]
            if some[0] in parallel and self.phases:
                with self.b.only_if(self.b.compare("slt", self.task, tasks)):
                    self.body(some)
            elif (
                parallel
                and some[0] not in parallel
                and (scans or isinstance(some[0], (For, Store)))
            ):
                with self.b.only_if(self.b.compare("eq", self.task, tasks - 1)):
                    self.body(some)
            else:
                self.body(some)

    def synchronise(self) -> None:
        """Write nothing: one thread runs a task."""

    def reduce(self, s: Reduce) -> None:
        """Write a reduction or a scan, and add its results to the values."""
        if s.each:
            self.values.update(LaneScan(self, s).write())
        else:
            write_reduce(self, s)

    def prefetch(self, s: Load) -> None:
        """Write the prefetch of a cache line for reading."""
        array = self.arrays[s.array]
        self.b.declare("llvm.prefetch.p0", None, PTR, I32, I32, I32)
        for point in points([a for a in self.unrolled if a in self.depends[s.id]]):
            address = self.address(array, linearize(s.place, array.shape.strides), point)
            self.b.effect(
                "call",
                (address, *[self.b.number(k, I32) for k in (0, 3, 1)]),
                "void @llvm.prefetch.p0",
            )

    def load(self, s: Load) -> UnrolledValue:
        """Return the elements for all points of the unrolled axes on which the place depends."""
        axes = self.unrolled_axes_of(s.id)
        if s.wide is not None and s.wide.form in (SQUARE, PAIR):
            along = next(a for a in axes if a.name == s.wide.axis)
            load = load_square if s.wide.form == SQUARE else load_packed_pairs
            return load(self, s, axes, along)
        later = self.instance_by_instance_now and not self.memory[s.array].written
        reader = self.reader(s)
        return UnrolledValue(axes, with_origin(self.b, reader) if later else reader, later)

    def store(self, s: Store) -> None:
        """Write a store: streamed, of packed pairs, or of lanes."""
        if s.wide is not None and s.wide.form == STREAMED:
            store_streamed(self, s)
        elif s.wide is not None and s.wide.form == PAIR:
            store_packed_pairs(self, s, next(a for a in self.unrolled if a.name == s.wide.axis))
        else:
            super().store(s)

    def allocate(self, array: NestArray) -> None:
        """Allocate an array on the stack of the thread that runs the kernel.

        Arrays that carry values between phases are in memory that all tasks share. What does not
        fit the stack is in scratch memory of the task.
        """
        self.arrays[array.name] = array
        memory = self.memory[array.name] = Memory(self.b, array.shape.element_type, True)
        between = self.phases and any(
            isinstance(s, Allocate) and s.array is array for s in self.nest.body
        )
        if between or (self.stack_bytes + array.shape.byte_size > MOST_SCRATCH and not self.phases):
            self.pointers[array.name] = self.b.address(
                self.b.named("%scratch", PTR), I8, self.b.index(self.scratch_bytes)
            )
            self.scratch_bytes += (
                -(-array.shape.element_count * memory.alignment * memory.parts // LINE) * LINE
            )
            return
        self.stack_bytes += array.shape.byte_size
        self.pointers[array.name] = self.b.stack_slot(
            memory.stored, max(array.shape.element_count, 1) * memory.parts
        )

    # -- axes --------------------------------------------------------------------------------------
    def loop(self, s: For) -> None:
        """Write a loop in the form of its kind, with its guards."""
        self.b.origin = None
        if s.kind is not AxisKind.PARALLEL:
            super().loop(s)
            return
        form = self.nest.form(s.axis)
        if form.number is not None:
            self.numbers[s.axis] = self.b.scale_index(self.task, form.stride)
            self.under_guards(s)
            return
        start, end = [
            self.first_step_of(s.axis, number)
            for number in (self.task, self.b.add_index(self.task, 1))
        ]

        def step(_: Accumulators) -> Accumulators:
            self.under_guards(s)
            return []

        self.iterated(s.axis, start, end, [], step)

    def first_step_of(self, axis: Axis, task: Value[Integer]) -> Value[Integer]:
        """Return the first step of a task."""
        return self.b.emit(
            "udiv", I64, (self.b.scale_index(task, axis.extent), self.b.index(self.nest.tasks))
        )

    # -- values ------------------------------------------------------------------------------------
    def iota(self, s: Iota, point: Point) -> Scalar:
        """Return an index as an element at a point."""
        x = self.in_lanes(s.index, point)
        if s.lines_of:
            array = self.arrays[s.lines_of]
            bytes_ = array.shape.element_type.bytes
            behind = self.b.binary(
                "and", self.b.emit("ptrtoint", I64, (self.pointers[array.name],)), LINE_BYTES - 1
            )
            past = self.b.binary("lshr", behind, bytes_.bit_length() - 1)
            x -= past if x.type.scalar == "i64" else self.b.convert("trunc", past, x.type.scalar)
        return convert_value(self.b, x, S32 if x.type.scalar == "i32" else S64, s.element)

    def select_region(self, s: SelectRegion) -> UnrolledValue:
        """Write the bodies of all cases under their guards, then select one value."""
        facts, denied = facts_of(tuple(self.guards)), 0
        for case in s.cases:
            before = tuple(
                [
                    Guard(fact.expression - fact.low, fact.high - fact.low + 1)
                    for fact in facts[len(facts) - denied :]
                ]
            )
            with self.guarded((*before, *case.guards)):
                self.body(case.body)
            more = denied_facts(case.guards, facts)
            facts, denied = (*facts, *more), denied + len(more)

        def value_at(point: Point) -> Scalar:
            *others, last = s.cases
            value = self.values[last.value].at(point)
            for case in reversed(others):
                mask, then = self.mask(case.guards, point), self.values[case.value].at(point)
                if mask is None:
                    value = then
                    continue
                lanes = max(mask.type.lanes, lanes_of(then), lanes_of(value))
                value = chosen(
                    self.b,
                    self.b.splat(mask, lanes),
                    in_lanes(self.b, then, lanes),
                    in_lanes(self.b, value, lanes),
                )
            return value

        return UnrolledValue([a for a in self.unrolled if a in self.depends[s.id]], value_at)
