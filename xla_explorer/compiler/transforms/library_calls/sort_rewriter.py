"""Sorts as calls of CUB's radix sort.

Source: xla/backends/gpu/transforms/sort_rewriter.cc.

==========================================  ==================================================
handled by XLA                              here
==========================================  ==================================================
one operand, or keys and values             the same
LT, LE, GT, GE of the two keys, in any      the same
order
the last dimension, static sizes            the same
key and value types with compiled kernels   the same
mode auto by measured sizes                 A100, H100, otherwise more than 16,384 elements
the order of NumPy (NaN last, equal zeros)  hole: such comparators are not rewritten
Blackwell's sizes                           hole
deviceless compiles                         mode `known-size`: sorts whose scratch size is in the
                                            range that XLA tabulates; mode `never`
==========================================  ==================================================

The scratch array has size 0; `estimate-cub-sort-scratch-size` sets its size in XLA.
"""

from __future__ import annotations

import dataclasses
import json
from math import prod
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import U8
from xla_explorer.hlo.shape import array_shape, tuple_shape

TARGET = '"xla.gpu.ext.cub_sort_unassigned_scratch_size"'  # as text, with quotes
_ALONE = frozenset(
    ["bf16", "f16", "f32", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]
)
_PAIRED = frozenset(["u8", "u16", "s32", "u32", "u64", "f32"])
# Rows of (least batch, least elements of a row) from which CUB is faster, by device and bits.
_FASTER = {
    "h100": {
        16: ((12, 16), (14, 15), (16, 14), (18, 13), (33, 12), (66, 11)),
        32: ((26, 17), (31, 16), (38, 15), (44, 14), (52, 13)),
        64: ((55, 17), (70, 16), (92, 15), (354, 14)),
    },
    "a100": {
        16: ((9, 17), (13, 13), (27, 12), (54, 11)),
        32: ((24, 17), (30, 16), (36, 15), (39, 14), (52, 13), (144, 12)),
        64: ((46, 17), (55, 16), (72, 15), (289, 14)),
    },
}
_ONE_ROW = {
    "h100": {8: 0, 16: 1 << 9, 32: 22_000, 64: 1 << 17},
    "a100": {8: 0, 16: 1 << 16, 32: 1 << 15, 64: 1 << 16},
}
_BYTES = {"h100": (1300, 8, 26_000), "a100": (1000, 5, 43_000)}
_OTHERWISE = 16_384  # elements, on other devices


class SortOrder(NamedTuple):
    """The keys of a sort: the operand's number, and the direction."""

    key: int
    descending: bool


def order_of(sort: HloInstruction) -> SortOrder | None:
    """Return the order if the comparator compares the two keys of one operand, else None."""
    return order_of_comparison(sort.called[0].root)


def order_of_comparison(root: HloInstruction, *, total_order: bool = False) -> SortOrder | None:
    """Return the order by a comparison of the two keys of one operand, else None.

    total_order: look through the integers by which floats are compared with NaN.
    """
    if root.opcode.name != "compare" or root.attributes["direction"] in ("EQ", "NE"):
        return None
    keys = [ordered_float(o) if total_order else o for o in root.operands]
    if any(o.opcode.name != "parameter" for o in keys):
        return None
    first, second = [o.parameter_number for o in keys]
    low = min(first, second)
    if low % 2 or {first, second} != {low, low + 1}:
        return None
    descending = root.attributes["direction"] in ("GT", "GE")
    return SortOrder(low // 2, descending != (low != first))


def ordered_float(i: HloInstruction) -> HloInstruction:
    """Return x for select(bits < 0, bits ^ largest, bits) with the bits of x, else `i`."""
    if i.opcode.name != "select":
        return i
    negative, flipped, bits = i.operands
    if (
        bits.opcode.name == "bitcast-convert"
        and negative.opcode.name == "compare"
        and negative.operands[0] is bits
        and negative.attributes["direction"] == "LT"
        and flipped.opcode.name in ("xor", "subtract")
        and bits in flipped.operands
    ):
        return bits.operands[0]
    return i


def faster_on(device: str, bits: int, batch: int, row: int) -> bool:
    """Return True if CUB sorts rows of this length faster than the kernel of XLA."""
    if device not in _FASTER:
        return batch * row > _OTHERWISE
    if batch == 1:
        return row > _ONE_ROW[device].get(bits, 1 << 62)
    if bits == 8:
        least, few, short = _BYTES[device]
        return row > least and (batch > few or row < short)
    return any(batch > least and row > 1 << power for least, power in _FASTER[device].get(bits, ()))


@register_pass()
@dataclasses.dataclass(frozen=True)
class SortRewriter(OpExpanderPass):
    """Call CUB for sorts of one array, or of keys and values.

    mode: `always`; `auto` for sorts that CUB does faster; `known-size` for sorts that fit 32-bit
    numbers of elements, whose scratch sizes are known without the device; or `never`. device:
    `a100`, `h100` or another.
    """

    name: ClassVar[str] = "sort-rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["sort"])
    mode: str = "auto"
    device: str = ""

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a sort that CUB has a kernel for, and that it does faster."""
        shape = i.operands[0].shape
        order = order_of(i)
        if (
            len(i.operands) > 2
            or order is None
            or order.key >= len(i.operands)
            or any(any(o.shape.dynamic) for o in i.operands)
            or list(i.attributes["dimensions"]) != [shape.rank - 1]
        ):
            return False
        key = i.operands[order.key].shape.element_type
        if len(i.operands) == 1:
            known = key.name in _ALONE
        else:
            bits = i.operands[1 - order.key].shape.element_type.bits
            known = key.name in _PAIRED and bits in (16, 32, 64)
        row = shape.dimensions[-1]
        batch = prod(shape.dimensions[:-1])
        kind = shape.element_type.bits
        if self.mode in ("never", "known-size"):
            return known and self.mode == "known-size" and batch * row < 1 << 31
        return known and (
            self.mode == "always" or (row > 0 and faster_on(self.device, kind, batch, row))
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the sorted arrays of a custom call with the keys first."""
        order, computation = order_of(i), b.computation
        if order is None:
            return None
        operands = i.operands if order.key == 0 else i.operands[::-1]
        scratch = array_shape(U8, (0,))
        shape = tuple_shape([*[o.shape for o in operands], scratch])
        config = json.dumps({"descending": order.descending}, separators=(",", ":"))
        call = computation.add(
            "custom-call",
            shape,
            operands,
            attributes_of({"custom_call_target": TARGET, "backend_config": config}),
            metadata=i.metadata,
        )
        parts = [
            computation.add(
                "get-tuple-element", o.shape, (call,), attributes_of({"index": operands.index(o)})
            )
            for o in i.operands
        ]
        whole = parts[0] if len(parts) == 1 else computation.add("tuple", i.shape, parts)
        return HloValue(b, whole)
