"""Platform, Compiler, Executable, StreamExecutor, TransferManager.

These five are mandatory for a backend. Optional abilities are small protocols in `abilities.py`:
events, copies within the device, tuple tables, infeed and outfeed, arguments placed ahead of a run,
several devices, own sizes, ahead-of-time code.
"""

from xla_explorer.backends.interfaces.abilities import (
    COLLECTIVE_TIMEOUT,
    AheadOfTimeCompiler,
    AotCompilationOptions,
    AotCompilationResult,
    ArgumentPlacer,
    CodeWriter,
    DeviceCopier,
    DevicesProgram,
    DeviceStepTiming,
    EventRecorder,
    FeedTransfer,
    SeveralDevices,
    ShapeSizes,
    TupleTransfer,
    shape_size_bytes,
)
from xla_explorer.backends.interfaces.compiler import (
    CompileOptions,
    Compiler,
    CompileResult,
    Platform,
)
from xla_explorer.backends.interfaces.executable import (
    Executable,
    KernelTiming,
    ProfileResult,
    ProgramStep,
)
from xla_explorer.backends.interfaces.host_transfer import LinearTransferManager
from xla_explorer.backends.interfaces.stage import CompilationStage, hlo_stage
from xla_explorer.backends.interfaces.stream_executor import (
    DeviceMemory,
    StreamExecutor,
    TransferManager,
)

__all__ = [
    "COLLECTIVE_TIMEOUT",
    "AheadOfTimeCompiler",
    "AotCompilationOptions",
    "AotCompilationResult",
    "ArgumentPlacer",
    "CodeWriter",
    "CompilationStage",
    "CompileOptions",
    "CompileResult",
    "Compiler",
    "DeviceCopier",
    "DeviceMemory",
    "DeviceStepTiming",
    "DevicesProgram",
    "EventRecorder",
    "Executable",
    "FeedTransfer",
    "KernelTiming",
    "LinearTransferManager",
    "Platform",
    "ProfileResult",
    "ProgramStep",
    "SeveralDevices",
    "ShapeSizes",
    "StreamExecutor",
    "TransferManager",
    "TupleTransfer",
    "hlo_stage",
    "shape_size_bytes",
]
