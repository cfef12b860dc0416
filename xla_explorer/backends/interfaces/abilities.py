"""What a backend may offer beyond the four classes: each ability is a small protocol of its own, asked for with `isinstance`.

Source: xla/stream_executor/{stream,event}.h (events), xla/service/transfer_manager.h (tuple index tables, infeed and outfeed),
xla/service/compiler.h (`ShapeSizeBytesFunction`, `CompileAheadOfTime`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from xla_explorer.backends.interfaces.stream_executor import DeviceMemory, StreamExecutor
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.backends.interfaces.stage import Stage

POINTER_BYTES = 8


@runtime_checkable
class EventRecorder(Protocol):
    """A stream executor with events: marks in a queue of work that tell when everything before them had run."""

    def record_event(self, stream: Any = None) -> Any:
        """A mark behind all that is queued."""
        ...

    def elapsed_us(self, first: Any, last: Any) -> float:
        """Microseconds between two marks that have been passed."""
        ...


@runtime_checkable
class DeviceCopier(Protocol):
    """A stream executor that copies within the device."""

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """`size` bytes from address to address; the ranges do not overlap."""
        ...


@runtime_checkable
class TupleTransfer(Protocol):
    """A transfer manager that writes tuples as tables of the addresses of their elements."""

    def write_tuple_index_table(
        self, executor: StreamExecutor, elements: list[DeviceMemory]
    ) -> DeviceMemory:
        """A new table: one address of POINTER_BYTES bytes, little-endian, an element."""
        ...


@runtime_checkable
class FeedTransfer(Protocol):
    """A transfer manager with the two queues between host and running program. Both keep the order."""

    def transfer_literal_to_infeed(self, executor: StreamExecutor, literal: Literal) -> None:
        """Put a literal at the end of what `infeed` takes."""
        ...

    def transfer_literal_from_outfeed(self, executor: StreamExecutor, shape: Shape) -> Literal:
        """The oldest literal that `outfeed` gave. LookupError when there is none; ValueError when it has another shape."""
        ...


@runtime_checkable
class ArgumentPlacer(Protocol):
    """An executable that can be given its arguments ahead of time. Source: `PjRtClient::BufferFromHostBuffer`, jax's `device_put`."""

    def place(self, arrays: list[Any]) -> list[Any]:
        """One copy of each parameter leaf, in memory that `execute` reads as it is. Checked as `execute` checks."""
        ...


@runtime_checkable
class ShapeSizes(Protocol):
    """A compiler whose device does not store arrays densely, or tuples as 8-byte addresses."""

    def shape_size_bytes(self, shape: Shape) -> int:
        """Bytes of a buffer of the shape on the device; of a tuple: its table."""
        ...


def shape_size_bytes(shape: Shape) -> int:
    """The answer for devices without an opinion: dense arrays, tables of POINTER_BYTES an element, nothing for tokens."""
    return POINTER_BYTES * len(shape.tuple_shapes) if shape.is_tuple else shape.byte_size


@dataclass(frozen=True, slots=True)
class AotCompilationOptions:
    """What code for a machine that is not here needs to know. Source: `AotCompilationOptions`, `CpuAotCompilationOptions`.

    triple, cpu, features: as LLVM spells them; backends without LLVM read what they understand. entry_point: name of the entry
    function, and prefix of every other name that the linker sees. embed_weights: constants go into the object. relocation_model:
    `default`, `static`, `pic`. libraries: the code may call CBLAS and LAPACK, which whoever links it adds. backend_options: the backend's
    own.
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
    """Code that outlives the process: what `CompileAheadOfTime` returns."""

    @property
    def stages(self) -> dict[str, Stage]:
        """The artifacts, as for a CompileResult."""
        ...

    @property
    def optimized_module(self) -> HloModule:
        """What the code computes."""
        ...

    def serialize(self) -> bytes:
        """Everything that is needed to load it elsewhere: an object file, a device program."""
        ...


@runtime_checkable
class AheadOfTimeCompiler(Protocol):
    """A compiler that needs no device."""

    def compile_ahead_of_time(
        self, module: HloModule, options: AotCompilationOptions
    ) -> AotCompilationResult:
        """Code for another machine. An error with a Reason where an instruction has none."""
        ...
