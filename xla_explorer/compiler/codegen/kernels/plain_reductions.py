"""Dots, convolutions and windows element by element, without a nest or a faster kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.data_movement import IndexLowering
from xla_explorer.compiler.codegen.elemental.emitter import (
    CodegenError,
    ElementalEmitter,
    IndexTuple,
)
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_gemm import (
    write_dot_instruction_gemm,
)
from xla_explorer.compiler.codegen.kernels.products.dot_instruction_plan import (
    DotInstructionPlan,
    plan_dot_instruction,
)
from xla_explorer.compiler.codegen.llvm_types import constant
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import accumulator_type
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing import Axis, Read, index, reads_of
from xla_explorer.hlo.analysis.indexing.expression import Atom
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps
from xla_explorer.hlo.primitive_type import PrimitiveType


def write_dot_kernel(context: KernelContext) -> None:
    """Emit a dot by dot-product instructions if possible, else element by element."""
    dot = context.roots[0]
    are_arrays = all(operand in context.arrays for operand in dot.operands)
    if are_arrays and isinstance(plan_dot_instruction(dot, context.target), DotInstructionPlan):
        write_dot_instruction_gemm(context)
    else:
        write_plain_reduction(context)


def write_plain_reduction(context: KernelContext) -> None:
    """Emit a dot, a convolution or a reduce-window element by element.

    For each element of the result a loop combines the elements of its index map.
    """
    root, e = context.roots[0], context.emitter()
    shape = context.outputs[0].shape
    axes = [Axis(f"d{d}", extent) for d, extent in enumerate(shape.dimensions)]
    reads = reads_of(root, tuple([index(axis) for axis in axes]))
    if isinstance(reads, Reason):
        raise CodegenError(reads.message)
    if not shape.element_count:
        return
    order = list(reversed(shape.layout.minor_to_major))
    writer = _Reduction(context, e, reads)
    with context.iterate([shape.dimensions[d] for d in order]) as place, e.scope():
        at = dict(zip(order, place, strict=True))
        values = writer.element({axis: at[d] for d, axis in enumerate(axes)})
        for value, output in zip(values, context.outputs, strict=True):
            output.store(context.writer, tuple([at[d] for d in range(shape.rank)]), value)


class _Reduction:
    """The reduction of a kernel.

    inputs: the combined elements. sums: the accumulators, and their types.
    """

    def __init__(self, context: KernelContext, e: ElementalEmitter, reads: list[Read]) -> None:
        self.context, self.e, self.root = context, e, context.roots[0]
        self.is_product = self.root.opcode.name != "reduce-window"
        self.inputs = reads if self.is_product else reads[: len(reads) // 2]
        self.initial = [] if self.is_product else reads[len(reads) // 2 :]
        self.wide = accumulation_type(self.root) if self.is_product else accumulator_type(self.root)
        given = [self.root.operands[r.operand].shape.element_type for r in self.inputs]
        types = [self.wide] if self.wide is not None else given
        self.given, self.sums = given, Accumulators(context, types)
        self.types: list[PrimitiveType] = types

    def element(self, known: dict[Atom, Word]) -> list[Scalar]:
        """Return the results for one index."""
        if self.is_product:
            self.sums.store([constant(self.context.writer, 0, self.types[0])])
        else:
            values = [self.e.element(self.root.operands[r.operand], ()) for r in self.initial]
            self.sums.store(
                [
                    self.through(x, (t, k))
                    for x, t, k in zip(values, self.given, self.types, strict=True)
                ]
            )
        with self.steps(known) as indices:
            values = [
                self.e.element(self.root.operands[r.operand], self.place(indices, r))
                for r in self.inputs
            ]
            self.sums.store(self.combined(values))
        found = self.sums.load()
        if self.is_product:
            return [self.through(found[0], sum_steps(self.root))]
        return [
            self.through(x, (k, t)) for x, t, k in zip(found, self.given, self.types, strict=True)
        ]

    def place(self, indices: IndexLowering, read: Read) -> IndexTuple:
        return tuple([indices(x) for x in read.place])

    @contextmanager
    def steps(self, known: dict[Atom, Word]) -> Iterator[IndexLowering]:
        """Open the loops over the combined elements, under their guards."""
        w = self.context.writer
        with ExitStack() as loops:
            for axis in self.inputs[0].over:
                known = {**known, axis: loops.enter_context(w.loop(axis.extent, stem="combine"))}
            indices = IndexLowering(self.e, known)
            inside = []
            for guard in self.inputs[0].guards:
                x = indices(guard.expression)
                inside.append(w.test("ult", x, guard.bound))
            loops.enter_context(w.where(*inside))
            loops.enter_context(self.e.scope())
            yield indices

    def combined(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Return the accumulators combined with one more element."""
        w = self.context.writer
        if self.is_product:
            factors = [self.through(x, operand_steps(self.root, k)) for k, x in enumerate(values)]
            product = binary_value(w, "multiply", self.types[0], *factors)
            return [binary_value(w, "add", self.types[0], self.sums.load()[0], product)]
        values = [
            self.through(x, (t, k)) for x, t, k in zip(values, self.given, self.types, strict=True)
        ]
        if self.wide is not None:
            return [
                binary_value(
                    w,
                    self.root.to_apply.root.opcode.name,
                    self.wide,
                    self.sums.load()[0],
                    values[0],
                )
            ]
        return self.e.inline_scalar_computation(self.root.to_apply, [*self.sums.load(), *values])

    def through(self, value: Scalar, types: Sequence[PrimitiveType]) -> Scalar:
        """Convert a value through a sequence of types, which starts with its own."""
        for source, target in itertools.pairwise(types):
            if source is not target:
                value = convert_value(self.context.writer, value, source, target)
        return value
