"""The step `simplify-guards`: guards without the steps of unrolled axes that cannot change them.

For a guard `8*i + j < 24` whose axis `j` has 8 unrolled steps, all steps of `j` agree: `i < 3`. The
instances of the statement then share one condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xla_explorer.compiler.codegen.lowering.nest_step import INSTANCES, NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Case,
    For,
    LoopNest,
    Reduce,
    SelectRegion,
    Statement,
    axes_of,
    with_bodies,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard


def simplified_guards(nest: LoopNest) -> LoopNest:
    """Return the nest with simpler guards."""
    if not any(_guards_of(s) for s, _ in nest.statements()):
        return nest
    body = _body(nest.body, ())
    return nest if body is nest.body else replace(nest, body=body)


def _guards_of(s: Statement) -> tuple[Guard, ...]:
    if isinstance(s, For | Reduce):
        return s.guards
    if isinstance(s, SelectRegion):
        return tuple([g for case in s.cases for g in case.guards])
    return ()


def _body(body: Body, unrolled: tuple[Axis, ...]) -> Body:
    made = tuple([_statement(s, unrolled) for s in body])
    return body if all(x is y for x, y in zip(body, made, strict=True)) else made


def _statement(s: Statement, unrolled: tuple[Axis, ...]) -> Statement:
    inner = (*unrolled, *[axis for axis, kind in axes_of(s) if kind in INSTANCES])
    made = with_bodies(s, lambda body: _body(body, inner))
    if isinstance(made, For | Reduce):
        guards = simpler(made.guards, inner)
        return made if guards == made.guards else replace(made, guards=guards)
    if isinstance(made, SelectRegion):
        cases = [Case(simpler(c.guards, inner), c.body, c.value) for c in made.cases]
        if any(new.guards != old.guards for new, old in zip(cases, made.cases, strict=True)):
            return replace(made, cases=tuple(cases))
    return made


def simpler(guards: Sequence[Guard], unrolled: Sequence[Axis]) -> tuple[Guard, ...]:
    """Return guards divided by the steps of unrolled axes that all agree."""
    found = []
    for g in guards:
        for axis in unrolled:
            n = axis.extent
            if g.bound % n == 0 and axis in g.expression.axes:
                divided = g.expression // n
                if axis not in divided.axes:
                    g = Guard(divided, g.bound // n)
        found.append(g)
    return tuple(found)


SIMPLIFY_GUARDS = NestStep(
    "simplify-guards",
    "Divide guards by the steps of unrolled axes for which they agree.",
    simplified_guards,
    for_cpus=False,
)
