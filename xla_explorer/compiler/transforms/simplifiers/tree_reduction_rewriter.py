"""Large reductions in two steps, the first over windows.

Source: xla/service/tree_reduction_rewriter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import (
    OpExpanderPass,
    own_attributes,
    values_of,
)
from xla_explorer.hlo.attributes import Window, WindowDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass("tree-reduction-rewriter")
@dataclasses.dataclass(frozen=True)
class TreeReductionRewriter(OpExpanderPass):
    """Reduce long dimensions window by window first, which shortens the chain of roundings.

    reduce_window_size: elements of a window along each reduced dimension.
    """

    name: ClassVar[str] = "tree_reduction_rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])
    reduce_window_size: int = 32

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one operand with a reduced dimension longer than the window."""
        sizes = i.operands[0].shape.dimensions
        long = any(sizes[d] > self.reduce_window_size for d in i.attributes["dimensions"])
        return len(i.operands) == 2 and long and not any(i.operands[0].shape.dynamic)

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a reduce-window and a reduce."""
        x, init = values_of(b, i)
        window = []
        for d, n in enumerate(x.shape.dimensions):
            if d not in i.attributes["dimensions"]:
                window.append(WindowDimension(1))
                continue
            size = min(n, self.reduce_window_size)
            missing = -n % size
            window.append(WindowDimension(size, size, missing // 2, missing - missing // 2))
        part = b.reduce_window(x, init, window=Window(tuple(window)), to_apply=i.called[0])
        return b.emit("reduce", (part, init), own_attributes(i) | {"to_apply": i.called[0]})
