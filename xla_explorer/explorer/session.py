"""The session: one compile held together, callable, with every step and decision behind it. `compiling.py` makes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import ArgumentPlacer, CompileOptions, CompileResult, Executable
from xla_explorer.compiler.pipeline import PassTrace
from xla_explorer.explorer.code.session_code import NotThereError, SessionCode
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.questions.decisions import Answer, decisions_frame, why_not
from xla_explorer.explorer.questions.source_lines import SourceLines
from xla_explorer.explorer.sessions.arguments import Array, Signature, random_arguments
from xla_explorer.explorer.sessions.isolation.settings import Isolation
from xla_explorer.explorer.sessions.options import options as defaults
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.explorer.trace import Passes, Trace
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import HloInstruction, InstructionRecord
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.pipeline import PassPipeline
    from xla_explorer.explorer.code.annotated_source import AnnotatedSource
    from xla_explorer.explorer.code.side_by_side import SideBySide
    from xla_explorer.explorer.comparisons.beside import Beside
    from xla_explorer.explorer.comparisons.comparison import Comparison
    from xla_explorer.explorer.measures.emulation import Emulation
    from xla_explorer.explorer.measures.profiling import Timing
    from xla_explorer.explorer.pictures.graph import Graph
    from xla_explorer.explorer.questions.applicable import ApplicableRules
    from xla_explorer.explorer.questions.bisection import BisectionResult
    from xla_explorer.explorer.questions.explanation import Explanation
    from xla_explorer.explorer.questions.provenance import Provenance
    from xla_explorer.explorer.questions.wishes import Wishes
    from xla_explorer.hlo.evaluator import Host

Pairs = Iterable[tuple[str | int, str | int]]


class CompileFailedError(XlaExplorerError):
    """A compile that did not get through. `session` holds everything that happened before; the cause is the exception."""

    def __init__(self, session: Session) -> None:
        problem = session.error
        super().__init__(
            f"compiling {session.source.name} for {session.backend} failed in {session.failed_phase}: {type(problem).__name__}: {problem}",
            "the .session of this error shows every step before",
        )
        self.session = session


class CannotRunError(XlaExplorerError):
    """A compile that went well on a backend that cannot run here."""


class Session(SessionCode):
    """One compile. Call it with arrays; ask it what happened.

    source: the module as given. backend: its name. options: how it was compiled. passes: what every pass did (`passes[0]`: as written).
    error: what ended the compile, or None. seconds: compile time by phase.
    """

    def __init__(
        self,
        source: HloModule,
        backend: str,
        options: CompileOptions,
        trace: PassTrace,
        result: CompileResult | None,
        error: BaseException | None,
        failed_phase: str,
        seconds: Mapping[str, float],
    ) -> None:
        self.source, self.backend, self.options = source, backend, options
        self.gpu_sessions = {}
        self.passes = Passes(trace)
        self.trace = Trace(self.passes)
        self.result, self.error, self.failed_phase, self.seconds = result, error, failed_phase, dict(seconds)
        self.signature = Signature(source)
        self.source_lines = SourceLines(source)
        self.source_lines.learn(trace.module)
        self.last_profile: pandas.DataFrame | None = None
        self.brief_once = False
        self.last_emulation: Emulation | None = None
        self.base: Session | None = None  # the session that this one overrides
        self.asked: tuple[tuple[str, Any, Any], ...] = ()  # (fuse | forbid, producer, consumer) of the overrides
        self.beside: Beside | None = None  # what another compiler made of the same program
        self.isolation: Isolation | None = None  # how its code is kept apart; None: it runs in this process

    # -- running -------------------------------------------------------------------------------------------------------
    @property
    def executable(self) -> Executable:
        """What runs. CompileFailedError after a failed compile; CannotRunError with the reason where the backend cannot run."""
        if self.error is not None:
            raise CompileFailedError(self) from self.error
        assert self.result is not None
        if self.result.executable is None:
            why = self.result.why_not
            raise CannotRunError(
                f"{self.backend} cannot run here: {why.message if why else 'it only compiles'}",
                f"session.stages has what it made: {', '.join(self.stages)}",
            )
        return self.result.executable

    def __call__(self, *arrays: Any) -> Any:
        """Run the module: one argument per parameter (numpy, DLPack, Python numbers); one array, or tuples as the module says.

        ArgumentError names the parameter, what it wants and what it got.
        """
        return self.signature.pack(self.executable.execute(self.signature.leaves(arrays)))

    def run_flat(self, arrays: list[Any]) -> list[Array]:
        """The leaves in, the leaves out, always lists; checked by the backend only."""
        return self.executable.execute(arrays)

    @property
    def host(self) -> Host:
        """The other side of infeed, outfeed and transfers with the host, for every run: `session.host.infeed.append((x, 3))` before one,
        `session.host.outfeed` and `.sent` after it. XlaExplorerError for backends whose device has another one."""
        found: Host | None = getattr(self.executable, "host", None)
        if found is None:
            raise NotThereError(
                f"what runs on {self.backend} here has no host to exchange values with", 'compile it with backend="cpu" or "interpreter"'
            )
        return found

    def place(self, *arrays: Any) -> tuple[Any, ...]:
        """The arguments of a call, copied once to where the backend reads them without a copy of its own (what jax calls `device_put`):
        `x, y = session.place(x, y)`, then `session(x, y)` as often as you like.

        On a CPU: memory that begins at a cache line, large arrays on huge pages, in the layouts of the parameters. On a GPU: arrays on the
        device. A backend that gains nothing by it, and a session whose code runs in a process of its own, leave them as they are.
        ArgumentError as for a call.
        """
        leaves: list[Any] = list(self.signature.leaves(arrays))
        executable = self.executable
        return self.signature.pack_arguments(executable.place(leaves) if isinstance(executable, ArgumentPlacer) else leaves)

    @property
    def module(self) -> HloModule:
        """The optimised module."""
        return self.passes.module

    # -- questions -----------------------------------------------------------------------------------------------------
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """One row a decision: verdict, kind, code, message, facts, subjects (producer first), pass, step, cost.

        kind: `fusion`; `native-code` for steps that run on the evaluator, and that a library computes or could; `loop-vectorization` for
        kernels whose loops are in vectors or were left to LLVM; `parallel`, `row-blocks` for threads and blocks; `rule` for rewrite
        rules; None: all but rules. An empty table says why in its `attrs["note"]`. Also cost_us, cost_bytes: what a refused fusion costs
        a run, by the cost model. step: the number of the pass, as in `session.passes[step]`.
        """
        frame = decisions_frame(self.passes.record, self.passes.lineage, kind, self._native_code_rows())
        if not len(frame):
            frame.attrs["note"] = self._why_no_decisions(kind)
        return frame

    def _why_no_decisions(self, kind: str | None) -> str:
        if self.passes.journal is None or not self.passes.journal.events:
            return str(self.explorer_source.reports.no_decisions())
        return "nothing was decided" + (f" of the kind {kind}" if kind else "") + " in this compile"

    def _native_code_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "verdict": "refused" if s.runs_on == "evaluator" else "accepted",
                "kind": "native-code",
                "code": s.reason.code,
                "message": s.reason.message,
                "facts": dict(s.reason.facts),
                "subjects": (f"%{s.name}",),
                "pass": self.backend,
                "step": None,
                "cost_us": None,
                "cost_bytes": None,
            }
            for s in self.program_steps
            if s.reason is not None
        ]

    def why_not(self, kind: str, producer: str | int | HloInstruction, consumer: str | int | HloInstruction) -> Answer:
        """Why two things were not fused (or were): the recorded decision, else the same checks asked again before fusion.

        The answer says which of the two it is and shows the policy as a checklist. XlaExplorerError with near names for unknown ones.
        """
        return why_not(self.passes.record, self.passes.lineage, kind, _name_or_id(producer), _name_or_id(consumer))

    def applicable(self, instruction: str | int | HloInstruction, step: int | None = None) -> ApplicableRules:
        """The rules whose pattern fits an instruction, each with what it would make of it or the Reason why not.

        step: asked of the module after that many passes (0: as written); default the last in which the instruction was there.
        """
        from xla_explorer.explorer.questions.applicable import applicable

        return applicable(self.passes, self.find(instruction), step)

    def hot_rules(self) -> pandas.DataFrame:
        """A row a rule that fired or was refused: rule, applied, refused, sentence, place; the most applied first."""
        from xla_explorer.explorer.questions.rule_book import hot_rules

        return hot_rules(self.passes.journal)

    @cached_property
    def provenance(self) -> Provenance:
        """Which instructions of the source, and which `file:line`, every instruction of the result came from; with the coverage."""
        from xla_explorer.explorer.questions.provenance import provenance

        return provenance(self.passes, self.source_lines)

    def history(self, instruction: str | int | HloInstruction) -> list[str]:
        """The life of an instruction over the passes, one sentence a line."""
        return self.passes.lineage.sentences(self.find(instruction))

    def explain(self, instruction: str | int | HloInstruction) -> Explanation:
        """Everything about one instruction: definition, line, decisions, history, code, buffer, time."""
        from xla_explorer.explorer.questions.explanation import explain

        return explain(self, self.find(instruction))

    def find(self, instruction: str | int | HloInstruction) -> int:
        """The id of an instruction that was there at any step, from its name, its id or itself. XlaExplorerError with near names
        otherwise."""
        return self.passes.find(_name_or_id(instruction))

    def source_line(self, instruction: str | int | HloInstruction) -> str:
        """`file:line` of the user's source by metadata, else of the HLO text; empty when a pass made it from nothing."""
        given = _name_or_id(instruction)
        key = self.find(given) if isinstance(given, str) else given
        lineage = self.passes.lineage
        for origin in lineage.origins(key):
            record = lineage.records.get(origin)
            place = self.source_lines.place(origin, record.metadata if record is not None else None)
            if place:
                return place
            if record is not None and record.opcode.name == "fusion":
                return self._fusion_line(record)
        return ""

    def _fusion_line(self, fusion: InstructionRecord) -> str:
        """The line of the root, or of what is nearest to it and has one."""
        lineage = self.passes.lineage
        for i in self._body(fusion):
            for origin in lineage.origins(i.id):
                place = self.source_lines.place(origin, i.metadata)
                if place:
                    return place
        return ""

    def _body(self, fusion: InstructionRecord) -> list[HloInstruction]:
        try:
            return list(reversed(self.module.find(fusion.id).called[0].post_order()))
        except KeyError:
            return []

    @property
    def pipeline(self) -> PassPipeline:
        """The passes that were run, as data: `session.override(passes=session.pipeline.without("cse"))`."""
        return self.passes.record.pipeline

    def override(
        self,
        fuse: Pairs = (),
        forbid: Pairs = (),
        skip_rules: Iterable[str] = (),
        *,
        stop_after: int | Event | None = None,
        passes: Any = None,
    ) -> Session:
        """Compile again, on top of what was overridden already; `.compare()` of the result shows what that changes.

        fuse, forbid: pairs (producer, consumer) to fuse or to keep apart; what is illegal stays refused, and `.overrides` of the result
        says which wish was granted and which was not, with the Reason. skip_rules: rules, merges or
        kinds of decision that must not act (`add-zero`, `merge-equal`, `fusion`). stop_after: an event of the journal (or its sequence
        number, -1 for none at all) after which nothing acts any more but what code generation needs. passes: another pipeline.
        """
        from xla_explorer.explorer.questions.control import overridden

        return overridden(self, fuse, forbid, skip_rules, stop_after, passes)

    @cached_property
    def overrides(self) -> Wishes:
        """What `override` asked for (here and before), each wish with whether it was granted and the Reason where it was not."""
        from xla_explorer.explorer.questions.wishes import wishes_of

        return wishes_of(self)

    def compare(self, other: Session | None = None, *arrays: Any, repeats: int = 20) -> Comparison:
        """This session beside another (default: the one that it overrides): kernels, bytes, times predicted and measured, values,
        decisions that differ. Without arrays: random ones. XlaExplorerError without a session to compare with."""
        from xla_explorer.explorer.comparisons.comparison import compare_sessions

        if other is None:
            if self.base is None:
                raise XlaExplorerError("this session overrides no other", "name the session to compare with")
            return compare_sessions(self, self.base, arrays or random_arguments(self.source), repeats)
        return compare_sessions(self, other, arrays, repeats)

    def bisect(self, *arrays: Any) -> BisectionResult:
        """The first pass, then the first rewrite, after which the value differs from the evaluator's of the module as written."""
        from xla_explorer.explorer.questions.bisection import bisect

        with working(f"bisecting {self.source.name}"):
            return bisect(self, arrays)

    def profile(self, *arrays: Any, repeats: int = 20) -> pandas.DataFrame:
        """A row a kernel and one for the whole program; see `explorer.profiling.profile`. Without arrays: random ones, and it says so."""
        from xla_explorer.explorer.measures.profiling import profile

        with working(f"profiling {self.source.name} on {self.backend}"):
            self.last_profile = profile(self, arrays, repeats)
        self.__dict__.pop("explorer_source", None)
        return self.last_profile

    def emulation(self, *arrays: Any) -> Emulation:
        """The GPU kernels of the same source on the PTX emulator: work, memory traffic and faults by PTX and HLO line."""
        from xla_explorer.explorer.measures.emulation import emulation

        with working(f"emulating {self.source.name}"):
            self.last_emulation = emulation(self, arrays)
        return self.last_emulation

    def time(self, *arrays: Any, repeats: int | None = None) -> Timing:
        """Time whole calls from Python: n, median, interquartile range. repeats: None decides by how long one takes."""
        from xla_explorer.explorer.measures.profiling import timing

        return timing(self, arrays or random_arguments(self.source), repeats)

    # -- pictures ------------------------------------------------------------------------------------------------------
    def graph(self, around: Any = None, radius: int = 2) -> Graph:
        """The optimised module as a picture: fusions as boxes, refused fusions dashed with their code."""
        return self.passes[-1].graph(around, radius)

    def side_by_side(self, *stages: str, kernel: str = "") -> SideBySide:
        """Kernel by kernel: the HLO lines and the code that each stage made of them (default: optimised LLVM IR and PTX).

        kernel: only the one that is, or computes, this instruction."""
        from xla_explorer.explorer.code.side_by_side import side_by_side

        return side_by_side(self, stages, kernel)

    def annotate(self, *arrays: Any, repeats: int = 20, measure: bool = True) -> AnnotatedSource:
        """The HLO as it was written; each line unfolds to its LLVM IR and PTX, shaded by measured time. Without arrays: random ones.

        measure: profile it first (where it can run); else the times are those of the last profile, if one was made.
        """
        from xla_explorer.explorer.code.annotated_source import annotated_source

        return annotated_source(self, arrays if measure else None, repeats)

    @cached_property
    def explorer_source(self) -> Any:
        """What the widget, the static form and the exported page read."""
        from xla_explorer.explorer.page.session_source import SessionSource

        return SessionSource(self)

    def explore(self, **options: Any) -> Any:
        """The widget."""
        from xla_explorer.explorer.exploring import explore

        return explore(self, **options)

    def to_html(self, *, paths: bool | None = None) -> str:
        """The whole exploration as one self-contained HTML page. paths: keep absolute paths of this machine in it, of which else only
        the names of the files stay; None: what `xe.options.paths` says."""
        from xla_explorer.explorer.page.html_page import export_page

        return export_page(self.explorer_source, paths=defaults.paths if paths is None else paths)

    def save(self, path: Any, *, paths: bool | None = None) -> Any:
        """Write `to_html()` to a file and return the path."""
        from xla_explorer.explorer.page.html_page import save_page

        return save_page(self.explorer_source, path, paths=defaults.paths if paths is None else paths)

    @cleaned
    def __repr__(self) -> str:
        changed = len([p for p in self.passes if p.changed])
        parts = [
            f"{self.passes.last} passes, {changed} changed it",
            f"{self.source.instruction_count()} -> {self.module.instruction_count()} instructions",
        ]
        if self.program_steps:
            parts.append(number_of(len(self.program_steps), "kernel"))
            slow = len([s for s in self.program_steps if s.runs_on == "evaluator"])
            if slow and self.backend != "interpreter":
                parts.append(f"{slow} on the evaluator")
        if self.seconds:  # a dump knows no times
            parts.append(f"compiled in {sum(self.seconds.values()) * 1e3:.1f} ms")
        if self.base is not None and (refused := self.overrides.refused):
            parts.append(f"{len(refused)} of {len(self.overrides)} wishes not granted (.overrides)")
        if self.error is not None:
            parts.append(f"FAILED in {self.failed_phase}: {type(self.error).__name__}")
        return f"<Session {self.source.name} on {self.backend}: {', '.join(parts)}>"

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from xla_explorer.explorer.page.static_form import static_html

        if self.brief_once:
            # A magic has just shown the parts that were asked for.
            self.brief_once = False
            return {"text/plain": repr(self)}
        return {"text/plain": repr(self), "text/html": static_html(self.explorer_source)}


def _name_or_id(instruction: str | int | HloInstruction) -> str | int:
    """How every question takes an instruction: by name, by id, or itself."""
    if isinstance(instruction, HloInstruction):
        return instruction.id
    if isinstance(instruction, str) or (hasattr(instruction, "__index__") and not isinstance(instruction, bool)):
        return instruction if isinstance(instruction, str) else int(instruction)
    kind = type(instruction).__name__
    raise XlaExplorerError(f"an instruction is named by its name, its id or itself, not by a {kind}", "such as '%add.3'")
