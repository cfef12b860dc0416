"""Removal of idle spatial dimensions of convolutions.

Source: xla/hlo/transforms/expanders/convolution_4d_expander.cc.
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
from xla_explorer.hlo.attributes.codecs import CODECS
from xla_explorer.hlo.attributes.values import Window
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction


def idle_dimensions(i: HloInstruction) -> list[int]:
    """Return the spatial dimensions of size one in input, kernel and result, without padding."""
    numbers, rows = i.attributes["dim_labels"], i.attributes["window"].dimensions
    found = []
    for k, row in enumerate(rows):
        places = (numbers.input_spatial[k], numbers.kernel_spatial[k], numbers.output_spatial[k])
        ones = all(
            x.shape.dimensions[d] == 1 for x, d in zip((*i.operands, i), places, strict=True)
        )
        if ones and row.padding_low == row.padding_high == 0:
            found.append(k)
    return found


@register_pass()
@dataclasses.dataclass(frozen=True)
class Convolution4DExpander(OpExpanderPass):
    """Remove spatial dimensions of one element from a convolution over four dimensions."""

    name: ClassVar[str] = "convolution_4d_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["convolution"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for four spatial dimensions, some of them idle."""
        return (
            "window" in i.attributes
            and len(i.attributes["dim_labels"].input_spatial) == 4
            and bool(idle_dimensions(i))
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return reshapes of both operands, the convolution, and a reshape."""
        idle = idle_dimensions(i)
        left = [k for k in range(4) if k not in idle]
        renamed = {str(k): str(n) for n, k in enumerate(left)}
        sides = i.attributes["dim_labels"].text.replace("->", "_").split("_")
        texts, shapes = [], []
        for letters, x in zip(sides, (*i.operands, i), strict=True):
            kept = [
                d for d, letter in enumerate(letters) if not letter.isdigit() or letter in renamed
            ]
            texts.append("".join([renamed.get(letters[d], letters[d]) for d in kept]))
            shapes.append(x.shape.with_dimensions([x.shape.dimensions[d] for d in kept]))
        rows = i.attributes["window"].dimensions
        attributes = own_attributes(i) | {
            "dim_labels": CODECS["dim_labels"].read(f"{texts[0]}_{texts[1]}->{texts[2]}"),
            "window": Window(tuple([rows[k] for k in left])),
        }
        operands = [
            b.emit("reshape", (x,), {}, shape=shape)
            for x, shape in zip(values_of(b, i), shapes[:2], strict=True)
        ]
        return b.emit(
            "reshape",
            (b.emit("convolution", operands, attributes, shape=shapes[2]),),
            {},
            shape=i.shape,
        )
