"""The texts of the steps of one compile.

Successive snapshots share records, so only the lines of new records are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xla_explorer.explorer.display.code_pane import PrintedLine
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.hlo.computation import ComputationRecord, HloComputation
from xla_explorer.hlo.instruction import HloInstruction, InstructionRecord, new_instruction
from xla_explorer.hlo.module import HloModule, ModuleSnapshot
from xla_explorer.hlo.opcodes import PARAMETER
from xla_explorer.hlo.text.print_options import PrintOptions
from xla_explorer.hlo.text.printer import Printer, callees_first, module_text_with_lines

MOST_TEXTS = 64
"""Texts of modules that are kept; more than one looks at when stepping to and fro."""


class _PrintedComputation(NamedTuple):
    """The printed lines of a computation.

    lines_of: of each instruction by its id, also of some that are gone. callees: ids, a loop's body
    before its condition. names: their names, and True for the entry.
    """

    records: dict[int, InstructionRecord]
    record: ComputationRecord
    names: list[str]
    callees: tuple[int, ...]
    lines_of: dict[int, list[PrintedLine]]
    lines: list[PrintedLine]


class StepTexts:
    """Texts of snapshots, with the lines of the text before.

    A line that did not change stays the same object.
    """

    def __init__(self) -> None:
        self._printer = Printer(PrintOptions.default)
        self._printed: dict[int, _PrintedComputation] = {}
        self._frames: tuple[str, list[PrintedLine]] = "", []
        self._kept: dict[int, tuple[ModuleSnapshot, list[PrintedLine]]] = {}

    def __reduce__(self) -> tuple[type[StepTexts], tuple[()]]:
        """Return an empty cache: another process has other objects for the same records."""
        return StepTexts, ()

    def kept_lines(self, snapshot: ModuleSnapshot) -> list[PrintedLine]:
        """Return the text of a snapshot; the last ones are kept."""
        if id(snapshot) not in self._kept:
            if len(self._kept) > MOST_TEXTS:
                self._kept.clear()
            self._kept[id(snapshot)] = snapshot, self.lines(snapshot)
        return self._kept[id(snapshot)][1]

    def lines(self, snapshot: ModuleSnapshot) -> list[PrintedLine]:
        """Return the lines of a snapshot."""
        with collector_paused():
            before, printed = self._printed, dict[int, _PrintedComputation]()
            names = {c.id: c.name for c in snapshot.computations}
            for c in snapshot.computations:
                found = before.get(c.id)
                is_entry = c.id == snapshot.entry
                if (
                    found is None
                    or found.record is not c
                    or found.names != [str(is_entry), *[names[key] for key in found.callees]]
                ):
                    if any(r.opcode.asynchronous for r in c.instructions):
                        return _printed_whole(snapshot)  # its short form hides a computation
                    found = self._computation(c, is_entry, names, found)
                printed[c.id] = found
            self._printed = printed
            out = self._head(snapshot)
            for key in callees_first(
                {key: found.callees for key, found in printed.items()}, snapshot.entry
            ):
                out += printed[key].lines
            return out

    def _head(self, snapshot: ModuleSnapshot) -> list[PrintedLine]:
        entry = self._printed[snapshot.entry].record
        module = HloModule(snapshot.name)
        module.attributes = dict(snapshot.attributes)
        module.entry = _part_of(entry, (), {}, {})
        module.entry.schedule = None if entry.schedule is None else ()
        if snapshot.frames is None:
            frames: list[PrintedLine] = []
        else:
            text, frames = self._frames
            if text != snapshot.frames.text:
                text = snapshot.frames.text
                frames = [*[(line, None) for line in text.split("\n")], ("", None)]
                self._frames = text, frames
        return [(self._printer.header(module), None), ("", None), *frames]

    def _computation(
        self,
        c: ComputationRecord,
        is_entry: bool,
        names: Mapping[int, str],
        known: _PrintedComputation | None,
    ) -> _PrintedComputation:
        records = {r.id: r for r in c.instructions}
        if known is not None and len(known.lines_of) >= 2 * len(records):
            known = None  # most printed lines are gone
        calls = [r for r in c.instructions if r.called]
        fresh = [*_changed_lines(c, records, known), *calls]
        callees = dict.fromkeys(
            [
                key
                for r in calls
                for key in (r.called[::-1] if r.opcode.name == "while" else r.called)
            ]
        )
        part = _part_of(c, fresh, records, names)
        head, *texts, end = self._printer.computation(
            part, is_entry, [part.instructions[r.id] for r in fresh]
        )
        lines_of = known.lines_of.copy() if known is not None else {}
        for r, text in zip(fresh, texts, strict=True):
            first, *rest = text.split("\n")
            lines_of[r.id] = [(first, r.id), *[(line, None) for line in rest]]
        shown = [
            line
            for key in (records if c.schedule is None else c.schedule)
            for line in lines_of[key]
        ]
        lines = [(head, None), *shown, (end, None), ("", None)]
        return _PrintedComputation(
            records,
            c,
            [str(is_entry), *[names[key] for key in callees]],
            tuple(callees),
            lines_of,
            lines,
        )


def _changed_lines(
    c: ComputationRecord,
    records: Mapping[int, InstructionRecord],
    known: _PrintedComputation | None,
) -> Sequence[InstructionRecord]:
    """Return the instructions without calls whose lines must be printed again.

    They are new records, roots, and instructions that read a renamed one.
    """
    if known is None:
        return [r for r in c.instructions if not r.called]
    before = set(map(id, known.record.instructions))
    fresh = [r for r in c.instructions if id(r) not in before]
    renamed = {r.id for r in fresh if r.id in known.records and known.records[r.id].name != r.name}
    found = {r.id: r for r in fresh} | {
        key: records[key] for key in (c.root, known.record.root) if key in records
    }
    if renamed:
        found |= {
            r.id: r
            for r in c.instructions
            if not renamed.isdisjoint((*r.operands, *r.control_predecessors))
        }
    return [r for r in found.values() if not r.called]


def _without_operands(r: InstructionRecord) -> HloInstruction:
    i = new_instruction(r.id, r.name, r.opcode, r.shape, (), r.attributes, payload=r.payload)
    i.metadata = r.metadata
    return i


def _part_of(
    c: ComputationRecord,
    shown: Sequence[InstructionRecord],
    records: Mapping[int, InstructionRecord],
    names: Mapping[int, str],
) -> HloComputation:
    """Return a computation to print, with some instructions, its parameters and its root."""
    module = HloModule("")
    computation = HloComputation(c.name, module)
    computation.execution_thread = c.execution_thread
    called = {
        key: HloComputation(names[key], module) for r in shown for key in r.called if key in names
    }
    made = {
        r.id: _without_operands(r)
        for r in c.instructions
        if r.opcode is PARAMETER or r.id == c.root
    }
    for r in shown:
        read = dict.fromkeys((*r.operands, *r.control_predecessors, r.id))
        for key in read:
            if key not in made:
                made[key] = _without_operands(records[key])
        i = made[r.id]
        i.operands = tuple([made[key] for key in r.operands])
        i.control_predecessors = tuple([made[key] for key in r.control_predecessors])
        i.called = tuple([called[key] for key in r.called if key in called])
    computation.instructions = made
    computation.root = made[c.root]
    return computation


def _printed_whole(snapshot: ModuleSnapshot) -> list[PrintedLine]:
    module = HloModule.from_snapshot(snapshot)
    text, where = module_text_with_lines(module)
    module.dispose()
    return [(line, where.get(number)) for number, line in enumerate(text.split("\n"), 1)]
