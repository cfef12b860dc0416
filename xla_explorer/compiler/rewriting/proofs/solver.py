"""The SMT solver, loaded at its first use, and the budget of a question."""

from __future__ import annotations

from functools import cache
from typing import Any

from xla_explorer.foundation.optional import import_optional

RESOURCES = 3_000_000
"""Limit of a question in the solver's own units, so that a result depends on no machine."""

_MILLISECONDS = 10_000
"""A second limit: the procedure for polynomials does not count resources."""


@cache
def z3() -> Any:
    """Return the package z3; MissingExtraError names the extra `prove`."""
    return import_optional("z3", "prove")


class Verdict:
    """The solver's answer.

    holds: True, False, or None if the budget ended first. model: the values for False.
    """

    __slots__ = ("holds", "model")

    def __init__(self, holds: bool | None, model: Any = None) -> None:
        self.holds, self.model = holds, model


def decide(claim: Any, premises: tuple[Any, ...] = (), resources: int = RESOURCES) -> Verdict:
    """Return whether a claim holds for all values that satisfy the premises."""
    solver = z3()
    # A sum of monomials decides identities of rings, which are hard for bit-vectors.
    if solver.is_true(solver.simplify(claim, som=True)):
        return Verdict(True)
    query = solver.Solver()
    query.set("rlimit", resources)
    query.set("timeout", _MILLISECONDS)
    query.add(*premises, solver.Not(claim))
    result = query.check()
    if result == solver.unsat:
        return Verdict(True)
    if result == solver.sat:
        return Verdict(False, query.model())
    return Verdict(None)
