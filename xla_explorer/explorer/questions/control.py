"""`session.override`: the same compile with decisions forced, skipped or reordered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from xla_explorer.backends.gpu.device_math import LEVELS
from xla_explorer.compiler.decisions.kinds import (
    FUSION_KINDS,
    KINDS_OF_CODE,
    KINDS_OF_ONE_KERNEL,
    LOOP_KINDS,
    OVERRIDDEN_IN_CODE,
    RULE,
)
from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.questions.decisions import check_kind, names_before
from xla_explorer.explorer.sessions.compilation import Compilation, recompiled
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal

C = TypeVar("C", bound=Compilation)


class Request(NamedTuple):
    """An override as the user wrote it. word: `force` or `forbid`. subjects: names or ids."""

    word: str
    kind: str
    subjects: tuple[Any, ...]


def overridden(
    session: C,
    force: Iterable[Any] = (),
    forbid: Iterable[Any] = (),
    skip_rules: Iterable[str] = (),
    stop_after: int | Event | None = None,
    passes: Any = None,
    schedules: str | None = None,
) -> C:
    """Compile again with overrides: see `Session.override`."""
    old = session.options.control or PassControl()
    requests = [_request(session, "force", given) for given in force]
    requests += [_request(session, "forbid", given) for given in forbid]
    keys = _keys(session, requests)
    control = PassControl(
        {
            kind: [*old.force.get(kind, ()), *keys["force"].get(kind, ())]
            for kind in {**old.force, **keys["force"]}
        },
        {
            kind: [*old.forbid.get(kind, ()), *keys["forbid"].get(kind, ())]
            for kind in {**old.forbid, **keys["forbid"]}
        },
        {*old.skipped_rules, *skip_rules},
        old.rewrite_limit
        if stop_after is None
        else actions_until(session.passes.journal, stop_after),
        old.check_values,
    )
    changed: dict[str, Any] = {
        name: value
        for name, value in (("passes", passes), ("schedules", schedules))
        if value is not None
    }
    other = recompiled(session, None, control=control, **changed)
    other.base, other.beside = session, session.beside
    other.requested = (*session.requested, *requests)
    return other


def actions_until(journal: Journal | None, event: int | Event) -> int:
    """Return the number of actions up to an event, the unit of `PassControl.rewrite_limit`."""
    number = event.sequence if isinstance(event, Event) else event
    events = journal.events if journal is not None else []
    if not -1 <= number < len(events):
        raise XlaExplorerError(
            f"event {number} does not exist; the journal has {len(events)}",
            "compile with journal='decisions'; -1 stops before the first"
            if not events
            else "session.passes.journal.events lists them",
        )
    return len([e for e in events[: number + 1] if e.acted])


def _keys(
    session: Compilation, requests: Iterable[Request]
) -> dict[str, dict[str, list[tuple[Any, ...]]]]:
    """Return the overrides by word and kind.

    Each is also listed under the names that its subjects have before the pass: earlier rewrites may
    have replaced them.
    """
    found: dict[str, dict[str, list[tuple[Any, ...]]]] = {"force": {}, "forbid": {}}
    lineage, names = session.passes.lineage, dict[str, Mapping[str, str]]()
    for word, kind, subjects in requests:
        keys = found[word].setdefault(kind, [])
        keys.append(subjects)
        if lineage.records and all(isinstance(part, str) for part in subjects):
            if kind not in names:
                names[kind] = names_before(session.passes.record, lineage, kind)
            written = tuple([part.lstrip("%") for part in subjects])
            now = tuple([names[kind][part] for part in written])
            if now != written:
                keys.append(now)
    return found


def _request(session: Compilation, word: str, given: Any) -> Request:
    """Return an override `(kind, *subjects)` as the compiler records it.

    XlaExplorerError if it has another form, nothing consults it, or a subject was never in the
    module.
    """
    listed = isinstance(given, tuple | list)
    parts = tuple([getattr(part, "name", part) for part in given]) if listed else ()
    if not parts or not isinstance(parts[0], str) or parts[0].startswith("%"):
        raise XlaExplorerError(
            f"an override must be (kind, *subjects), got {given!r}",
            'write a list of overrides: [("fusion", "%exp", "%multiply"), ("share-buffer", "%copy")]',
        )
    kind, subjects = str(parts[0]), parts[1:]
    if f"loop-{kind}" in LOOP_KINDS and kind not in KINDS_OF_CODE:  # a directive by its own name
        kind = f"loop-{kind}"
    if kind == "library-call" and not any(
        kind in getattr(step.hlo_pass, "kinds", ()) for step in session.passes.record.steps
    ):
        kind = "native-code"  # without a pass that consults libraries, code generation does
    _check_consulted(session, word, kind, subjects)
    if (
        session.passes.lineage.records
    ):  # with the journal off, only the ends of the compile are known
        for part in subjects[: 1 if kind in KINDS_OF_ONE_KERNEL else None]:
            session.passes.find(part)
    return Request(word, kind, subjects)


def _check_consulted(session: Compilation, word: str, kind: str, subjects: tuple[Any, ...]) -> None:
    """Raise an error for an override that nothing consults."""
    if kind in declared_rules():
        if word == "force":
            hint = f'why_not({kind!r}, "%name") says which of them does not hold'
            raise XlaExplorerError(
                f"the rule {kind} cannot be forced: its conditions keep the values right", hint
            )
    elif kind in OVERRIDDEN_IN_CODE:
        pass
    elif kind == RULE or kind in KINDS_OF_CODE:
        hint = (
            "forbid a rule by its name"
            if kind == RULE
            else "options of the compile steer it, such as threads= or libraries="
        )
        raise XlaExplorerError(
            f"decisions of the kind {kind} cannot be forced or forbidden one by one", hint
        )
    else:
        check_kind(session.passes.record, kind)
    least = 2 if word == "force" and kind in ("launch", "math") else 1
    if kind == "math" and word == "force" and str(subjects[-1]) not in LEVELS:
        raise XlaExplorerError(
            f"an override of math must end in a level, got {subjects[-1]!r}",
            f"choose {', '.join(LEVELS)}",
        )
    if len(subjects) < least or (kind in FUSION_KINDS and len(subjects) != 2):
        wanted = {"launch": "a kernel and an emitter", "math": "a kernel and a level"}.get(
            kind if least == 2 else "", "its subjects"
        )
        raise XlaExplorerError(
            f"an override of {kind} must name {'two instructions' if kind in FUSION_KINDS else wanted}",
            f'{word}=[({kind!r}, "%producer", "%consumer")]',
        )
