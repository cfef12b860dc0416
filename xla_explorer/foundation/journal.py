"""The journal: what happened, as data.

An argument, never a global. Events hold ids, not objects, so a journal can be saved, mailed, replayed, and read after a
failed compile. Only drivers (the pass runner, the rule driver, `PassContext.decide`) write here; passes return Reasons.
"""

from __future__ import annotations

import enum
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from xla_explorer.foundation.decision import Verdict, verdict_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.reason import Check, Reason
from xla_explorer.foundation.visible_text import cleaned


class JournalLevelError(XlaExplorerError, ValueError):
    """A level that there is not."""


class JournalFormatError(XlaExplorerError, ValueError):
    """A file that is not a journal."""


class Level(enum.IntEnum):
    """How much is recorded. Each level includes those before it."""

    OFF = 0
    PASSES = 1
    DECISIONS = 2
    EVERYTHING = 3

    @classmethod
    def parse(cls, text: str | Level) -> Level:
        """`off`, `passes`, `decisions` or `everything`."""
        if isinstance(text, Level):
            return text
        try:
            return cls[text.upper()]
        except KeyError:
            raise JournalLevelError(
                f"unknown journal level {text!r}", "choose from off, passes, decisions, everything"
            ) from None


_OLD_KINDS: dict[str, tuple[str, Verdict]] = {
    "allowed": ("decision", "accepted"),
    "denied": ("decision", "refused"),
    "applied": ("rewrite", "accepted"),
    "refused": ("rewrite", "refused"),
}
"""What journals said that were saved before verdicts had one word."""


class Span:
    """A pipeline, pass, sweep or stage: named, nested, timed (seconds)."""

    __slots__ = ("changed", "error", "id", "kind", "name", "parent", "seconds", "started")

    def __init__(self, number: int, kind: str, name: str, parent: int | None) -> None:
        self.id = number
        self.kind = kind
        self.name = name
        self.parent = parent
        self.started = time.perf_counter()
        self.seconds = 0.0
        self.changed: bool | None = None
        self.error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The span as plain data."""
        return {
            "span": self.id,
            "kind": self.kind,
            "name": self.name,
            "parent": self.parent,
            "seconds": self.seconds,
            "changed": self.changed,
            "error": self.error,
        }


class Event:
    """One thing that happened.

    kind: `created` `replaced` `removed` (graph changes), `rewrite` (of a rule), `decision` (of a pass or of code generation).
    by: the rule, policy or pass that did it; of a decision, its kind. verdict: of a rewrite and of a decision, `accepted` or `refused`;
    else empty. subjects: instruction ids, in the order that the kind implies (replaced:
    old, new; a fusion decision: producer, consumer). reason: why not, or None. facts: the numbers. checklist: all that must hold, where
    the pass was asked for it. forceable: whether a refusal only weighed what is faster, so that an override turns it.
    """

    __slots__ = (
        "by",
        "checklist",
        "facts",
        "forceable",
        "kind",
        "names",
        "reason",
        "sequence",
        "span",
        "subjects",
        "verdict",
    )

    def __init__(
        self,
        sequence: int,
        span: int,
        kind: str,
        by: str,
        subjects: tuple[int, ...],
        names: tuple[str, ...] = (),
        reason: Reason | None = None,
        facts: dict[str, Any] | None = None,
        verdict: Verdict | Literal[""] = "",
        checklist: tuple[Check, ...] = (),
        forceable: bool = False,
    ) -> None:
        self.sequence = sequence
        self.span = span
        self.kind = kind
        self.by = by
        self.subjects = subjects
        self.names = names
        self.reason = reason
        self.facts = facts
        self.verdict = verdict
        self.checklist = checklist
        self.forceable = forceable

    @property
    def is_decision(self) -> bool:
        """Whether a pass or code generation decided something."""
        return self.kind == "decision"

    @property
    def is_rewrite(self) -> bool:
        """Whether a rule acted, or was refused by one of its guards."""
        return self.kind == "rewrite"

    @property
    def acted(self) -> bool:
        """Whether it changed the program: a rewrite or a decision that went ahead."""
        return self.verdict == "accepted"

    @cleaned
    def __repr__(self) -> str:
        tail = f" {self.reason}" if self.reason else ""
        return f"<{self.sequence} {f'{self.kind} {self.verdict}'.strip()} by {self.by} {', '.join(self.names) or self.subjects}{tail}>"

    def to_json(self) -> dict[str, Any]:
        """The event as plain data."""
        return {
            "sequence": self.sequence,
            "span": self.span,
            "kind": self.kind,
            "verdict": self.verdict,
            "by": self.by,
            "subjects": list(self.subjects),
            "names": list(self.names),
            "reason": self.reason.to_json() if self.reason else None,
            "facts": self.facts,
            **({"checklist": [list(check) for check in self.checklist]} if self.checklist else {}),
        }


class Journal:
    """Spans and events of a compile in order, with the queries that every view asks.

    Parameters
    ----------
    level
        How much is recorded: off, passes, decisions or everything.

    Examples
    --------
    >>> from xla_explorer.plugin import Journal
    >>> Journal("passes").level.name
    'PASSES'
    """

    __slots__ = ("_stack", "events", "level", "spans")

    def __init__(self, level: Level | str = Level.DECISIONS) -> None:
        self.level = Level.parse(level)
        self.spans: list[Span] = []
        self.events: list[Event] = []
        self._stack: list[int] = []

    @contextmanager
    def span(self, kind: str, name: str) -> Iterator[Span]:
        """Open a timed span; an exception that passes through is noted in it."""
        span = Span(len(self.spans), kind, name, self._stack[-1] if self._stack else None)
        self.spans.append(span)
        self._stack.append(span.id)
        try:
            yield span
        except BaseException as problem:
            span.error = f"{type(problem).__name__}: {problem}"
            raise
        finally:
            span.seconds = time.perf_counter() - span.started
            self._stack.pop()

    def write(
        self,
        kind: str,
        by: str,
        subjects: tuple[int, ...],
        names: tuple[str, ...] = (),
        reason: Reason | None = None,
        facts: dict[str, Any] | None = None,
        *,
        accepted: bool | None = None,
        checklist: tuple[Check, ...] = (),
        forceable: bool = False,
    ) -> Event:
        """Append one event to the innermost open span. accepted: how a `rewrite` or a `decision` ended."""
        verdict: Verdict | Literal[""] = "" if accepted is None else verdict_of(accepted)
        span = self._stack[-1] if self._stack else -1
        event = Event(
            len(self.events),
            span,
            kind,
            by,
            subjects,
            names,
            reason,
            facts,
            verdict,
            checklist,
            forceable,
        )
        self.events.append(event)
        return event

    # -- queries -----------------------------------------------------------------------------------------------------
    def of_span(self, span: int) -> list[Event]:
        """Events written directly in the span or in any span inside it."""
        inside = {span}
        for candidate in self.spans[span + 1 :]:
            if candidate.parent in inside:
                inside.add(candidate.id)
        return [event for event in self.events if event.span in inside]

    def about(self, instruction: int) -> list[Event]:
        """Events in which the instruction id takes part."""
        return [event for event in self.events if instruction in event.subjects]

    def hot_rules(self) -> list[tuple[str, int, int]]:
        """(rule, times applied, times refused), the most applied first."""
        counts: dict[str, list[int]] = {}
        for event in self.events:
            if event.is_rewrite:
                counts.setdefault(event.by, [0, 0])[not event.acted] += 1
        return sorted(
            ((name, a, r) for name, (a, r) in counts.items()),
            key=lambda row: (-row[1], -row[2], row[0]),
        )

    def to_json_lines(self) -> str:
        """One JSON object a line: the level, then spans, then events."""
        rows = [
            {"level": self.level.name.lower()},
            *[span.to_json() for span in self.spans],
            *[event.to_json() for event in self.events],
        ]
        return "\n".join([json.dumps(row, default=str) for row in rows]) + "\n"

    @classmethod
    def from_json_lines(cls, text: str) -> Journal:
        """Read what `to_json_lines` wrote. JournalFormatError names the first line that is not part of a journal."""
        journal = cls(Level.EVERYTHING)
        for number, line in enumerate(text.splitlines(), 1):
            try:
                row = json.loads(line)
                if "sequence" in row:
                    why = row["reason"]
                    reason = Reason(why["code"], why["message"], why["facts"]) if why else None
                    about = tuple(row["subjects"]), tuple(row["names"])
                    kind, verdict = _OLD_KINDS.get(
                        row["kind"], (row["kind"], row.get("verdict", ""))
                    )
                    checks = tuple([Check(*check) for check in row.get("checklist", ())])
                    event = Event(
                        row["sequence"],
                        row["span"],
                        kind,
                        row["by"],
                        *about,
                        reason,
                        row["facts"],
                        verdict,
                        checks,
                    )
                    journal.events.append(event)
                elif "span" in row:
                    span = Span(row["span"], row["kind"], row["name"], row["parent"])
                    span.seconds, span.changed, span.error = (
                        row["seconds"],
                        row["changed"],
                        row["error"],
                    )
                    journal.spans.append(span)
                else:
                    journal.level = Level.parse(row["level"])
            except (ValueError, KeyError, TypeError) as problem:
                raise JournalFormatError(
                    f"line {number} is not a line of a journal ({type(problem).__name__}: {problem})",
                    "journal.save(path) writes one",
                ) from None
        return journal

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the journal to a file of JSON lines."""
        write_file(path, self.to_json_lines())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Journal:
        """Read a file that `save` wrote, of a compile that went well or of one that failed. JournalFormatError; OSError."""
        with open(path, encoding="utf-8") as file:
            return cls.from_json_lines(file.read())

    # -- views -------------------------------------------------------------------------------------------------------
    @property
    def errors(self) -> list[Span]:
        """The spans through which an exception went, innermost last."""
        return [span for span in self.spans if span.error]

    @cleaned
    def __repr__(self) -> str:
        failed = (
            f", failed in {self.errors[-1].name}: {self.errors[-1].error}" if self.errors else ""
        )
        return f"<Journal of {self.level.name.lower()}: {len(self.spans)} spans, {len(self.events)} events{failed}>"

    @cleaned
    def __str__(self) -> str:
        """Every span, indented by its depth, with time and the counts of its own events."""
        counts: dict[int, dict[str, int]] = {}
        for event in self.events:
            kinds = counts.setdefault(event.span, {})
            word = f"{event.kind} {event.verdict}".strip()
            kinds[word] = kinds.get(word, 0) + 1
        depth: dict[int, int] = {}
        lines = [repr(self)[1:-1]]
        for span in self.spans:
            depth[span.id] = depth.get(span.parent, 0) + 1 if span.parent is not None else 1
            what = span.error or ("changed" if span.changed else "-")
            told = ", ".join([f"{count} {kind}" for kind, count in counts.get(span.id, {}).items()])
            head = f"{'  ' * depth[span.id]}{span.name} ({span.kind}): {what}, {span.seconds * 1e3:.2f} ms"
            lines.append(f"{head}; {told}" if told else head)
        return "\n".join(lines)
