"""The history of each instruction, from the journal's events and from differences of snapshots."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.kept import kept
from xla_explorer.hlo.instruction import InstructionRecord
from xla_explorer.hlo.module import SnapshotDifference, snapshot_difference

if TYPE_CHECKING:
    from xla_explorer.compiler.pipeline import PassStep, PassTrace

AS_WRITTEN = "as-written"
"""Kind of the journal's span whose events are about the module as it was given."""


class Lineage:
    """Indexes of a trace, made on first use.

    Steps are numbers of passes: 0 is the module as written, 1 the first pass.
    """

    def __init__(self, trace: PassTrace) -> None:
        self._trace = trace

    @kept
    def difference(self, step: PassStep) -> SnapshotDifference | None:
        """Return the ids that a pass added, removed and changed; None if there are none."""
        if step.before is None or step.after is None or step.before is step.after:
            return None
        return snapshot_difference(step.before, step.after)

    @cached_property
    def step_of_span(self) -> dict[int, int]:
        """The step of each journal span, for the spans of passes and all spans inside them.

        Spans about the module as written belong to step 0.
        """
        journal, found = (
            self._trace.journal,
            {s.span: s.number for s in self._trace.steps if s.span >= 0},
        )
        if journal is not None:
            for span in journal.spans:
                if span.kind == AS_WRITTEN:
                    found[span.id] = 0
                elif span.id not in found and span.parent in found:
                    found[span.id] = found[span.parent]
        return found

    def step_of(self, event: Event) -> int | None:
        """Return the step in which an event was written."""
        return self.step_of_span.get(event.span)

    @cached_property
    def fusion_outcomes(self) -> list[tuple[int, tuple[int, int], str | None]]:
        """Every fusion decision in order: (step, (producer, consumer), code of a refusal)."""
        journal, found = self._trace.journal, []
        for event in journal.events if journal is not None else ():
            if event.by == "fusion" and event.is_decision and len(event.subjects) >= 2:
                code = None if event.acted else event.reason.code if event.reason else ""
                found.append(
                    (self.step_of(event) or 0, (event.subjects[0], event.subjects[1]), code)
                )
        return sorted(found, key=lambda row: row[0])

    @cached_property
    def events_about(self) -> dict[int, list[Event]]:
        """The events about each instruction, by id."""
        found: dict[int, list[Event]] = {}
        if self._trace.journal is not None:
            for event in self._trace.journal.events:
                for subject in dict.fromkeys(event.subjects):
                    found.setdefault(subject, []).append(event)
        return found

    @cached_property
    def _life(self) -> dict[int, list[tuple[int, str]]]:
        """Instruction id -> (step, created | changed | removed) in order."""
        found: dict[int, list[tuple[int, str]]] = {}
        for step in self._trace.steps:
            if (difference := self.difference(step)) is None:
                continue
            for word, ids in (
                ("created", difference.added),
                ("changed", difference.changed),
                ("removed", difference.removed),
            ):
                for key in ids:
                    found.setdefault(key, []).append((step.number, word))
        return found

    @cached_property
    def records(self) -> dict[int, InstructionRecord]:
        """The last record of every instruction that existed after any step."""
        found: dict[int, InstructionRecord] = {}
        seen = set()
        for snapshot in [self._trace.initial, *[s.after for s in self._trace.steps]]:
            if snapshot is None:
                continue
            for computation in snapshot.computations:
                if id(computation) not in seen:
                    seen.add(id(computation))
                    for record in computation.instructions:
                        found[record.id] = record
        return found

    @cached_property
    def ids_by_name(self) -> dict[str, int]:
        """The id of each name over all steps, earlier names included; the last owner wins."""
        return self._earlier_names | {record.name: key for key, record in self.records.items()}

    @cached_property
    def _earlier_names(self) -> dict[str, int]:
        """The ids of renamed instructions by their earlier names."""
        snapshots = [self._trace.initial, *[step.after for step in self._trace.steps]]
        computations = {id(c): c for s in snapshots if s is not None for c in s.computations}
        every = (record for c in computations.values() for record in c.instructions)
        return {r.name: r.id for r in every if self.records[r.id].name != r.name}

    @cached_property
    def _replaced(self) -> tuple[dict[int, int], dict[int, int]]:
        """Replacements of the rewrite rules: (old -> new, new -> old).

        Other instructions that a rule created point to the replaced one.
        """
        forward: dict[int, int] = {}
        backward: dict[int, int] = {}
        initial = self._trace.initial
        written = (
            {r.id for c in initial.computations for r in c.instructions}
            if initial is not None
            else set()
        )
        if self._trace.journal is not None:
            for event in self._trace.journal.events:
                if not (event.is_rewrite and event.acted):
                    continue
                if len(event.subjects) > 1:
                    forward[event.subjects[0]] = event.subjects[1]
                for made in (*event.subjects[1:], *((event.facts or {}).get("created") or ())):
                    # An operand that replaces its user existed before; the rule did not create it.
                    if made not in written:
                        backward.setdefault(made, event.subjects[0])
        return forward, backward

    def origins(self, instruction: int) -> list[int]:
        """Return the instruction and its predecessors through rewrites, the newest first."""
        backward, found = self._replaced[1], [instruction]
        while found[-1] in backward and backward[found[-1]] not in found:
            found.append(backward[found[-1]])
        return found

    def successors(self, instruction: int) -> list[int]:
        """Return the instruction and its replacements through rewrites, the oldest first."""
        forward, found = self._replaced[0], [instruction]
        while found[-1] in forward and forward[found[-1]] not in found:
            found.append(forward[found[-1]])
        return found

    def removed_in(self, instruction: int) -> int | None:
        """Return the step that removed the instruction for good; None if it is in the result."""
        life = self._life.get(instruction, [])
        return life[-1][0] if life and life[-1][1] == "removed" else None

    def sentences(self, instruction: int) -> list[str]:
        """Return the history of an instruction in order, one sentence per line."""
        record = self.records.get(instruction)
        if record is None:
            return []
        passes = self._trace
        life = self._life.get(instruction, [])
        entries: list[tuple[int, int, str]] = []
        if not life or life[0][1] != "created":
            entries.append((0, -1, f"%{record.name} as written"))
        recorded: set[tuple[int, str]] = set()
        for event in self.events_about.get(instruction, []):
            step = self.step_of(event)
            text, kind = _event_sentence(event, instruction)
            if text and step is None:  # code generation decides after the last pass
                entries.append((1 << 60, event.sequence, f"after the passes: {text}"))
            elif text and step == 0:
                entries.append((0, event.sequence, f"as written: {text}"))
            elif text and step is not None:
                entries.append(
                    (step, event.sequence, f"pass {step}, {passes.name_of(step)}: {text}")
                )
                recorded.add((step, kind))
        for step, word in life:
            if (step, word) not in recorded:
                entries.append((step, 1 << 60, f"pass {step}, {passes.name_of(step)}: {word}"))
        return [text for _, _, text in sorted(entries, key=lambda entry: entry[:2])]


def _event_sentence(event: Event, instruction: int) -> tuple[str, str]:
    """Return an event's sentence about an instruction, and `created`, `removed` or nothing."""
    names = [f"%{name}" for name in event.names]
    if event.is_rewrite and event.acted:
        if instruction == event.subjects[0]:
            if len(names) == 1:
                return f"{event.by} removed it", "removed"
            into = f" by {names[1]}" if len(names) > 1 else ""
            return f"rule {event.by} replaced it{into}", "removed"
        return f"rule {event.by} made it take the place of {names[0]}", "created"
    if event.is_rewrite:
        return f"rule {event.by} refused: {event.reason}", ""
    if event.is_decision:
        return f"{event.by} {' into '.join(names)} {event.verdict}" + (
            f": {event.reason}" if event.reason else ""
        ), ""
    if event.kind == "replaced" and len(event.subjects) > 1:
        if instruction == event.subjects[0]:
            return f"replaced by {names[1]}", "removed"
        return f"takes the place of {names[0]}", "created"
    return "", ""
