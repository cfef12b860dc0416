"""Directives of caches: `stream` bypasses them with stores, `prefetch` loads lines early."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    For,
    Iota,
    Load,
    LoopNest,
    Statement,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.renumbering import fresh_numbers, needed_of, renumbered
from xla_explorer.compiler.codegen.nest.rewriting import rewritten
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue, Substitution, index, linearize
from xla_explorer.hlo.primitive_type import S64


@dataclass(frozen=True)
class Stream(Directive):
    """A result is written by non-temporal stores, which bypass the caches.

    An ordinary store reads its cache line first, so an array moves twice. Non-temporal stores pay
    if the result would leave the caches anyway. They need whole, aligned registers.
    """

    name: ClassVar[str] = "stream"
    check_names = ("is_a_result", "is_not_read")
    bare: ClassVar[str] = "axis"
    axis: str  # the array: the journal names it as the subject

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        return replace(
            nest,
            arrays=tuple(
                [replace(a, streamed=True) if a.name == self.axis else a for a in nest.arrays]
            ),
        )

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        array = nest.array(self.axis)
        return {"bytes": array.shape.byte_size if array is not None else 0}

    def is_a_result(self, nest: LoopNest) -> Reason | None:
        """Refuse an array that is not a result of the kernel."""
        results = [a.name for a in nest.arrays if a.written]
        if self.axis in results:
            return None
        return refuse(
            "not-a-result", f"{self.axis} must be a result of @{nest.name}: {', '.join(results)}"
        )

    def is_not_read(self, nest: LoopNest) -> Reason | None:
        """Refuse a result that the kernel reads."""
        if all(s.array != self.axis for s, _ in nest.statements() if isinstance(s, Load)):
            return None
        return refuse(
            "result-is-read",
            f"@{nest.name} reads %{self.axis} again: a non-temporal store would leave it out of "
            "the cache",
        )


MOST_LINES = 16  # of a step: more are prefetched by a loop, and with `ahead` not at all


@dataclass(frozen=True)
class Prefetch(Directive):
    """Each step of a loop first prefetches the cache lines of an array that it reads.

    ahead: prefetch for the step that is `ahead` steps later.
    """

    name: ClassVar[str] = "prefetch"
    check_names = ("axis_exists", "axis_is_serial", "reads_contiguously")
    bare: ClassVar[str] = "array"
    axis: str
    array: str
    ahead: int = 0

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""

        def change(s: Statement) -> Statement | None:
            return (
                replace(s, body=(*self._prefetches(nest, s), *s.body))
                if isinstance(s, For) and s.axis.name == self.axis
                else None
            )

        return replace(nest, body=rewritten(nest.body, change))

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        found = self._run(nest)
        return {
            **super().facts(nest),
            "elements": found[1] if found is not None else 0,
            "ahead": self.ahead,
        }

    def reads_contiguously(self, nest: LoopNest) -> Reason | None:
        """Refuse unless a step reads contiguous elements of the array."""
        if self._run(nest) is not None and self.ahead >= 0:
            return None
        return refuse(
            "not-contiguous",
            f"a step of {self.axis} must read contiguous elements of %{self.array}",
            array=self.array,
        )

    def _run(self, nest: LoopNest) -> tuple[Load, int, dict[Axis, int]] | None:
        """Return (a load of the array, contiguous elements of a step, strides of inner axes)."""
        array, loop = nest.array(self.array), nest.loop(self.axis)
        if array is None or array.written or not isinstance(loop, For):
            return None
        for s, around in walk(loop.body):
            if isinstance(s, Load) and s.array == self.array:
                offset, count = linearize(s.place, array.shape.strides), 1
                inside = [b.axis for x in around for b in axes_of(x)]
                steps = {
                    axis: offset.coefficient(axis) or 0
                    for axis in inside
                    if offset.coefficient(axis) != 0
                }
                for axis, step in sorted(steps.items(), key=lambda pair: pair[1]):
                    if step != count:
                        return None
                    count *= axis.extent
                return s, count, steps
        return None

    def _prefetches(self, nest: LoopNest, loop: For) -> Body:
        found, number = self._run(nest), nest.fresh_id()
        assert found is not None
        load, count, steps = found
        elements = max(LINE_BYTES // load.element.bytes, 1)
        line = Axis(
            f"{self.axis}p", min(math.ceil(count / elements), MOST_LINES if self.ahead else count)
        )
        place, first, before = load.place, index(line) * elements, list[Statement]()
        values: Substitution = {axis: first // step % axis.extent for axis, step in steps.items()}
        if self.ahead:
            step = index(loop.axis) + self.ahead
            before = [Iota(number, S64, step)]
            later: Substitution = {
                loop.axis: index(RuntimeValue(f"%{number}", (step,), 0, loop.axis.extent - 1))
            }
            needed = needed_of(loop.body, (load,))
            before += renumbered(needed, fresh_numbers(needed, number + 1), later)
            (load,) = [
                s
                for s in renumbered((load,), fresh_numbers(needed, number + 1), later)
                if isinstance(s, Load)
            ]
            place = load.place
            number += 1 + len(before)
        early_load = replace(
            load,
            id=number,
            place=tuple([x.substitute(values) for x in place]),
            origin=None,
            is_prefetch=True,
        )
        kind = AxisKind.UNROLLED if line.extent <= MOST_LINES else AxisKind.SERIAL
        return (*before, For(line, (early_load,), kind))
