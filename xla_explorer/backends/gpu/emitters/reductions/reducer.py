"""One reduce instruction as parallel code needs it: how partial results combine."""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters.reductions.index_reduction import finds_extreme_and_index
from xla_explorer.compiler.codegen.elemental.arithmetic import select_value
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.reducer import Reducer, simple_combiner
from xla_explorer.compiler.codegen.llvm_types import register_type
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


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


class ParallelReducer(Reducer):
    """A reduce whose partial results threads, warps and blocks combine."""

    def combine(self, a: list[Scalar], b: list[Scalar]) -> list[Scalar]:
        """Two partial results into one. Of argmax: the one with the lower index counts as the earlier."""
        w = self.w
        if self.combiner is not None:
            return self.join(a, b)
        with w.from_instruction(self.reduce.id):
            order = "sgt" if self.types[1].is_signed else "ugt"
            swap = w.value(f"icmp {order} {register_type(self.types[1])} {a[1]}, {b[1]}")
            return self.join(self.select(swap, b, a), self.select(swap, a, b))

    def select(self, condition: str, then: list[Scalar], otherwise: list[Scalar]) -> list[Scalar]:
        """`condition ? then : otherwise`."""
        return [select_value(self.w, condition, t, a, b) for a, b, t in zip(then, otherwise, self.wide, strict=True)]

    def take(self, accumulators: list[Scalar] | None, values: list[Scalar], active: str | None) -> list[Scalar]:
        """Accumulators (None: there are none yet) with values taken in where `active` holds (None: everywhere)."""
        if active is not None and (identity := self.identity()) is not None:
            values, active = self.select(active, values, identity), None
        if accumulators is None:
            return values
        combined = self.combine(accumulators, values)
        return combined if active is None else self.select(active, combined, accumulators)

    def final(self, initial: list[Scalar], total: list[Scalar]) -> list[Scalar]:
        """The results, in their own types: the initial values and the combination of all elements."""
        values = self.join(self.widened(initial), total)
        with self.w.from_instruction(self.reduce.id):
            return self.results(values)
