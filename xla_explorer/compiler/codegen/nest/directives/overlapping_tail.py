"""Blocks that cover an axis without a tail: what would reach beyond its end begins earlier, and does some steps again."""

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
    """The axis becomes blocks of <axis>i steps, <axis>o of them, all whole: the last one is moved inside.

    lines_of: an array, with whose cache lines the blocks begin, wherever it lies in memory; the
    first block is moved inside then.
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
        """See `Directive.changed`."""
        axis, number = nest.axes()[self.axis].axis, nest.fresh_id()
        blocks = -(-axis.extent // self.factor) + (1 if self.lines_of else 0)
        outer, inner = Axis(f"{self.axis}o", blocks), Axis(f"{self.axis}i", self.factor)
        begin = Iota(number, S64, index(outer) * self.factor, lines_of=self.lines_of)
        clamped = index(RuntimeValue(f"%{number}", (begin.index,), 0, axis.extent - self.factor))
        values: Substitution = {axis: clamped + index(inner)}

        def with_begin(body: Body) -> Body:
            """The number of a block is known in the innermost loop, so that the loops stay all that each other contain."""
            if len(body) == 1 and isinstance(only := body[0], For):
                return (replace(only, body=with_begin(only.body)),)
            return (begin, *body)

        def change(s: Loop) -> Loop:
            return For(outer, (For(inner, with_begin(with_axes_replaced(s.body, values))),))

        return with_loop_replaced(nest, self.axis, change)

    def steps_are_repeatable(self, nest: LoopNest) -> Reason | None:
        """Steps that are done twice store the same twice: nothing reads what the loop writes, and it does not combine."""
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
        """There is a whole block; with lines of an array, blocks are lines of it."""
        extent, array = nest.axes()[self.axis].axis.extent, nest.array(self.lines_of)
        if not 1 <= self.factor <= extent:
            message = f"blocks of {self.axis} must have from 1 to {extent} steps, got {self.factor}"
            return refuse("factor-too-large", message, extent=extent, factor=self.factor)
        if self.lines_of and (
            array is None or array.shape.element_type.bytes * self.factor != LINE_BYTES
        ):
            return refuse(
                "not-whole-lines",
                f"{self.factor} elements of %{self.lines_of} must be a line of {LINE_BYTES} bytes",
            )
        return None
