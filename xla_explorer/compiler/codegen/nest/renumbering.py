"""Statements copied or moved to another place of a nest: with numbers of their own, along other axes; and values that nothing takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import (
    Body,
    Choose,
    Compute,
    Constant,
    Definition,
    For,
    Iota,
    Load,
    LoopNest,
    Reduce,
    Statement,
    Store,
    ids_of,
    rewritten,
    uses_of,
    walk,
    with_axes_replaced,
)
from xla_explorer.hlo.analysis.indexing import IndexExpression, RuntimeValue, Substitution, index


def renumbered(body: Body, numbers: Mapping[int, int], axes: Substitution | None = None) -> Body:
    """The body with other numbers for values that it defines or takes, and with axes replaced. No combiner in it is a `Combination`."""
    runtime = {
        atom: RuntimeValue(f"%{numbers[number]}", atom.place, atom.low, atom.high)
        for s, _ in walk(body)
        for x in _indices(s)
        for atom in x.atoms()
        if isinstance(atom, RuntimeValue) and (number := int(atom.source[1:])) in numbers
    }
    values: Substitution = {**{old: index(new) for old, new in runtime.items()}, **(axes or {})}

    def new(old: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([numbers.get(number, number) for number in old])

    def change(s: Statement) -> Statement | None:
        if isinstance(s, Store):
            return replace(s, value=numbers.get(s.value, s.value))
        if isinstance(s, Compute):
            return replace(s, id=numbers.get(s.id, s.id), operands=new(s.operands))
        if isinstance(s, Reduce):
            return replace(s, ids=new(s.ids), initial=new(s.initial), values=new(s.values))
        if isinstance(s, Choose):
            cases = tuple([replace(case, value=numbers.get(case.value, case.value)) for case in s.cases])
            return replace(s, id=numbers.get(s.id, s.id), cases=cases)
        return replace(s, id=numbers.get(s.id, s.id)) if isinstance(s, Load | Constant | Iota) else None

    return rewritten(with_axes_replaced(body, values), change)


def fresh_numbers(body: Body, first: int) -> dict[int, int]:
    """Numbers from `first` on for all values that a body defines."""
    return {number: first + k for k, number in enumerate([n for s, _ in walk(body) for n in ids_of(s)])}


def needed_of(before: Body, body: Body) -> Body:
    """The statements of `before` that a body takes values of, directly or through one another."""
    wanted = {number for s, _ in walk(body) for number in uses_of(s)}
    found: list[Statement] = []
    for s in reversed(before):
        if wanted & set(ids_of(s)):
            found.append(s)
            wanted.update([number for inner, _ in walk((s,)) for number in uses_of(inner)])
    return tuple(reversed(found))


def without_unused(nest: LoopNest) -> LoopNest:
    """The nest without values that nothing takes."""
    while True:
        used = {number for s, _ in walk(nest.body) for number in uses_of(s)}
        body = _kept(nest.body, used)
        if body is nest.body:
            return nest
        nest = replace(nest, body=body)


def _kept(body: Body, used: set[int]) -> Body:
    def change(s: Statement) -> Body | None:
        unused = isinstance(s, Definition) and not used & set(ids_of(s)) and not (isinstance(s, Load) and s.only_asks)
        stores = any(isinstance(x, Store | For) for x, _ in walk((s,)))
        return () if unused and not stores else None

    return rewritten(body, change)


def _indices(s: Statement) -> tuple[IndexExpression, ...]:
    """The indices and guards of a statement."""
    if isinstance(s, Load | Store):
        return s.place
    if isinstance(s, Iota):
        return (s.index,)
    guards = s.guards if isinstance(s, For | Reduce) else [g for case in s.cases for g in case.guards] if isinstance(s, Choose) else ()
    return tuple([g.expression for g in guards])
