"""Platform and Compiler: discovery of a backend, its supported instructions, and compilation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from xla_explorer.backends.interfaces.executable import Executable
from xla_explorer.backends.interfaces.stage import CompilationStage
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
    """An option of a compilation has an invalid value."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compilation.

    passes: `default`, `none`, or a pipeline string. journal: off, passes, decisions, everything.
    threads: None: chosen by the backend. verify: run the verifier after each pass. cache: reuse
    object code of equal IR from disk.

    Raises InvalidOptionError for an invalid number of threads.
    """

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
    """Result of a compilation.

    trace: passes and their snapshots, with the journal. executable: None if the backend cannot run
    here (see `why_not`). stages: ordered artifacts by name. buffers: the buffer assignment, or
    None. seconds: compile time by phase. program: the backend's own form of a program without an
    executable (`program.steps` as for executables).
    """

    trace: PassTrace
    executable: Executable | None
    stages: dict[str, CompilationStage]
    buffers: Any
    seconds: dict[str, float]
    why_not: Reason | None = None
    program: Any = None


@runtime_checkable
class Compiler(Protocol):
    """Passes and code generation of a backend.

    Source: xla/service/compiler.h (RunHloPasses, RunBackend).
    """

    @property
    def name(self) -> str:
        """Name of the backend."""
        ...

    def default_pipeline(self) -> Any:
        """Return the HLO pipeline, as data."""
        ...

    def supports(self, instruction: HloInstruction) -> Reason | None:
        """Return None if there is native code for the (optimised) instruction, else the reason."""
        ...

    def run_hlo_passes(self, module: HloModule, options: CompileOptions) -> PassTrace:
        """Optimise a copy of the module and record everything."""
        ...

    def run_backend(self, trace: PassTrace, options: CompileOptions) -> CompileResult:
        """Assign buffers, generate code and return the result with its executable."""
        ...


@runtime_checkable
class Platform(Protocol):
    """A kind of device, named by an entry point in the group `xla_explorer.backends`.

    An entry point names an object of this kind, or a function that returns it. The optional
    attribute `option_names` lists the supported backend_options; `xe.compile` then refuses all
    others.
    """

    @property
    def name(self) -> str:
        """Short name for `backend=`."""
        ...

    @property
    def description(self) -> str:
        """One sentence about the backend and the devices that it runs on."""
        ...

    def compiler(self) -> Compiler:
        """Return the compiler."""
        ...

    def stream_executor(self) -> StreamExecutor:
        """Return the interface to the device's memory, kernels and streams."""
        ...

    def transfer_manager(self) -> TransferManager:
        """Return the converter between literals and device buffers."""
        ...

    def availability(self) -> Reason | None:
        """Return None if modules can run here, else the reason; compilation may still work."""
        ...
