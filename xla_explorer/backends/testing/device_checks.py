"""The contract's checks of memory, queues and transfers: StreamExecutor and TransferManager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from xla_explorer.backends.interfaces import EventRecorder, FeedTransfer, TupleTransfer
from xla_explorer.backends.testing.subject import CheckSkippedError, Subject
from xla_explorer.hlo.literal import literal_from_array
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import parse_shape


def copies_keep_to_their_size(s: Subject) -> str | None:
    """Check that copies preserve bytes, and leave other memory unchanged."""
    executor, generator = s.executor, np.random.default_rng(0)
    for size in (1, 7, 64, 1000, 4097):
        first, second = executor.allocate(size), executor.allocate(size)
        data, other = generator.bytes(size), generator.bytes(size)
        executor.copy_to_device(second, other)
        executor.copy_to_device(first, data)
        executor.synchronize()
        back = executor.copy_from_device(first, size)
        if len(back) != size:
            return (
                f"copy_from_device gave {len(back)} bytes, {size} were requested: copy exactly "
                "`size` bytes"
            )
        if back != data:
            at = next(k for k in range(size) if back[k] != data[k])
            return (
                f"{size} bytes copied to the device come back different from byte {at} on: "
                "copy_to_device must copy all len(data) bytes"
            )
        if executor.copy_from_device(second, size) != other:
            return (
                f"copying {size} bytes into one buffer changed its neighbour: copy_to_device "
                "wrote more than len(data) bytes"
            )
        part = generator.bytes(max(size // 2, 1))
        executor.copy_to_device(first, part)
        executor.synchronize()
        if executor.copy_from_device(first, size) != part + data[len(part) :]:
            return (
                f"copying {len(part)} bytes into a buffer of {size} changed bytes behind them: "
                "write len(data) bytes, not the buffer's size"
            )
        if len(executor.copy_from_device(first, len(part))) != len(part):
            return (
                f"copy_from_device was called for {len(part)} of {size} bytes and gave another "
                "number: copy exactly `size` bytes"
            )
        executor.deallocate(first)
        executor.deallocate(second)
    return None


def copies_that_do_not_fit_are_refused(s: Subject) -> str | None:
    """Check that a copy that does not fit raises ValueError, both ways."""
    memory = s.executor.allocate(8)
    for attempt, what in (
        (lambda: s.executor.copy_to_device(memory, bytes(9)), "copy_to_device of 9 bytes into 8"),
        (lambda: s.executor.copy_from_device(memory, 9), "copy_from_device of 9 bytes out of 8"),
    ):
        try:
            attempt()
        except ValueError:
            continue
        return f"{what} went through: compare with DeviceMemory.size and raise ValueError"
    return None


def literals_travel(s: Subject) -> str | None:
    """Check that arrays of several types and layouts, and nested tuples, survive the round trip."""
    column_major = F32[3, 5].with_layout((0, 1))
    values: list[Any] = [
        literal_from_array(np.arange(6, dtype=np.int16).reshape(2, 3)),
        literal_from_array(np.float64(2.5)),
        literal_from_array(
            (np.arange(3.0), (np.array([True, False]), np.arange(4, dtype=np.uint8)))
        ),
        literal_from_array(np.arange(15, dtype=np.float32).reshape(3, 5), column_major),
    ]
    for literal in values:
        buffers = s.manager.transfer_literal_to_device(s.executor, literal)
        s.executor.synchronize()
        leaves = [leaf for _, leaf in literal.shape.leaves()]
        if len(buffers) != len(leaves):
            return (
                f"{literal.shape} became {len(buffers)} buffers: one for each of its "
                f"{len(leaves)} array leaves, depth first"
            )
        small = [
            leaf
            for buffer, leaf in zip(buffers, leaves, strict=True)
            if buffer.size < leaf.byte_size
        ]
        if small:
            return (
                f"the buffer of a {small[0]} is smaller than its {small[0].byte_size} bytes: "
                "allocate shape.byte_size"
            )
        if s.manager.transfer_literal_from_device(s.executor, buffers, literal.shape) != literal:
            return (
                f"a literal of shape {literal.shape} comes back different: use the order of the "
                "shape's layout both ways"
            )
        for buffer in buffers:
            s.executor.deallocate(buffer)
    return None


def synchronize_waits(s: Subject) -> str | None:
    """Check that synchronize(stream) waits for all work queued on the stream."""
    stream = s.executor.create_stream()
    memory = s.executor.allocate(256)
    for value in range(1, 9):
        s.executor.copy_to_device(memory, bytes([value]) * 256, stream)
    s.executor.synchronize(stream)
    if s.executor.copy_from_device(memory, 256) != bytes([8]) * 256:
        return (
            "after synchronize(stream) the copies queued on it were not done, or not in order: "
            "wait until the queue is empty"
        )
    return None


def results_are_read_after_synchronize(s: Subject) -> str | None:
    """Check that reads from the device follow a synchronize after the launch."""
    executable, executor = s.executable, s.executor
    with _watched(type(executor), "launch", "synchronize", "copy_from_device") as calls:
        for factor in (1.0, 3.0):
            inputs = [a * np.float32(factor) for a in s.inputs]
            got, want = executable.execute([np.array(a) for a in inputs]), s.expected(inputs)
            if "launch" in calls and _read_too_early(calls):
                return (
                    "execute reads results with copy_from_device after launch without "
                    "synchronize in between: a launch only queues the "
                    "work. Call synchronize(stream) before the first copy_from_device"
                )
            if not all(np.allclose(a, b, rtol=1e-5) for a, b in zip(got, want, strict=True)):
                return (
                    "results of repeated runs differ from the evaluator's: look for work that is "
                    "still queued when execute returns"
                )
            calls.clear()
    return None


def _read_too_early(calls: list[str]) -> bool:
    pending = False
    for name in calls:
        if name == "launch":
            pending = True
        elif name == "synchronize":
            pending = False
        elif pending:
            return True
    return False


@contextmanager
def _watched(cls: type, *names: str) -> Iterator[list[str]]:
    """Record the names of calls of these methods on any executor of a class, in order."""
    calls: list[str] = []
    kept = {name: getattr(cls, name) for name in names}
    own = {name for name in kept if name in vars(cls)}

    def recorder(name: str) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return kept[name](self, *arguments, **options)

        return call

    try:
        for name in kept:
            setattr(cls, name, recorder(name))
        yield calls
    finally:
        for name, function in kept.items():
            setattr(cls, name, function) if name in own else delattr(cls, name)


def runs_deallocate_what_they_allocate(s: Subject) -> str | None:
    """Check that from the third run on, a run deallocates as many buffers as it allocates."""
    executable, executor = s.executable, s.executor
    for _ in range(2):  # the first runs may fill caches
        executable.execute([np.array(a) for a in s.inputs])
    runs = 3
    with _watched(type(executor), "allocate", "deallocate") as calls:
        for _ in range(runs):
            executable.execute([np.array(a) for a in s.inputs])
    kept = calls.count("allocate") - calls.count("deallocate")
    if kept < runs:
        return None
    return (
        f"{runs} runs of the same program kept {kept} buffers of the device: deallocate what a "
        "run allocates when the run ends"
    )


def events_go_forward(s: Subject) -> str | None:
    """Check that a later event does not have an earlier time."""
    if not isinstance(s.executor, EventRecorder):
        raise CheckSkippedError("the executor has no events (EventRecorder)")
    first = s.executor.record_event()
    second = s.executor.record_event()
    s.executor.synchronize()
    return (
        None
        if s.executor.elapsed_us(first, second) >= 0
        else "elapsed_us of two events in order is negative: give later minus earlier"
    )


def tuples_are_tables_of_addresses(s: Subject) -> str | None:
    """Check that a tuple has 8 bytes an element, little-endian."""
    if not isinstance(s.manager, TupleTransfer):
        raise CheckSkippedError("the transfer manager writes no tuple tables (TupleTransfer)")
    elements = [s.executor.allocate(4), s.executor.allocate(12)]
    table = s.manager.write_tuple_index_table(s.executor, elements)
    s.executor.synchronize()
    want = b"".join([e.address.to_bytes(8, "little") for e in elements])
    if s.executor.copy_from_device(table, len(want)) == want:
        return None
    return (
        "write_tuple_index_table must write one address of 8 bytes an element, little-endian, in "
        "order"
    )


def feeds_keep_their_order(s: Subject) -> str | None:
    """Check that an empty outfeed is a LookupError, so that the host never waits for ever."""
    if not isinstance(s.manager, FeedTransfer):
        raise CheckSkippedError("the transfer manager has no infeed and outfeed (FeedTransfer)")
    try:
        s.manager.transfer_literal_from_outfeed(s.backend.stream_executor(), parse_shape("f32[2]"))
    except LookupError:
        return None
    return "reading an outfeed that nothing wrote to must raise LookupError"
