"""The journal: the events of a compile, as data.

It is an argument, never a global. Events hold ids, not objects, so that a journal can be saved,
sent, replayed, and read after a failed compile. Only drivers (the pass runner, the rule driver,
`PassContext.decide`) write here; passes return Reasons.
"""

from __future__ import annotations

import enum
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from xla_explorer.foundation.decision import Verdict, verdict_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.reason import Check, Reason
from xla_explorer.foundation.visible_text import cleaned


class JournalLevelError(XlaExplorerError, ValueError):
    """An unknown level."""


class JournalFormatError(XlaExplorerError, ValueError):
    """A file that is not a journal."""


class Level(enum.IntEnum):
    """Amount of recording; each level includes the previous ones."""

    OFF = 0
    PASSES = 1
    DECISIONS = 2
    EVERYTHING = 3

    @classmethod
    def parse(cls, text: str | Level) -> Level:
        """Return the level of `off`, `passes`, `decisions` or `everything`."""
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
"""Verdicts in journals saved by older versions."""


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
        """Return the span as plain data."""
        return {
            "span": self.id,
            "kind": self.kind,
            "name": self.name,
            "parent": self.parent,
            "seconds": self.seconds,
            "changed": self.changed,
            "error": self.error,
        }


@dataclass(slots=True, eq=False, repr=False)
class Event:
    """One event.

    kind: `created` `replaced` `removed` (graph changes), `rewrite` (of a rule), `decision` (of a
    pass or of code generation).
    by: the rule, policy or pass; for a decision, its kind.
    verdict: `accepted` or `refused` for a rewrite and a decision, else empty.
    subjects: instruction ids in the order that the kind implies (replaced: old, new; a fusion
    decision: producer, consumer).
    reason: of a refusal, or None. facts: the numbers.
    checklist: all conditions, if the pass recorded them.
    forceable: True if only the cost model refuses, so that an override can force it.
    """

    sequence: int
    span: int
    kind: str
    by: str
    subjects: tuple[int, ...]
    names: tuple[str, ...] = ()
    reason: Reason | None = None
    facts: dict[str, Any] | None = None
    verdict: Verdict | Literal[""] = ""
    checklist: tuple[Check, ...] = ()
    forceable: bool = False

    @property
    def is_decision(self) -> bool:
        """True for a decision of a pass or of code generation."""
        return self.kind == "decision"

    @property
    def is_rewrite(self) -> bool:
        """True for a rule that was applied, or refused by one of its guards."""
        return self.kind == "rewrite"

    @property
    def acted(self) -> bool:
        """True for an accepted rewrite or decision, which changed the program."""
        return self.verdict == "accepted"

    @cleaned
    def __repr__(self) -> str:
        tail = f" {self.reason}" if self.reason else ""
        return (
            f"<{self.sequence} {f'{self.kind} {self.verdict}'.strip()} by {self.by} "
            f"{', '.join(self.names) or self.subjects}{tail}>"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain data."""
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
    """Spans and events of a compile in order, with queries.

    Parameters
    ----------
    level
        Amount of recording: off, passes, decisions or everything.

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
        """Open a timed span; it records an exception that passes through."""
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
    ) -> Event:
        """Append an event to the innermost open span.

        accepted: outcome of a `rewrite` or `decision`.
        """
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
        )
        self.events.append(event)
        return event

    def of_span(self, span: int) -> list[Event]:
        """Return events written directly in the span or in any span inside it."""
        inside = {span}
        for candidate in self.spans[span + 1 :]:
            if candidate.parent in inside:
                inside.add(candidate.id)
        return [event for event in self.events if event.span in inside]

    def about(self, instruction: int) -> list[Event]:
        """Return events with the instruction id among their subjects."""
        return [event for event in self.events if instruction in event.subjects]

    def hot_rules(self) -> list[tuple[str, int, int]]:
        """Return (rule, times applied, times refused), the most applied first."""
        counts: dict[str, list[int]] = {}
        for event in self.events:
            if event.is_rewrite:
                counts.setdefault(event.by, [0, 0])[not event.acted] += 1
        return sorted(
            ((name, a, r) for name, (a, r) in counts.items()),
            key=lambda row: (-row[1], -row[2], row[0]),
        )

    def to_json_lines(self) -> str:
        """Return one JSON object a line: the level, then spans, then events."""
        rows = [
            {"level": self.level.name.lower()},
            *[span.to_json() for span in self.spans],
            *[event.to_json() for event in self.events],
        ]
        return "\n".join([json.dumps(row, default=str) for row in rows]) + "\n"

    @classmethod
    def from_json_lines(cls, text: str) -> Journal:
        """Read the output of `to_json_lines`; JournalFormatError names the first invalid line."""
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
                    f"line {number} is not a line of a journal ({type(problem).__name__}: "
                    f"{problem})",
                    "journal.save(path) writes one",
                ) from None
        return journal

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the journal to a file of JSON lines."""
        write_file(path, self.to_json_lines())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Journal:
        """Read a file written by `save`. Raises JournalFormatError or OSError."""
        with open(path, encoding="utf-8") as file:
            return cls.from_json_lines(file.read())

    @property
    def errors(self) -> list[Span]:
        """Spans left by an exception, innermost last."""
        return [span for span in self.spans if span.error]

    @cleaned
    def __repr__(self) -> str:
        failed = (
            f", failed in {self.errors[-1].name}: {self.errors[-1].error}" if self.errors else ""
        )
        return (
            f"<Journal of {self.level.name.lower()}: {len(self.spans)} spans, {len(self.events)} "
            f"events{failed}>"
        )

    @cleaned
    def __str__(self) -> str:
        """Return every span, indented by its depth, with time and the counts of its own events."""
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
            summary = ", ".join(
                [f"{count} {kind}" for kind, count in counts.get(span.id, {}).items()]
            )
            head = (
                f"{'  ' * depth[span.id]}{span.name} ({span.kind}): {what}, "
                f"{span.seconds * 1e3:.2f} ms"
            )
            lines.append(f"{head}; {summary}" if summary else head)
        return "\n".join(lines)
