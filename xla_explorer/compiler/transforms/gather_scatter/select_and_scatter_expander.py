"""select-and-scatter as a reduce-window that finds the places, and a scatter.

Source: xla/service/select_and_scatter_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_shape
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, builder_at, values_of
from xla_explorer.compiler.transforms.inlining.call_inliner import inline_call
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32
from xla_explorer.hlo.shape import Shape


def selecting_reducer(
    b: HloBuilder, select: HloComputation, element: Shape, rank: int
) -> HloComputation:
    """Return a reducer of (value, places..., value, places...) to the side that `select` chooses.

    A place of -1 is padding and is never chosen.
    """
    inner = b.nested(f"{select.name}.reduce_window")
    sides = []
    for side in ("lhs", "rhs"):
        value = inner.parameter(element, f"operand_{side}")
        sides.append((value, [inner.parameter(S32, f"iota_{side}") for _ in range(rank)]))
    (left, left_places), (right, right_places) = sides
    chosen = inner.call(left, right, to_apply=select)
    holder = inner.tuple(chosen)
    inline_call(chosen.instruction)
    chosen = HloValue(inner, holder.instruction.operands[0])
    inner.computation.remove(holder.instruction)
    first = (chosen & (left_places[0] != -1)) | ~(right_places[0] != -1)
    result = [inner.select(first, left, right)] + [
        inner.select(first, p, q) for p, q in zip(left_places, right_places, strict=True)
    ]
    inner.computation.set_root(inner.tuple(*result).instruction)
    return inner.computation


@register_pass()
@dataclasses.dataclass(frozen=True)
class SelectAndScatterExpander(OpExpanderPass):
    """Replace select-and-scatter by a reduce-window and a scatter.

    The reduce-window over the operand and its coordinates finds the selected place of every window.
    The scatter adds the sources there to an array of initial values.
    """

    name: ClassVar[str] = "select_and_scatter_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["select-and-scatter"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for at least one dimension."""
        return i.shape.rank > 0

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the reduce-window and the scatter."""
        operand, source, init = values_of(b, i)
        select, scatter = i.called
        rank = i.shape.rank
        places = [b.iota(i.shape.base.with_element_type(S32), d) for d in range(rank)]
        reducer = selecting_reducer(
            builder_at(b.computation), select, scalar_shape(operand.shape), rank
        )
        found = b.reduce_window(
            operand,
            *places,
            init,
            *[b.constant(-1, S32)] * rank,
            window=i.attributes["window"],
            to_apply=reducer,
        )
        vectors = [b.reshape(found[k + 1], (*source.shape.dimensions, 1)) for k in range(rank)]
        indices = b.concatenate(*vectors, dimensions=[rank])
        return b.scatter(
            b.broadcast(init, i.shape.dimensions, ()),
            indices,
            source,
            update_window_dims=[],
            inserted_window_dims=list(range(rank)),
            scatter_dims_to_operand_dims=list(range(rank)),
            index_vector_dim=rank,
            to_apply=scatter,
        )
