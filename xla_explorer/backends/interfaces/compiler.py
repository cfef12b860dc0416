"""Platform and Compiler: how a backend is found, what it supports, and how it turns a module into an executable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from xla_explorer.backends.interfaces.executable import Executable
from xla_explorer.backends.interfaces.stage import Stage
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    from xla_explorer.backends.interfaces.stream_executor import StreamExecutor, TransferManager
    from xla_explorer.compiler.pipeline.trace import PassTrace


MOST_THREADS = 4096  # more than any machine has cores; a larger number is a mistake


class InvalidOptionError(XlaExplorerError, ValueError):
    """An option of a compilation has a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """passes: `default`, `none`, or a pipeline string. journal: off, passes, decisions, everything. threads: None lets the
    backend choose. verify: run the verifier after each pass. cache: reuse object code of equal IR from disk.

    Raises InvalidOptionError for a number of threads that is none."""

    passes: Any = "default"
    journal: str = "decisions"
    threads: int | None = None
    verify: bool = False
    cache: bool = True
    control: PassControl | None = None
    backend_options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        threads: Any = self.threads
        if threads is None:
            return
        hint = "give a whole number (threads=2), or leave it out for one per core"
        if isinstance(threads, bool) or not hasattr(threads, "__index__"):
            raise InvalidOptionError(
                f"xe.compile: threads must be an integer, got {threads!r}", hint
            )
        if threads < 1:
            raise InvalidOptionError(f"xe.compile: threads must be at least 1, got {threads}", hint)
        if threads > MOST_THREADS:
            raise InvalidOptionError(
                f"xe.compile: threads must be at most {MOST_THREADS}, got {threads}", hint
            )


class CompileResult(NamedTuple):
    """trace: passes and their snapshots, with the journal. executable: None when the backend cannot run here (then `why_not`).

    stages: ordered artifacts by name. buffers: the buffer assignment, or None. seconds: compile time by phase.
    program: what the backend made, in its own terms, where there is no executable to ask (`program.steps` as for executables)."""

    trace: PassTrace
    executable: Executable | None
    stages: dict[str, Stage]
    buffers: Any
    seconds: dict[str, float]
    why_not: Reason | None = None
    program: Any = None


@runtime_checkable
class Compiler(Protocol):
    """Source: xla/service/compiler.h (RunHloPasses, RunBackend)."""

    @property
    def name(self) -> str:
        """The backend's name."""
        ...

    def default_pipeline(self) -> Any:
        """The HLO pipeline, as data."""
        ...

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """None when there is native code for the (optimised) instruction."""
        ...

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module; everything recorded."""
        ...

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Buffers, code, executable."""
        ...


@runtime_checkable
class Platform(Protocol):
    """A kind of device. Entry points in the group `xla_explorer.backends` name an object (or a function) of this kind.

    It may have `option_names`, the names of the backend_options that it reads; `xe.compile` then refuses all others.
    """

    @property
    def name(self) -> str:
        """Short name, as typed in `backend=`."""
        ...

    @property
    def description(self) -> str:
        """One sentence: what it is and where it runs."""
        ...

    def compiler(self) -> Compiler:
        """The compiler."""
        ...

    def stream_executor(self) -> StreamExecutor:
        """The device's memory, kernels and streams."""
        ...

    def transfer_manager(self) -> TransferManager:
        """Literals to device buffers and back."""
        ...

    def availability(self) -> Reason | None:
        """None when modules can run here; else why not (they may still be compiled and looked at)."""
        ...
