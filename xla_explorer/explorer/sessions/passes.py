"""The passes of a compile as a sequence; element 0 is the module as written.

This numbering is used everywhere: in frames, decisions, pictures, pages, magics and sentences.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Collection, Sequence
from functools import cached_property
from operator import index as as_integer
from typing import Any, Generic, TypeVar, overload

from xla_explorer.compiler.pipeline import PassPipeline, PassStep, PassTrace
from xla_explorer.compiler.pipeline.trace import UnknownStepError
from xla_explorer.explorer.asking.question import STEP, question
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table, drawn, printed
from xla_explorer.explorer.display.code_pane import PrintedLine
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.pictures.drawing import FusionEdges
from xla_explorer.explorer.pictures.drawn_records import DrawnRecords
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.pictures.module_picture import snapshot_picture
from xla_explorer.explorer.pictures.own_edges import add_edges, parse_edges
from xla_explorer.explorer.pictures.picture import PictureEdge, PictureGraph
from xla_explorer.explorer.pictures.region import Region
from xla_explorer.explorer.sessions.lineage import Lineage
from xla_explorer.explorer.sessions.step_texts import StepTexts
from xla_explorer.explorer.tables.rows import Pass, columns_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import (
    HloModule,
    ModuleSnapshot,
    SnapshotDifference,
    snapshot_difference,
)

AS_WRITTEN = "as written"  # the name of element 0


@explains_methods
class RecordedPass(Report):
    """One run of one pass, or the module as written.

    Attributes
    ----------
    number : int
        0 is the module as written, 1 the first pass.
    step : PassStep or None
        The compiler's record of the run; None for the module as written.
    """

    __slots__ = ("_passes", "number", "step")

    def __init__(
        self, passes: RecordedPasses[RecordedPass], number: int, step: PassStep | None
    ) -> None:
        self._passes, self.number, self.step = passes, number, step

    @property
    def name(self) -> str:
        """The name of the pass; `as written` for element 0."""
        return self.step.name if self.step is not None else AS_WRITTEN

    @property
    def pipeline(self) -> str:
        """The pipelines around the pass, `simplification/inner#2`; `input` for element 0."""
        return self.step.pipeline if self.step is not None else "input"

    @property
    def changed(self) -> bool:
        """True if the pass changed the module."""
        return self.step is not None and self.step.changed

    @property
    def error(self) -> str:
        """The exception of the pass as text; empty if it succeeded."""
        return (self.step.error or "") if self.step is not None else ""

    @property
    def seconds(self) -> float:
        """Wall time of the pass alone."""
        return self.step.seconds if self.step is not None else 0.0

    @property
    def rewrites(self) -> int:
        """The number of rewrites that the pass applied."""
        return self.step.rewrites if self.step is not None else 0

    @property
    def instructions(self) -> int:
        """The number of instructions after the pass."""
        if self.step is None:
            return self.snapshot.instruction_count()
        return self.step.instructions_after

    @property
    def instructions_before(self) -> int:
        """The number of instructions before the pass."""
        return self.step.instructions_before if self.step is not None else self.instructions

    @property
    def snapshot(self) -> ModuleSnapshot:
        """The module after the pass, as data; with the journal off, the result of the compile."""
        found = self._passes.record.initial if self.step is None else self.step.after
        return found if found is not None else self._passes.record.module.snapshot()

    def _ends(self) -> tuple[ModuleSnapshot, ModuleSnapshot]:
        before = self._passes.record.initial if self.step is None else self.step.before
        after = self._passes.record.initial if self.step is None else self.step.after
        if before is None or after is None:
            raise XlaExplorerError(
                f"pass {self.number} ({self.name}) has no snapshots",
                'run with journal="passes" or more',
            )
        return before, after

    @property
    def module(self) -> HloModule:
        """A new copy of the module after the pass. XlaExplorerError with the journal off."""
        return HloModule.from_snapshot(self._ends()[1])

    @property
    def before(self) -> HloModule:
        """A new copy of the module before the pass; of element 0, the module as written."""
        return HloModule.from_snapshot(self._ends()[0])

    @property
    def diff(self) -> SnapshotDifference:
        """Ids of the instructions that it added, removed and changed; empty for element 0."""
        return snapshot_difference(*self._ends())

    @property
    def known_diff(self) -> SnapshotDifference | None:
        """`diff`, or None without a change or snapshots."""
        return None if self.step is None else self._passes.lineage.difference(self.step)

    @property
    @question(STEP, is_property=True)
    def text(self) -> CodeText:
        """The module after it, as HLO text."""
        return CodeText(
            "\n".join([line for line, _ in self.lines]), "hlo", f"passes[{self.number}].text"
        )

    @property
    def lines(self) -> list[PrintedLine]:
        """The module's text after it: (line, instruction id or None)."""
        return self._passes.text_of(self.snapshot)

    @question(STEP)
    def text_diff(self, context_lines: int = 3) -> CodeText:
        """Return a unified diff of the module's text around the pass; empty if it changed nothing.

        Parameters
        ----------
        context_lines : int
            Lines that did not change, shown around each change.
        """
        old, new = [
            HloModule.from_snapshot(s).to_text().splitlines(keepends=True) for s in self._ends()
        ]
        found = "".join(
            difflib.unified_diff(
                old, new, f"before {self.name}", f"after {self.name}", n=context_lines
            )
        )
        return CodeText(found, "diff", f"passes[{self.number}].text_diff()")

    @property
    def events(self) -> list[Event]:
        """The events that the journal recorded in the pass."""
        return self._passes.record.events_of(self.step) if self.step is not None else []

    @property
    def title(self) -> str:
        """The title of a picture of the module after the pass."""
        word = f"after {self.name}" if self.step is not None else AS_WRITTEN
        return f"{self._passes.module.name} {word}"

    def picture(
        self,
        *,
        computation: str | None = None,
        around: Sequence[int] = (),
        radius: int | None = None,
        budget: int | None = None,
        between: tuple[int, int] | None = None,
        opened: Collection[str] | None = None,
        show: Sequence[int] = (),
        bare: bool = False,
    ) -> PictureGraph:
        """Return the picture of the module after the pass, with the fusion decisions so far.

        The arguments are the fields of `Region`.
        """
        difference = self.known_diff
        picture = snapshot_picture(
            self.snapshot,
            Region(computation, around, radius, between, budget, opened, show),
            fusions=FusionEdges(*self._passes.fusion_edges(self.number)),
            touched=difference.added | difference.changed if difference is not None else (),
            title=self.title,
            bare=bare,
            known=self._passes.drawn,
        )
        return add_edges(picture, self._passes.own_edges) if self._passes.own_edges else picture

    def graph(self, around: str | int | HloInstruction | None = None, radius: int = 2) -> Graph:
        """Return the graph of the module after the pass.

        Parameters
        ----------
        around : str, int or HloInstruction, optional
            Draw only the surroundings of this instruction.
        radius : int
            The largest distance from it, in edges.
        """
        if around is None:
            return Graph(self.picture())
        module = HloModule.from_snapshot(self.snapshot)
        key = module.find(name_or_id(around)).id
        module.dispose()
        return Graph(self.picture(around=[key], radius=radius), key)

    def headline(self) -> str:
        """Return the number, the name, the effect and the time of the pass."""
        if self.step is None:
            return f"pass 0, as written: {self.instructions} instructions"
        state = self.error or ("changed" if self.changed else "unchanged")
        return f"pass {self.number}, {self.pipeline}/{self.name}: {state}, {self.instructions} instructions, {self.step.time_text}"

    def blocks(self) -> Blocks:
        """Yield the pass's change as a diff, or the text if it changed nothing."""
        yield self.text if self.known_diff is None else self.text_diff()

    @cleaned
    def __repr__(self) -> str:
        """Return one line: a list of passes is read as such."""
        return f"<{self.headline()}>"

    def records(self) -> Table:
        """Return the pass's row of `passes.to_frame()`."""
        difference = self.known_diff if self.changed else None
        counts = (
            (len(difference.added), len(difference.removed), len(difference.changed))
            if difference is not None
            else (0, 0, 0)
        )
        sizes = self.instructions_before, self.instructions
        found = (self.number, self.pipeline, self.name, self.changed, _seconds(self), *sizes)
        return Table(columns_of(Pass), [Pass(*found, *counts, self.rewrites, self.error or None)])


P_co = TypeVar("P_co", bound=RecordedPass, covariant=True)


@explains_methods
class RecordedPasses(Report, Sequence[P_co], Generic[P_co]):
    """The passes of one compile; see the module's docstring.

    Attributes
    ----------
    record : PassTrace
        The compiler's record.
    lineage : Lineage
        The history of each instruction.
    """

    def __init__(self, record: PassTrace, element: type[P_co]) -> None:
        self.record = record
        self.lineage = Lineage(record)
        self._element = element
        self.drawn = DrawnRecords()
        self.own_edges: tuple[PictureEdge, ...] = ()
        self.isolation: Any = None  # the limits of evaluations
        self._step_texts = StepTexts()

    def draw_edges(self, edges: Any) -> None:
        """Draw edges of your own over every picture of these passes, in the widget and in pages.

        Parameters
        ----------
        edges : DataFrame or iterable of rows
            Columns `source`, `target` and `label` (names or ids of instructions). An empty list
            takes them away.
        """
        self.own_edges = parse_edges(edges, self.find)

    @cached_property
    def _elements(self) -> list[P_co]:
        return [
            self._element(self, 0, None),
            *[self._element(self, step.number, step) for step in self.record.steps],
        ]

    def __len__(self) -> int:
        return len(self._elements)

    @overload
    def __getitem__(self, number: int) -> P_co: ...
    @overload
    def __getitem__(self, number: slice) -> list[P_co]: ...
    def __getitem__(self, number: int | slice) -> P_co | list[P_co]:
        if isinstance(number, slice):
            return self._elements[number]
        if isinstance(number, str):
            raise UnknownStepError(
                f"a pass is selected by its number, not by the name {number!r}",
                f"passes.named({number!r}) finds it",
            )
        try:
            return self._elements[as_integer(number)]
        except IndexError:
            raise UnknownStepError(
                f"the compile has no pass {number}",
                f"passes are 0 (as written) to {self.last}, or -1 for the last",
            ) from None

    def named(self, name: str, occurrence: int = 0) -> P_co:
        """Return the n-th run of a pass by name.

        Parameters
        ----------
        name : str
            UnknownStepError (a KeyError) when it did not run so often.
        occurrence : int
            0 for its first run.
        """
        return self._elements[self.record.step(name, occurrence).number]

    @property
    def last(self) -> int:
        """The number of the last pass: how many passes ran."""
        return self._elements[-1].number

    @property
    def module(self) -> HloModule:
        """The result (up to the failure, when `error` is set)."""
        return self.record.module

    @property
    def pipeline(self) -> PassPipeline:
        """The passes that were run, as data.

        `session.override(passes=session.passes.pipeline.without("cse"))` changes them.
        """
        return self.record.pipeline

    @property
    def journal(self) -> Journal | None:
        """The recorded events."""
        return self.record.journal

    @property
    def error(self) -> BaseException | None:
        """The exception of a failed pass."""
        return self.record.error

    @property
    def seconds(self) -> float:
        """Wall time of the whole pipeline."""
        return self.record.seconds

    @property
    def changed(self) -> bool:
        """True if any pass changed the module."""
        return self.record.changed

    def records(self) -> Table:
        """Return a row per pass.

        Columns: step (its number), pipeline, pass, changed, seconds, instructions before and after,
        added, removed, modified, rewrites, error.
        """
        return Table(columns_of(Pass), [row for p in self for row in p.records().rows])

    def text_of(self, snapshot: ModuleSnapshot) -> list[PrintedLine]:
        """Return (line, instruction id or None) of a snapshot's text; the last ones are kept.

        Parameters
        ----------
        snapshot : ModuleSnapshot
            That of a step: `passes[k].snapshot`.
        """
        return self._step_texts.kept_lines(snapshot)

    def fusion_edges(self, number: int) -> tuple[dict[tuple[int, int], str], list[tuple[int, int]]]:
        """Return (refused pair -> code, accepted pairs) of the fusion decisions up to a pass.

        Parameters
        ----------
        number : int
            The number of the pass.
        """
        refused: dict[tuple[int, int], str] = {}
        accepted: dict[tuple[int, int], None] = {}
        for at, pair, code in self.lineage.fusion_outcomes:
            if at > number:
                break
            if code is None:
                accepted[pair] = None
                refused.pop(pair, None)
            else:
                refused[pair] = code
                accepted.pop(pair, None)
        return refused, list(accepted)

    def warm(self) -> None:
        """Make the indexes that pictures and texts read."""
        _ = self.lineage.fusion_outcomes, self.lineage.step_of_span

    def find(self, instruction: str | int | HloInstruction) -> int:
        """Return the id of an instruction that existed after any pass.

        Parameters
        ----------
        instruction : str, int or HloInstruction
            By name, id or itself. XlaExplorerError with near names otherwise.
        """
        lineage, given = self.lineage, name_or_id(instruction)
        if isinstance(given, int) and given in lineage.records:
            return given
        names = lineage.ids_by_name or {i.name: i.id for i in self.module.instructions()}
        key = names.get(str(given).lstrip("%"))
        if key is None:
            near = nearest(str(given).lstrip("%"), list(names), 3)
            root = self.module.entry.root.name
            likes = (
                f"near: {', '.join('%' + n for n in near)}" if near else f"names look like %{root}"
            )
            raise XlaExplorerError(f"no instruction was ever named {given}", likes)
        return key

    def headline(self) -> str:
        """Return the number of passes and their result."""
        return repr(self.record)[1:-1].replace("PassTrace", "Passes", 1)

    def blocks(self) -> Blocks:
        """Yield the passes that changed something; the text form has all of them."""
        yield printed(Sentence(str(self.record).partition("\n")[2]))
        yield drawn(self._changes())

    def _prompt_blocks(self) -> Blocks:
        """Yield the passes that changed something."""
        yield self._changes()

    def _changes(self) -> Table:
        telling = [p for p in self if p.changed or p.error]
        ends = [(p.instructions_before, p.instructions) for p in telling]
        rows = [
            (p.number, p.name, p.pipeline, *counts, p.rewrites, _ms(p), p.error)
            for p, counts in zip(telling, ends, strict=True)
        ]
        counted = ["instructions_before", "instructions_after", "rewrites"]
        columns = ["step", "pass", "pipeline", *counted, "ms", "error"]
        return Table(columns, rows, note=f"{self.last - len(telling)} passes changed nothing")


def _seconds(p: RecordedPass) -> float | None:
    """Return the wall time of a pass; None for real XLA, whose dump has no times."""
    return p.step.known_seconds if p.step is not None else 0.0


def _ms(p: RecordedPass) -> float | str:
    seconds = _seconds(p)
    return "not known" if seconds is None else 1e3 * seconds


def pass_of_step(passes: RecordedPasses[RecordedPass], step: int) -> RecordedPass:
    """Return the pass of a view's step; the last one for later steps, such as a failed backend."""
    return passes[min(step, passes.last)]


def name_or_id(instruction: str | int | HloInstruction) -> str | int:
    """Return the name or the id of an instruction that is given by either, or itself."""
    if isinstance(instruction, HloInstruction):
        return instruction.id
    if isinstance(instruction, str):
        return instruction
    if not isinstance(instruction, bool):
        with contextlib.suppress(TypeError):  # arrays have `__index__`, too
            return as_integer(instruction)
    raise XlaExplorerError(
        f"an instruction is named by its name, its id or itself, not by a {type(instruction).__name__}",
        "such as '%add.3'",
    )
