"""One reduce instruction for every target: inputs, accumulator types, identity, combination."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value, select_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.llvm_types import identity_constant
from xla_explorer.hlo.identity_element import simple_combiner
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType


class Reducer:
    """One reduce instruction.

    types: of the inputs and results. wide: of accumulators; floats below 32 bits accumulate in f32
    if the combiner is simple.
    """

    def __init__(
        self, w: FunctionWriter, emitter: ElementalEmitter, reduce: HloInstruction
    ) -> None:
        self.w, self.emitter, self.reduce = w, emitter, reduce
        count = len(reduce.operands) // 2
        self.inputs, self.initial = reduce.operands[:count], reduce.operands[count:]
        self.combiner = simple_combiner(reduce.to_apply)
        self.types: list[PrimitiveType] = [i.shape.element_type for i in self.initial]
        is_small = self.types[0].is_float and self.types[0].bits < 32
        self.wide: list[PrimitiveType] = [F32] if self.combiner and is_small else list(self.types)

    def identity(self) -> list[Scalar] | None:
        """Return the identity element in accumulator types, or None."""
        found = identity_constant(self.w, self.combiner, self.wide[0])
        return None if found is None else [found]

    def initial_values(self) -> list[Scalar]:
        """Return the initial values in accumulator types."""
        return self.widened([self.emitter.element(i, ()) for i in self.initial])

    def with_element(self, accumulators: list[Scalar], index: IndexTuple) -> list[Scalar]:
        """Combine accumulators with the input elements at an index."""
        return self.join(accumulators, self.elements(index))

    def elements(self, index: IndexTuple) -> list[Scalar]:
        """Return the input elements at an index, in accumulator types."""
        return self.widened([self.emitter.element(i, index) for i in self.inputs])

    def widened(self, values: list[Scalar]) -> list[Scalar]:
        """Convert values of the input types to accumulator types."""
        with self.w.from_instruction(self.reduce.id):
            return [
                convert_value(self.w, v, t, wide)
                for v, t, wide in zip(values, self.types, self.wide, strict=True)
            ]

    def join(self, accumulators: list[Scalar], values: list[Scalar]) -> list[Scalar]:
        """Combine accumulators with later values, in accumulator types."""
        with self.w.from_instruction(self.reduce.id), self.w.fast_math("reassoc contract"):
            if self.combiner:
                return [
                    binary_value(self.w, self.combiner, self.wide[0], accumulators[0], values[0])
                ]
            return self.emitter.inline_scalar_computation(
                self.reduce.to_apply, [*accumulators, *values]
            )

    def select(
        self, condition: Value[Integer], then: list[Scalar], otherwise: list[Scalar]
    ) -> list[Scalar]:
        """Emit `condition ? then : otherwise` of accumulators."""
        return [select_value(self.w, condition, a, b) for a, b in zip(then, otherwise, strict=True)]

    def results(self, accumulators: list[Scalar]) -> list[Scalar]:
        """Convert accumulators to result types."""
        return [
            convert_value(self.w, a, wide, t)
            for a, wide, t in zip(accumulators, self.wide, self.types, strict=True)
        ]
