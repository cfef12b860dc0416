"""The session: one compile with every question as a method. `compiling.py` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from xla_explorer.compiler.pipeline import PassTrace
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.code.annotated_source import AnnotatedSource, annotated_source
from xla_explorer.explorer.code.explanation import Explanation, explain
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule, schedule_of, schedules_beside
from xla_explorer.explorer.code.llvm_views import Llvm, kernel_code
from xla_explorer.explorer.code.loop_nests import Loops, all_loops, loops_of
from xla_explorer.explorer.code.program import kernel_table, ptxas_table, sass_code, stage_code
from xla_explorer.explorer.code.side_by_side import SideBySide, side_by_side
from xla_explorer.explorer.comparisons.comparison import Comparison, compare_sessions
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.further_decisions import further_decisions
from xla_explorer.explorer.measures.advice import SessionAdvice, session_advice
from xla_explorer.explorer.measures.buffer_report import BufferReport, buffer_report
from xla_explorer.explorer.measures.emulation import Emulation, emulation
from xla_explorer.explorer.measures.profiling import Timing, profile, timing
from xla_explorer.explorer.measures.trace_events import timeline
from xla_explorer.explorer.page.html_page import export_page, save_page
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.page.static_form import static_html
from xla_explorer.explorer.questions.answer import Answer
from xla_explorer.explorer.questions.bisection import BisectionResult, bisect
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.decisions import decisions_frame
from xla_explorer.explorer.questions.overrides import Overrides, overrides_of
from xla_explorer.explorer.questions.why_not import why_not
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.one_line import one_line
from xla_explorer.explorer.sessions.options import options as defaults
from xla_explorer.explorer.sessions.passes import name_or_id
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.explorer.trace import Passes
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.measures.profile_frame import ProfileFrame


class Session(Compilation):
    """One compile. Call it with arrays; ask it what happened.

    Attributes
    ----------
    source : HloModule
        The module as given.
    backend : str
        The name of the backend.
    options : CompileOptions
        How it was compiled.
    passes : Passes
        What every pass did; `passes[0]` is the module as written.
    error : BaseException or None
        What ended the compile.
    seconds : dict
        Compile time by phase.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x) ROOT r = f32[4] add(e, x) }"
    >>> session = xe.compile(text)
    >>> session(np.zeros(4, np.float32)).tolist(), list(session.kernels()["opcode"])
    ([1.0, 1.0, 1.0, 1.0], ['fusion'])
    """

    passes: Passes
    _brief_once = False  # a magic has just shown the parts that were asked for, so the next display is one line

    def _passes_of(self, record: PassTrace) -> Passes:
        return Passes(record, self.source_lines, self._explorer_source_)

    # -- questions ---------------------------------------------------------------------------------
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """One row a decision: verdict, kind, code, message, facts, subjects (producer first), pass, step, cost.

        An empty table says why in its `attrs["note"]`. cost_us, cost_bytes: what a refused fusion
        costs a run, by the cost model. step: the number of the pass, as in `session.passes[step]`.
        Of real XLA and of its dumps these are XLA's decisions of `xe.xla.replay`, with our policy's
        reason where both agree; facts `decided` and `agrees` say so.

        Parameters
        ----------
        kind : str, optional
            `fusion`; `native-code` for steps that run on the evaluator, and that a library computes
            or could; `loop-vectorization` for kernels whose writer chose the vectors, or left them
            to LLVM; `parallel`, `cache-blocking` for threads and blocks; `rule` for rewrite rules. All
            but rules without.
        """
        frame = decisions_frame(
            self.passes.record,
            self.passes.lineage,
            kind,
            further_decisions(self, kind),
            self.backend,
        )
        if not len(frame):
            recorded = self.passes.journal is not None and self.passes.journal.events
            none = f"nothing was decided{f' of the kind {kind}' if kind else ''} in this compile"
            frame.attrs["note"] = (
                none if recorded else str(self._explorer_source_().reports.no_decisions())
            )
        return frame

    def why_not(self, kind: str, *subjects: str | int | HloInstruction) -> Answer:
        """Why a decision went as it went: the recorded one, else the same checks asked again.

        Parameters
        ----------
        kind : str
            Any kind that `decisions` shows: `fusion`, `layout`, `share-buffer`, `parallel`,
            `launch`, ...; `rule` or the name of a rule.
        subjects : str, int or HloInstruction
            What it was about, in the order of the kind: of a fusion the producer and the consumer.

        Returns
        -------
        Answer
            It says whether it was recorded, and shows all that must hold as a checklist.
            XlaExplorerError with near names for unknown ones.
        """
        return why_not(self.passes, kind, subjects, further_decisions(self, kind))

    @overload
    def explain(self) -> SessionAdvice: ...
    @overload
    def explain(self, instruction: str | int | HloInstruction) -> Explanation: ...
    def explain(
        self, instruction: str | int | HloInstruction | None = None
    ) -> Explanation | SessionAdvice:
        """Everything about one instruction: definition, line, decisions, history, code, buffer, time. Without one: where the time of a run
        goes and what to try first, by rules, each with what it saw and the most that it can gain.

        Parameters
        ----------
        instruction : str, int or HloInstruction, optional
            By name, id or itself. XlaExplorerError with near names for an unknown one.
        """
        if instruction is None:
            return session_advice(self)
        return explain(self, self.passes.find(instruction))

    def override(
        self,
        *,
        force: Iterable[Any] = (),
        forbid: Iterable[Any] = (),
        skip_rules: Iterable[str] = (),
        stop_after: int | Event | None = None,
        passes: PipelineLike | None = None,
        schedules: Iterable[KernelSchedule | str] | KernelSchedule | str = (),
    ) -> Session:
        """Compile again, on top of what was overridden already; `.compare()` of the result shows what that changes.

        Parameters
        ----------
        force, forbid : list of (kind, *subjects)
            Decisions that must go ahead, or must not: `("fusion", "%producer", "%consumer")`,
            `("share-buffer", "%copy")`; a rule can be forbidden by its name. What is illegal stays
            refused. `.overrides()` of the result says which was granted, and the Reason of each
            that was not.
        skip_rules : list of str
            Rules, merges or kinds of decision that must not act (`add-zero`, `merge-equal`,
            `fusion`).
        stop_after : int or Event, optional
            An event of the journal (or its sequence number, -1 for none at all) after which nothing
            acts any more but what code generation needs.
        passes : pipeline, optional
            Another pipeline.
        schedules : list of KernelSchedule or str, optional
            Schedules of kernels, beside those that it was compiled with already: what `schedule`
            gives, or texts with a line `%kernel: split{j,16},vectorize{ji}` each. ScheduleError for
            what is not legal or names no kernel.
        """
        return overridden(
            self,
            force,
            forbid,
            skip_rules,
            stop_after,
            passes,
            schedules_beside(self, schedules),
        )

    def overrides(self) -> Overrides:
        """What `override` asked for (here and before), each with whether it was granted and the Reason where it was not."""
        return overrides_of(self)

    def compare(self, other: Session | None = None, *arrays: Any, repeats: int = 20) -> Comparison:
        """This session beside another: kernels, bytes, times predicted and measured, values, decisions that differ.

        Parameters
        ----------
        other : Session, optional
            The one to compare with; the one that this session overrides if it is not given.
        *arrays
            The arguments of the runs; random ones without. A session that cannot run here is
            compared without running.
        repeats : int
            Timed runs of each, taken in turns.

        Raises
        ------
        XlaExplorerError
            Without a session to compare with.
        """
        other = other if other is not None else self.base
        if other is None:
            raise XlaExplorerError(
                "this session overrides no other", "name the session to compare with"
            )
        runs = all(
            session.result is not None and session.result.executable is not None
            for session in (self, other)
        )
        with working(f"comparing {self.source.name}"):
            return compare_sessions(
                self, other, arrays or (random_arguments(self.source) if runs else ()), repeats
            )

    def bisect(self, *arrays: Any) -> BisectionResult:
        """The first pass, then the first rewrite, after which the value differs from the evaluator's of the module as written.

        Parameters
        ----------
        *arrays
            The arguments of the program.
        """
        with working(f"bisecting {self.source.name}"):
            return bisect(self, arrays)

    def profile(self, *arrays: Any, repeats: int = 20) -> ProfileFrame:
        """A row a kernel and one for the whole program; see `explorer.measures.profiling.profile`.

        `.by_line()` and `.by_scope()` of the frame tell times by source line and name scope.

        Parameters
        ----------
        *arrays
            The arguments of the program; random ones without, and the frame says so.
        repeats : int
            Timed runs.
        """
        with working(f"profiling {self.source.name} on {self.backend}"):
            return profile(self, arrays, repeats)

    def timeline(self, path: str | Path | None = None) -> dict[str, Any]:
        """A Chrome trace of the compile and of the last profile; where there is none and it can run, it is profiled now.

        The phases and the passes of the compile stand one after the other, then the kernels of one
        run, each as long as its median; the whole program, timed without instrumentation, is a track of its
        own. Times are in microseconds.

        Parameters
        ----------
        path : str or Path, optional
            Also write the trace there (gzipped when it ends in .gz); ui.perfetto.dev and
            chrome://tracing open it.
        """
        return timeline(self, path)

    def emulation(self, *arrays: Any) -> Emulation:
        """The GPU kernels of the same source on the PTX emulator: work, memory traffic and faults by PTX and HLO line.

        Parameters
        ----------
        *arrays
            The arguments of the program.
        """
        with working(f"emulating {self.source.name}"):
            return emulation(self, arrays)

    def time(self, *arrays: Any, repeats: int | None = None) -> Timing:
        """Time whole calls from Python: n, median, interquartile range.

        Parameters
        ----------
        *arrays
            The arguments of the program; random ones without.
        repeats : int, optional
            Timed calls; without, how long one takes decides.
        """
        return timing(self, arrays or random_arguments(self.source), repeats)

    # -- code --------------------------------------------------------------------------------------
    def llvm_ir(self, optimized: bool = True, *, kernel: str = "") -> CodeText:
        """LLVM IR, after LLVM's passes or before.

        Parameters
        ----------
        optimized : bool
            After LLVM's passes.
        kernel : str
            Only the function of this kernel, by its name in `kernels()`, with what it calls.
            XlaExplorerError for an unknown one.
        """
        name = "llvm-ir-optimized" if optimized else "llvm-ir"
        whole = stage_code(self, name, "llvm", f"session.llvm_ir({optimized})")
        return (
            CodeText(
                kernel_code(self, name, kernel),
                "llvm",
                f"session.llvm_ir({optimized}, kernel={kernel!r})",
            )
            if kernel
            else whole
        )

    @property
    def llvm(self) -> Llvm:
        """What LLVM did: `.passes(kernel)`, `.remarks(*passes)`, `.inner_loops(kernel)`."""
        return Llvm(self)

    def loops(
        self, kernel: str | int | None = None, schedule: str | None = None
    ) -> CodeText | Loops:
        """The loop nests of all kernels, or that of one as text.

        `session.kernels()` says which kernels there are.

        Parameters
        ----------
        kernel : str or int, optional
            The name (or id) of an instruction or fusion of the optimised module.
        schedule : str, optional
            Directives that make the nest of the plain one: `split{j,16},vectorize{ji}`; "" for the
            plain one. None: as the kernel is made.

        Returns
        -------
        Loops or CodeText
            Of all: each kernel with nest, schedule, estimate, or as one opaque line with the
            reason; a table by family. Of one: a line a loop or value; at its end the instruction,
            and which of its elements it is.

        Raises
        ------
        XlaExplorerError
            With the Reason and a next step: the kernel has no loop nest, or a directive is not
            legal.
        """
        return all_loops(self) if kernel is None else loops_of(self, name_or_id(kernel), schedule)

    def schedule(self, kernel: str | int) -> KernelSchedule:
        """The schedule of a kernel's loop nest, to be changed and run: `s.split("j", 64).vectorize("ji").run()`.

        Every call gives a new schedule; the verifier proves the nest after each directive.
        `override(schedules=[...])` compiles with it, `access_patterns()` of it says how its loads
        and stores run through memory.

        Parameters
        ----------
        kernel : str or int
            The name or id of the kernel. ScheduleError with the Reason where it has no loop nest.
        """
        return schedule_of(self, kernel)

    def assembly(self) -> CodeText:
        """Assembly of this machine; of `session.gpu()` SASS, line by line with its HLO, for which ptxas and nvdisasm must be there."""
        return (
            sass_code(self)
            if self.backend == "gpu"
            else stage_code(self, "assembly", "asm", "session.assembly()")
        )

    def ptx(self, **options: Any) -> CodeText:
        """PTX of the same source, compiled for the backend `gpu` on first use. No GPU is needed.

        Parameters
        ----------
        **options
            Those of `gpu`.
        """
        return stage_code(self.gpu(**options), "ptx", "ptx", "session.ptx()")

    def kernels(self, *, resources: bool = False) -> pandas.DataFrame:
        """A row a step of the program: kernel, opcode, runs_on, code and message of the reason where it is no native code, line; and the
        device's stream, where there are several.

        Parameters
        ----------
        resources : bool
            What ptxas says of the kernels for a GPU instead: emitter, launch, registers, spills,
            shared memory, and the occupancy that these allow with what limits it. XlaExplorerError
            where ptxas is missing.
        """
        return ptxas_table(self) if resources else kernel_table(self)

    def buffers(self) -> BufferReport:
        """The buffer assignment. NotThereError when the backend assigns none."""
        return buffer_report(self)

    # -- pictures ----------------------------------------------------------------------------------
    def side_by_side(self, *stages: str, kernel: str = "") -> SideBySide:
        """Kernel by kernel: the HLO lines and the code that each stage made of them.

        Parameters
        ----------
        *stages : str
            Names of stages; optimised LLVM IR and PTX without.
        kernel : str
            Only the kernel that is, or computes, this instruction.
        """
        return side_by_side(self, stages, kernel)

    def annotate(self, *arrays: Any, repeats: int = 20, measure: bool = True) -> AnnotatedSource:
        """The HLO as it was written; each line unfolds to its LLVM IR and PTX, shaded by measured time.

        Parameters
        ----------
        *arrays
            The arguments of the program; random ones without.
        repeats : int
            Timed runs.
        measure : bool
            Profile it first, where it can run; else the times are those of the last profile, if one
            was made.
        """
        return annotated_source(self, arrays if measure else None, repeats)

    def to_html(self, *, paths: bool | None = None) -> str:
        """The whole exploration as one self-contained HTML page.

        Parameters
        ----------
        paths : bool, optional
            Keep absolute paths of this machine, of which else only the names of the files stay.
            None: what `xe.options.paths` says.
        """
        return export_page(
            self._explorer_source_(), paths=defaults.paths if paths is None else paths
        )

    def save(self, path: str | Path, *, paths: bool | None = None) -> Path:
        """Write `to_html()` to a file and return the path.

        Parameters
        ----------
        path : str or Path
            The file.
        paths : bool, optional
            As for `to_html`.
        """
        with working(f"saving {self.source.name}"):
            return save_page(
                self._explorer_source_(), path, paths=defaults.paths if paths is None else paths
            )

    def _explorer_source_(self) -> SessionSource:
        """What the widget, the static form and the exported page read."""
        if self._source is None or self._source[0] is not self.last_profile:
            self._source = self.last_profile, SessionSource(self)  # a new profile has new times
        return self._source[1]

    _source: tuple[Any, SessionSource] | None = None

    @cleaned
    def __repr__(self) -> str:
        return one_line(self)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        if self._brief_once:
            self._brief_once = False
            return {"text/plain": repr(self)}
        return {"text/plain": repr(self), "text/html": static_html(self._explorer_source_())}
