"""`xe.compile` and the session: one compile held together, callable, with every step and decision behind it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import ArgumentPlacer, CompileOptions, Compiler, CompileResult, Executable, ProgramStep, Stage
from xla_explorer.compiler.pipeline import PassControl, PassFailedError, PassTrace
from xla_explorer.explorer.arguments import Array, Signature, random_arguments
from xla_explorer.explorer.backend_options import platform_with_options
from xla_explorer.explorer.decisions import Answer, decisions_frame, why_not
from xla_explorer.explorer.display import CodeText
from xla_explorer.explorer.isolation.settings import Isolation, isolation_settings
from xla_explorer.explorer.loading import as_module
from xla_explorer.explorer.options import options as defaults
from xla_explorer.explorer.progress import working
from xla_explorer.explorer.source_lines import SourceLines
from xla_explorer.explorer.trace import Trace
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.hlo.instruction import HloInstruction, InstructionRecord
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify as verify_module

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.pipeline import PassPipeline
    from xla_explorer.explorer.annotated_source import AnnotatedSource
    from xla_explorer.explorer.applicable import ApplicableRules
    from xla_explorer.explorer.beside import Beside
    from xla_explorer.explorer.bisection import BisectionResult
    from xla_explorer.explorer.buffer_report import BufferReport
    from xla_explorer.explorer.comparison import Comparison
    from xla_explorer.explorer.emulation import Emulation
    from xla_explorer.explorer.explanation import Explanation
    from xla_explorer.explorer.graph import Graph
    from xla_explorer.explorer.profiling import Timing
    from xla_explorer.explorer.provenance import Provenance
    from xla_explorer.explorer.side_by_side import SideBySide
    from xla_explorer.explorer.views.picture import PictureGraph
    from xla_explorer.explorer.wishes import Wishes
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


class UnknownStageError(XlaExplorerError, KeyError):
    """An artifact that the backend does not make."""


class CannotRunError(XlaExplorerError):
    """A compile that went well on a backend that cannot run here."""


class Session:
    """One compile. Call it with arrays; ask it what happened.

    source: the module as given. backend: its name. options: how it was compiled. trace: the passes. error: what ended the compile, or
    None. seconds: compile time by phase.
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
        self._gpu_sessions: dict[tuple[Any, ...], Session] = {}
        self.trace = Trace(trace)
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
            raise XlaExplorerError(
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

    # -- artifacts -----------------------------------------------------------------------------------------------------
    @property
    def module(self) -> HloModule:
        """The optimised module."""
        return self.trace.module

    @property
    def stages(self) -> Mapping[str, Stage]:
        """The artifacts by name, in order: hlo, hlo-optimized, buffers, llvm-ir, llvm-ir-optimized, assembly ..."""
        return MappingProxyType(self.result.stages if self.result is not None else {})

    def stage(self, name: str) -> Stage:
        """One artifact. UnknownStageError (a KeyError) with the names there are."""
        found = self.stages.get(name)
        if found is None:
            raise UnknownStageError(f"{self.backend} has no stage {name!r}", f"it has: {', '.join(self.stages) or 'none'}")
        return found

    def _code(self, name: str, language: str, whole: str) -> CodeText:
        if name not in self.stages:
            raise XlaExplorerError(f"{self.backend} makes no {name}", f"it has the stages: {', '.join(self.stages) or 'none'}")
        return CodeText(self.stages[name].text, language, whole)

    def llvm_ir(self, optimized: bool = True) -> CodeText:
        """LLVM IR, after LLVM's passes or before."""
        name = "llvm-ir-optimized" if optimized else "llvm-ir"
        return self._code(name, "llvm", f"session.llvm_ir({optimized})")

    def assembly(self) -> CodeText:
        """Assembly of this machine."""
        return self._code("assembly", "asm", "session.assembly()")

    def llvm_passes(self, kernel: str, *, changed_only: bool = True, machine_passes: bool = True) -> pandas.DataFrame:
        """A row a run of an LLVM pass on a kernel, with the diff; see `explorer.llvm_views.llvm_passes`."""
        from xla_explorer.explorer.llvm_views import llvm_passes

        return llvm_passes(self, kernel, changed_only=changed_only, machine_passes=machine_passes)

    def remarks(self, *passes: str) -> pandas.DataFrame:
        """What LLVM's vectorisers (or other passes) say, by instruction and line; see `explorer.llvm_views.remarks`."""
        from xla_explorer.explorer.llvm_views import VECTORIZERS, remarks

        return remarks(self, passes or VECTORIZERS)

    def inner_loops(self, kernel: str | None = None) -> pandas.DataFrame:
        """llvm-mca's cycles of each innermost loop of the machine code; see `explorer.llvm_views.inner_loops`."""
        from xla_explorer.explorer.llvm_views import inner_loops

        return inner_loops(self, kernel)

    def ptx(self, **options: Any) -> CodeText:
        """PTX of the same source, compiled for the backend `gpu` on first use. No GPU is needed. options: see `gpu_with`."""
        return self.gpu_with(**options)._code("ptx", "ptx", "session.ptx()")

    def sass(self) -> CodeText:
        """Machine code of an NVIDIA GPU, line by line with its HLO; needs ptxas and nvdisasm, no GPU."""
        from xla_explorer.backends.gpu.disassembly import why_no_sass

        if (missing := why_no_sass()) is not None:
            raise XlaExplorerError(f"no SASS: {missing.message}", "install CUDA's binary utilities, or name the program in that variable")
        return self.gpu._code("sass", "sass", "session.sass()")

    def ptxas_report(self) -> pandas.DataFrame:
        """A row per GPU kernel: emitter, launch, registers, spills, shared memory, and the occupancy these allow with what limits it.

        XlaExplorerError where ptxas is missing.
        """
        from xla_explorer.backends.gpu.architecture import gpu_architecture
        from xla_explorer.backends.gpu.occupancy import REPORT_COLUMNS, resource_rows
        from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx
        from xla_explorer.explorer.wide_frame import wide_frame

        executable: Any = self.gpu.executable
        text, name = executable.ptx.text, executable.ptx.architecture
        rows = resource_rows(executable.program.kernels, assemble_ptx(text, name), gpu_architecture(name))
        return wide_frame(rows, list(REPORT_COLUMNS))

    @cached_property
    def gpu(self) -> Session:
        """The same source compiled for the backend `gpu` (this very session when it is that), with the options that both read."""
        return self.gpu_with()

    @property
    def has_gpu(self) -> bool:
        """Whether `gpu` is there already, so that asking for it compiles nothing."""
        return self.backend == "gpu" or () in self._gpu_sessions

    def gpu_with(self, **options: Any) -> Session:
        """Like `gpu`, with other options of that backend: `session.gpu_with(architecture="sm_80")`. What is not named stays as it is here.

        UnknownOptionError for what the backend `gpu` does not read.
        """
        if self.backend == "gpu" and all(self.options.backend_options.get(name) == value for name, value in options.items()):
            return self
        key = tuple(sorted(options.items()))
        if key not in self._gpu_sessions:
            mine = self.options
            # Another GPU's names of architectures mean nothing to this one.
            kept = mine.backend_options if self.backend == "gpu" else {}
            self._gpu_sessions[key] = compile(
                self.source, backend="gpu", passes=mine.passes, journal=mine.journal, verify=False, cache=mine.cache,
                isolate=self.isolation or False, control=mine.control if self.backend == "gpu" else None, **{**kept, **options},
            )  # fmt: skip
        return self._gpu_sessions[key]

    @cached_property
    def kernels(self) -> pandas.DataFrame:
        """A row a step of the program: kernel, opcode, runs_on, code and message of the reason where it is no native code, line; and the
        device's stream, where there are several."""
        from xla_explorer.explorer.wide_frame import wide_frame

        rows = [
            {
                "kernel": f"%{s.name}",
                "opcode": s.opcode,
                "runs_on": s.runs_on,
                "code": s.reason.code if s.reason else "",
                "reason": s.reason.message if s.reason else "",
                "line": self.source_line(s.instruction),
                "instruction": s.instruction,
            }
            for s in self.program_steps
        ]
        columns = ["kernel", "opcode", "runs_on", "code", "reason", "line", "instruction"]
        if any(s.stream for s in self.program_steps):
            rows = [{**row, "stream": s.stream} for row, s in zip(rows, self.program_steps, strict=True)]
            columns.insert(3, "stream")
        return wide_frame(rows, columns)

    @property
    def program_steps(self) -> list[ProgramStep]:
        """What runs, in order; empty when nothing can."""
        return self.result.executable.steps if self.result is not None and self.result.executable is not None else []

    @cached_property
    def buffers(self) -> BufferReport:
        """The buffer assignment. XlaExplorerError when the backend assigns none."""
        from xla_explorer.explorer.buffer_report import BufferReport

        if self.result is None or self.result.buffers is None:
            raise XlaExplorerError(f"{self.backend} assigned no buffers" + (" before the compile failed" if self.error else ""))
        return BufferReport(self.result.buffers, self.source_line)

    # -- questions -----------------------------------------------------------------------------------------------------
    def decisions(self, kind: str | None = None) -> pandas.DataFrame:
        """One row a decision: verdict, kind, code, message, facts, subjects (producer first), pass, step, cost.

        kind: `fusion`; `native-code` for steps that run on the evaluator, and that a library computes or could; `loop-vectorization` for
        kernels whose loops are in vectors or were left to LLVM; `parallel`, `row-blocks` for threads and blocks; `rule` for rewrite rules;
        None: all but rules. Also cost_us, cost_bytes: what a refused fusion costs a run, by the cost model. step: the pass, counted from
        0 as in `trace.at`.
        """
        return decisions_frame(self.trace.passes, self.trace.lineage, kind, self._native_code_rows())

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

    def why_not(self, kind: str, producer: str | int, consumer: str | int) -> Answer:
        """Why two things were not fused (or were): the recorded decision, else the same checks asked again before fusion.

        The answer says which of the two it is and shows the policy as a checklist. XlaExplorerError with near names for unknown ones.
        """
        return why_not(self.trace.passes, self.trace.lineage, kind, producer, consumer)

    def applicable(self, instruction: str | int | HloInstruction, step: int | None = None) -> ApplicableRules:
        """The rules whose pattern fits an instruction, each with what it would make of it or the Reason why not.

        step: asked of the module after that many passes (0: as written); default the last in which the instruction was there.
        """
        return self.trace.applicable(self.find(instruction.id if isinstance(instruction, HloInstruction) else instruction), step)

    def hot_rules(self) -> pandas.DataFrame:
        """A row a rule that fired or was refused: rule, applied, refused, sentence, place; the most applied first."""
        return self.trace.hot_rules()

    @cached_property
    def provenance(self) -> Provenance:
        """Which instructions of the source, and which `file:line`, every instruction of the result came from; with the coverage."""
        from xla_explorer.explorer.provenance import provenance

        return provenance(self.trace, self.source_lines)

    def history(self, instruction: str | int | HloInstruction) -> list[str]:
        """The life of an instruction over the passes, one sentence a line."""
        given = instruction.id if isinstance(instruction, HloInstruction) else instruction
        found = self.trace.history(given)
        if not found:
            self.find(given)
        return found

    def explain(self, instruction: str | int | HloInstruction) -> Explanation:
        """Everything about one instruction: definition, line, decisions, history, code, buffer, time."""
        from xla_explorer.explorer.explanation import explain

        return explain(self, self.find(instruction.id if isinstance(instruction, HloInstruction) else instruction))

    def find(self, name_or_id: str | int) -> int:
        """The id of an instruction that was there at any step. XlaExplorerError with near names otherwise."""
        return self.trace.find(name_or_id)

    def source_line(self, instruction: str | int | HloInstruction) -> str:
        """`file:line` of the user's source by metadata, else of the HLO text; empty when a pass made it from nothing."""
        given = instruction.id if isinstance(instruction, HloInstruction) else instruction
        key = self.find(given) if isinstance(given, str) else given
        lineage = self.trace.lineage
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
        lineage = self.trace.lineage
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
        return self.trace.passes.pipeline

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
        from xla_explorer.explorer.control import overridden

        return overridden(self, fuse, forbid, skip_rules, stop_after, passes)

    @cached_property
    def overrides(self) -> Wishes:
        """What `override` asked for (here and before), each wish with whether it was granted and the Reason where it was not."""
        from xla_explorer.explorer.wishes import wishes_of

        return wishes_of(self)

    def compare(self, other: Session | None = None, *arrays: Any, repeats: int = 20) -> Comparison:
        """This session beside another (default: the one that it overrides): kernels, bytes, times predicted and measured, values,
        decisions that differ. Without arrays: random ones. XlaExplorerError without a session to compare with."""
        from xla_explorer.explorer.comparison import compare_sessions

        if other is None:
            if self.base is None:
                raise XlaExplorerError("this session overrides no other", "name the session to compare with")
            return compare_sessions(self, self.base, arrays or random_arguments(self.source), repeats)
        return compare_sessions(self, other, arrays, repeats)

    def bisect(self, *arrays: Any) -> BisectionResult:
        """The first pass, then the first rewrite, after which the value differs from the evaluator's of the module as written."""
        from xla_explorer.explorer.bisection import bisect

        with working(f"bisecting {self.source.name}"):
            return bisect(self, arrays)

    def profile(self, *arrays: Any, repeats: int = 20) -> pandas.DataFrame:
        """A row a kernel and one for the whole program; see `explorer.profiling.profile`. Without arrays: random ones, and it says so."""
        from xla_explorer.explorer.profiling import profile

        with working(f"profiling {self.source.name} on {self.backend}"):
            self.last_profile = profile(self, arrays, repeats)
        self.__dict__.pop("explorer_source", None)
        return self.last_profile

    def emulation(self, *arrays: Any) -> Emulation:
        """The GPU kernels of the same source on the PTX emulator: work, memory traffic and faults by PTX and HLO line."""
        from xla_explorer.explorer.emulation import emulation

        with working(f"emulating {self.source.name}"):
            self.last_emulation = emulation(self, arrays)
        return self.last_emulation

    def time(self, *arrays: Any, repeats: int | None = None) -> Timing:
        """Time whole calls from Python: n, median, interquartile range. repeats: None decides by how long one takes."""
        from xla_explorer.explorer.profiling import timing

        return timing(self, arrays or random_arguments(self.source), repeats)

    # -- pictures ------------------------------------------------------------------------------------------------------
    def graph(self, around: Any = None, radius: int = 2) -> Graph:
        """The optimised module as a picture: fusions as boxes, refused fusions dashed with their code."""
        return self.trace.graph(-1, around, radius)

    def graph_picture(self, around: Any, radius: int) -> tuple[PictureGraph, int | None]:
        """The picture of the result, for `xe.graph`."""
        return self.trace.graph_picture(around, radius)

    def side_by_side(self, *stages: str, kernel: str = "") -> SideBySide:
        """Kernel by kernel: the HLO lines and the code that each stage made of them (default: optimised LLVM IR and PTX).

        kernel: only the one that is, or computes, this instruction."""
        from xla_explorer.explorer.side_by_side import side_by_side

        return side_by_side(self, stages, kernel)

    def annotate(self, *arrays: Any, repeats: int = 20, measure: bool = True) -> AnnotatedSource:
        """The HLO as it was written; each line unfolds to its LLVM IR and PTX, shaded by measured time. Without arrays: random ones.

        measure: profile it first (where it can run); else the times are those of the last profile, if one was made.
        """
        from xla_explorer.explorer.annotated_source import annotated_source

        return annotated_source(self, arrays if measure else None, repeats)

    @cached_property
    def explorer_source(self) -> Any:
        """What the widget, the static form and the exported page read."""
        from xla_explorer.explorer.session_source import SessionSource

        return SessionSource(self)

    def explore(self, **options: Any) -> Any:
        """The widget."""
        from xla_explorer.explorer.exploring import explore

        return explore(self, **options)

    def to_html(self, *, paths: bool | None = None) -> str:
        """The whole exploration as one self-contained HTML page. paths: keep absolute paths of this machine in it, of which else only
        the names of the files stay; None: what `xe.options.paths` says."""
        from xla_explorer.explorer.views.html_page import export_page

        return export_page(self.explorer_source, paths=defaults.paths if paths is None else paths)

    def save(self, path: Any, *, paths: bool | None = None) -> Any:
        """Write `to_html()` to a file and return the path."""
        from xla_explorer.explorer.views.html_page import save_page

        return save_page(self.explorer_source, path, paths=defaults.paths if paths is None else paths)

    def __repr__(self) -> str:
        steps = self.trace.steps
        changed = len([s for s in steps if s.changed])
        parts = [
            f"{len(steps)} passes, {changed} changed it",
            f"{self.source.instruction_count()} -> {self.module.instruction_count()} instructions",
        ]
        if self.program_steps:
            parts.append(f"{len(self.program_steps)} kernels")
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

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from xla_explorer.explorer.views.static_form import static_html

        if self.brief_once:
            # A magic has just shown the parts that were asked for.
            self.brief_once = False
            return {"text/plain": repr(self)}
        return {"text/plain": repr(self), "text/html": static_html(self.explorer_source)}


def compile(
    module: Any,
    backend: str = "cpu",
    passes: Any = "default",
    journal: str = "decisions",
    threads: int | None = None,
    *,
    verify: bool = True,
    check_passes: bool = False,
    check_values: Any = None,
    cache: bool = True,
    control: PassControl | None = None,
    keep_errors: bool = False,
    filename: str | None = None,
    isolate: bool | Isolation | None = None,
    timeout: float | None = None,
    memory_limit: int | None = None,
    **backend_options: Any,
) -> Session:
    """Compile a module (or HLO text, or a traced function) and keep everything that happened.

    backend: `cpu`, `gpu`, `interpreter` or a plug-in's name. passes: `default`, `none`, or a pipeline string. journal: off, passes,
    decisions, everything. threads: None lets the backend choose. verify: check the module first. check_passes: verify after each pass
    too. check_values: arguments (True: random ones) on which the module is evaluated after each pass that changed it; the compile fails
    with a ValuesDifferError that names the first pass after which the values differ. keep_errors: return the session of a failed
    compile instead of raising. isolate: generate and run code in a child process, so that a crash, an endless loop (timeout: seconds a
    compile or a run may take) or exhausted memory (memory_limit: bytes) there is an IsolatedError that names the kernel and its HLO;
    None: what `xe.options` says. The backend `xla` has a process of its own anyway.

    Raises:
        HloParseError, HloVerifyError: the module is malformed; with places and next steps.
        UnknownBackendError, UnknownOptionError, PipelineSyntaxError: a name is unknown; with near ones.
        CompileFailedError: a pass or the backend failed; `.session` shows every step before.
    """
    source = as_module(module, filename)
    if verify:
        verify_module(source)
    if check_values is not None and check_values is not False:
        arguments = random_arguments(source) if check_values is True else tuple(check_values)
        control = PassControl() if control is None else control
        control.check_values = Signature(source).leaves(arguments)
    options = CompileOptions(passes, journal, threads, check_passes, cache, control, backend_options)
    isolation = _isolation(backend, isolate, isolation_settings(isolate, timeout, memory_limit))
    compiler = platform_with_options(backend, backend_options).compiler()
    started = time.perf_counter()
    result: CompileResult | None = None
    error: BaseException | None = None
    phase = "hlo passes"
    try:
        with working(f"passes of {source.name} for {backend}"):
            trace = compiler.run_hlo_passes(source, options)
    except PassFailedError as problem:
        trace, error, phase = problem.trace, problem.__cause__ or problem, f"the pass {problem.pass_name}"
    seconds: Mapping[str, float] = {"hlo-passes": time.perf_counter() - started}
    if error is None:
        started = time.perf_counter()
        try:
            with working(f"compiling {source.name} for {backend}"):
                result = _run_backend(backend, compiler, trace, options, isolation)
            seconds = result.seconds
        except Exception as problem:
            error, phase = problem, "the backend"
            seconds = {**seconds, "backend": time.perf_counter() - started}
    session = Session(source, backend, options, trace, result, error, phase if error else "", seconds)
    session.isolation = isolation
    if error is not None and not keep_errors:
        raise CompileFailedError(session) from error
    return session


def _run_backend(
    backend: str, compiler: Compiler, trace: PassTrace, options: CompileOptions, isolation: Isolation | None
) -> CompileResult:
    """Here, or in the child process."""
    if isolation is None:
        return compiler.run_backend(trace, options)
    from xla_explorer.explorer.isolation import run_backend_isolated

    return run_backend_isolated(backend, trace, options, isolation)


def _isolation(backend: str, asked: Any, wanted: Isolation | None) -> Isolation | None:
    """What can be had of what is wanted. A child process that was asked for in the call and cannot be had is an error; one that only
    `xe.options` asks for, a warning."""
    if wanted is None:
        return None
    from xla_explorer.explorer.isolation import kept_here

    reason = kept_here(backend, wanted)
    if reason is None:
        return wanted
    if reason.code != "own-process":
        hint = "put it into a module of its own and name that: isolate=xe.Isolation(imports=('my_module',))"
        if asked is not None:
            raise XlaExplorerError(f"this cannot be isolated: {reason.message}", hint)
        warnings.warn(f"not isolated: {reason.message}; {hint}", RuntimeWarning, stacklevel=3)
    return None
