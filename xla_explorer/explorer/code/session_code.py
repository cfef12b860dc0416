"""The code of a session: its artifacts by stage, LLVM's passes and remarks, PTX of the same source, the steps of the program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import CompileOptions, CompileResult, ProgramStep, Stage
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.isolation.settings import Isolation
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.measures.buffer_report import BufferReport
    from xla_explorer.explorer.session import Session


class UnknownStageError(XlaExplorerError, KeyError):
    """An artifact that the backend does not make."""


DUMP = "xla-dump"
"""The name of the backend of sessions that show what XLA dumped."""


class NotThereError(XlaExplorerError, AttributeError):
    """Something that this session has not, so that `hasattr` says no."""


class SessionCode:
    """What a session has compiled. `Session` is this with its passes and its questions."""

    source: HloModule
    backend: str
    options: CompileOptions
    result: CompileResult | None
    error: BaseException | None
    isolation: Isolation | None
    gpu_sessions: dict[tuple[Any, ...], Session]  # by the options that they differ in

    def source_line(self, instruction: str | int | HloInstruction) -> str:
        """`file:line` of the user's source."""
        raise NotImplementedError

    @property
    def _session(self) -> Session:
        return self  # type: ignore[return-value]  # nothing else derives from this

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
        from xla_explorer.explorer.code.llvm_views import llvm_passes

        return llvm_passes(self._session, kernel, changed_only=changed_only, machine_passes=machine_passes)

    def remarks(self, *passes: str) -> pandas.DataFrame:
        """What LLVM's vectorisers (or other passes) say, by instruction and line; see `explorer.llvm_views.remarks`."""
        from xla_explorer.explorer.code.llvm_views import VECTORIZERS, remarks

        return remarks(self._session, passes or VECTORIZERS)

    def inner_loops(self, kernel: str | None = None) -> pandas.DataFrame:
        """llvm-mca's cycles of each innermost loop of the machine code; see `explorer.llvm_views.inner_loops`."""
        from xla_explorer.explorer.code.llvm_views import inner_loops

        return inner_loops(self._session, kernel)

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
        return self.backend == "gpu" or () in self.gpu_sessions

    def gpu_with(self, **options: Any) -> Session:
        """Like `gpu`, with other options of that backend: `session.gpu_with(architecture="sm_80")`. What is not named stays as it is here.

        UnknownOptionError for what the backend `gpu` does not read.
        """
        if self.backend == "gpu" and all(self.options.backend_options.get(name) == value for name, value in options.items()):
            return self._session
        key = tuple(sorted(options.items()))
        if key not in self.gpu_sessions:
            from xla_explorer.explorer.sessions.compiling import compile as compile_module

            mine = self.options
            # Another GPU's names of architectures mean nothing to this one.
            kept = mine.backend_options if self.backend == "gpu" else {}
            self.gpu_sessions[key] = compile_module(
                self.source, backend="gpu", passes=mine.passes, journal=mine.journal, verify=False, cache=mine.cache,
                isolate=self.isolation or False, control=mine.control if self.backend == "gpu" else None, **{**kept, **options},
            )  # fmt: skip
        return self.gpu_sessions[key]

    @cached_property
    def kernels(self) -> pandas.DataFrame:
        """A row a step of the program: kernel, opcode, runs_on, code and message of the reason where it is no native code, line; and the
        device's stream, where there are several."""
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
        """The buffer assignment. NotThereError (an AttributeError too) when the backend assigns none."""
        from xla_explorer.explorer.measures.buffer_report import BufferReport

        if self.result is None or self.result.buffers is None:
            hint = "a dump's own are read by xe.load(FOLDER).buffers()" if self.backend == DUMP else ""
            raise NotThereError(f"{self.backend} assigned no buffers" + (" before the compile failed" if self.error else ""), hint)
        scratch = getattr(getattr(self.result.executable, "program", None), "scratch_bytes", 0)
        return BufferReport(self.result.buffers, self.source_line, scratch)
