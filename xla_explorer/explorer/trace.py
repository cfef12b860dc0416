"""`xe.optimize`: passes without a backend, and what they did."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassStep, PassTrace
from xla_explorer.compiler.pipeline.optimize import optimize as run_passes
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.page.session_source import TraceSource
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.questions.answers import Answer, why_not
from xla_explorer.explorer.questions.applicable import ApplicableRules, applicable
from xla_explorer.explorer.questions.decisions import decisions_frame
from xla_explorer.explorer.questions.provenance import Provenance, provenance
from xla_explorer.explorer.questions.rule_book import hot_rules
from xla_explorer.explorer.sessions.lineage import Lineage
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, name_or_id
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.explorer.widget import widget_of
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.renamed import warn_renamed
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule, SnapshotDifference
from xla_explorer.hlo.verifier import verify as check

if TYPE_CHECKING:
    import pandas


class Pass(RecordedPass):
    """One run of one pass; element 0 of `session.passes` is the module as written."""

    __slots__ = ()

    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """The rows of `session.decisions(kind)` that were recorded in this pass."""
        frame = decisions_frame(self._passes.record, self._passes.lineage, kind)
        return frame[frame["step"] == self.number].reset_index(drop=True)


class Passes(RecordedPasses[Pass]):
    """What the passes did: `passes[0]` is the module as written, `passes[k]` what pass k made of it, `passes[-1]` the last one."""

    def __init__(self, record: PassTrace) -> None:
        super().__init__(record, Pass)

    def find(self, instruction: Any) -> int:
        """The id of an instruction that was there after any pass, from its name, its id or itself.

        XlaExplorerError with near names otherwise.
        """
        return super().find(name_or_id(instruction))


class Trace:
    """What `xe.optimize` returns: `.module` is the result, `.passes` what every pass did, and the questions that need no backend.

    `at(i)`, `before(i)`, `diff(i)`, `text_diff(i)` and `graph(i)` are old names; they count from 0, without the module as written.
    """

    def __init__(self, passes: Passes) -> None:
        self.passes = passes

    @property
    def steps(self) -> list[PassStep]:
        """The compiler's record of every pass that ran, in order."""
        return self.passes.record.steps

    @property
    def module(self) -> HloModule:
        """The result (up to the failure, when `error` is set)."""
        return self.passes.module

    @property
    def lineage(self) -> Lineage:
        """What happened to each instruction."""
        return self.passes.lineage

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

    def step(self, name: str, occurrence: int = 0) -> PassStep:
        """The n-th run of a pass by name. KeyError when it did not run so often."""
        return self.passes.record.step(name, occurrence)

    def to_frame(self) -> pandas.DataFrame:
        """One row a pass, without the module as written and without numbers. Use `passes.to_frame()`."""
        warn_renamed("trace.to_frame()", "passes.to_frame(), whose first row is the module as written")
        return self.passes.record.to_frame()

    def __len__(self) -> int:
        return len(self.steps)

    # -- old names -----------------------------------------------------------------------------------------------------
    def at(self, index: int) -> HloModule:
        """The module as it stood after the pass at place `index` of `steps`. Use `passes[k].module`."""
        warn_renamed("trace.at(i)", "passes[k].module, where 1 is the first pass")
        return self.passes.record.at(index)

    def before(self, index: int) -> HloModule:
        """The module as it stood before the pass at place `index` of `steps`. Use `passes[k].before`."""
        warn_renamed("trace.before(i)", "passes[k].before, where 1 is the first pass")
        return self.passes.record.before(index)

    def diff(self, index: int) -> SnapshotDifference:
        """What the pass at place `index` of `steps` changed. Use `passes[k].diff`."""
        warn_renamed("trace.diff(i)", "passes[k].diff, where 1 is the first pass")
        return self.passes.record.diff(index)

    def text_diff(self, index: int, context_lines: int = 3) -> CodeText:
        """A unified diff around the pass at place `index` of `steps`. Use `passes[k].text_diff()`."""
        warn_renamed("trace.text_diff(i)", "passes[k].text_diff(), where 1 is the first pass")
        return self.passes[self.passes.record.step_at(index).number].text_diff(context_lines)

    def graph(self, index: int = -1, around: Any = None, radius: int = 2) -> Graph:
        """The graph after the pass at place `index` of `steps`. Use `passes[k].graph()`."""
        warn_renamed("trace.graph(i)", "passes[k].graph(), where 1 is the first pass")
        return self.passes[self.passes.record.step_at(index).number if self.steps else 0].graph(around, radius)

    # -- questions -----------------------------------------------------------------------------------------------------
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """One row a decision. kind: `fusion` ..., `rule` for rewrite rules; None all but rules."""
        return decisions_frame(self.passes.record, self.lineage, kind)

    def why_not(self, kind: str, *subjects: str | int | HloInstruction) -> Answer:
        """Why a decision went as it went; see `Session.why_not`."""
        return why_not(self.passes, kind, [name_or_id(subject) for subject in subjects])

    def applicable(self, instruction: str | int | HloInstruction, step: int | None = None) -> ApplicableRules:
        """The rules whose pattern fits an instruction; see `Session.applicable`. XlaExplorerError for unknown names."""
        return applicable(self.passes, self.find(instruction), step)

    def hot_rules(self) -> pandas.DataFrame:
        """A row a rule that fired or was refused: rule, applied, refused, sentence, place; the most applied first."""
        return hot_rules(self.journal)

    @cached_property
    def provenance(self) -> Provenance:
        """Where every instruction of the result came from; see `Session.provenance`. Lines are those of metadata and of the result."""
        return provenance(self.passes, SourceLines(self.module))

    def find(self, instruction: str | int | HloInstruction) -> int:
        """The id of an instruction that was there at any step. XlaExplorerError with near names otherwise."""
        return self.passes.find(instruction)

    def history(self, instruction: str | int | HloInstruction) -> list[str]:
        """The life of an instruction, one sentence a line. XlaExplorerError with near names when there never was one."""
        return self.lineage.sentences(self.find(instruction))

    @cached_property
    def explorer_source(self) -> Any:
        """What the widget and the exported page read."""
        return TraceSource(self.passes)

    def explore(self, **options: Any) -> Any:
        """The widget."""
        return widget_of(self.explorer_source, **options)

    @cleaned
    def __repr__(self) -> str:
        return repr(self.passes.record)

    @cleaned
    def __str__(self) -> str:
        return str(self.passes.record)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {**self.passes._repr_mimebundle_(), "text/plain": repr(self)}


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
    source = as_module(module)
    warn_of_elided_constants(source)
    if verify:
        check(source)
    return Trace(Passes(run_passes(source, passes, journal, verify=verify, keep_errors=keep_errors, **options)))
