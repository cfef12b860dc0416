"""The step `choose-guards`: guards of loops become branches around their bodies.

A branch skips all loads of a body at once. If threads synchronise inside, or if unrolled instances
differ in the guards, the guards stay conditions of each access.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.lowering.nest_step import INSTANCES, NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Body,
    For,
    LoopNest,
    Store,
    axes_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.launch import crosses_threads


def with_branches(nest: LoopNest) -> LoopNest:
    """Return the nest whose loops are marked if their guards are branches."""
    shared = {s.array.name for s, _ in nest.statements() if isinstance(s, Allocate)}
    forms = {}
    for s, around in nest.statements():
        if not isinstance(s, For) or not s.guards or _synchronises(s.body, shared):
            continue
        axes = frozenset().union(*[g.expression.axes for g in s.guards])
        unrolled = [b.axis for x in (*around, s) for b in axes_of(x) if b.kind in INSTANCES]
        if axes.isdisjoint(unrolled):
            forms[s.axis.name] = nest.form(s.axis)._replace(branches=True)
    return nest.with_forms(forms) if forms else nest


def _synchronises(body: Body, shared: set[str]) -> bool:
    """Return True if threads wait for each other, or store to memory that they share."""
    return any(
        crosses_threads(s) or (isinstance(s, Store) and s.array in shared) for s, _ in walk(body)
    )


CHOOSE_GUARDS = NestStep(
    "choose-guards",
    "Make guards branches where all threads and instances inside may skip the body.",
    with_branches,
    for_cpus=False,
)
