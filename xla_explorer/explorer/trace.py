"""`xe.optimize`: passes without a backend, and their record."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassStep, PassTrace
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.compiler.pipeline.optimize import optimize as run_passes
from xla_explorer.compiler.rewriting import Rule
from xla_explorer.explorer.asking.question import STEP, Cost, question
from xla_explorer.explorer.code.compile_flame import CompileFlame, flame_of_passes
from xla_explorer.explorer.comparisons.pass_orders import (
    changing_names,
    commuting_passes,
    searched_orders,
)
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.page.search_items import found_items
from xla_explorer.explorer.page.session_source import TraceSource
from xla_explorer.explorer.page.view import ExplorerSource
from xla_explorer.explorer.questions.answer import Answer
from xla_explorer.explorer.questions.decisions import decisions_frame
from xla_explorer.explorer.questions.pass_table import cost_table, opcode_table
from xla_explorer.explorer.questions.pass_trials import effective_passes
from xla_explorer.explorer.questions.provenance import Provenance, provenance
from xla_explorer.explorer.questions.search import KEYS
from xla_explorer.explorer.questions.tensor_values import TensorValue, tensor_value
from xla_explorer.explorer.questions.value_errors import value_errors
from xla_explorer.explorer.questions.why_not import why_not
from xla_explorer.explorer.rules.applicable import ApplicableRules, applicable
from xla_explorer.explorer.rules.rule_book import hot_rules
from xla_explorer.explorer.rules.rule_times import clock_rules, rule_times
from xla_explorer.explorer.rules.rule_trial import RuleTrial, rule_trial
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.explorer.widget import ExplorerView, widget_of
from xla_explorer.foundation.keywords import check_keywords, explains_arguments, explains_methods
from xla_explorer.foundation.limits import limited_run
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify as check

if TYPE_CHECKING:
    import pandas


@explains_methods
class Pass(RecordedPass):
    """One run of one pass; element 0 of `session.passes` is the module as written."""

    __slots__ = ()

    @question(STEP, noun="decision")
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """Return the rows of `session.decisions(kind)` that were recorded in this pass.

        Parameters
        ----------
        kind : str, optional
            All but rules without.
        """
        frame = decisions_frame(self._passes.record, self._passes.lineage, kind)
        return frame[frame["step"] == self.number].reset_index(drop=True)


@explains_methods
class Passes(RecordedPasses[Pass]):
    """The passes of a compile: `passes[0]` is the module as written, `passes[-1]` the last pass."""

    def __init__(
        self,
        record: PassTrace,
        source_lines: SourceLines | None = None,
        source: Callable[[], ExplorerSource] | None = None,
    ) -> None:
        super().__init__(record, Pass)
        self._source_lines, self._source = source_lines, source or partial(TraceSource, self)

    @question("passes", noun="pass")
    def to_frame(self) -> pandas.DataFrame:
        """Return one row per pass: what it changed, its time and its rewrites."""
        return super().to_frame()

    @question("passes")
    def history(self, instruction: str | int | HloInstruction) -> list[str]:
        """Return the history of an instruction over the passes, one sentence per line.

        Parameters
        ----------
        instruction : str, int or HloInstruction
            By name, id or itself. XlaExplorerError with near names when there never was one.
        """
        return self.lineage.sentences(self.find(instruction))

    @question("passes", cost=Cost.COMPILES)
    def applicable(
        self, instruction: str | int | HloInstruction, step: int | None = None
    ) -> ApplicableRules:
        """Return the rules whose pattern matches an instruction, each with its result.

        Parameters
        ----------
        instruction : str, int or HloInstruction
            By name, id or itself.
        step : int, optional
            Asked of the module after that many passes (0: as written); of the last in which the
            instruction was there without.
        """
        return applicable(self, self.find(instruction), step)

    def try_rule(self, rule: Rule, step: int = 0) -> RuleTrial:
        """Apply a rule to every instruction of the module after a pass, and list the results.

        The result has the matches with their replacements, the refusals, and the near misses:
        instructions that match all but one part of the pattern.

        Parameters
        ----------
        rule : Rule
            What `@xe.rule` declared.
        step : int
            The number of the pass; 0 is the module as written.
        """
        where = (
            f"after pass {self[step].number}, {self[step].name}"
            if self[step].number
            else "as written"
        )
        return rule_trial(rule, self[step].snapshot, where)

    @question("passes", cost=Cost.COMPILES, noun="pass")
    def effective(self, step: int = -1) -> pandas.DataFrame:
        """Return the registered passes that would change the module after a pass, one row per pass.

        Each runs on a copy, which is verified. Columns: the changes, ms, and `error` if the pass
        raised.

        Parameters
        ----------
        step : int
            The number of the pass; -1 is the last.
        """
        return effective_passes(self[step].module, self.record.target)

    @question("passes", cost=Cost.COMPILES)
    def commute(self, *names: str, step: int = 0) -> pandas.DataFrame:
        """Return the pairs of passes whose order matters, one row per pair.

        Each order runs on the module after a pass. `same` is True if both orders make the same
        module. Instructions, bytes and flops (estimates) are given for each order, `error` if one
        of them raised.

        Parameters
        ----------
        *names : str
            The passes to try; those that changed the module without.
        step : int
            The number of the pass; 0 is the module as written.
        """
        return commuting_passes(
            self[step].module, names or changing_names(self), self.record.target
        )

    @question("passes", cost=Cost.COMPILES)
    def search_order(
        self, *names: str, step: int = 0, trials: int = 40, by: str = "bytes"
    ) -> pandas.DataFrame:
        """Search an order of passes by exchanging adjacent ones.

        The rows are the tried orders, the best first. `xe.compile(..., passes=order)` takes an
        order of the table.

        Parameters
        ----------
        *names : str
            The passes to order; those that changed the module without.
        step : int
            The number of the pass after which they run; 0 is the module as written.
        trials : int
            The most orders that are run.
        by : str
            `bytes`, `flops` or `instructions` of the result (estimates).
        """
        return searched_orders(
            self[step].module,
            names or changing_names(self),
            self.record.target,
            trials=trials,
            by=by,
        )

    @question("passes", noun="origin")
    def provenance(self) -> Provenance:
        """Return the source instructions and lines of each instruction of the result.

        The report has the coverage too.
        """
        return provenance(self, self._source_lines or SourceLines(self.module))

    @question("passes", cost=Cost.RUNS)
    def value(
        self, instruction: str | int | HloInstruction, *arrays: Any, step: int = -1
    ) -> TensorValue:
        """Return the tensor of an instruction after a pass, by the evaluator.

        It has statistics, a histogram, NaNs and the difference to the module as written.

        Parameters
        ----------
        instruction : str, int or HloInstruction
            By name, id or itself. XlaExplorerError if the step does not have it, or did not run.
        *arrays
            The arguments of the module; random ones by default.
        step : int
            The number of the pass; -1 is the last.
        """
        return tensor_value(self, self.find(instruction), step, arrays)

    @question("passes", cost=Cost.RUNS)
    def errors(self, *arrays: Any, rewrites: bool = False) -> pandas.DataFrame:
        """Return the largest relative error of values after each pass that changed the module.

        The evaluator computes them; the reference is the module as written.

        Parameters
        ----------
        *arrays
            The arguments of the module, leaves in order; random ones by default.
        rewrites : bool
            A row for each rewrite and decision, too: the pass runs with one action more each time.
            `session.bisect` finds the first wrong one faster.
        """
        return value_errors(self, arrays, rewrites=rewrites)

    @question("passes", noun="found thing")
    def search(self, query: str, step: int = -1) -> pandas.DataFrame:
        """Return the instructions of a step, the decisions and the passes that match a query.

        The syntax is that of the explorer's search box.

        Parameters
        ----------
        query : str
            Terms that must all hold: `op:dot shape:f32[*,768] bytes>1M time>5% scope:attn
            line:model.py:40 reason:reads-multiply`, words, `/patterns/`, `-` before a term for its
            opposite. The keys are in `explorer.questions.search.KEYS`.
        step : int
            The number of the pass after which instructions are searched; -1 is the last.
        """
        return wide_frame(
            found_items(self._source(), query, self[step].number), [*KEYS, "id", "step"]
        )

    @question("passes")
    def callers(self, instruction: str | int | HloInstruction) -> pandas.DataFrame:
        """Return the Python call stack of an instruction, the innermost frame first.

        Columns: file, function and line, from the module's stack frames.

        Parameters
        ----------
        instruction : str, int or HloInstruction
            By name, id or itself.
        """
        frames = self[0].module.frames
        records = [
            self.lineage.records[key]
            for key in self.lineage.origins(self.find(instruction))
            if key in self.lineage.records
        ]
        stacks = (
            [frames.stack(parse_metadata(r.metadata).stack_frame_id) for r in records]
            if frames is not None
            else []
        )
        return wide_frame(
            next((stack for stack in stacks if stack), []), ["file", "function", "line"]
        )

    @question("passes")
    def opcodes(self, *, change: bool = False) -> pandas.DataFrame:
        """Return the number of instructions by opcode, as written and after each change.

        Parameters
        ----------
        change : bool
            The differences instead.
        """
        return opcode_table(self, change=change)

    @question("passes", noun="pass")
    def costs(self) -> pandas.DataFrame:
        """Return time and size after each pass that changed the module, one row per pass.

        Columns: ms, instructions, bytes and flops of the module after it, their changes
        (estimates), and the number of rules that were applied and tried.
        """
        return cost_table(self)

    @question("passes", noun="rule")
    def hot_rules(self) -> pandas.DataFrame:
        """Return the rules that were applied or refused, one row per rule, the most applied first.

        Columns: rule, accepted, refused, sentence, place.
        """
        return hot_rules(self.journal)

    def flame(self) -> CompileFlame:
        """Return a flame graph of the time of passes and rules; the rules are timed now.

        `session.llvm.flame()` is that of the whole compile.
        """
        return CompileFlame(flame_of_passes(self, clock_rules(self)))

    @question("passes", cost=Cost.COMPILES, noun="rule")
    def rule_times(self, *others: ModuleLike, idle: bool = False) -> pandas.DataFrame:
        """Return the time of each rule in each pass, one row per rule and pass.

        Columns: ms, share, instructions tried, matched and replaced, and the number of modules in
        which the rule was applied. The passes run once more on the module as written, with a clock.

        Parameters
        ----------
        *others : session, module or text
            More modules, whose times are added: those of a corpus.
        idle : bool
            Also the rules that were tried on no instruction; those that never act in a corpus are
            dead.
        """
        sources = [getattr(other, "source", None) for other in others]
        modules = [
            s if isinstance(s, HloModule) else as_module(other)
            for s, other in zip(sources, others, strict=True)
        ]
        return rule_times(self, modules, idle=idle)


@explains_methods
class Trace:
    """The result of `xe.optimize`.

    Attributes
    ----------
    passes : Passes
        The record of every pass; element 0 is the module as written.
    """

    def __init__(self, passes: Passes) -> None:
        self.passes = passes

    @property
    def steps(self) -> list[PassStep]:
        """The compiler's record of every pass that ran, in order."""
        return self.passes.record.steps

    @property
    def module(self) -> HloModule:
        """The result (up to the failure, when `passes.error` is set)."""
        return self.passes.module

    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """Return one row per decision.

        Parameters
        ----------
        kind : str, optional
            `fusion` ..., `rule` for rewrite rules; all but rules without.
        """
        return decisions_frame(self.passes.record, self.passes.lineage, kind)

    def why_not(self, kind: str, *subjects: str | int | HloInstruction) -> Answer:
        """Return the reason of a decision; see `Session.why_not`.

        Parameters
        ----------
        kind : str
            Any kind that `decisions` shows.
        *subjects : str, int or HloInstruction
            The subjects, in the order of the kind.
        """
        return why_not(self.passes, kind, subjects)

    def provenance(self) -> Provenance:
        """Return the source of every instruction of the result; see `Passes.provenance`.

        Lines are those of metadata and of the result.
        """
        return self.passes.provenance()

    def explore(self, **options: Any) -> ExplorerView:
        """Return the explorer widget.

        Parameters
        ----------
        **options
            Those of `xe.explore`.
        """
        return widget_of(self._explorer_source_(), **options)

    def _explorer_source_(self) -> TraceSource:
        """Return the source of the widget and the exported page."""
        return TraceSource(self.passes)

    @cleaned
    def __repr__(self) -> str:
        return repr(self.passes.record)

    @cleaned
    def __str__(self) -> str:
        return str(self.passes.record)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {**self.passes._repr_mimebundle_(), "text/plain": repr(self)}


OPTIONS = ("control", "target", "in_place")
"""Further options of `optimize`, as `compiler.pipeline.optimize` has them."""


@explains_arguments
@limited_run()
def optimize(
    module: ModuleLike,
    passes: PipelineLike = "default",
    journal: str = "decisions",
    *,
    verify: bool = True,
    keep_errors: bool = False,
    **options: Any,
) -> Trace:
    """Run passes on a copy of a module; `.module` is the result, `.passes` the record.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        The module, as for `xe.compile`.
    passes : str or PassPipeline, default `default`
        `default`, `none`, a pipeline string such as `algsimp,cse,dce`, or a pipeline.
    journal : str, default `decisions`
        The recorded events: `off`, `passes`, `decisions` or `everything`.
    verify : bool, default True
        Check the module first, and after every pass that changed it.
    keep_errors : bool, default False
        Return the trace of passes that failed instead of raising.
    **options
        `control` (overrides of decisions), `target` (facts of the target), `in_place` (change the
        module itself).

    Returns
    -------
    Trace
        The result, and the record of every pass.

    Raises
    ------
    HloParseError, HloVerifyError
        The module is malformed.
    PipelineSyntaxError
        The pipeline string is malformed; with the place.
    PassFailedError
        A pass failed; its `.trace` has everything before.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) n = f32[4] negate(x)
    ...   ROOT r = f32[4] negate(n) }'''
    >>> xe.optimize(text, "algsimp,dce").module.instruction_count()
    1
    """
    check_keywords("xe.optimize has no", options, ["verify", "keep_errors", *OPTIONS])
    source = as_module(module)
    warn_of_elided_constants(source)
    if verify:
        check(source)
    with working(f"passes of {source.name}"):
        return Trace(
            Passes(
                run_passes(
                    source, passes, journal, verify=verify, keep_errors=keep_errors, **options
                )
            )
        )
