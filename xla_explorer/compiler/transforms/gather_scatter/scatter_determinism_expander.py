"""Scatters whose sums depend on the order, as loops.

Source: xla/service/scatter_determinism_expander.cc.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.gather_scatter.scatter_expander import ScatterExpander
from xla_explorer.hlo.instruction import HloInstruction


@register_pass()
@dataclasses.dataclass(frozen=True)
class ScatterDeterminismExpander(ScatterExpander):
    """Run scatters that may add several floats to one element in order, whatever the threads."""

    name: ClassVar[str] = "scatter_determinism_expander"

    def matches(self, i: HloInstruction) -> bool:
        """Return True without unique indices, for a combiner whose order may matter."""
        root = i.called[0].root
        associative = root.opcode.name in (
            "minimum",
            "maximum",
            "and",
            "or",
            "xor",
            "parameter",
        ) or (
            root.opcode.name in ("add", "multiply")
            and not root.shape.element_type.is_float
            and not root.shape.element_type.is_complex
        )
        indices = i.operands[len(i.operands) // 2].shape.dimensions
        along = i.attributes["index_vector_dim"]
        if math.prod([n for d, n in enumerate(indices) if d != along]) <= 1:
            return False  # a single update has no collision
        return (
            super().matches(i)
            and not i.attributes.value("unique_indices")
            and not (associative and len(i.operands) == 3)
        )
