"""Scans as SSA records: running values in registers, and the statements for each of them.

Along a vector axis, log2(lanes) steps of shifting and combining make the running values of a
register. The carry is combined with all of them, so that the dependence chain has one operation per
register. Source: Hillis and Steele, "Data parallel algorithms" (1986).
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.values import Scalar
from xla_explorer.compiler.codegen.lowering.elements import (
    element_of,
    in_lanes,
    one_lane,
    parts_of,
)
from xla_explorer.compiler.codegen.lowering.lower_accesses import AccessLowering
from xla_explorer.compiler.codegen.lowering.lower_reductions import ReductionWriter
from xla_explorer.compiler.codegen.lowering.reducing import Accumulators
from xla_explorer.compiler.codegen.lowering.unrolled_values import Point, UnrolledValue, points
from xla_explorer.compiler.codegen.nest.ir import Reduce


def write_scan(lowering: AccessLowering, s: Reduce) -> None:
    """Write the running values of a scan, the statements for each, and the last values."""
    writer = _ScanWriter(lowering, s)
    start = [
        [in_lanes(lowering.b, lowering.values[n].at(point), writer.lanes) for n in s.initial]
        for point in points(writer.outer)
    ]
    after = writer.after_all_steps(start)
    last = {
        tuple(point.values()): mine for point, mine in zip(points(writer.outer), after, strict=True)
    }
    for k, number in enumerate(s.ids):
        lowering.types[number] = s.elements[k]
        lowering.values[number] = UnrolledValue(
            writer.outer,
            lambda point, k=k: writer.total(last[tuple(point.values())][k]),  # type: ignore[misc]
        )


class _ScanWriter(ReductionWriter):
    """A scan that is being written.

    There is an accumulator for each point of the unrolled axes around. Along a vector axis of the
    scan, all its lanes are equal.
    """

    def total(self, x: Scalar) -> Scalar:
        """Return an accumulator after the last step."""
        return one_lane(self.b, x, 0) if self.vector is not None else x

    def step(self, accumulators: Accumulators) -> Accumulators:
        """Return the accumulators after one step; write the statements for its running values."""
        found: dict[tuple[int, ...], list[Scalar]] = {}
        after: Accumulators = []
        with self.l.guarded(self.s.guards), self.l.instance_by_instance(False):
            self.l.body(self.s.body)
            for outer, mine in zip(points(self.outer), accumulators, strict=True):
                for own in points(self.own):
                    point = {**outer, **own}
                    found[tuple(point.values())], mine = self.next(point, mine)
                after.append(mine)
            for k, number in enumerate(self.s.running):
                self.l.types[number] = self.s.elements[k]
                self.l.values[number] = UnrolledValue(
                    [*self.outer, *self.own],
                    lambda point, k=k: found[tuple(point.values())][k],  # type: ignore[misc]
                )
            self.l.body(self.s.each)
        return after

    def next(self, point: Point, before: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Return the running values at a point, and the accumulators after it."""
        guards, lanes = self.s.guards, self.lanes
        if self.vector is None:
            after = self.taken((point,), before, guards)
            return after, after
        value = in_lanes(self.b, self.l.values[self.s.values[0]].at(point), lanes)
        mask = self.l.mask(guards, point) if guards else None
        self.b.origin = self.s.origin.instruction if self.s.origin is not None else None
        if mask is not None:
            value = self._or_identity(mask, value)
        step = 1
        while step < lanes:
            value = self.apply_operation(self.shifted(value, step), value)
            step *= 2
        last = element_of(
            [self.b.shuffle(part, part, [lanes - 1] * lanes) for part in parts_of(value)]
        )
        return [self.apply_operation(before[0], value)], [self.apply_operation(before[0], last)]

    def shifted(self, x: Scalar, step: int) -> Scalar:
        """Shift lanes up, with the identity element in the lowest."""
        places = [self.lanes + lane if lane < step else lane - step for lane in range(self.lanes)]
        pairs = zip(parts_of(x), parts_of(self.identity(self.lanes)), strict=True)
        return element_of([self.b.shuffle(part, identity, places) for part, identity in pairs])
