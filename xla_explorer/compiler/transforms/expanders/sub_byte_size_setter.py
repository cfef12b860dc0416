"""Packed storage of elements narrower than a byte.

Source: xla/hlo/transforms/simplifiers/sub_byte_normalization.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, tuple_shape


def packed(shape: Shape) -> Shape:
    """Return the shape with element widths in its layouts: s4[2] becomes s4[2]{0:E(4)}."""
    if shape.is_tuple:
        return tuple_shape([packed(part) for part in shape.tuple_shapes])
    if (
        not shape.is_array
        or shape.element_type.bits >= 8
        or shape.element_type.is_pred
        or "E(" in shape.layout.properties
    ):
        return shape
    return shape.with_layout(
        layout(
            shape.layout.minor_to_major, f"{shape.layout.properties}E({shape.element_type.bits})"
        )
    )


@register_pass("sub-byte-normalization")
@dataclasses.dataclass(frozen=True)
class SubByteSizeSetter:
    """Add the number of bits per element to every shape of 2- and 4-bit elements."""

    name: ClassVar[str] = "sub-byte-size-setter"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every instruction."""
        changed = False
        for i in list(module.instructions()):
            shape = packed(i.shape)
            if shape is not i.shape:
                i.parent.set_shape(i, shape)
                if i.opcode.name == "constant":
                    i.parent.set_payload(i, literal_from_array(i.literal.array, shape))
                changed = True
        if changed:
            module.attributes.pop("entry_computation_layout", None)
        return changed
