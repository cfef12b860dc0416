"""Dots and large reductions of the CPU as custom fusions for YNNPACK, as in XLA's dumps.

Source: xla/backends/cpu/transforms/library_rewriter.cc, ynn_matcher.h.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
f32 dots that contract the last dimension of   the same
the lhs with one of the rhs
products with a vector, transposed lhs         unchanged
reductions                                     sums, maxima and minima of f32 arrays of at
                                               least min_elements, with their initial constant
convolutions                                   f32 and f64 with features last, in one group
elementwise operations beside reductions       hole: one operation a fusion
oneDNN and its graph                           hole
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion.building import build_fusion
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CONFIG = '{"outer_dimension_partitions":[],"fusion_config":{"kind":"__ynn_fusion"}}'
_FLOATS = frozenset(["f32", "f64"])
_REDUCERS = frozenset(["add", "maximum", "minimum"])


def _has_types(i: HloInstruction, kinds: frozenset[str]) -> bool:
    found = {a.shape.element_type.name if a.shape.is_array else "" for a in (i, *i.operands)}
    return len(found) == 1 and found <= kinds


def is_matrix_product(dot: HloInstruction) -> bool:
    """Return True for a product of matrices whose lhs is contracted along its last dimension."""
    lhs, rhs = [o.shape for o in dot.operands]
    left = dot.attributes.value("lhs_contracting_dims")
    right = dot.attributes.value("rhs_contracting_dims")
    batch = dot.attributes.value("rhs_batch_dims")
    free = [d for d in range(rhs.rank) if d not in (*right, *batch)]
    columns = prod([rhs.dimensions[d] for d in free])
    return list(left) == [lhs.rank - 1] and len(right) == 1 and columns > 1


def is_library_reduction(reduce: HloInstruction, least: int) -> bool:
    """Return True for a plain reduction of an array of many elements."""
    root = reduce.called[0].root
    plain = root.opcode.name in _REDUCERS and all(
        o.opcode.name == "parameter" for o in root.operands
    )
    elements = reduce.operands[0].shape.element_count
    return len(reduce.operands) == 2 and plain and elements >= least


def is_library_convolution(convolution: HloInstruction) -> bool:
    """Return True for a convolution with features last, in one group."""
    numbers = convolution.attributes["dim_labels"]
    window = convolution.attributes["window"].dimensions
    last = convolution.shape.rank - 1
    groups = [
        convolution.attributes.get(name) or 1
        for name in ("feature_group_count", "batch_group_count")
    ]
    return (
        groups == [1, 1]
        and len(window) == 2
        and (numbers.input_batch, numbers.input_feature) == (0, last)
        and (numbers.output_batch, numbers.output_feature) == (0, last)
        and all(d.base_dilation == 1 and not d.window_reversal for d in window)
    )


def own_constants(i: HloInstruction) -> list[HloInstruction]:
    """Return the scalar constants that only this instruction reads."""
    return [
        o
        for o in i.operands
        if o.opcode.name == "constant" and o.shape.is_scalar and len(o.users) == 1
    ]


@register_pass()
@dataclasses.dataclass(frozen=True)
class DotLibraryRewriter:
    """Wrap what the library does in custom fusions.

    min_elements: the least elements of an array that is reduced.
    """

    name: ClassVar[str] = "dot-library-rewriter"
    min_elements: int = 4096

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is not fused."""
        bodies = module.fusion_computations()
        changed = False
        for computation in list(module.computations.values()):
            if computation in bodies:
                continue
            for i in list(computation.post_order()):
                if self._supports(i) and context.decide(self.name, (), (), i) is None:
                    kind = attributes_of({"kind": "kCustom", "backend_config": _CONFIG})
                    members = [i, *own_constants(i)]
                    fusion = build_fusion(computation, i, members, name="ynn_fusion", kind=kind)
                    context.rewrote(self.name, i, fusion, (fusion.id,))
                    changed = True
        return changed

    def _supports(self, i: HloInstruction) -> bool:
        name = i.opcode.name
        if name not in ("dot", "reduce", "convolution"):
            return False
        if not _has_types(i, _FLOATS if name == "convolution" else _FLOATS - {"f64"}):
            return False
        if name == "dot":
            return is_matrix_product(i)
        if name == "reduce":
            return is_library_reduction(i, self.min_elements)
        return is_library_convolution(i)
