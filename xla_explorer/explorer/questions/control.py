"""`session.override`: the same compile again with some of it forced, skipped, stopped or reordered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.explorer.questions.decisions import names_at_fusion
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal

C = TypeVar("C", bound=Compilation)
Pairs = Iterable[tuple[Any, Any]]


def overridden(
    session: C,
    fuse: Pairs,
    forbid: Pairs,
    skip_rules: Iterable[str] = (),
    stop_after: int | Event | None = None,
    passes: Any = None,
) -> C:
    """See `Session.override`."""
    old = session.options.control or PassControl()
    forced, forbidden = [[_pair(session, pair) for pair in pairs] for pairs in (fuse, forbid)]
    control = PassControl(
        {**old.force, "fusion": [*old.force.get("fusion", ()), *_at_fusion(session, forced)]},
        {**old.forbid, "fusion": [*old.forbid.get("fusion", ()), *_at_fusion(session, forbidden)]},
        {*old.skipped_rules, *skip_rules},
        old.rewrite_limit if stop_after is None else actions_until(session.passes.journal, stop_after),
        old.check_values,
    )
    other = session.recompiled(control=control, **({} if passes is None else {"passes": passes}))
    other.base, other.beside = session, session.beside
    other.asked = (*session.asked, *[("fuse", *pair) for pair in forced], *[("forbid", *pair) for pair in forbidden])
    return other


def actions_until(journal: Journal | None, event: int | Event) -> int:
    """How many actions the journal tells of up to an event, itself included: what `PassControl.rewrite_limit` counts."""
    number = event.sequence if isinstance(event, Event) else event
    events = journal.events if journal is not None else []
    if not -1 <= number < len(events):
        raise XlaExplorerError(
            f"there is no event {number}; the journal has {len(events)}",
            "compile with journal='decisions'; -1 stops before the first" if not events else "session.passes.journal.events lists them",
        )
    return len([e for e in events[: number + 1] if e.acted])


def _at_fusion(session: Compilation, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs, and under the names that they bear when fusion comes: rewrites may have put others in their place."""
    found = list(pairs)
    if not pairs or not session.passes.lineage.records:
        return found
    at_fusion = names_at_fusion(session.passes.record, session.passes.lineage)
    for pair in pairs:
        if all(isinstance(part, str) for part in pair):
            now = tuple([at_fusion[part.lstrip("%")] for part in pair])
            if now != tuple([part.lstrip("%") for part in pair]):
                found.append((now[0], now[1]))
    return found


def _pair(session: Compilation, given: Any) -> tuple[Any, Any]:
    """Names or ids of a pair. XlaExplorerError when it is none, or names what was never there: a wish that nothing can hear."""
    if isinstance(given, str) or len(given) != 2:
        raise XlaExplorerError(f"{given!r} is not a pair (producer, consumer)", "write a list of pairs: [('%exp', '%multiply')]")
    pair = getattr(given[0], "name", given[0]), getattr(given[1], "name", given[1])
    if session.passes.lineage.records:  # with the journal off, only the ends of the compile are known
        for part in pair:
            session.passes.find(part)
    return pair
