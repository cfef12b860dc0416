"""TopK of a long row as TopK of pieces and a sort of what is left.

Source: xla/backends/gpu/transforms/topk_splitter.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
the custom call TopK of one row              the same: rank 1, or rank 2 with one row
rows of at least split_threshold             required
rows that 1,024 divides, k at most the root  required
of the length
ties                                         the places decide, as in the one call
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import broadcast_scalar, reshape, scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.expanders.topk_decomposer import with_places
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.values import SliceDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import tuple_shape

_ALIGNMENT = 1024


def pieces(n: int, threshold: int) -> int:
    """Return the number of pieces of at most `threshold` elements, a power of two."""
    count = 1
    while n // count > threshold or count == 1:
        count *= 2
    return min(count, n // _ALIGNMENT)


@register_pass()
@dataclasses.dataclass(frozen=True)
class TopkSplitter(OpExpanderPass):
    """Find the largest of each piece, then of those.

    split_threshold: shorter rows stay.
    """

    name: ClassVar[str] = "topk-splitter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])
    split_threshold: int = 1024 * 1024

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a long row."""
        if custom_call_target(i) != "TopK" or len(i.operands) != 1 or not i.called:
            return False
        sizes = i.operands[0].shape.dimensions
        k = i.shape.tuple_shapes[0].dimensions[-1]
        n = sizes[-1]
        return (
            (len(sizes) == 1 or (len(sizes) == 2 and sizes[0] == 1))
            and n >= self.split_threshold
            and n % _ALIGNMENT == 0
            and n > _ALIGNMENT
            and k * k <= n
            and n % pieces(n, self.split_threshold) == 0
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a tuple of the first k of a stable sort of the pieces' results."""
        computation, [x] = b.computation, i.operands
        n, k = x.shape.dimensions[-1], i.shape.tuple_shapes[0].dimensions[-1]
        count = pieces(n, self.split_threshold)
        number = i.shape.tuple_shapes[1].element_type
        base = x.shape.base
        rows = reshape(computation, x, base.with_dimensions((count, n // count)))
        values = base.with_dimensions((count, k))
        places = values.with_element_type(number)
        inner = computation.add(
            i.opcode, tuple_shape([values, places]), (rows,), i.attributes, called=i.called
        )
        parts = [
            computation.add("get-tuple-element", s, (inner,), attributes_of({"index": m}))
            for m, s in enumerate((values, places))
        ]
        row = computation.add("iota", places, (), attributes_of({"iota_dimension": 0}))
        length = scalar_constant(computation, places, n // count)
        lengths = broadcast_scalar(computation, length, places)
        start = computation.add("multiply", places, (row, lengths))
        parts[1] = computation.add("add", places, (parts[1], start))
        flat = [reshape(computation, p, p.shape.base.with_dimensions((count * k,))) for p in parts]
        return HloValue(b, _first(computation, i, flat, k))


def _first(
    computation: HloComputation, i: HloInstruction, flat: list[HloInstruction], k: int
) -> HloInstruction:
    """Return a tuple of the first k values and places of a stable sort."""
    comparator = with_places(HloBuilder("", locations=False), i.called[0])
    sort = computation.add(
        "sort",
        tuple_shape([f.shape for f in flat]),
        flat,
        attributes_of({"dimensions": (0,), "is_stable": True}),
        called=(comparator,),
    )
    cut = attributes_of({"slice": (SliceDimension(0, k, 1),)})
    results = []
    for m, (f, shape) in enumerate(zip(flat, i.shape.tuple_shapes, strict=True)):
        part = computation.add("get-tuple-element", f.shape, (sort,), attributes_of({"index": m}))
        first = computation.add("slice", f.shape.with_dimensions((k,)), (part,), cut)
        results.append(reshape(computation, first, shape))
    return computation.add("tuple", i.shape, results)
