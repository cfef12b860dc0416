"""Reductions of operands in row-major layout, by bitcasts.

Source: xla/backends/gpu/transforms/reduction_layout_normalizer.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
one or several operands of one layout       bitcasts to row-major, dimensions renumbered
the result's layout                         kept: the new result has it in the new order
operands of several layouts                 an error: layout assignment must make them equal
row-major operands                          unchanged
==========================================  ==================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import tuple_shape


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReductionLayoutNormalizer(OpExpanderPass):
    """Reduce bitcasts to row-major arrays, so that kernels see one kind of layout."""

    name: ClassVar[str] = "reduction-layout-normalizer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a layout other than row-major; raise if the operands' layouts differ."""
        arrays = i.operands[: len(i.operands) // 2]
        layouts = {x.shape.layout.minor_to_major for x in arrays}
        if len(layouts) > 1:
            raise XlaExplorerError(
                f"%{i.name} reduces operands of different layouts", "run Layout assignment before"
            )
        return not arrays[0].shape.layout.is_default

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return bitcasts of a reduction of bitcasts."""
        computation = b.computation
        count = len(i.operands) // 2
        major = i.operands[0].shape.layout.minor_to_major[::-1]
        reduced = i.attributes["dimensions"]
        flat = [
            computation.add(
                "bitcast",
                x.shape.base.with_dimensions([x.shape.dimensions[d] for d in major]),
                (x,),
            )
            for x in i.operands[:count]
        ]
        kept = [d for d in range(len(major)) if d not in reduced]
        moved = [kept.index(d) for d in major if d in kept]  # old result dimensions, in new order
        place = {d: k for k, d in enumerate(moved)}
        results = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
        shapes = [
            r.base.with_dimensions([r.dimensions[d] for d in moved]).with_layout(
                tuple([place[d] for d in r.layout.minor_to_major])
            )
            for r in results
        ]
        new = sorted([k for k, d in enumerate(major) if d in reduced])
        made = computation.add(
            i.opcode,
            tuple_shape(shapes) if i.shape.is_tuple else shapes[0],
            [*flat, *i.operands[count:]],
            attributes_of({"dimensions": tuple(new)}),
            called=i.called,
            metadata=i.metadata,
        )
        if not i.shape.is_tuple:
            return HloValue(b, computation.add("bitcast", i.shape, (made,)))
        parts = []
        for k, (old, own) in enumerate(zip(results, shapes, strict=True)):
            part = computation.add("get-tuple-element", own, (made,), attributes_of({"index": k}))
            parts.append(computation.add("bitcast", old, (part,)))
        return HloValue(b, computation.add("tuple", i.shape, parts))
