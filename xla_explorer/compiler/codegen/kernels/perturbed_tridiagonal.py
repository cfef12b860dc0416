"""The kernel of jaxlib's `tridiagonal_solve_perturbed_ffi`: tridiagonal systems, maybe singular.

Elimination with row exchanges; then pivots near zero are perturbed by about an epsilon of the
largest element of the factor. The steps and their order are the evaluator's
(`hlo/evaluator/lapack/tridiagonal_systems.py`).
"""

from __future__ import annotations

import numpy as np

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.types import I1
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.accumulators import Elements
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real, value_type

Index = tuple[Word, ...]


def write_perturbed_solve(context: KernelContext) -> None:
    """Emit the solution of all systems of the batch."""
    output = context.outputs[0].shape
    if output.element_count:
        solve = _Solve(context)
        with context.iterate(list(output.dimensions[:-2])) as batch:
            solve.write(batch)


class _Solve:
    """The factor's three diagonals in scratch memory, and variables in stack slots."""

    def __init__(self, context: KernelContext) -> None:
        self.w = context.writer
        self.lower, self.main, self.upper, self.b = [
            context.arrays[o] for o in context.roots[0].operands
        ]
        self.x = context.outputs[0]
        self.rows, self.columns = self.x.shape.dimensions[-2:]
        element_type = self.x.shape.element_type
        self.type = value_type(element_type)
        limits = np.finfo(element_type.dtype)
        self.epsilon, self.tiny = float(limits.eps), float(limits.tiny)
        self.huge = float(element_type.dtype.type(1) / limits.tiny)
        diagonals = [context.scratch(max(self.rows, 1) * element_type.bytes) for _ in range(3)]
        self.factor = [Elements(self.w, element_type, [diagonal]) for diagonal in diagonals]
        names = ("scale", "perturbation", "largest", "pivot", "by", "times")
        self.variables = {name: self.w.variable(self.type) for name in names}

    # -- numbers -----------------------------------------------------------------------------------
    def number(self, value: float) -> Value:
        return self.w.number(value, self.type)

    def get(self, name: str) -> Value:
        return self.variables[name].get()

    def set(self, name: str, value: Value) -> None:
        self.variables[name].set(value)

    def of(self, array: ArrayInMemory, batch: Index, *index: Word) -> Value:
        return real(array.load(self.w, (*batch, *index)))

    def u(self, diagonal: int, row: Word) -> Value:
        return real(self.factor[diagonal].load(row))

    def set_u(self, diagonal: int, row: Word, value: Value) -> None:
        self.factor[diagonal].store(row, value)

    # -- one system --------------------------------------------------------------------------------
    def write(self, batch: Index) -> None:
        w = self.w
        with w.loop(self.rows, stem="row") as row, w.loop(self.columns, stem="column") as column:
            self.x.store(w, (*batch, row, column), self.of(self.b, batch, row, column))
        first = self.of(self.main, batch, 0)
        self.set_u(0, 0, first)
        if self.rows == 1:
            self.set("perturbation", self.w.absolute(first) * self.epsilon)
            self._divide(batch, 0, alone=True)
            return
        above = self.of(self.upper, batch, 0)
        self.set_u(1, 0, above)
        self.set("scale", self.w.absolute(first) + self.w.absolute(above))
        with w.loop(self.rows - 1, stem="eliminated") as row:
            self._eliminate(batch, row)
        self._find_perturbation(first, above)
        with w.loop(self.rows, stem="solved") as step:
            self._substitute(batch, w.sub(self.rows - 1, step))

    def _eliminate(self, batch: Index, row: Word) -> None:
        """Make the element below the diagonal zero, by the larger of two rows."""
        w = self.w
        below = w.add(row, 1)
        zero = self.number(0.0)
        low, diagonal, pivot, right = (
            self.of(self.lower, batch, below),
            self.of(self.main, batch, below),
            self.u(0, row),
            self.u(1, row),
        )
        inner = w.test("slt", row, self.rows - 2)
        above = self.of(self.upper, batch, below)
        reach = w.select(inner, above, zero)
        next_scale = self.w.absolute(low) + self.w.absolute(diagonal) + self.w.absolute(reach)
        mine = w.select(pivot.differs(0.0), self.w.absolute(pivot) / self.get("scale"), zero)
        none = low.equals(0.0)
        keep = w.either(none, self.w.absolute(low) / next_scale <= mine)
        factor = w.select(keep, w.select(none, zero, low / pivot), pivot / low)
        self.set_u(0, row, w.select(keep, pivot, low))
        self.set_u(1, row, w.select(keep, right, diagonal))
        self.set_u(2, row, w.select(keep, zero, reach))
        kept = w.select(none, diagonal, diagonal - factor * right)
        next_pivot, next_above = (
            w.select(keep, kept, right - factor * diagonal),
            w.select(keep, above, -factor * reach),
        )
        next_above = w.select(w.either(keep, inner), next_above, zero)
        self.set_u(0, below, next_pivot)
        self.set_u(1, below, next_above)
        self.set(
            "scale",
            w.select(keep, next_scale, self.w.absolute(next_pivot) + self.w.absolute(next_above)),
        )
        with w.loop(self.columns, stem="side") as column:
            upper, lower = (
                self.of(self.x, batch, row, column),
                self.of(self.x, batch, below, column),
            )
            kept = w.select(none, lower, lower - factor * upper)
            self.x.store(w, (*batch, row, column), w.select(keep, upper, lower))
            self.x.store(w, (*batch, below, column), w.select(keep, kept, upper - factor * lower))

    def _find_perturbation(self, first: Value, above: Value) -> None:
        w = self.w
        self.set(
            "largest", self.w.per_lane("maxnum", self.w.absolute(first), self.w.absolute(above))
        )
        if self.rows > 2:
            with w.loop(self.rows - 2, stem="largest") as row:
                for diagonal in range(3):
                    self.set(
                        "largest",
                        self.w.per_lane(
                            "maxnum", self.get("largest"), self.w.absolute(self.u(diagonal, row))
                        ),
                    )
        last = self.w.per_lane(
            "maxnum", self.get("largest"), self.w.absolute(self.u(0, self.rows - 1))
        )
        self.set("perturbation", last * self.epsilon)

    def _substitute(self, batch: Index, row: Word) -> None:
        w = self.w
        with w.loop(self.columns, stem="side") as column:
            value = self.of(self.x, batch, row, column)
            for diagonal in (1, 2):
                # After the last row an unused element is loaded.
                inside = w.test("slt", row, self.rows - diagonal)
                other = w.choose(inside, w.add(row, diagonal), row)
                value = w.select(
                    inside,
                    value - self.u(diagonal, row) * self.of(self.x, batch, other, column),
                    value,
                )
            self.x.store(w, (*batch, row, column), value)
        self._divide(batch, row, alone=False)

    def _divide(self, batch: Index, row: Word, alone: bool) -> None:
        """Divide a row by its pivot.

        The pivot is perturbed until neither its reciprocal nor a quotient overflows.
        """
        w = self.w
        zero, one = self.number(0.0), self.number(1.0)
        self.set("largest", zero)
        with w.loop(self.columns, stem="side") as column:
            self.set(
                "largest",
                self.w.per_lane(
                    "maximum",
                    self.get("largest"),
                    self.w.absolute(self.of(self.x, batch, row, column)),
                ),
            )
        largest, pivot = self.get("largest"), self.u(0, row)
        least = self.w.per_lane(
            "maxnum", self.w.absolute(self.get("perturbation")), self.number(self.tiny)
        )
        self.set("by", self.w.copy_sign(least, pivot))
        self.set("pivot", pivot)
        self.set("times", one)
        going = w.variable(I1)
        going.set(True)

        def goes_on() -> Value[Integer]:
            return w.both(w.absolute(self.get("pivot")) < 1.0, going.get())

        with w.repeat_while(goes_on):
            now, size = self.get("pivot"), self.w.absolute(self.get("pivot"))
            is_tiny = size < self.tiny
            lifted = w.both(
                is_tiny, w.negated(w.either(now.equals(0.0), largest * self.tiny > size))
            )
            enough = w.both(w.negated(is_tiny), w.negated(largest > size * self.huge))
            going.set(w.negated(w.either(lifted, enough)))
            self.set("times", w.select(lifted, self.number(self.huge), one))
            self.set(
                "pivot",
                w.select(lifted, now * self.huge, w.select(enough, now, now + self.get("by"))),
            )
            self.set("by", self.get("by") + self.get("by"))
        with w.loop(self.columns, stem="side") as column:
            value = self.of(self.x, batch, row, column) * self.get("times")
            self.x.store(
                w,
                (*batch, row, column),
                value / self.get("pivot") if alone else value * (one / self.get("pivot")),
            )
