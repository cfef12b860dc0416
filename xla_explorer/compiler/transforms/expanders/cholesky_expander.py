"""Cholesky factors by a loop over columns.

Source: xla/hlo/transforms/expanders/cholesky_expander.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32


def conjugate(b: HloBuilder, x: HloValue) -> HloValue:
    """Return the complex conjugate; x itself if it is real."""
    return b.complex(x.real, -x.imag) if x.dtype.is_complex else x


def swapped(b: HloBuilder, x: HloValue) -> HloValue:
    """Return x with the last two dimensions exchanged."""
    return b.transpose(x, dimensions=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def column_mask(b: HloBuilder, x: HloValue, j: HloValue, dimension: int) -> HloValue:
    """Return True where the coordinate along the dimension is j."""
    return b.iota(x.shape.base.with_element_type(S32), dimension) == b.broadcast(
        j, x.shape.dimensions, ()
    )


def zeros(b: HloBuilder, x: HloValue) -> HloValue:
    """Return zeros of the same shape."""
    return b.broadcast(b.constant(0, x.dtype), x.shape.dimensions, ())


@register_pass("cholesky-expander")
@dataclasses.dataclass(frozen=True)
class CholeskyExpander(OpExpanderPass):
    """Expand cholesky by columns: (a_j - L conj(L_j)) / sqrt of the diagonal element."""

    name: ClassVar[str] = "cholesky_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["cholesky"])

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a while loop; for the upper factor of the transposed matrix."""
        [a] = values_of(b, i)
        lower, rank, size = i.attributes.value("lower"), a.ndim, a.shape.dimensions[-1]
        if not size:
            return a

        def column(j: HloValue, a: HloValue, factor: HloValue) -> tuple[HloValue, HloValue]:
            b = j.builder
            row = b.select(column_mask(b, factor, j, rank - 2), factor, zeros(b, factor)).sum(
                rank - 2
            )
            spread = b.broadcast(
                conjugate(b, row), a.shape.dimensions, (*range(rank - 2), rank - 1)
            )
            here = b.select(column_mask(b, a, j, rank - 1), a, zeros(b, a)).sum(rank - 1) - (
                factor * spread
            ).sum(rank - 1)
            diagonal = b.select(column_mask(b, here, j, rank - 2), here, zeros(b, here)).sum(
                rank - 2
            )
            root = diagonal.real.sqrt() if a.dtype.is_complex else diagonal.sqrt()
            root = b.broadcast(
                b.complex(root, zeros(b, root)) if a.dtype.is_complex else root,
                here.shape.dimensions,
                tuple(range(rank - 2)),
            )
            below = b.iota(here.shape.base.with_element_type(S32), rank - 2) >= b.broadcast(
                j, here.shape.dimensions, ()
            )
            made = b.broadcast(
                b.select(below, here / root, zeros(b, here)),
                a.shape.dimensions,
                tuple(range(rank - 1)),
            )
            return a, b.select(column_mask(b, factor, j, rank - 1), made, factor)

        source = a if lower else conjugate(b, swapped(b, a))
        loop = b.fori_loop(0, size, column, (source, zeros(b, a)))
        return loop[1] if lower else conjugate(b, swapped(b, loop[1]))
