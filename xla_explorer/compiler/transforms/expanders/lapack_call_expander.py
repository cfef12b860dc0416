"""HLO operations for LAPACK and BLAS calls.

Triangular systems always, Cholesky if no library can be called. XLA has no such pass: its CPU
backend runs the calls.
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.hlo.analysis.backend_config import letter
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32

_CALL = re.compile(r'"?(?:lapack|blas)_[sdcz](trsm|potrf)(?:_ffi)?"?')
_TRANSPOSES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def _routine(i: HloInstruction) -> str:
    found = _CALL.fullmatch(str(i.attributes.get("custom_call_target") or ""))
    return found.group(1) if found and i.attributes.get("backend_config") is not None else ""


@register_pass("lapack-call-expander")
@dataclasses.dataclass(frozen=True)
class LapackCallExpander(OpExpanderPass):
    """Replace trsm by triangular-solve and, with `factorizations`, potrf by cholesky.

    A failure of cholesky is NaN; the expansion adds the status.
    """

    factorizations: bool = False
    name: ClassVar[str] = "lapack-call-expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["custom-call"])

    def matches(self, i: HloInstruction) -> bool:
        """Return True for trsm or potrf on matrices of one batch and element type."""
        routine = _routine(i)
        shapes = [o.shape for o in i.operands]
        if routine == "trsm":
            whole = (
                len(shapes) == 2 and i.shape.is_array and i.shape.base.compatible(shapes[1].base)
            )
            return (
                whole
                and shapes[0].rank == shapes[1].rank
                and shapes[0].dimensions[:-2] == shapes[1].dimensions[:-2]
            )
        return (
            routine == "potrf"
            and self.factorizations
            and len(shapes) == 1
            and len(i.shape.tuple_shapes) == 2
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return the operation."""
        lower = letter(i, "uplo", "L") == "L"
        if _routine(i) == "trsm":
            a, right = values_of(b, i)
            return b.triangular_solve(
                a, right, left_side=letter(i, "side", "L") == "L", lower=lower, unit_diagonal=letter(i, "diag", "N") == "U",
                transpose_a=_TRANSPOSES[letter(i, "trans_x", "N")],
            )  # fmt: skip
        [a] = values_of(b, i)
        rank = a.ndim
        factor = b.cholesky(a, lower=lower)
        rows, columns = (
            b.iota(a.shape.base.with_element_type(S32), dimension)
            for dimension in (rank - 2, rank - 1)
        )
        kept = b.select(rows >= columns if lower else rows <= columns, factor, a)
        real = factor.real if a.dtype.is_complex else factor
        corner = real[..., 0, 0]
        failed = (corner != corner).astype(S32)
        return b.tuple(kept, failed)
