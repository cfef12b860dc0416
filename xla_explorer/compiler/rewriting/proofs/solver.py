"""The SMT solver, loaded at its first use, and the budget of a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

from xla_explorer.foundation.optional import import_optional

_RESOURCES = 8_000_000
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


def decide(claim: Any, premises: Sequence[Any] = ()) -> Verdict:
    """Return whether a claim holds for all values that satisfy the premises."""
    solver = z3()
    # A sum of monomials decides identities of rings, which are hard for bit-vectors.
    if solver.is_true(solver.simplify(claim, som=True)):
        return Verdict(True)
    query = solver.Solver()
    query.set("rlimit", _RESOURCES)
    query.set("timeout", _MILLISECONDS)
    query.add(*premises, solver.Not(claim))
    result = query.check()
    if result == solver.unsat:
        return Verdict(True)
    if result == solver.sat:
        return Verdict(False, query.model())
    return Verdict(None)


class WrittenOut:
    """The sizes of terms once their products of sums and their powers are written out.

    The solver writes them out. Where they are too large, the process ends instead of the question:
    who makes terms must stop before. The terms must live as long as this object.
    """

    MOST = 20_000

    def __init__(self) -> None:
        self._sizes: dict[int, _Size] = {}

    def is_too_large(self, term: Any) -> bool:
        """Return True if the solver must not be given the term."""
        stack = [term]
        while stack:
            top = stack[-1]
            children = top.children()
            missing = [child for child in children if child.get_id() not in self._sizes]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            sizes = [self._sizes[child.get_id()] for child in children]
            self._sizes[top.get_id()] = _combined(top.decl().kind(), sizes, self.MOST + 1)
        return self._sizes[term.get_id()].largest > self.MOST


class _Size(NamedTuple):
    """The monomials of a term, factors of the longest one, and factors of the largest subterm."""

    monomials: int
    degree: int
    largest: int


def _combined(kind: int, sizes: Sequence[_Size], most: int) -> _Size:
    """Return the size of an operation; one without a law of rings is an atom."""
    monomials = degree = 1
    if kind in (z3().Z3_OP_MUL, z3().Z3_OP_BMUL):
        monomials = prod(size.monomials for size in sizes)
        degree = sum(size.degree for size in sizes)
    elif kind in (z3().Z3_OP_ADD, z3().Z3_OP_SUB, z3().Z3_OP_BADD, z3().Z3_OP_BSUB):
        monomials = sum(size.monomials for size in sizes)
        degree = max(size.degree for size in sizes)
    largest = max([monomials * degree, *[size.largest for size in sizes]])
    return _Size(*(min(number, most) for number in (monomials, degree, largest)))
