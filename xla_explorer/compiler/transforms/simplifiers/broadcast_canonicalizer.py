"""Broadcasts with sorted dimensions, and transposes for their order.

Source: xla/hlo/transforms/simplifiers/broadcast_canonicalizer.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


@register_pass("broadcast-canonicalizer")
@dataclasses.dataclass(frozen=True)
class BroadcastCanonicalizer(OpExpanderPass):
    """Replace a broadcast with unsorted dimensions by a sorted one and a transpose."""

    name: ClassVar[str] = "broadcast_canonicalizer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["broadcast"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for unsorted dimensions."""
        return list(i.attributes.value("dimensions")) != sorted(i.attributes.value("dimensions"))

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a broadcast and a transpose."""
        [x] = values_of(b, i)
        dims = list(i.attributes["dimensions"])
        ordered = sorted(dims)
        # Result dimension dims[k] is operand dimension k, which the sorted broadcast puts at
        # ordered[k].
        source = {d: ordered[k] for k, d in enumerate(dims)}
        permutation = [source.get(d, d) for d in range(i.shape.rank)]
        sizes = [0] * i.shape.rank
        for d, n in enumerate(i.shape.dimensions):
            sizes[permutation[d]] = n
        return b.transpose(b.broadcast(x, sizes, ordered), dimensions=permutation)
