"""Scratch arrays of CUB's sorts with their sizes.

Source: xla/backends/gpu/transforms/estimate_cub_sort_scratch_size.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
calls that `sort-rewriter` made                 the typed call of sorted keys or pairs
sizes that CUB states for the device            an estimate: one copy of the arrays, histograms
                                                and offsets
batches                                         offsets of each row
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.compiler.transforms.library_calls.sort_rewriter import TARGET
from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import U8
from xla_explorer.hlo.shape import array_shape, tuple_shape

_FIXED = 1 << 14  # bytes of histograms and lookback states
_ALIGNED = 256


def scratch_bytes(i: HloInstruction) -> int:
    """Return the estimated size of the scratch array of a sort."""
    arrays = sum([-(-o.shape.byte_size // _ALIGNED) * _ALIGNED for o in i.operands])
    rows = prod(i.operands[0].shape.dimensions[:-1])
    return arrays + _FIXED + (4 * (rows + 1) if rows > 1 else 0)


@register_pass()
@dataclasses.dataclass(frozen=True)
class EstimateCubSortScratchSize(OpExpanderPass):
    """Give each sort of CUB a scratch array and its final name."""

    name: ClassVar[str] = "estimate-cub-sort-scratch-size"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a sort without a size."""
        return custom_call_target(i) == TARGET.strip('"')

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a tuple of the sorted arrays and the scratch array."""
        computation = b.computation
        descending = "true" if json_config(i).get("descending") else "false"
        rows = prod(i.operands[0].shape.dimensions[:-1])
        kind = "cub_sort_pairs" if len(i.operands) == 2 else "cub_sort_keys"
        scratch = array_shape(U8, (scratch_bytes(i),))
        arrays = list(i.shape.tuple_shapes[:-1])
        call = computation.add(
            "custom-call",
            tuple_shape([*arrays, scratch]),
            i.operands,
            attributes_of(
                {
                    "custom_call_target": f'"xla.gpu.ext.{kind}"',
                    "api_version": "API_VERSION_TYPED_FFI",
                    "backend_config": (f"{{batch_size = {rows} : i64, descending = {descending}}}"),
                }
            ),
            metadata=i.metadata,
        )
        parts = [
            computation.add("get-tuple-element", s, (call,), attributes_of({"index": k}))
            for k, s in enumerate([*arrays, scratch])
        ]
        old = i.shape.tuple_shapes[-1]
        if old is not scratch:  # readers of the scratch array, of which there are none, see zeros
            zero = array_shape(U8, old.dimensions)
            parts[-1] = computation.add(
                "custom-call",
                zero,
                (),
                attributes_of({"custom_call_target": '"AllocateBuffer"'}),
            )
        return HloValue(b, computation.add("tuple", i.shape, parts))
