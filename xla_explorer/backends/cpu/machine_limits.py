"""Measured limits of this machine: memory bandwidth and fused multiply-adds, for the roofline.

They are measured once (under a second) with code compiled for exactly this CPU, then kept in the
user's cache folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import math
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from xla_explorer.backends.cpu.aligned_arena import Arena
from xla_explorer.backends.cpu.microbenchmarks import (
    ACCUMULATORS,
    STREAMING_TRIAD,
    microbenchmark_ir,
)
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import cache_enabled_by_environment, user_cache_folder
from xla_explorer.backends.llvm.target_machine import host_target, usable_cores
from xla_explorer.foundation.file_writing import try_lock
from xla_explorer.foundation.private_folder import private_folder, read_private

_FORMAT: Final = 5
_CALM: Final = 0.9
"""The share of a core that a measurement must have had."""
_CACHED_SIZES: Final = (
    24 << 10,
    96 << 10,
    384 << 10,
    768 << 10,
    3 << 20,
    12 << 20,
)  # bytes touched; rising through the caches


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """Measured peaks of a machine.

    Bandwidth in bytes/s (reads and writes of a triad a = b + s * c), arithmetic in flop/s (an FMA
    is 2). Without a suffix: one core. `_all`: all cores at once. cores: those that this process may
    use.

    cached_bandwidth: of one core, by the bytes that the triad touches (rising).
    streaming_bandwidth: of a triad with non-temporal stores that reads a page of each operand at a
    time; 0 if not measured. An ordinary store reads its line first, so `stream_bandwidth` counts 12
    of 16 moved bytes. processor_share: share of the one-core measurements in which this process had
    the core. Below 0.9 the next process measures again. Sixteen-bit floats have no limit of their
    own: their conversions may cost more than their bytes.
    """

    cpu: str
    cores: int
    vector_register_bits: int
    stream_bandwidth: float
    stream_bandwidth_all: float
    f32_flops: float
    f64_flops: float
    f32_flops_all: float
    f64_flops_all: float
    cached_bandwidth: tuple[tuple[int, float], ...] = ()
    streaming_bandwidth: float = 0.0
    streaming_bandwidth_all: float = 0.0
    processor_share: float = 1.0

    def flops(self, dtype: str = "f32", threads: int = 1) -> float:
        """Return the peak flop/s for an element type on a number of threads.

        Types but f64 (and c128) count as f32.
        """
        wide = dtype in ("f64", "c128", "float64", "complex128")
        one, everything = (
            (self.f64_flops, self.f64_flops_all) if wide else (self.f32_flops, self.f32_flops_all)
        )
        return min(one * threads, everything) if threads > 1 else one

    def bandwidth(
        self, threads: int = 1, touched: float | None = None, *, streaming: bool = False
    ) -> float:
        """Return the peak bytes/s on a number of threads.

        touched: bytes in use, which may fit into a cache (None: from memory). streaming: results
        are written past the cache.
        """
        if touched is not None:
            for size, speed in self.cached_bandwidth:
                if touched <= size:
                    return max(speed, self.stream_bandwidth) * threads
        one, everything = self.stream_bandwidth, self.stream_bandwidth_all
        if streaming:
            one, everything = (
                max(one, self.streaming_bandwidth),
                max(everything, self.streaming_bandwidth_all),
            )
        return min(one * threads, everything) if threads > 1 else one

    def roofline_seconds(
        self,
        flops: float,
        bytes_moved: float,
        dtype: str = "f32",
        threads: int = 1,
        *,
        streaming: bool = False,
    ) -> float:
        """Return the least time for arithmetic and traffic: the slower of the two.

        Data that fits into a cache has that cache's bandwidth.
        """
        return max(
            flops / self.flops(dtype, threads),
            bytes_moved / self.bandwidth(threads, bytes_moved, streaming=streaming),
        )

    def roofline_share(
        self,
        seconds: float,
        flops: float,
        bytes_moved: float,
        dtype: str = "f32",
        threads: int = 1,
        *,
        streaming: bool = False,
    ) -> float:
        """Return least time over measured time; 1 is the roof."""
        return (
            self.roofline_seconds(flops, bytes_moved, dtype, threads, streaming=streaming) / seconds
            if seconds > 0
            else 0.0
        )


@functools.lru_cache(maxsize=1)
def machine_limits() -> MachineLimits:
    """Return the limits of this machine: from the cache folder, else measured now and stored there.

    Processes that begin together measure one after the other. A measurement beside other work is
    repeated by the next process, and the higher of both is kept.
    """
    if not cache_enabled_by_environment():
        return measure()
    path = user_cache_folder() / f"machine_limits-{_machine_key()}.json"
    stored = _stored(path)
    if stored is not None and stored.processor_share >= _CALM:
        return stored
    with _alone():
        stored = _stored(path)  # another process may have measured meanwhile
        if stored is not None and stored.processor_share >= _CALM:
            return stored
        limits = measure() if stored is None else _higher(stored, measure())
        _store(path, limits)
    return limits


def refresh_machine_limits() -> MachineLimits:
    """Measure again and keep the higher of old and new.

    Other work on the machine can only make it look slower.
    """
    old = machine_limits()
    with _alone():
        limits = _higher(old, measure())
    if cache_enabled_by_environment():
        _store(user_cache_folder() / f"machine_limits-{_machine_key()}.json", limits)
        machine_limits.cache_clear()
    return limits


def _higher(old: MachineLimits, new: MachineLimits) -> MachineLimits:
    return MachineLimits(
        **{
            name: max(value, getattr(old, name)) if isinstance(value, float) else value
            for name, value in asdict(new).items()
        }
    )


@contextlib.contextmanager
def _alone(patience: float = 20.0) -> Iterator[None]:
    """Let one process of this machine measure at a time; after `patience` seconds go on regardless.

    The file is in the folder that all users share. It is only locked, never read or written.
    """
    if sys.platform == "win32":
        yield
        return
    path, flags = (
        os.path.join(tempfile.gettempdir(), "xla_explorer-measures"),
        os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK,
    )
    handle = -1
    with contextlib.suppress(OSError):
        try:
            handle = os.open(path, flags)
        except FileNotFoundError:
            handle = os.open(path, flags | os.O_CREAT, 0o644)
    try:
        until = time.monotonic() + patience
        with contextlib.suppress(OSError):  # a file system without locks
            while handle >= 0 and not try_lock(handle) and time.monotonic() < until:
                time.sleep(0.05)
        yield
    finally:
        if handle >= 0:
            os.close(handle)  # which gives the lock back


def _machine_key() -> str:
    host = host_target()
    return hashlib.sha256(f"{_FORMAT}|{host.cache_key()}|{usable_cores()}".encode()).hexdigest()[
        :16
    ]


def _stored(path: Path) -> MachineLimits | None:
    """Return the limits in a file of this user; None without a file or for impossible values."""
    with contextlib.suppress(
        OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError
    ):
        found = json.loads(read_private(path) or b"null")
        cached = tuple([(int(size), float(speed)) for size, speed in found.pop("cached_bandwidth")])
        whole = {name: int(found.pop(name)) for name in ("cores", "vector_register_bits")}
        fields: dict[str, Any] = {
            "cpu": str(found.pop("cpu")),
            **whole,
            **{name: float(value) for name, value in found.items()},
        }
        limits = MachineLimits(**fields, cached_bandwidth=cached)
        peaks = (
            limits.stream_bandwidth,
            limits.stream_bandwidth_all,
            limits.f32_flops,
            limits.f64_flops,
            limits.f32_flops_all,
            limits.f64_flops_all,
            *[speed for _, speed in cached],
        )
        streaming = (
            limits.streaming_bandwidth,
            limits.streaming_bandwidth_all,
        )  # 0 where it was not measured
        if not 0 < limits.processor_share <= 1.0:
            return None
        sound = all(0 < peak < math.inf for peak in peaks) and all(
            0 <= peak < math.inf for peak in streaming
        )
        if sound and all(size > 0 for size, _ in cached) and limits.cores > 0:
            return limits
    return None


def _store(path: Path, limits: MachineLimits) -> None:
    with contextlib.suppress(OSError):
        if not private_folder(path.parent):
            return
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(limits), file)
        os.replace(temporary, path)


def measure(array_bytes: int = 48 << 20, repeats: int = 4) -> MachineLimits:
    """Measure now, under a second.

    array_bytes: size of each of the three arrays of the triad, per core.
    """
    host, clock, cores = host_target(), _Clock(), usable_cores()
    streams = host.architecture == "x86_64"  # our kernels have streaming stores there
    names = ["triad", "multiply_add_f32", "multiply_add_f64"]
    text = microbenchmark_ir(host) + (STREAMING_TRIAD if streams else "")
    library = NativeLibrary(
        optimize_and_emit(text, host).object_bytes,
        exports=[*names, *(["streaming_triad"] if streams else [])],
    )
    triads = _Triads(library, clock, cores, array_bytes)
    one, everything = triads.bandwidths("triad", repeats)
    streaming, streaming_all = (
        triads.bandwidths("streaming_triad", 3 * repeats) if streams else (0.0, 0.0)
    )
    cached = triads.cached_bandwidths(repeats)
    triads.release()
    f32, f32_all = _arithmetic_peaks(
        library, names[1], max(1, host.vector_register_bits // 32), clock, cores, repeats
    )
    f64, f64_all = _arithmetic_peaks(
        library, names[2], max(1, host.vector_register_bits // 64), clock, cores, repeats
    )
    return MachineLimits(
        host.cpu,
        cores,
        host.vector_register_bits,
        one,
        everything,
        f32,
        f64,
        f32_all,
        f64_all,
        cached,
        streaming,
        streaming_all,
        min(clock.share, 1.0),
    )


def _arithmetic_peaks(
    library: NativeLibrary, name: str, lanes: int, clock: _Clock, cores: int, repeats: int
) -> tuple[float, float]:
    """Return the flop/s of a loop of multiply-adds on (one core, all cores)."""
    function = library.bind(name, ctypes.c_double, [ctypes.c_int64])
    iterations = 200_000
    work = 2.0 * ACCUMULATORS * lanes * iterations
    return clock.speeds(lambda core: function(iterations), work, cores, 2 * repeats)


class _Triads:
    """Triads a = b + s * c, with three arrays for each core."""

    def __init__(self, library: NativeLibrary, clock: _Clock, cores: int, array_bytes: int) -> None:
        self._library, self._clock, self._cores = library, clock, cores
        size = max(1 << 20, min(array_bytes, _available_bytes() // (8 * 3 * cores)))
        arena = Arena(max_idle_bytes=0)
        self._buffers = [[arena.take(size) for _ in range(3)] for _ in range(cores)]
        self._addresses = [[buffer.address for buffer in group] for group in self._buffers]
        self._count = size // 4096 * 1024
        for group in self._buffers:
            for buffer in group:
                buffer.view("f4").fill(1.0)

    def bandwidths(self, name: str, repeats: int) -> tuple[float, float]:
        """Return the bytes/s of a triad over whole arrays on (one core, all cores)."""
        triad = self._bind(name)
        return self._clock.speeds(
            lambda core: triad(*self._addresses[core], self._count),
            3.0 * 4 * self._count,
            self._cores,
            repeats,
        )

    def cached_bandwidths(self, repeats: int) -> tuple[tuple[int, float], ...]:
        """Return (bytes touched, bytes/s of one core) for sizes that fit into the caches."""
        triad = self._bind("triad")

        def seconds_of(few: int, rounds: int) -> float:
            def run(core: int) -> None:
                for _ in range(rounds):
                    triad(*self._addresses[core], few)

            return self._clock.best(run, 1, repeats)

        call_seconds = seconds_of(16, 1000) / 1000
        cached = []
        for touched in _CACHED_SIZES:
            rounds = max(4, (4 << 20) // touched)
            seconds = seconds_of(touched // 12, rounds) - call_seconds * rounds
            cached.append((touched, touched * rounds / max(seconds, 1e-9)))
        # Less data is never slower: a disturbed measurement of a small size has the next one's.
        for k in range(len(cached) - 2, -1, -1):
            cached[k] = (cached[k][0], max(cached[k][1], cached[k + 1][1]))
        return tuple(cached)

    def release(self) -> None:
        """Free the arrays."""
        for group in self._buffers:
            for buffer in group:
                buffer.release()

    def _bind(self, name: str) -> Callable[..., Any]:
        return self._library.bind(name, None, [ctypes.c_void_p] * 3 + [ctypes.c_int64])


def _available_bytes() -> int:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1 << 30


class _Clock:
    """A clock of repeated work.

    share: least share of a core that a thread had during the best times on one core.
    """

    def __init__(self) -> None:
        self.share = 1.0

    def speeds(
        self, work: Callable[[int], object], amount: float, cores: int, repeats: int
    ) -> tuple[float, float]:
        """Return the amount per second on (one core, all cores).

        All cores cannot be slower than one; a busy machine may make them look so.
        """
        one = amount / self.best(work, 1, repeats)
        return one, max(one, amount * cores / self.best(work, cores, repeats)) if cores > 1 else one

    def best(self, work: Callable[[int], object], threads: int, repeats: int) -> float:
        """Return the best time of the repeats, from the first thread's start to the last's end."""
        spans: list[list[tuple[float, float, float]]] = [[] for _ in range(threads)]
        together = threading.Barrier(threads)

        def loop(core: int) -> None:
            for _ in range(repeats):
                together.wait()
                computed, started = time.thread_time(), time.perf_counter()
                work(core)
                spans[core].append((started, time.perf_counter(), time.thread_time() - computed))

        workers = [
            threading.Thread(target=loop, args=(core,), daemon=True) for core in range(1, threads)
        ]
        for worker in workers:
            worker.start()
        loop(0)
        for worker in workers:
            worker.join()
        seconds: float
        share: float
        seconds, share = min(
            (max(end for _, end, _ in turn) - min(start for start, _, _ in turn), turn[0][2])
            for turn in zip(*spans, strict=True)
        )
        if threads == 1:
            self.share = min(self.share, share / max(seconds, 1e-9))
        return seconds
