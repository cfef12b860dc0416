"""One reduce instruction as parallel code needs it: its elements, a neutral value, and how two partial results combine."""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Value
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.kernels.index_reduction import finds_extreme_and_index
from xla_explorer.compiler.codegen.kernels.reduction import simple_combiner
from xla_explorer.compiler.codegen.llvm_types import float_constant, register_type, type_bits
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType


def why_not_parallel(reduce: HloInstruction) -> Reason | None:
    """None when partial results of the reducer combine in any order to what one after the other gives (but for rounding)."""
    combiner = simple_combiner(reduce.to_apply)
    element_type = reduce.operands[0].shape.element_type
    if combiner is not None and not (element_type.is_complex and combiner != "add"):
        return None
    if finds_extreme_and_index(reduce.to_apply) and len(reduce.operands) == 4:
        return None
    return refuse(
        "reducer-not-known-associative",
        f"%{reduce.name}: %{reduce.to_apply.name} is not known to give the same in any order, so one thread does a whole result",
        reducer=reduce.to_apply.name,
    )


class Reducer:
    """types: of the results. wide: of partial results (floats of 16 bits and fewer are summed in f32)."""

    def __init__(self, w: FunctionWriter, emitter: ElementalEmitter, reduce: HloInstruction) -> None:
        self.w, self.emitter, self.reduce = w, emitter, reduce
        count = len(reduce.operands) // 2
        self.inputs, self.initial = reduce.operands[:count], reduce.operands[count:]
        self.combiner = simple_combiner(reduce.to_apply)
        self.types: list[PrimitiveType] = [i.shape.element_type for i in self.initial]
        self.wide = list(self.types)
        if self.combiner and self.types[0].is_float and self.types[0].bits < 32:
            self.wide = [F32]

    def elements(self, index: IndexTuple) -> list[Value]:
        """The input elements at an index, in wide types."""
        values = [self.emitter.element(i, index) for i in self.inputs]
        with self.w.from_instruction(self.reduce.id):
            return [convert_value(self.w, v, t, wide) for v, t, wide in zip(values, self.types, self.wide, strict=True)]

    def neutral(self) -> list[Value] | None:
        """What changes nothing when it is combined; None when there is no such value."""
        if self.combiner is None:
            return None
        t = self.wide[0]
        kind = register_type(t)
        if t.is_pred:
            return ["true" if self.combiner in ("multiply", "minimum", "and") else "false"]
        if t.is_float:
            number = {"add": -0.0, "multiply": 1.0, "maximum": float("-inf"), "minimum": float("inf")}[self.combiner]
            return [float_constant(number, kind)]
        if t.is_complex:
            return [(float_constant(-0.0, kind),) * 2]
        bits = type_bits(kind)
        smallest, largest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if t.is_signed else (0, -1)
        return [str({"add": 0, "multiply": 1, "maximum": smallest, "minimum": largest, "and": -1, "or": 0, "xor": 0}[self.combiner])]

    def combine(self, a: list[Value], b: list[Value]) -> list[Value]:
        """Two partial results into one. Of argmax: the one with the lower index counts as the earlier."""
        w = self.w
        with w.from_instruction(self.reduce.id):
            if self.combiner is not None:
                previous, w.float_flags = w.float_flags, "reassoc contract"
                try:
                    return [binary_value(w, self.combiner, self.wide[0], a[0], b[0])]
                finally:
                    w.float_flags = previous
            order = "sgt" if self.types[1].is_signed else "ugt"
            swap = w.value(f"icmp {order} {register_type(self.types[1])} {a[1]}, {b[1]}")
            return self.in_order(self.select(swap, b, a), self.select(swap, a, b))

    def in_order(self, a: list[Value], b: list[Value]) -> list[Value]:
        """The reducer itself: `a` is the earlier."""
        if self.combiner is not None:
            return self.combine(a, b)
        with self.w.from_instruction(self.reduce.id):
            return self.emitter.inline_scalar_computation(self.reduce.to_apply, [*a, *b])

    def select(self, condition: str, then: list[Value], otherwise: list[Value]) -> list[Value]:
        """`condition ? then : otherwise`."""
        chosen: list[Value] = []
        for a, b, t in zip(then, otherwise, self.wide, strict=True):
            kind = register_type(t)
            pairs = list(zip(a, b, strict=True)) if t.is_complex else [(a, b)]
            parts = [self.w.value(f"select i1 {condition}, {kind} {x}, {kind} {y}") for x, y in pairs]
            chosen.append(tuple(parts) if t.is_complex else parts[0])
        return chosen

    def take(self, accumulators: list[Value] | None, values: list[Value], active: str | None) -> list[Value]:
        """Accumulators (None: there are none yet) with values taken in where `active` holds (None: everywhere)."""
        if active is not None and (neutral := self.neutral()) is not None:
            values, active = self.select(active, values, neutral), None
        if accumulators is None:
            return values
        combined = self.combine(accumulators, values)
        return combined if active is None else self.select(active, combined, accumulators)

    def results(self, initial: list[Value], total: list[Value]) -> list[Value]:
        """The results, in their own types."""
        w = self.w
        with w.from_instruction(self.reduce.id):
            first = [convert_value(w, v, t, wide) for v, t, wide in zip(initial, self.types, self.wide, strict=True)]
            values = self.in_order(first, total)
            return [convert_value(w, v, wide, t) for v, t, wide in zip(values, self.types, self.wide, strict=True)]
