"""Device interface of GPU programs, beyond `backends.interfaces.StreamExecutor`."""

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
    """An error on the device; the message names the kernel and its HLO if known.

    fatal: the device cannot be used by this process any more.
    """

    fatal = False


class KernelFaultError(GpuExecutionError):
    """Faults found by the emulator in a kernel. findings: all of the launch."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(
            str(findings[0]),
            "session.emulation() collects all faults instead of stopping at the first kernel",
        )
        self.findings = findings


class DeviceFacts(NamedTuple):
    """Properties of a device.

    name: of the product, or `PTX emulator`. architecture: `sm_90`. driver: version, 13000 is 13.0;
    0 on the emulator. clock_gigahertz: maximum. dram_bytes_per_nanosecond: of its memory (GB/s).
    l2_bytes: of its L2 cache. 0 if the driver reports none.
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
        """True on the emulator."""
        return self.driver == 0


class PtxProgram(NamedTuple):
    """A PTX text.

    architecture: its target. origins: HLO instruction id of each line, for findings.
    """

    text: str
    architecture: str
    origins: Sequence[int | None]


class GraphExecutor(Protocol):
    """Recorder of queued work as graphs, which are queued again as a whole."""

    def record(self, work: Callable[[], None], depth: int = 0) -> Any:
        """Return a graph of the work queued by `work`, or raise GraphRefusedError.

        depth: maximum nesting of the loops and branches below.
        """
        ...

    def record_while(
        self, predicate: int, condition: Callable[[], None], body: Callable[[], None]
    ) -> None:
        """Record a loop inside `work` that runs while the value at an address is true.

        condition: queues the work that writes this value.
        """
        ...

    def record_trips(self, trips: int, counter: DeviceMemory, body: Callable[[], None]) -> None:
        """Record a loop of a known trip count, at least one.

        counter: eight bytes of device memory.
        """
        ...

    def record_branches(
        self, index: int, is_predicate: bool, branches: Sequence[Callable[[], None]]
    ) -> None:
        """Record branches inside `work`, selected by an s32 or predicate in memory."""
        ...

    def launch_graph(self, graph: Any) -> None:
        """Queue all work of a graph."""
        ...

    def destroy_graph(self, graph: Any) -> None:
        """Free a graph."""
        ...


class LibraryCaller(Protocol):
    """Executor of instructions by a vendor's libraries."""

    def run(
        self, call: LibraryCall, operands: Sequence[int], result: int, stream: Any = None
    ) -> None:
        """Queue a call on device addresses."""
        ...

    def why_not(self, call: LibraryCall) -> Reason | None:
        """Return the library's refusal of a call, if it is known before the run."""
        ...


class GraphRefusedError(GpuExecutionError):
    """The device cannot record this work; it is queued normally."""


class DeviceExecutor(StreamExecutor, Protocol):
    """A StreamExecutor that launches grids and times them."""

    @property
    def graphs(self) -> GraphExecutor | None:
        """Recorder of graphs; None if each run queues its launches again."""
        ...

    @property
    def libraries(self) -> LibraryCaller | None:
        """The vendor's libraries; None if the evaluator replaces them."""
        ...

    @property
    def facts(self) -> DeviceFacts:
        """Properties of the device."""
        ...

    def allocate_named(self, size: int, name: str) -> DeviceMemory:
        """Allocate memory with a name for error messages; the contents are undefined."""
        ...

    def load_ptx(self, program: PtxProgram) -> Any:
        """Load the kernels of a PTX text; the same text is loaded once."""
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
        """Queue a kernel.

        arguments: addresses, and tensor maps to be encoded. shared: bytes of dynamic shared memory.
        """
        ...

    def write(self, address: int, data: Array, stream: Any = None) -> None:
        """Queue a copy of contiguous host memory to a device address.

        The array must live until the stream is synchronised.
        """
        ...

    def read(self, address: int, target: Array, stream: Any = None) -> None:
        """Copy device memory into a contiguous host array and wait for it."""
        ...

    def copy_on_device(self, source: int, target: int, size: int, stream: Any = None) -> None:
        """Queue a copy between device addresses."""
        ...

    def record_event(self, stream: Any = None) -> Any:
        """Record a timed event."""
        ...

    def side_stream(self, number: int) -> Any:
        """Return a side stream, always the same for one number."""
        ...

    def create_event(self) -> Any:
        """Return an event without a time, for `wait_for`."""
        ...

    def destroy_event(self, event: Any) -> None:
        """Free an event."""
        ...

    def wait_for(self, stream: Any, other: Any, event: Any) -> None:
        """Make later work of a stream wait for the work queued on the other.

        None is the main stream.
        """
        ...

    def stream_address(self, stream: Any) -> int:
        """Return the C handle of a stream."""
        ...

    def elapsed_us(self, first: Any, last: Any) -> float:
        """Return the microseconds between two events; waits for the second."""
        ...
