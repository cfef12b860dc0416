"""The trace as users hold it: steps, modules, differences, text, graphs; and `xe.optimize`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassStep, PassTrace
from xla_explorer.compiler.pipeline.optimize import optimize as run_passes
from xla_explorer.explorer.display.display import CodeText, table_html
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.pictures.module_picture import WHOLE, snapshot_picture
from xla_explorer.explorer.pictures.picture import PictureGraph
from xla_explorer.explorer.questions.decisions import Answer, decision_events, decisions_frame, why_not
from xla_explorer.explorer.questions.lineage import Lineage
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.module import HloModule, ModuleSnapshot, SnapshotDifference, snapshot_difference
from xla_explorer.hlo.text import module_text_with_lines

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.questions.applicable import ApplicableRules
    from xla_explorer.explorer.questions.provenance import Provenance


class Trace:
    """What the passes did: a PassTrace with text, graphs and questions about it.

    `at(i)`, `before(i)`, `diff(i)`, `graph(i)` take the number of a pass (negative: from the end), as `steps` lists them.
    """

    def __init__(self, trace: PassTrace) -> None:
        self.passes = trace
        self.lineage = Lineage(trace)

    # -- what the PassTrace has ----------------------------------------------------------------------------------------
    @property
    def steps(self) -> list[PassStep]:
        """Every pass that ran, in order."""
        return self.passes.steps

    @property
    def module(self) -> HloModule:
        """The result (up to the failure, when `error` is set)."""
        return self.passes.module

    @property
    def journal(self) -> Journal | None:
        """The recorded events."""
        return self.passes.journal

    @property
    def error(self) -> BaseException | None:
        """What a failed pass raised."""
        return self.passes.error

    @property
    def seconds(self) -> float:
        """Wall time of the whole pipeline."""
        return self.passes.seconds

    @property
    def changed(self) -> bool:
        """Whether any pass changed the module."""
        return self.passes.changed

    def at(self, index: int) -> HloModule:
        """The module as it stood after pass `index`."""
        return self.passes.at(index)

    def before(self, index: int) -> HloModule:
        """The module as it stood before pass `index`."""
        return self.passes.before(index)

    def diff(self, index: int) -> SnapshotDifference:
        """Ids of instructions that pass `index` added, removed and changed."""
        return self.passes.diff(index)

    def text_diff(self, index: int, context_lines: int = 3) -> CodeText:
        """A unified diff of the module's text around pass `index`; empty when nothing changed."""
        return CodeText(self.passes.text_diff(index, context_lines), "diff", f"trace.text_diff({index})")

    def step(self, name: str, occurrence: int = 0) -> PassStep:
        """The n-th run of a pass by name. KeyError when it did not run so often."""
        return self.passes.step(name, occurrence)

    def to_frame(self) -> pandas.DataFrame:
        """One row a pass: pipeline, pass, changed, seconds, instructions before and after, added, removed, modified, rewrites."""
        return self.passes.to_frame()

    def __len__(self) -> int:
        return len(self.passes.steps)

    # -- snapshots by explorer step (0: as written) --------------------------------------------------------------------
    def snapshot(self, step: int) -> ModuleSnapshot:
        """The module after explorer step `step`; 0 is the module as written."""
        found = self.passes.initial if step == 0 else self.steps[step - 1].after
        if found is None:
            # With the journal off there are no snapshots between; the two ends are still there.
            found = self.module.snapshot()
        return found

    @cached_property
    def _texts(self) -> dict[int, list[tuple[str, int | None]]]:
        return {}

    def lines(self, step: int) -> list[tuple[str, int | None]]:
        """The module's text after explorer step `step`: (line, instruction id or None)."""
        snapshot = self.snapshot(step)
        key = id(snapshot)
        found = self._texts.get(key)
        if found is None:
            with collector_paused():
                module = HloModule.from_snapshot(snapshot)
                text, where = module_text_with_lines(module)
                found = [(line, where.get(number)) for number, line in enumerate(text.split("\n"), 1)]
                module.dispose()
            if len(self._texts) > 64:
                self._texts.clear()
            self._texts[key] = found
        return found

    def changed_ids(self, step: int) -> SnapshotDifference | None:
        """What explorer step `step` changed; None for step 0 and steps without effect."""
        if step == 0:
            return None
        row = self.steps[step - 1]
        if row.before is None or row.after is None or row.before is row.after:
            return None
        return snapshot_difference(row.before, row.after)

    def picture(
        self,
        step: int,
        *,
        computation: str | None = None,
        around: Sequence[int] = (),
        radius: int | None = None,
        budget: int | None = None,
        between: tuple[int, int] | None = None,
    ) -> PictureGraph:
        """The picture after explorer step `step`, fusion decisions of that step (or of the passes before it) included.

        The other arguments as `snapshot_picture` takes them.
        """
        name = self.steps[step - 1].name if step else "as written"
        focus: Sequence[int] = around
        if not focus and self.snapshot(step).instruction_count() > WHOLE:  # a part is drawn: that in which something happened
            difference = self.changed_ids(step)
            focus = sorted(difference.added | difference.changed)[:24] if difference is not None else ()
        refused, accepted = self._fusion_edges(step)
        return snapshot_picture(
            self.snapshot(step),
            computation=computation,
            around=focus,
            radius=radius,
            budget=budget,
            between=between,
            refused=refused,
            accepted=accepted,
            title=f"{self.module.name} after {name}" if step else f"{self.module.name} as written",
        )

    def _fusion_edges(self, step: int) -> tuple[dict[tuple[int, int], str], list[tuple[int, int]]]:
        refused: dict[tuple[int, int], str] = {}
        accepted: dict[tuple[int, int], None] = {}
        for at, pair, code in self._fusion_outcomes:
            if at > step:
                break
            if code is None:
                accepted[pair] = None
                refused.pop(pair, None)
            else:
                refused[pair] = code
                accepted.pop(pair, None)
        return refused, list(accepted)

    @cached_property
    def _fusion_outcomes(self) -> list[tuple[int, tuple[int, int], str | None]]:
        """(step, (producer, consumer), code of the refusal or None) of every fusion decision, in order."""
        found = []
        for event in self._fusion_events:
            if len(event.subjects) >= 2:
                code = None if event.kind == "allowed" else event.reason.code if event.reason else ""
                found.append((self.lineage.step_of(event) or 0, (event.subjects[0], event.subjects[1]), code))
        return sorted(found, key=lambda row: row[0])

    def warm(self) -> None:
        """Make the indexes that pictures and texts of steps read."""
        _ = self._fusion_outcomes, self.lineage.step_of_span

    @cached_property
    def _fusion_events(self) -> list[Any]:
        return decision_events(self.passes, "fusion")

    # -- questions -----------------------------------------------------------------------------------------------------
    def graph(self, index: int = -1, around: Any = None, radius: int = 2) -> Graph:
        """The graph of the module after pass `index`. around: an instruction by name or id."""
        step = self.passes.steps.index(self.passes.step_at(index)) + 1 if self.steps else 0
        if around is None:
            return Graph(self.picture(step))
        key = self.at(index).find(getattr(around, "id", around)).id if self.steps else self.module.find(around).id
        return Graph(self.picture(step, around=[key], radius=radius), key)

    def graph_picture(self, around: Any, radius: int) -> tuple[PictureGraph, int | None]:
        """The picture of the result, for `xe.graph`."""
        found = self.graph(-1, around, radius)
        return found.picture, found.focus

    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """One row a decision. kind: `fusion` ..., `rule` for rewrite rules; None all but rules."""
        return decisions_frame(self.passes, self.lineage, kind)

    def why_not(self, kind: str, producer: str | int, consumer: str | int) -> Answer:
        """Why a decision went as it went; see `Session.why_not`."""
        return why_not(self.passes, self.lineage, kind, producer, consumer)

    def applicable(self, instruction: str | int, step: int | None = None) -> ApplicableRules:
        """The rules whose pattern fits an instruction; see `Session.applicable`. XlaExplorerError for unknown names."""
        from xla_explorer.explorer.questions.applicable import applicable

        return applicable(self, self.find(instruction), step)

    def hot_rules(self) -> pandas.DataFrame:
        """A row a rule that fired or was refused: rule, applied, refused, sentence, place; the most applied first."""
        from xla_explorer.explorer.display.wide_frame import wide_frame
        from xla_explorer.explorer.questions.rule_book import rule_book

        book = rule_book()
        counted = self.journal.hot_rules() if self.journal is not None else []
        return wide_frame([(*row, *book.get(row[0], ("", ""))) for row in counted], ["rule", "applied", "refused", "sentence", "place"])

    @cached_property
    def provenance(self) -> Provenance:
        """Where every instruction of the result came from; see `Session.provenance`. Lines are those of metadata and of the result."""
        from xla_explorer.explorer.questions.provenance import provenance
        from xla_explorer.explorer.questions.source_lines import SourceLines

        return provenance(self, SourceLines(self.module))

    def find(self, name_or_id: str | int) -> int:
        """The id of an instruction that was there at any step. XlaExplorerError with near names otherwise."""
        lineage = self.lineage
        if isinstance(name_or_id, int) and name_or_id in lineage.records:
            return name_or_id
        names = lineage.ids_by_name or {i.name: i.id for i in self.module.instructions()}
        key = names.get(str(name_or_id).lstrip("%"))
        if key is None:
            near = difflib.get_close_matches(str(name_or_id).lstrip("%"), list(names), 3)
            root = self.module.entry.root.name
            likes = f"near: {', '.join('%' + n for n in near)}" if near else f"names are like that of the result: %{root}"
            raise XlaExplorerError(f"no instruction was ever named {name_or_id}", likes)
        return key

    def history(self, instruction: str | int) -> list[str]:
        """The life of an instruction, one sentence a line; empty when there never was one."""
        key = instruction if isinstance(instruction, int) else self.lineage.ids_by_name.get(instruction.lstrip("%"), -1)
        return self.lineage.sentences(key)

    @cached_property
    def explorer_source(self) -> Any:
        """What the widget and the exported page read."""
        from xla_explorer.explorer.page.session_source import TraceSource

        return TraceSource(self)

    def explore(self, **options: Any) -> Any:
        """The widget."""
        from xla_explorer.explorer.exploring import explore

        return explore(self, **options)

    @cleaned
    def __repr__(self) -> str:
        return repr(self.passes)

    @cleaned
    def __str__(self) -> str:
        return str(self.passes)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        telling = [s for s in self.steps if s.changed or s.error]
        rows = [
            (s.index, s.pipeline, s.name, s.instructions_before, s.instructions_after, s.rewrites, s.seconds * 1e3, s.error or "")
            for s in telling
        ]
        html = table_html(
            repr(self)[1:-1],
            ["pass", "pipeline", "name", "before", "after", "rules applied", "ms", "error"],
            rows,
            f"{len(self.steps) - len(telling)} passes changed nothing",
        )
        return {"text/plain": repr(self), "text/html": html}


def optimize(
    module: Any, passes: Any = "default", journal: str = "decisions", *, verify: bool = True, keep_errors: bool = False, **options: Any
) -> Trace:
    """Run passes on a copy of a module (or HLO text): `.module` is the result, the rest says how it came about.

    passes: `default`, `none`, a pipeline string such as `algsimp,cse,dce`, or a pipeline. journal: off, passes, decisions, everything.
    verify: check the module after every pass that changed it.

    Raises:
        HloParseError, HloVerifyError: the module is malformed.
        PipelineSyntaxError: the pipeline string is; with the place in it.
        PassFailedError: a pass failed; its `.trace` has everything before. `keep_errors` returns the trace instead.
    """
    from xla_explorer.explorer.sessions.loading import as_module
    from xla_explorer.hlo.verifier import verify as check

    source = as_module(module)
    warn_of_elided_constants(source)
    if verify:
        check(source)
    return Trace(run_passes(source, passes, journal, verify=verify, keep_errors=keep_errors, **options))
