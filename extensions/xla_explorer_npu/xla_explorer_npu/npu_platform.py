"""The device for xla_explorer: platform, stream executor with real queues, transfer manager."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xla_explorer.plugin import DeviceMemory, LinearTransferManager, Reason
from xla_explorer_npu.assembler import decode
from xla_explorer_npu.simulator import ALIGNMENT, Machine
from xla_explorer_npu.timeline import Timeline

if TYPE_CHECKING:
    from xla_explorer_npu.npu_compiler import NpuCompiler


class NpuPlatform:
    """See `backends.interfaces.Platform`."""

    name = "npu"
    description = (
        "A small accelerator without LLVM: a systolic matrix unit, a vector unit, a scratchpad and "
        "DMA queues, simulated cycle by cycle."
    )

    def __init__(self) -> None:
        self._executor = NpuStreamExecutor()

    def compiler(self) -> NpuCompiler:
        """Return the compiler."""
        from xla_explorer_npu.npu_compiler import NpuCompiler

        return NpuCompiler(self._executor)

    def stream_executor(self) -> NpuStreamExecutor:
        """Return the executor of the one device."""
        return self._executor

    def transfer_manager(self) -> LinearTransferManager:
        """Return the shared transfer manager, because device memory is linear."""
        return LinearTransferManager()

    def availability(self) -> Reason | None:
        """Return None: the simulator runs everywhere."""
        return None


class Stream:
    """A queue of work in order; nothing runs before a synchronisation."""

    def __init__(self) -> None:
        self.pending: list[Callable[[], None]] = []


class NpuStreamExecutor:
    """See `backends.interfaces.StreamExecutor`.

    timeline: of the last launch that has run. lock: held from allocation to the read of results, so
    that threads use the one device in turn.
    """

    def __init__(self) -> None:
        self.machine = Machine()
        self.timeline: Timeline | None = None
        self.clock = 0
        self.lock = threading.Lock()
        self._default = Stream()
        # Nothing can wait for a stream that is no longer referenced.
        self._streams: weakref.WeakSet[Stream] = weakref.WeakSet([self._default])
        self._free: dict[int, list[int]] = {}
        self._top = ALIGNMENT

    def allocate(self, size: int) -> DeviceMemory:
        """Return a block of the next multiple of ALIGNMENT bytes.

        A freed one of its size is reused.
        """
        room = max(-(-size // ALIGNMENT), 1) * ALIGNMENT
        kept = self._free.get(room)
        if kept:
            return DeviceMemory(kept.pop(), size, room)
        address, self._top = self._top, self._top + room
        self.machine.grow(self._top)
        return DeviceMemory(address, size, room)

    def deallocate(self, memory: DeviceMemory) -> None:
        """Give it back; twice is once."""
        if memory.handle is not None:
            self._free.setdefault(memory.handle, []).append(memory.address)
            memory.handle = None

    def copy_to_device(
        self, target: DeviceMemory, data: bytes | memoryview, stream: Stream | None = None
    ) -> None:
        """Copy at once without a stream, else in the order of the stream."""
        raw = bytes(data)
        if len(raw) > target.size:
            raise ValueError(
                f"{len(raw)} bytes do not fit into {target.size} bytes of device memory"
            )

        def copy() -> None:
            self.machine.device[target.address : target.address + len(raw)] = memoryview(raw)

        if stream is None:
            copy()
        else:
            stream.pending.append(copy)

    def copy_from_device(
        self, source: DeviceMemory, size: int, stream: Stream | None = None
    ) -> bytes:
        """Return the current contents; synchronise first."""
        if size > source.size:
            raise ValueError(f"cannot read {size} bytes from a device memory of {source.size}")
        return self.machine.device[source.address : source.address + size].tobytes()

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Decode a program; it has one entry."""
        return decode(code)

    def launch(
        self, loaded: Any, function: str, arguments: list[int], stream: Stream | None = None
    ) -> None:
        """Queue a program; arguments go to the base registers."""

        def run() -> None:
            self.timeline = self.machine.run(loaded, arguments)
            self.clock += self.timeline.cycles

        (stream or self._default).pending.append(run)

    def create_stream(self) -> Stream:
        """Return a new queue."""
        stream = Stream()
        self._streams.add(stream)
        return stream

    def synchronize(self, stream: Stream | None = None) -> None:
        """Run the queued work of a stream; without one, of all."""
        for queue in list(self._streams) if stream is None else [stream]:
            while queue.pending:
                queue.pending.pop(0)()

    def record_event(self, stream: Stream | None = None) -> list[int]:
        """Return an event that records the device's clock in the order of the stream."""
        mark: list[int] = []
        (stream or self._default).pending.append(lambda: mark.append(self.clock))
        return mark

    def elapsed_us(self, first: list[int], last: list[int]) -> float:
        """Return microseconds of simulated time. ValueError if an event has not been recorded."""
        if not first or not last:
            raise ValueError("an event has not been passed yet: synchronise first")
        return (last[0] - first[0]) / (self.machine.architecture.clock_ghz * 1e3)
