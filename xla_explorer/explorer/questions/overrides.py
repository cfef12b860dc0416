"""The result of each override that the user forced or forbade."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, KINDS_OF_ONE_KERNEL, LOOP_KINDS
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.questions.decisions import decision_events, names_before
from xla_explorer.explorer.questions.why_not import Known, answer
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.explorer.tables.code_rows import OverrideRow
from xla_explorer.explorer.tables.rows import columns_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.visible_text import cleaned

_CLONED = re.compile(r"(\.clone(\.\d+)?)+\Z")


class Override(NamedTuple):
    """The result of one override.

    Attributes
    ----------
    word : {"force", "forbid"}
        The request.
    kind : str
        The kind of decision.
    subjects : tuple of str
        The subjects as given, names with %.
    granted : bool
        True if the compile followed it.
    reason : Reason or None
        The reason why it did not; None if it did.
    """

    word: str
    kind: str
    subjects: tuple[str, ...]
    granted: bool
    reason: Reason | None = None

    @property
    def producer(self) -> str:
        """The first subject."""
        return self.subjects[0]

    @property
    def consumer(self) -> str:
        """The last subject."""
        return self.subjects[-1]

    @cleaned
    def __str__(self) -> str:
        not_done = "" if self.granted else "not "
        why = f": {self.reason}" if self.reason is not None else ""
        subjects = " and ".join(self.subjects)
        if self.kind == FUSION_KINDS[0]:
            done = {"force": "fused", "forbid": "kept in separate kernels"}[self.word]
            return f"{subjects} were {not_done}{done}{why}"
        done = {"force": "forced", "forbid": "forbidden"}[self.word]
        return f"{self.kind} of {subjects} was {not_done}{done}{why}"


class Overrides(Report, tuple[Override, ...]):
    """The overrides of a session, in the order of the request."""

    @property
    def refused(self) -> list[Override]:
        """The overrides that were not granted, each with its Reason."""
        return [row for row in self if not row.granted]

    def blocks(self) -> Blocks:
        """Yield a table with a row for each override."""
        yield self.records() if self else Sentence("nothing was forced or forbidden")

    def records(self) -> Table:
        """Return a row for each override."""
        rows = [
            (
                w.word,
                w.kind,
                " ".join(w.subjects),
                w.granted,
                str(w.reason or ""),
            )
            for w in self
        ]
        return Table(columns_of(OverrideRow), rows)


def overrides_of(session: Compilation) -> Overrides:
    """Return the overrides of the session's compile with their results."""
    if not session.requested:
        return Overrides()
    known = Known(session.passes)
    at_fusion, kernels = (
        names_before(session.passes.record, session.passes.lineage, FUSION_KINDS[0]),
        _Kernels(session),
    )
    found = []
    for word, kind, subjects in session.requested:
        names = tuple([_name(session, subject) for subject in subjects])
        if kind in FUSION_KINDS:
            reason = _fusion_refusal(known, kernels, at_fusion, word, names)
        elif kind in KINDS_OF_ONE_KERNEL:
            names = (_name(session, subjects[0]), *map(str, subjects[1:]))
            of_kind = _directive_refusal if kind in LOOP_KINDS else _choice_refusal
            reason = of_kind(session, word, kind, names)
        elif kind == "native-code":
            reason = _library_refusal(session, word, names[0])
        else:
            reason = _decision_refusal(known, word, kind, names)
        instructions = 1 if kind in KINDS_OF_ONE_KERNEL else len(names)
        listed = (*[f"%{name}" for name in names[:instructions]], *names[instructions:])
        found.append(Override(word, kind, listed, reason is None, reason))
    return Overrides(found)


def _fusion_refusal(
    known: Known, kernels: _Kernels, at_fusion: Mapping[str, str], word: str, names: tuple[str, ...]
) -> Reason | None:
    """Return why an override about two instructions in one kernel was not granted, if so."""
    joined = kernels.join(*[{name, at_fusion[name]} for name in names])
    if joined and word == "forbid":
        return refuse(
            "in-one-kernel",
            f"a pass that does not consult overrides fused %{names[0]} and %{names[1]}",
        )
    return (
        _why_not_fused(known, names, tuple([at_fusion[name] for name in names]))
        if not joined and word == "force"
        else None
    )


def _directive_refusal(
    session: Compilation, word: str, kind: str, names: tuple[str, ...]
) -> Reason | None:
    """Return why an override of a directive was not granted, if so.

    The reason is that of the last decision about the kernel and axis.
    """
    events = decision_events(session.passes.record, kind)
    about = [
        e
        for e in events
        if e.names[0] == names[0]
        and e.reason is not None
        and names[1] in (e.reason.facts.get("axis"), None)
    ]
    if word == "forbid":
        return about[-1].reason if about and about[-1].acted else None
    if about and about[-1].acted:
        return None
    return (
        about[-1].reason
        if about
        else refuse(
            "never-decided",
            f"no directive {kind.removeprefix('loop-')} of %{names[0]} was requested",
        )
    )


def _choice_refusal(
    session: Compilation, word: str, kind: str, names: tuple[str, ...]
) -> Reason | None:
    """Return why another emitter (`launch`) or level (`math`) was chosen, if so."""
    kernel, *values = names
    about = [e for e in decision_events(session.passes.record, kind) if e.names[0] == kernel]
    taken = [e.facts or {} for e in about if e.acted]
    if not about:
        return refuse("never-decided", f"nothing of the kind {kind} was decided about %{kernel}")
    if kind == "math":
        *functions, level = values if word == "force" else (*values, "precise")
        mine = [facts for facts in taken if not functions or facts["function"] in functions]
        if all(facts["level"] == level for facts in mine) and (mine or word == "forbid"):
            return None
        known = ", ".join(sorted({f"{facts['function']} ({facts['level']})" for facts in taken}))
        return refuse("function-not-used", f"%{kernel} uses {known}, and none of {level}")
    if word == "forbid":
        written = [
            facts["emitter"]
            for facts in taken
            if facts["emitter"] in (values or {facts["emitter"]} - {"loop"})
        ]
        return (
            refuse(
                "accepted-although-forbidden",
                f"no other emitter than {written[0]} can write %{kernel}",
            )
            if written
            else None
        )
    if any(facts.get("forced-by-user") for facts in taken):
        return None
    reasons = [
        e.reason
        for e in about
        if not e.acted and (e.facts or {}).get("emitter") == values[0] and e.reason is not None
    ]
    return (
        reasons[-1]
        if reasons
        else refuse("never-decided", f"no emitter {values[0]} was requested for %{kernel}")
    )


def _library_refusal(session: Compilation, word: str, name: str) -> Reason | None:
    """Return why a library computes an instruction despite `forbid`, or not despite `force`."""
    steps = [step for step in program_steps(session) if step.name == name]
    if not steps:
        return refuse("never-decided", f"no step of the program computes %{name} alone")
    if (steps[-1].runs_on == "library") == (word == "force"):
        return None
    if word == "forbid":
        return refuse("accepted-although-forbidden", f"only a library computes %{name}")
    reasons = [reason for way, reason in steps[-1].refused if way != "kernel"]
    return reasons[-1] if reasons else refuse("never-decided", f"no library was tried for %{name}")


def _decision_refusal(known: Known, word: str, kind: str, names: tuple[str, ...]) -> Reason | None:
    """Return why an override was not granted, from the last decision about its subjects."""
    try:
        found = answer(known, kind, names)
    except XlaExplorerError as problem:
        return refuse("created-after-the-pass", problem.message)
    if found.recorded and (word == "force") == (not found.refused):
        return None
    if found.refused and word == "forbid":
        return None
    if found.refused:
        return Reason(found.code, found.message, dict(found.facts))
    return refuse(
        "accepted-although-forbidden",
        f"{kind} of {' and '.join(found.subjects)} was accepted: {found.source}",
    )


def _name(session: Compilation, given: Any) -> str:
    record = session.passes.lineage.records.get(given) if isinstance(given, int) else None
    return record.name if record is not None else str(given).lstrip("%")


class _Kernels:
    """The kernels of the result by the names in them, originals of copies included."""

    def __init__(self, session: Compilation) -> None:
        self.of: dict[str, set[int]] = {}
        for i in session.module.instructions():
            if i.opcode.name == "fusion":
                for name in _names(
                    [i.name, *[inner.name for inner in i.called[0].instructions.values()]]
                ):
                    self.of.setdefault(name, set()).add(i.id)

    def join(self, some: set[str], others: set[str]) -> bool:
        """Return True if one kernel has a name of each set."""
        mine, theirs = [
            set().union(*[self.of.get(name, set()) for name in names]) for names in (some, others)
        ]
        return bool(mine & theirs)


def _names(names: Iterable[str]) -> set[str]:
    return {form for name in names for form in (name, _CLONED.sub("", name))}


def _why_not_fused(known: Known, names: tuple[str, ...], now: tuple[str, ...]) -> Reason:
    """Return why two instructions are in different kernels despite a `force`.

    now: their names before fusion.
    """
    refused = [
        event
        for kind in FUSION_KINDS
        for pair in dict.fromkeys((names, names[::-1], now, now[::-1]))
        if (event := known.last(kind).get(pair)) is not None
        and not event.acted
        and event.reason is not None
    ]
    if refused:
        found = max(refused, key=lambda event: event.sequence).reason
        assert found is not None
        return found
    try:
        result = answer(known, FUSION_KINDS[0], names)
    except XlaExplorerError as problem:
        return refuse("created-after-fusion", problem.message)
    if result.refused:
        return Reason(result.code, result.message, dict(result.facts))
    return refuse(
        "undone-later",
        f"%{names[0]} went into the kernel of %{names[1]}; a later pass undid that or removed one of them",
    )
