"""What became of what the user forced and forbade: every wish of `session.override` with its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from xla_explorer.compiler.pipeline.context import FUSION_KINDS
from xla_explorer.explorer.display.display import table_html, table_text
from xla_explorer.explorer.questions.answers import why_not
from xla_explorer.explorer.questions.decisions import decision_events, names_at_fusion
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.visible_text import cleaned

_CLONED = re.compile(r"(\.clone(\.\d+)?)+\Z")
_HEAD = ["wish", "producer", "consumer", "granted", "why not"]


class Wish(NamedTuple):
    """wish: `fuse` or `forbid`. producer, consumer: as given, names with %. reason: why it was not granted, None where it was."""

    wish: str
    producer: str
    consumer: str
    granted: bool
    reason: Reason | None = None

    @cleaned
    def __str__(self) -> str:
        done = {"fuse": "fused", "forbid": "kept apart"}[self.wish]
        why = f": {self.reason}" if self.reason is not None else ""
        return f"{self.producer} and {self.consumer} were {'' if self.granted else 'not '}{done}{why}"


class Wishes(tuple[Wish, ...]):
    """The wishes of a session, in the order in which they were made; `refused` are those that were not granted."""

    @property
    def refused(self) -> list[Wish]:
        """Those that were not granted, each with its Reason."""
        return [wish for wish in self if not wish.granted]

    def _rows(self) -> list[tuple[str, ...]]:
        return [(w.wish, w.producer, w.consumer, "yes" if w.granted else "no", str(w.reason or "")) for w in self]

    @cleaned
    def __repr__(self) -> str:
        return table_text(_HEAD, self._rows()) if self else "nothing was forced or forbidden"

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": table_html("", _HEAD, self._rows())}


def wishes_of(session: Compilation) -> Wishes:
    """What was asked of the session's compile, and what that made of it."""
    found = []
    if not session.asked:
        return Wishes()
    at_fusion, kernels = names_at_fusion(session.passes.record, session.passes.lineage), _Kernels(session)
    for wish, producer, consumer in session.asked:
        names = _name(session, producer), _name(session, consumer)
        joined = kernels.join(*[{name, at_fusion[name]} for name in names])
        reason = None
        if joined and wish == "forbid":
            reason = refuse("in-one-kernel", f"%{names[0]} and %{names[1]} are in one kernel, by a pass that asks no one")
        elif not joined and wish == "fuse":
            reason = _why_not(session, *names, at_fusion)
        found.append(Wish(wish, f"%{names[0]}", f"%{names[1]}", reason is None, reason))
    return Wishes(found)


def _name(session: Compilation, given: Any) -> str:
    record = session.passes.lineage.records.get(given) if isinstance(given, int) else None
    return record.name if record is not None else str(given).lstrip("%")


class _Kernels:
    """The kernels of the result by the names in them, those of the originals of copies too."""

    def __init__(self, session: Compilation) -> None:
        self.of: dict[str, set[int]] = {}
        for i in session.module.instructions():
            if i.opcode.name == "fusion":
                for name in _names([i.name, *[inner.name for inner in i.called[0].instructions.values()]]):
                    self.of.setdefault(name, set()).add(i.id)

    def join(self, some: set[str], others: set[str]) -> bool:
        """Whether one kernel has a name of each set."""
        mine, theirs = [set().union(*[self.of.get(name, set()) for name in names]) for names in (some, others)]
        return bool(mine & theirs)


def _names(names: Iterable[str]) -> set[str]:
    return {form for name in names for form in (name, _CLONED.sub("", name))}


def _why_not(session: Compilation, producer: str, consumer: str, at_fusion: Mapping[str, str]) -> Reason:
    """Why the two are in different kernels although the user wanted one."""
    now = at_fusion[producer], at_fusion[consumer]
    pairs = {(producer, consumer), (consumer, producer), now, now[::-1]}
    denied = [e for e in decision_events(session.passes.record) if not e.acted and e.by in FUSION_KINDS and e.names[:2] in pairs]
    if denied and denied[-1].reason is not None:
        return denied[-1].reason
    try:
        answer = why_not(session.passes, "fusion", (producer, consumer))
    except XlaExplorerError as problem:
        return refuse("not-there-before-fusion", problem.message)
    if answer.refused:
        return Reason(answer.code, answer.message, dict(answer.facts))
    return refuse("undone-later", f"%{producer} went into the kernel of %{consumer}; a later pass undid that or removed one of them")
