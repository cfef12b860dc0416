"""Folding of transposes into dots. Source: xla/service/transpose_folding.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, remove_if_dead
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import opcode

DOT = opcode("dot")
TRANSPOSE = opcode("transpose")
_SIDES = ("lhs", "rhs")


def _roles(
    dot: HloInstruction, side: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return batch, contracting and free dimensions of one operand."""
    batch = dot.attributes.value(f"{_SIDES[side]}_batch_dims")
    contracting = dot.attributes.value(f"{_SIDES[side]}_contracting_dims")
    free = tuple(
        [d for d in range(dot.operands[side].shape.rank) if d not in batch and d not in contracting]
    )
    return batch, contracting, free


def _free(dot: HloInstruction, transpose: HloInstruction) -> list[int]:
    return [
        d
        for side, operand in enumerate(dot.operands)
        if operand is transpose
        for d in _roles(dot, side)[2]
    ]


@value_formatter(
    lambda dot, transpose: (
        f"permutation {list(transpose.attributes.value('dimensions'))}, free "
        f"{_free(dot, transpose)}"
    )
)
def free_dimensions_keep_order(dot: HloInstruction, transpose: HloInstruction) -> Reason | None:
    """Require that the transpose keeps the order of free dimensions, which the result lists."""
    permutation = transpose.attributes.value("dimensions")
    for side, operand in enumerate(dot.operands):
        if operand is transpose:
            moved = [permutation[d] for d in _roles(dot, side)[2]]
            if moved != sorted(moved):
                return refuse(
                    "free-dimensions-reordered",
                    f"%{transpose.name} reorders dimensions that the result of %{dot.name} keeps",
                )
    return None


@value_formatter(
    lambda dot, transpose: (
        f"{described(transpose.operands[0])}, permutation "
        f"{list(transpose.attributes.value('dimensions'))}"
    )
)
def rows_stay_contiguous(dot: HloInstruction, transpose: HloInstruction) -> Reason | None:
    """Require that the source is a matrix with a unit stride, for a library."""
    permutation, source = transpose.attributes.value("dimensions"), transpose.operands[0].shape
    for side, operand in enumerate(dot.operands):
        if operand is not transpose:
            continue
        batch, contracting, free = [
            [permutation[d] for d in dims if source.dimensions[permutation[d]] != 1]
            for dims in _roles(dot, side)
        ]
        large = [d for d in range(source.rank) if source.dimensions[d] != 1]
        if len(contracting) > 1 or len(free) > 1:
            return refuse(
                "not-a-matrix", f"%{transpose.name} has more than one free or contracted dimension"
            )
        if large and large[-1] in batch:
            return refuse(
                "batch-innermost",
                f"the batch dimension of %{transpose.operands[0].name} varies fastest",
            )
    return None


def fold_transpose(dot: HloInstruction, side: int) -> None:
    """Replace the dot's transposed operand by its source."""
    transpose, computation = dot.operands[side], dot.parent
    permutation = transpose.attributes.value("dimensions")
    batch, contracting, _ = _roles(dot, side)
    name = _SIDES[side]
    changes = {
        f"{name}_batch_dims": tuple([permutation[d] for d in batch]),
        f"{name}_contracting_dims": tuple([permutation[d] for d in contracting]),
    }
    computation.set_attributes(dot, dot.attributes.with_values(**changes))
    computation.replace_operand(dot, side, transpose.operands[0])
    remove_if_dead(computation, transpose, control_targets(computation))


@register_pass()
@dataclasses.dataclass(frozen=True)
class TransposeFolding:
    """Fold transposes into dots: dot(transpose(a), b) contracts another dimension of a."""

    name: ClassVar[str] = "transpose-folding"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Fold at every dot."""
        changed = False
        for computation in list(module.computations.values()):
            for dot in [i for i in computation.instructions.values() if i.opcode is DOT]:
                for side in (0, 1):
                    operand = dot.operands[side]
                    if (
                        operand.opcode is not TRANSPOSE
                        or dot.shape.rank != len(dot.attributes.value("lhs_batch_dims")) + 2
                        or any(operand.shape.dynamic)
                        or dot.operands[0] is dot.operands[1]
                        or (
                            operand.operands[0].shape.base is operand.shape.base
                            and list(operand.attributes["dimensions"])
                            == sorted(operand.attributes["dimensions"])
                        )
                    ):
                        continue
                    if (
                        context.decide(
                            "transpose-folding",
                            (free_dimensions_keep_order,),
                            (rows_stay_contiguous,),
                            dot,
                            operand,
                        )
                        is None
                    ):
                        fold_transpose(dot, side)
                        changed = True
        return changed
