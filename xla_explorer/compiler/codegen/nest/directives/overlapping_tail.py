"""`overlap`: a loop in whole blocks, whose last block overlaps the one before it.

No tail remains, and some steps run twice. Halide calls it `TailStrategy::ShiftInwards`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import Body, For, Iota, Load, Loop, LoopNest, Store, walk
from xla_explorer.compiler.codegen.nest.rewriting import with_axes_replaced, with_loop_replaced
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue, Substitution, index
from xla_explorer.hlo.primitive_type import S64


@dataclass(frozen=True)
class OverlapTail(Directive):
    """Whole blocks <axis>o of <axis>i steps; the last block begins earlier, to end with the axis.

    factor: the steps of a block. lines_of: an array whose cache lines the blocks follow, at any
    address of the array; then the first block is shifted too.
    """

    name: ClassVar[str] = "overlap"
    new_suffixes = "oi"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "steps_are_repeatable",
        "blocks_fit",
        "names_are_free",
    )
    bare: ClassVar[str] = "lines_of"
    axis: str
    factor: int
    lines_of: str = ""

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        axis, number = nest.axes()[self.axis].axis, nest.fresh_id()
        blocks = -(-axis.extent // self.factor) + (1 if self.lines_of else 0)
        outer, inner = Axis(f"{self.axis}o", blocks), Axis(f"{self.axis}i", self.factor)
        begin = Iota(number, S64, index(outer) * self.factor, lines_of=self.lines_of)
        clamped = index(RuntimeValue(f"%{number}", (begin.index,), 0, axis.extent - self.factor))
        values: Substitution = {axis: clamped + index(inner)}

        def with_begin(body: Body) -> Body:
            """Compute a block's first step in the innermost loop of a perfect nest."""
            if len(body) == 1 and isinstance(only := body[0], For):
                return (replace(only, body=with_begin(only.body)),)
            return (begin, *body)

        def change(s: Loop) -> Loop:
            return For(outer, (For(inner, with_begin(with_axes_replaced(s.body, values))),))

        return with_loop_replaced(nest, self.axis, change)

    def steps_are_repeatable(self, nest: LoopNest) -> Reason | None:
        """Refuse if a step that runs twice could give another value.

        It could if it combines, or reads what the loop stores.
        """
        loop = nest.loop(self.axis)
        stored = {
            s.array for s, _ in walk(loop.body if loop is not None else ()) if isinstance(s, Store)
        }
        read = {s.array for s, _ in nest.statements() if isinstance(s, Load)}
        if isinstance(loop, For) and not (loop.ordered or loop.guards or stored & read):
            return None
        return refuse(
            "not-repeatable",
            f"steps of {self.axis} cannot be repeated: they combine, or read what is stored",
        )

    def blocks_fit(self, nest: LoopNest) -> Reason | None:
        """Refuse a block larger than the axis, or other than a cache line of `lines_of`."""
        extent, array = nest.axes()[self.axis].axis.extent, nest.array(self.lines_of)
        if not 1 <= self.factor <= extent:
            message = f"blocks of {self.axis} must have from 1 to {extent} steps, got {self.factor}"
            return refuse("factor-too-large", message, extent=extent, factor=self.factor)
        if self.lines_of and (
            array is None or array.shape.element_type.bytes * self.factor != LINE_BYTES
        ):
            return refuse(
                "not-whole-lines",
                f"a block of {self.factor} elements of %{self.lines_of} must be a cache line of {LINE_BYTES} bytes",
            )
        return None
