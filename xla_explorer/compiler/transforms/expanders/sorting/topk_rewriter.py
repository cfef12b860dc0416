"""Sorts whose first elements alone are read, as calls of TopK.

Source: xla/service/topk_rewriter.cc.

===========================================  =================================================
handled by XLA                               here
===========================================  =================================================
sort of values, or of values and an iota,    the custom call TopK
along the last dimension
GT (largest) and LT (smallest) comparators   the same, of parameters or of their bits in
                                             total order
every reader slices the first k              required, one k for all
batches in one dimension before              the same; more dimensions: hole
the first dimension of two                   hole: a transpose in XLA
profitability of the backend                 always profitable
===========================================  =================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.patterns import uniform_value
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.library_calls.sort_rewriter import (
    SortOrder,
    order_of_comparison,
)
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import tuple_shape

_TARGET = '"TopK"'


def _slices(i: HloInstruction) -> list[HloInstruction] | None:
    """Return the readers if all of them are slices, else None."""
    ours = all(u.opcode.name == "slice" for u in i.users) and not i.is_root
    return list(i.users) if ours else None


def first_elements(sort: HloInstruction) -> int | None:
    """Return k if every reader slices the first k elements of the last dimension, else None."""
    results = list(sort.users) if sort.shape.is_tuple else [sort]
    if any(r.opcode.name != "get-tuple-element" for r in results) and sort.shape.is_tuple:
        return None
    found = set()
    for result in results:
        slices = _slices(result)
        if not slices:
            return None
        for slice_ in slices:
            *batch, last = slice_.attributes["slice"]
            sizes = result.shape.dimensions
            whole = all(
                d.start == 0 and d.stride == 1 and d.limit == n
                for d, n in zip(batch, sizes, strict=False)
            )
            if not whole or last.start or last.stride != 1:
                return None
            found.add(last.limit)
    return found.pop() if len(found) == 1 and not sort.is_root else None


def sorted_order(sort: HloInstruction) -> SortOrder | None:
    """Return the order of a sort, past a select that always takes the comparison."""
    root = sort.called[0].root
    if root.opcode.name == "select" and uniform_value(root.operands[0]) is not None:
        taken = root.operands[1 if uniform_value(root.operands[0]) else 2]
        return order_of_comparison(taken, total_order=True)
    return order_of_comparison(root, total_order=True)


def is_top_k(sort: HloInstruction) -> bool:
    """Return True for a sort of values, with their places or alone, along the last dimension."""
    shape = sort.operands[0].shape
    order = sorted_order(sort)
    places = sort.operands[1] if len(sort.operands) == 2 else None
    counted = places is None or (
        places.opcode.name == "iota"
        and int(places.attributes["iota_dimension"]) == shape.rank - 1
        and places.shape.element_type is S32
    )
    return (
        len(sort.operands) <= 2
        and shape.rank in (1, 2)
        and order is not None
        and order.key == 0
        and list(sort.attributes["dimensions"]) == [shape.rank - 1]
        and counted
    )


@register_pass()
@dataclasses.dataclass(frozen=True)
class TopkRewriter:
    """Call TopK where a sort's first elements alone are needed."""

    name: ClassVar[str] = "topk-rewriter"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every sort."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if i.opcode.name != "sort" or not is_top_k(i):
                    continue
                k = first_elements(i)
                if k is not None and context.decide(self.name, (), (), i) is None:
                    call = _call(i, k)
                    context.rewrote(self.name, i, call, (call.id,), {"k": k})
                    changed = True
        return changed


def _call(sort: HloInstruction, k: int) -> HloInstruction:
    """Replace the slices of a sort by the results of a call, and return the call."""
    computation, x = sort.parent, sort.operands[0]
    values = x.shape.with_dimensions((*x.shape.dimensions[:-1], k))
    shapes = (values, values.with_element_type(S32))
    call = computation.add(
        "custom-call",
        tuple_shape(shapes),
        (x,),
        attributes_of({"custom_call_target": _TARGET}),
        called=sort.called,
        metadata=sort.metadata,
    )
    results = list(sort.users) if sort.shape.is_tuple else [sort]
    for result in results:
        number = int(result.attributes["index"]) if sort.shape.is_tuple else 0
        part = computation.add(
            "get-tuple-element", shapes[number], (call,), attributes_of({"index": number})
        )
        for slice_ in list(result.users):
            computation.replace(slice_, part)
            computation.remove(slice_)
        remove_if_dead(computation, result)
    return call
