"""Scans as SSA records: running values in registers, and the statements for each of them.

Along a vector axis, log2(lanes) steps of shifting and combining make the running values of a
register. The carry is combined with all of them, so that the dependence chain has one operation per
register. Source: Hillis and Steele, "Data parallel algorithms" (1986).
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.compiler.codegen.ir.values import Scalar
from xla_explorer.compiler.codegen.lowering.elements import (
    element_of,
    one_lane,
    parts_of,
)
from xla_explorer.compiler.codegen.lowering.lower_accesses import AccessLowering
from xla_explorer.compiler.codegen.lowering.lower_reductions import lanes_of_accumulators, vector_of
from xla_explorer.compiler.codegen.lowering.reducing import Scanning
from xla_explorer.compiler.codegen.lowering.unrolled_values import Accumulators, Point
from xla_explorer.compiler.codegen.nest.ir import Reduce


class LaneScan(Scanning[AccessLowering]):
    """A scan of a CPU kernel.

    There is an accumulator for each point of the unrolled axes around. Along a vector axis of the
    scan, all its lanes are equal.
    """

    def __init__(self, host: AccessLowering, s: Reduce) -> None:
        super().__init__(host, s)
        self.vector = vector_of(s)
        self.lanes = lanes_of_accumulators(self)

    def total(self, x: Scalar) -> Scalar:
        """Return an accumulator after the last step."""
        return one_lane(self.b, x, 0) if self.vector is not None else x

    def scanned(
        self, own: Sequence[Point], before: list[Scalar]
    ) -> tuple[Accumulators, list[Scalar]]:
        """Return the running values at points in order, and the accumulators after them."""
        found = []
        for point in own:
            running, before = self.next(point, before)
            found.append(running)
        return found, before

    def next(self, point: Point, before: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Return the running values at a point, and the accumulators after it."""
        if self.vector is None:
            after = self.taken((point,), before, self.s.guards)
            return after, after
        value, step = self.element_at(point), 1
        while step < self.lanes:
            value = self.apply_operation(self.shifted(value, step), value)
            step *= 2
        last = element_of(
            [self.b.shuffle(part, part, [self.lanes - 1] * self.lanes) for part in parts_of(value)]
        )
        return [self.apply_operation(before[0], value)], [self.apply_operation(before[0], last)]

    def shifted(self, x: Scalar, step: int) -> Scalar:
        """Shift lanes up, with the identity element in the lowest."""
        places = [self.lanes + lane if lane < step else lane - step for lane in range(self.lanes)]
        pairs = zip(parts_of(x), parts_of(self.identity(self.lanes)), strict=True)
        return element_of([self.b.shuffle(part, identity, places) for part, identity in pairs])
