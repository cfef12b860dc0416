"""Triangular systems by a loop over rows. Source: xla/service/triangular_solve_expander.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.cholesky_expander import (
    column_mask,
    conjugate,
    swapped,
    zeros,
)
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


@register_pass("triangular-solve-expander")
@dataclasses.dataclass(frozen=True)
class TriangularSolveExpander(OpExpanderPass):
    """Expand triangular-solve by substitution: row i of x is (b_i - a_i x) / a_ii."""

    name: ClassVar[str] = "triangular_solve_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["triangular-solve"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a while loop over the rows, after conversion to op(a) x = b."""
        a, given = values_of(b, i)
        rank, lower, unit = a.ndim, i.attributes.value("lower"), i.attributes.value("unit_diagonal")
        rows, columns = [b.iota(a.shape.base.with_element_type(S32), rank - k) for k in (2, 1)]
        a = b.select(rows >= columns if lower else rows <= columns, a, zeros(b, a))
        how, left = i.attributes.value("transpose_a"), i.attributes.value("left_side")
        if how == "ADJOINT":
            a = conjugate(b, a)
        if (how in ("TRANSPOSE", "ADJOINT")) == left:
            a, lower = swapped(b, a), not lower
        if not left:
            given = swapped(b, given)
        size = a.shape.dimensions[-1]
        if not size or not given.size:
            return values_of(b, i)[1]

        def row(
            step: HloValue, a: HloValue, given: HloValue, x: HloValue
        ) -> tuple[HloValue, HloValue, HloValue]:
            b = step.builder
            at = step if lower else size - 1 - step
            of_a = b.select(column_mask(b, a, at, rank - 2), a, zeros(b, a)).sum(rank - 2)
            # Not a_ii times the 0 that x_i still is: an infinite a_ii would make it NaN, and a unit
            # diagonal must not be read.
            others = b.select(column_mask(b, of_a, at, rank - 2), zeros(b, of_a), of_a)
            spread = b.broadcast(others, x.shape.dimensions, tuple(range(rank - 1)))
            known = (spread * x).sum(rank - 2)
            here = (
                b.select(column_mask(b, given, at, rank - 2), given, zeros(b, given)).sum(rank - 2)
                - known
            )
            if not unit:
                pivot = b.select(column_mask(b, of_a, at, rank - 2), of_a, zeros(b, of_a)).sum(
                    rank - 2
                )
                here = here / b.broadcast(pivot, here.shape.dimensions, tuple(range(rank - 2)))
            made = b.broadcast(here, x.shape.dimensions, (*range(rank - 2), rank - 1))
            return a, given, b.select(column_mask(b, x, at, rank - 2), made, x)

        x = b.fori_loop(0, size, row, (a, given, zeros(b, given)))[2]
        return x if left else swapped(b, x)
