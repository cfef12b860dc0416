"""The session: one compile with every question as a method.

`compiling.py` makes it; `session_code.py` has the methods about code.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from xla_explorer.compiler.pipeline import PassTrace
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.advice.session_advice import SessionAdvice, session_advice
from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.code.explanation import Explanation, explain
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule, schedules_beside
from xla_explorer.explorer.comparisons.comparison import Comparison, compare_sessions
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.further_decisions import further_decisions
from xla_explorer.explorer.measures.emulation import Emulation, emulation
from xla_explorer.explorer.measures.profiling import Timing, profile, timing
from xla_explorer.explorer.measures.trace_events import timeline
from xla_explorer.explorer.page.html_page import export_page, save_page
from xla_explorer.explorer.page.session_source import SessionSource, no_decisions
from xla_explorer.explorer.page.static_form import static_html
from xla_explorer.explorer.questions.answer import Answer
from xla_explorer.explorer.questions.bisection import BisectionResult, bisect
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.decisions import decisions_frame
from xla_explorer.explorer.questions.overrides import Overrides, overrides_of
from xla_explorer.explorer.questions.why_not import why_not
from xla_explorer.explorer.rules.certificate import Certificate, certify
from xla_explorer.explorer.session_code import SessionCode
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.one_line import one_line
from xla_explorer.explorer.sessions.options import options as defaults
from xla_explorer.explorer.sessions.progress import working
from xla_explorer.explorer.trace import Passes
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.instruction import HloInstruction

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.measures.profile_frame import ProfileFrame


@explains_methods
class Session(SessionCode):
    """One compile: call it with arrays, and read by its methods what happened.

    Attributes
    ----------
    source : HloModule
        The module as given.
    backend : str
        The name of the backend.
    options : CompileOptions
        The options of the compile.
    passes : Passes
        The passes; `passes[0]` is the module as written.
    error : BaseException or None
        The exception that ended the compile.
    seconds : dict
        Compile time by phase.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> session = xe.compile(text)
    >>> session(np.zeros(4, np.float32)).tolist(), list(session.kernels()["opcode"])
    ([1.0, 1.0, 1.0, 1.0], ['fusion'])
    """

    passes: Passes
    _brief_once = False  # set by a magic that has shown parts: the next display is one line

    def _passes_of(self, record: PassTrace) -> Passes:
        return Passes(record, self.source_lines, self._explorer_source_)

    @question(noun="decision")
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """Return one row per decision, with its verdict, reason, subjects and cost.

        Columns: verdict, kind, code, reason, facts, subjects (producer first), pass, step, cost_us
        and cost_bytes. `step` is the number of the pass, as in `session.passes[step]`. The costs
        are those of a refused fusion per run, by the cost model. An empty table has the reason in
        `attrs["note"]`. For real XLA and its dumps the rows are XLA's decisions, replayed by
        `xe.xla.replay`. Our policy's reason stands beside them if both agree; facts `decided` and
        `agrees` record it.

        Parameters
        ----------
        kind : str, optional
            `fusion`; `native-code` for steps that run on the evaluator or in a library;
            `loop-vectorization` for the vectors of kernels; `parallel` and `cache-blocking` for
            threads and blocks; `rule` for rewrite rules. By default all but rules.
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
            frame.attrs["note"] = none if recorded else no_decisions(self)
        return frame

    @property
    def devices(self) -> Devices:
        """The program on several devices: shardings, collectives, their causes, and its runs."""
        if self._devices is None:
            self._devices = Devices(self.source, session=self)
        return self._devices

    @question()
    def why_not(self, kind: str, *subjects: str | int | HloInstruction) -> Answer:
        """Return the reason of a decision: the recorded one, else that of the same checks now.

        Parameters
        ----------
        kind : str
            Any kind that `decisions` shows: `fusion`, `layout`, `share-buffer`, `parallel`,
            `launch`, ...; `rule` or the name of a rule.
        subjects : str, int or HloInstruction
            The subjects in the order of the kind: of a fusion the producer and the consumer.

        Returns
        -------
        Answer
            The verdict, its source, and all conditions as a checklist.

        Raises
        ------
        XlaExplorerError
            A kind or a subject is unknown; with near names.
        """
        return why_not(self.passes, kind, subjects, further_decisions(self, kind))

    @overload
    def explain(self) -> SessionAdvice: ...
    @overload
    def explain(self, instruction: str | int | HloInstruction) -> Explanation: ...
    @question()
    def explain(
        self, instruction: str | int | HloInstruction | None = None
    ) -> Explanation | SessionAdvice:
        """Explain one instruction, or without one the time of a run.

        The explanation of an instruction has its definition, source line, decisions, history, code,
        buffer and time. Without an instruction the result is advice: the rules that apply, in order
        of gain, each with its evidence and an upper bound of the gain.

        Parameters
        ----------
        instruction : str, int or HloInstruction, optional
            The name, the id or the instruction itself.

        Raises
        ------
        XlaExplorerError
            No instruction has this name; with near names.
        """
        if instruction is None:
            return session_advice(self)
        return explain(self, self.passes.find(instruction))

    @question(cost=Cost.RUNS)
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
        """Compile again with decisions forced or forbidden.

        `.compare()` of the result shows the effect. Earlier overrides of this session stay in
        force.

        Parameters
        ----------
        force, forbid : list of (kind, *subjects)
            Decisions that must be accepted, or refused: `("fusion", "%producer", "%consumer")`,
            `("share-buffer", "%copy")`. A rule can be forbidden by its name. An illegal decision
            stays refused. `.overrides()` of the result lists which were granted, with the reason of
            each that was not.
        skip_rules : list of str
            Rules, merges or kinds of decision to switch off (`add-zero`, `merge-equal`, `fusion`).
        stop_after : int or Event, optional
            The last event of the journal that takes effect, or its sequence number; -1 for none.
            Later passes do only what code generation needs.
        passes : pipeline, optional
            Another pipeline.
        schedules : list of KernelSchedule or str, optional
            Schedules of kernels, beside those of this session: results of `schedule`, or texts with
            one line `%kernel: split{j,16},vectorize{ji}` per kernel.

        Raises
        ------
        ScheduleError
            A schedule is illegal or names no kernel.
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

    @question(noun="override")
    def overrides(self) -> Overrides:
        """Return the result of each override, earlier ones included.

        Refused ones have a Reason.
        """
        return overrides_of(self)

    def compare(self, other: Session | None = None, *arrays: Any, repeats: int = 20) -> Comparison:
        """Compare two sessions: kernels, bytes, predicted and measured times, values and decisions.

        Parameters
        ----------
        other : Session, optional
            The other session; by default the one that this session overrides.
        *arrays
            The arguments of the runs, by default random ones. Sessions that cannot run here are
            compared without running.
        repeats : int
            Timed runs of each session, in alternation.

        Raises
        ------
        XlaExplorerError
            No session was given, and this one overrides none.
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

    @question(cost=Cost.RUNS)
    def bisect(self, *arrays: Any) -> BisectionResult:
        """Find the first pass and the first rewrite after which a value differs.

        The reference is the evaluator on the module as written.

        Parameters
        ----------
        *arrays
            The arguments of the program.
        """
        with working(f"bisecting {self.source.name}"):
            return bisect(self, arrays)

    @question(cost=Cost.RUNS, noun="certified change")
    def certificate(self, seconds: float | None = None) -> Certificate:
        """Return by which means each change of this compile is known to be right.

        A rule stands on the recorded proof of its claim (`xe.prove`), or on the recorded check of
        every value or of samples. Any other pass is proved if both modules compute the same
        operations of the same values; else values are compared on random arguments, as those of
        the generated code are.

        Parameters
        ----------
        seconds : float, optional
            The time for comparing values; by default as long as the compile took, at least 1.
        """
        with working(f"certifying {self.source.name}"):
            return certify(self, seconds)

    @question(cost=Cost.RUNS, noun="kernel")
    def profile(self, *arrays: Any, repeats: int = 20) -> ProfileFrame:
        """Run the program; return time, bytes and flops of each kernel and of the whole.

        `.by_line()` and `.by_scope()` of the frame group times by source line and by name scope.
        See `explorer.measures.profiling.profile`.

        Parameters
        ----------
        *arrays
            The arguments of the program; by default random ones, which `attrs["note"]` records.
        repeats : int
            Timed runs.
        """
        with working(f"profiling {self.source.name} on {self.backend}"):
            return profile(self, arrays, repeats)

    def timeline(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return a Chrome trace of the compile and of the last profile.

        A session without a profile is profiled first, if it can run. The phases and the passes of
        the compile come first, then the kernels of one run, each as long as its median. The whole
        program, timed without instrumentation, is a track of its own. Times are in microseconds.

        Parameters
        ----------
        path : str or Path, optional
            Also write the trace to this file, gzipped if the name ends in .gz. Open it in
            ui.perfetto.dev or chrome://tracing.
        """
        return timeline(self, path)

    @question(cost=Cost.RUNS)
    def emulation(self, *arrays: Any) -> Emulation:
        """Run the GPU kernels of the same source on the PTX emulator.

        The result has work, memory traffic and faults by line of PTX and of HLO.

        Parameters
        ----------
        *arrays
            The arguments of the program.
        """
        with working(f"emulating {self.source.name}"):
            return emulation(self, arrays)

    @question(cost=Cost.RUNS)
    def time(self, *arrays: Any, repeats: int | None = None) -> Timing:
        """Time whole calls from Python: n, median, interquartile range.

        Parameters
        ----------
        *arrays
            The arguments of the program; random ones by default.
        repeats : int, optional
            Timed calls; without, how long one takes decides.
        """
        return timing(self, arrays or random_arguments(self.source), repeats)

    def to_html(self, *, paths: bool | None = None) -> str:
        """Return the whole exploration as one self-contained HTML page.

        Parameters
        ----------
        paths : bool, optional
            Keep absolute paths of this machine; otherwise only file names are kept. None: the value
            of `xe.options.paths`.
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
        """Return the source of the widget, the static form and the exported page."""
        if self._source is None or self._source[0] is not self.last_profile:
            self._source = self.last_profile, SessionSource(self)  # a new profile has new times
        return self._source[1]

    _source: tuple[Any, SessionSource] | None = None
    _devices: Devices | None = None

    @cleaned
    def __repr__(self) -> str:
        return one_line(self)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        if self._brief_once:
            self._brief_once = False
            return {"text/plain": repr(self)}
        return {"text/plain": repr(self), "text/html": static_html(self._explorer_source_())}
