"""What a GPU program needs of a device, beyond `backends.interfaces.StreamExecutor`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.backends.interfaces import DeviceMemory, StreamExecutor
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emulator import Finding
    from xla_explorer.compiler.transforms.library_calls.library_call import LibraryCall
    from xla_explorer.foundation.reason import Reason

Array = np.ndarray[Any, Any]


class GpuExecutionError(XlaExplorerError):
    """Something went wrong on the device; the message names the kernel and its HLO where they are known.

    fatal: whether the device is of no use to this process any more.
    """

    fatal = False


class KernelFaultError(GpuExecutionError):
    """The emulator found faults in a kernel. findings: all of the launch."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(
            str(findings[0]),
            "session.emulation() collects all faults instead of stopping at the first kernel",
        )
        self.findings = findings


class DeviceFacts(NamedTuple):
    """name: of the product, or `PTX emulator`. architecture: `sm_90`. driver: version, 13000 is 13.0; 0 on the emulator.

    clock_gigahertz: at most. dram_bytes_per_nanosecond: of its memory (GB/s). l2_bytes: of its second-level cache. 0 where the driver does
    not say.
    """

    name: str
    architecture: str
    multiprocessors: int
    memory_bytes: int
    driver: int
    clock_gigahertz: float = 0.0
    dram_bytes_per_nanosecond: float = 0.0
    l2_bytes: int = 0

    @property
    def emulated(self) -> bool:
        """Whether no device is behind it."""
        return self.driver == 0


class PtxProgram(NamedTuple):
    """text: PTX. architecture: that it is for. origins: HLO instruction id of each line, for findings."""

    text: str
    architecture: str
    origins: Sequence[int | None]


class GraphExecutor(Protocol):
    """What keeps queued work, to queue it again as one."""

    def record(self, work: Callable[[], None], depth: int = 0) -> Any:
        """A graph of what `work` queues, with so many of the loops and branches below inside each other at most. GraphRefusedError when
        something in it cannot be recorded."""
        ...

    def record_while(
        self, predicate: int, condition: Callable[[], None], body: Callable[[], None]
    ) -> None:
        """While `work` is recorded: a loop that goes on as long as what `condition` queues leaves true at an address."""
        ...

    def record_trips(self, trips: int, counter: DeviceMemory, body: Callable[[], None]) -> None:
        """While `work` is recorded: a loop of so many trips, at least one, that are counted in eight bytes of device memory."""
        ...

    def record_branches(
        self, index: int, is_predicate: bool, branches: Sequence[Callable[[], None]]
    ) -> None:
        """While `work` is recorded: the branch that a number (s32, or a predicate) at an address chooses, as HLO's conditional has it."""
        ...

    def launch_graph(self, graph: Any) -> None:
        """Queue all of a graph."""
        ...

    def destroy_graph(self, graph: Any) -> None:
        """Give a graph back."""
        ...


class LibraryCaller(Protocol):
    """What computes instructions by a vendor's libraries."""

    def run(
        self, call: LibraryCall, operands: Sequence[int], result: int, stream: Any = None
    ) -> None:
        """Queue a call on device addresses."""
        ...

    def why_not(self, call: LibraryCall) -> Reason | None:
        """Why the library that is there does not compute a call, where it says so before it runs."""
        ...


class GraphRefusedError(GpuExecutionError):
    """The device does not record this work; it runs as ever."""


class DeviceExecutor(StreamExecutor, Protocol):
    """A StreamExecutor that launches grids and times them."""

    @property
    def graphs(self) -> GraphExecutor | None:
        """Who records graphs; None where every run is queued anew."""
        ...

    @property
    def libraries(self) -> LibraryCaller | None:
        """The vendor's libraries; None where the evaluator stands in for them."""
        ...

    @property
    def facts(self) -> DeviceFacts:
        """What the device is."""
        ...

    def allocate_named(self, size: int, name: str) -> DeviceMemory:
        """`allocate`, with a name for error messages. Contents are undefined."""
        ...

    def load_ptx(self, program: PtxProgram) -> Any:
        """Kernels of a PTX text, ready to launch. The same text is loaded once."""
        ...

    def launch_kernel(
        self,
        loaded: Any,
        function: str,
        grid: int,
        block: int,
        arguments: Sequence[int | PlacedTensorMap],
        shared: int,
        stream: Any = None,
    ) -> None:
        """Queue a kernel. arguments: addresses, and tensor maps to be encoded. shared: bytes of dynamic shared memory."""
        ...

    def write(self, address: int, data: Array, stream: Any = None) -> None:
        """Queue a copy of contiguous host memory to a device address. The array must live until the stream is synchronised."""
        ...

    def read(self, address: int, target: Array, stream: Any = None) -> None:
        """Copy device memory into a contiguous host array; returns when it is there."""
        ...

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """Queue a copy between device addresses."""
        ...

    def record_event(self, stream: Any = None) -> Any:
        """A mark in the queue that has a time."""
        ...

    def side_stream(self, number: int) -> Any:
        """A stream beside the main one; the same for the same number."""
        ...

    def create_event(self) -> Any:
        """An event without a time, for `wait_for`."""
        ...

    def destroy_event(self, event: Any) -> None:
        """Give an event back."""
        ...

    def wait_for(self, stream: Any, other: Any, event: Any) -> None:
        """What is queued on a stream from now on starts after what is queued on the other so far. None is the main stream."""
        ...

    def stream_address(self, stream: Any) -> int:
        """A stream as C interfaces take it."""
        ...

    def elapsed_us(self, first: Any, last: Any) -> float:
        """Microseconds between two marks; waits for the second."""
        ...
