"""The step `place-barriers`: threads wait where one reads what another has stored.

A barrier stands before a load from an array of the block that has unsynchronised stores. Another
one stands at the end of a loop whose next iteration stores again.
"""

from __future__ import annotations

from dataclasses import replace

from xla_explorer.compiler.codegen.lowering.nest_step import NestStep
from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Barrier,
    Body,
    For,
    Load,
    LoopNest,
    Statement,
    Store,
    walk,
    with_bodies,
)


def with_barriers(nest: LoopNest) -> LoopNest:
    """Return the nest with its barriers."""
    shared = {s.array.name for s, _ in nest.statements() if isinstance(s, Allocate)}
    return replace(nest, body=_body(nest.body, shared)) if shared else nest


def _body(body: Body, shared: set[str]) -> Body:
    made: list[Statement] = []
    fresh: set[str] = set()  # arrays with stores that other threads may not see yet
    for s in body:
        if not fresh.isdisjoint(_loaded(s)):
            made.append(Barrier())
            fresh = set()
        stored = _stored((s,)) & shared
        fresh |= stored
        changed = with_bodies(s, lambda inner: _body(inner, shared))
        if (
            isinstance(changed, For)
            and changed.kind is AxisKind.SERIAL
            and changed.axis.extent > 1
            and stored
        ):
            changed = replace(changed, body=(*changed.body, Barrier()))
        made.append(changed)
    return tuple(made)


def _stored(body: Body) -> set[str]:
    return {s.array for s, _ in walk(body) if isinstance(s, Store)}


def _loaded(s: Statement) -> set[str]:
    return {x.array for x, _ in walk((s,)) if isinstance(x, Load)}


PLACE_BARRIERS = NestStep(
    "place-barriers",
    "Let threads wait before they load what others have stored.",
    with_barriers,
    for_cpus=False,
)
