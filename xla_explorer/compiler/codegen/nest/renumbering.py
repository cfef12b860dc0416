"""Statements duplicated or moved within a nest: fresh values, other axes, unused values removed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    Barrier,
    Body,
    Case,
    Combination,
    Compute,
    Definition,
    For,
    Load,
    LoopNest,
    Origin,
    Reduce,
    SelectRegion,
    Statement,
    Store,
    bodies_of,
    ids_of,
    uses_of,
    walk,
    with_bodies,
)
from xla_explorer.compiler.codegen.nest.rewriting import with_axes_replaced
from xla_explorer.hlo.analysis.indexing import Axis, Place, RuntimeValue, Substitution, index


def renumbered(body: Body, numbers: Mapping[int, int], axes: Substitution | None = None) -> Body:
    """Return the body with other numbers of values and other axes."""
    return tuple([with_ids(s, numbers, {}) for s in with_axes_replaced(body, axes or {})])


def with_ids(s: Statement, ids: Mapping[int, int], axes: Mapping[Axis, Axis]) -> Statement:
    """Return the statement with other numbers of values and other axes of its loops."""

    def of(number: int) -> int:
        return ids.get(number, number)

    def several(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([of(n) for n in numbers])

    def body(old: Body) -> Body:
        return tuple([with_ids(inner, ids, axes) for inner in old])

    renamed: Substitution = {
        atom: index(RuntimeValue(f"%{of(int(atom.source[1:]))}", atom.place, atom.low, atom.high))
        for x in _indices(s)
        if not x.is_affine
        for atom in x.atoms()
        if isinstance(atom, RuntimeValue)
        and isinstance(atom.source, str)
        and int(atom.source[1:]) in ids
    }
    if renamed:
        (s,) = with_axes_replaced((s,), renamed)
    if isinstance(s, For):
        return For(axes.get(s.axis, s.axis), body(s.body), s.kind, s.guards, s.ordered)
    if isinstance(s, Store):
        return Store(s.array, s.place, of(s.value), s.origin)
    if isinstance(s, Load):
        return Load(of(s.id), s.element, s.array, s.place, s.origin, s.is_prefetch)
    if isinstance(s, Compute):
        return Compute(of(s.id), s.element, s.opcode, several(s.operands), s.attributes, s.origin)
    if isinstance(s, SelectRegion):
        return replace(
            s,
            id=of(s.id),
            cases=tuple([Case(c.guards, body(c.body), of(c.value)) for c in s.cases]),
        )
    if isinstance(s, Reduce):
        combiner = s.combiner
        if isinstance(combiner, Combination):
            combiner = renamed_combiner(combiner, ids)
        bound = tuple([b._replace(axis=axes.get(b.axis, b.axis)) for b in s.axes])
        return replace(
            s,
            ids=several(s.ids),
            combiner=combiner,
            initial=several(s.initial),
            axes=bound,
            body=body(s.body),
            values=several(s.values),
            running=several(s.running),
            each=body(s.each),
        )
    return s if isinstance(s, Allocate | Barrier) else replace(s, id=of(s.id))


def renamed_combiner(combiner: Combination, ids: Mapping[int, int]) -> Combination:
    """Return the combiner with other numbers of values."""

    def several(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([ids.get(n, n) for n in numbers])

    parts = [
        Combination(
            several(c.left),
            several(c.right),
            tuple([with_ids(x, ids, {}) for x in c.body]),
            several(c.results),
        )
        for c in combiner.combinations
    ]
    return replace(parts[0], join=parts[1] if len(parts) > 1 else None)


def _indices(s: Statement) -> Place:
    """Return the indices of a statement itself."""
    origin: Origin | None = None if isinstance(s, For | Allocate | Barrier) else s.origin
    own: list[Any] = list(origin.place) if origin is not None else []
    own += getattr(s, "place", ())
    own += [g.expression for g in getattr(s, "guards", ())]
    if isinstance(s, SelectRegion):
        own += [g.expression for case in s.cases for g in case.guards]
    if (one := getattr(s, "index", None)) is not None:
        own.append(one)
    return tuple(own)


def fresh_numbers(body: Body, first: int) -> dict[int, int]:
    """Return numbers from `first` on for all values that a body defines."""
    return {
        number: first + k for k, number in enumerate([n for s, _ in walk(body) for n in ids_of(s)])
    }


def needed_of(before: Body, body: Body) -> Body:
    """Return the statements of `before` on which a body depends, directly or not."""
    wanted = {number for s, _ in walk(body) for number in uses_of(s)}
    found: list[Statement] = []
    for s in reversed(before):
        if wanted & set(ids_of(s)):
            found.append(s)
            wanted.update([number for inner, _ in walk((s,)) for number in uses_of(inner)])
    return tuple(reversed(found))


def without_unused(nest: LoopNest) -> LoopNest:
    """Return the nest without unused values."""
    body = used_of(nest.body)
    return nest if body is nest.body else replace(nest, body=body)


def used_of(body: Body, taken: Collection[int] = ()) -> Body:
    """Return the statements of a body that store or whose values are used.

    taken: values that are used outside of the body.
    """
    return _used(body, set(taken))


def _used(body: Body, taken: set[int]) -> Body:
    found: list[Statement] = []
    for s in reversed(body):
        if (
            isinstance(s, Definition)
            and taken.isdisjoint(ids_of(s))
            and not (isinstance(s, Load) and s.is_prefetch)
            and not _stores(s)
        ):
            continue
        taken.update(uses_of(s))
        found.append(with_bodies(s, lambda inner: _used(inner, taken)))
    found.reverse()
    return (
        body
        if len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True))
        else tuple(found)
    )


def _stores(s: Statement) -> bool:
    return any(isinstance(x, Store | For) for inner in bodies_of(s) for x, _ in walk(inner))
