"""Near misses of patterns: how many nodes match, and the first node that does not."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.rewriting.patterns import Pattern, why_not_node
from xla_explorer.hlo.instruction import HloInstruction


class Fit(NamedTuple):
    """The match of an instruction with a pattern.

    fits: number of matching nodes. nodes: number of nodes. why: a sentence about the first node
    that does not match, else empty.
    """

    fits: int
    nodes: int
    why: str


def fit(pattern: Pattern, i: HloInstruction) -> Fit:
    """Return the best match of a pattern with an instruction.

    Repeated captures are not compared; `matches` decides.
    """
    nodes = _size(pattern)
    why = why_not_node(pattern, i)
    if why:
        return Fit(0, nodes, why)
    if pattern.operands is None:
        return Fit(1, nodes, "")
    if len(pattern.operands) != len(i.operands):
        return Fit(
            0,
            nodes,
            f"%{i.name} has {len(i.operands)} operands, the pattern {len(pattern.operands)}",
        )
    orders = [i.operands, tuple(reversed(i.operands))] if pattern.commutes else [i.operands]
    best = max(
        [_together(pattern.operands, tuple(order)) for order in orders],
        key=lambda found: (not found.why, found.fits),
    )
    why = best.why or (
        ""
        if pattern.predicate is None or pattern.predicate(i)
        else f"%{i.name} does not pass {pattern.predicate.__name__}"
    )
    return Fit(best.fits + 1, nodes, why)


def _together(patterns: tuple[Pattern, ...], operands: tuple[HloInstruction, ...]) -> Fit:
    found = [fit(pattern, operand) for pattern, operand in zip(patterns, operands, strict=True)]
    return Fit(
        sum([f.fits for f in found]),
        sum([f.nodes for f in found]),
        next((f.why for f in found if f.why), ""),
    )


def _size(pattern: Pattern) -> int:
    return 1 + sum([_size(operand) for operand in pattern.operands or ()])
