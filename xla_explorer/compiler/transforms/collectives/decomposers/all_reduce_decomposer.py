"""Small all-reduces as an all-gather and a reduction on each device.

Source: xla/backends/gpu/transforms/collectives/all_reduce_decomposer.cc.

=====================================  ===========================================
handled by XLA                         here
=====================================  ===========================================
at most 262,144 elements               the same (max_elements)
add, multiply, minimum, maximum, and,  the same; the identity starts the reduction
or
groups of one known size               the same
other reducers and groups              unchanged
several operands                       unchanged
=====================================  ===========================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import reshape, scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.collectives.decomposers.device_numbers import devices_in_group
from xla_explorer.compiler.transforms.collectives.reassociation import reduction_kind
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceDecomposer(OpExpanderPass):
    """Gather the operands of all devices and reduce them on each.

    max_elements: larger all-reduces stay.
    """

    name: ClassVar[str] = "all-reduce-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["all-reduce"])
    max_elements: int = 256 * 1024

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a small array, a plain reducer and groups of one size."""
        kind = reduction_kind(i)
        return (
            i.shape.is_array
            and i.shape.element_count <= self.max_elements
            and kind is not None
            and identity_element(kind, i.shape.element_type) is not None
            and devices_in_group(i) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return a reduce of an all-gather along a new first dimension."""
        computation, [x], devices = b.computation, i.operands, devices_in_group(i)
        if devices is None:
            return None
        own = x.shape.base.with_dimensions((1, *x.shape.dimensions))
        gathered = computation.add(
            "all-gather",
            own.with_dimensions((devices, *x.shape.dimensions)),
            (reshape(computation, x, own),),
            i.attributes.with_values(dimensions=(0,), sharding=None),
        )
        kind = reduction_kind(i) or ""
        start = scalar_constant(computation, i.shape, identity_element(kind, i.shape.element_type))
        made = computation.add(
            "reduce",
            i.shape,
            (gathered, start),
            attributes_of({"dimensions": (0,)}),
            called=i.called,
        )
        return HloValue(b, made)
