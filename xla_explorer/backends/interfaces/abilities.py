"""Optional abilities of a backend: a small protocol for each, tested by `isinstance`.

Source: xla/stream_executor/{stream,event}.h (events), xla/service/transfer_manager.h (tuple index
tables, infeed and outfeed), xla/service/compiler.h (`ShapeSizeBytesFunction`,
`CompileAheadOfTime`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from xla_explorer.backends.interfaces.stream_executor import DeviceMemory, StreamExecutor
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.backends.interfaces.compiler import CompileOptions, CompileResult
    from xla_explorer.backends.interfaces.executable import ProgramStep
    from xla_explorer.backends.interfaces.stage import CompilationStage
    from xla_explorer.compiler.pipeline.trace import PassTrace
    from xla_explorer.hlo.evaluator import Host

POINTER_BYTES = 8
# Seconds that a device waits in a collective. A device that can never go on is found at once; a
# device that computes may take long.
COLLECTIVE_TIMEOUT = 3600.0

Array = np.ndarray[Any, Any]


@runtime_checkable
class EventRecorder(Protocol):
    """A stream executor with events, which mark positions in a stream."""

    def record_event(self, stream: Any = None) -> Any:
        """Record an event after all queued work."""
        ...

    def elapsed_us(self, first: Any, last: Any) -> float:
        """Return the microseconds between two completed events."""
        ...


@runtime_checkable
class DeviceCopier(Protocol):
    """A stream executor that copies within the device."""

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """Copy `size` bytes between addresses; the ranges must not overlap."""
        ...


@runtime_checkable
class CodeWriter(Protocol):
    """A compiler that writes the code of kernels without compiling it to machine code."""

    def write_code(self, trace: PassTrace, options: CompileOptions) -> None:
        """Write the code of an optimised module, and discard it."""
        ...


@runtime_checkable
class TupleTransfer(Protocol):
    """A transfer manager that writes tuples as tables of the addresses of their elements."""

    def write_tuple_index_table(
        self, executor: StreamExecutor, elements: list[DeviceMemory]
    ) -> DeviceMemory:
        """Write a new table: one little-endian address of POINTER_BYTES bytes an element."""
        ...


@runtime_checkable
class FeedTransfer(Protocol):
    """A transfer manager with two ordered queues between host and running program."""

    def transfer_literal_to_infeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """Append a literal to the queue that `infeed` reads."""
        ...

    def transfer_literal_from_outfeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """Return the oldest literal that `outfeed` wrote.

        LookupError if there is no such literal; ValueError if it has another shape.
        """
        ...


@runtime_checkable
class ArgumentPlacer(Protocol):
    """An executable that accepts arguments ahead of time.

    Source: `PjRtClient::BufferFromHostBuffer`, jax's `device_put`.
    """

    def place(self, arrays: list[Any]) -> list[Any]:
        """Copy each parameter leaf to memory that `execute` reads directly.

        The checks are those of `execute`.
        """
        ...


class DeviceStepTiming(NamedTuple):
    """The time of one step on one device in one run.

    step: number in the executable's steps. total_us: of all calls. waited_us: of a collective,
    until the last member arrived; 0 for other steps.
    """

    device: int
    step: int
    calls: int
    total_us: float
    waited_us: float


class DevicesProgram(Protocol):
    """A program on `replicas` x `partitions` devices; number = replica * partitions + partition."""

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps of one device."""
        ...

    @property
    def count(self) -> int:
        """The number of devices."""
        ...

    def run(
        self,
        per_device: Sequence[Sequence[Array]],
        *,
        timeout: float = COLLECTIVE_TIMEOUT,
        hosts: Sequence[Host] | None = None,
    ) -> list[list[Array]]:
        """Run on the parameter leaves of each device; return the result leaves of each device.

        RendezvousError names the devices that are missing from a collective. An error on one device
        ends the run.
        """
        ...

    def timed(self, per_device: Sequence[Sequence[Array]]) -> list[DeviceStepTiming]:
        """Run once; return the times of each step on each device."""
        ...


@runtime_checkable
class SeveralDevices(Protocol):
    """A compiler whose executables run on several virtual devices."""

    def on_devices(
        self, result: CompileResult, replicas: int, partitions: int
    ) -> DevicesProgram | None:
        """Return the program of one device on these devices; None if the evaluator runs it."""
        ...


@runtime_checkable
class ShapeSizes(Protocol):
    """A compiler for devices with other sizes than dense arrays and tuples of 8-byte addresses."""

    def shape_size_bytes(self, shape: Shape) -> int:
        """Return the bytes of a buffer of the shape on the device; for a tuple, of its table."""
        ...


def shape_size_bytes(shape: Shape) -> int:
    """Return the default size: dense arrays, tables of POINTER_BYTES an element, 0 for tokens."""
    return POINTER_BYTES * len(shape.tuple_shapes) if shape.is_tuple else shape.byte_size


@dataclass(frozen=True, slots=True)
class AotCompilationOptions:
    """Options of code for another machine.

    Source: `AotCompilationOptions`, `CpuAotCompilationOptions`.
    triple, cpu, features: in LLVM's spelling; backends without LLVM interpret them. entry_point:
    name of the entry function, and prefix of every other symbol. embed_weights: put constants into
    the object. relocation_model: `default`, `static`, `pic`. libraries: the code may call CBLAS and
    LAPACK, which are linked to it later. backend_options: the backend's own.
    """

    triple: str = ""
    cpu: str = ""
    features: str = ""
    entry_point: str = "entry"
    embed_weights: bool = True
    relocation_model: str = "default"
    libraries: bool = False
    backend_options: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class AotCompilationResult(Protocol):
    """Code that outlives the process: the result of `CompileAheadOfTime`."""

    @property
    def stages(self) -> dict[str, CompilationStage]:
        """Artifacts, as for a CompileResult."""
        ...

    @property
    def optimized_module(self) -> HloModule:
        """The module that the code implements."""
        ...

    def serialize(self) -> bytes:
        """Return all bytes needed to load it elsewhere: an object file or a device program."""
        ...


@runtime_checkable
class AheadOfTimeCompiler(Protocol):
    """A compiler without a device."""

    def compile_ahead_of_time(
        self, module: HloModule, options: AotCompilationOptions
    ) -> AotCompilationResult:
        """Compile for another machine.

        An error with a Reason if an instruction is not supported.
        """
        ...
