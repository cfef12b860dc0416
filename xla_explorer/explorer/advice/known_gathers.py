"""A rule for stencils and rolls that are written as gathers."""

from __future__ import annotations

from xla_explorer.explorer.advice.rules import Advice, Facts
from xla_explorer.explorer.advice.slow_forms import fusion_around, of_kernels
from xla_explorer.hlo.instruction import HloInstruction

_DEEPEST = 40  # operations between an index and the constants that it is made of


def slices_for_known_gathers(facts: Facts) -> Advice | None:
    """Advise against gathers of single elements whose indices are constants: stencils, rolls."""

    def known(i: HloInstruction, depth: int = 0) -> bool:
        if i.opcode.name in ("constant", "iota"):
            return True
        if i.opcode.name == "parameter":
            fusion = fusion_around(i)
            return fusion is not None and known(fusion.operands[i.parameter_number], depth)
        if i.opcode.name == "fusion":
            return depth < _DEEPEST and all(known(o, depth + 1) for o in i.operands)
        return (
            bool(i.operands) and depth < _DEEPEST and all(known(o, depth + 1) for o in i.operands)
        )

    def is_stencil(i: HloInstruction) -> bool:
        return i.opcode.name == "gather" and known(i.operands[1])

    change = "read shifted slices instead, x[1:] - x[:-1] or jnp.roll(x, 1), jnp.pad at the border"
    return of_kernels(
        facts, is_stencil, "gathers by indices that are constants (a stencil or a roll)", change
    )
