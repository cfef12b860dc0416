"""How far an instruction fits a pattern, and the first thing that does not: why a rule stays silent."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.rewriting.patterns import Pattern, why_not_node
from xla_explorer.hlo.instruction import HloInstruction


class Fit(NamedTuple):
    """fits: how many nodes of the pattern do. nodes: how many it has. why: the first that does not, as a sentence; empty where all do."""

    fits: int
    nodes: int
    why: str


def fit(pattern: Pattern, i: HloInstruction) -> Fit:
    """The best way to lay a pattern over an instruction. One capture in two places is not looked at: `matches` decides."""
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
