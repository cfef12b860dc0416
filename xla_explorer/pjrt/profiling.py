"""`jax.profiler.trace` with rows of our programs and kernels, by PJRT's profiler extension.

During a trace, every run uses the program's instrumented build, which counts cycles. A run's
kernels are drawn one after the other from its start, in program order: the durations are measured,
the start times within the run are not. Source of the layouts:
xla/backends/profiler/plugin/profiler_c_api.h, tsl/profiler/protobuf/xplane.proto.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.cpu.cycle_counter import cycle_counter
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.protobuf.writing import bytes_field, number_field
from xla_explorer.pjrt import state
from xla_explorer.pjrt.layouts import CALLBACK, structure
from xla_explorer.pjrt.records import Text, outlives_python

Array = np.ndarray[Any, Any]
_PROFILER = 1  # PJRT_Extension_Type_Profiler
_Extension = structure("Profiler_Extension", "struct_size:z type:i next:p profiler:p context:q", "")
_FUNCTIONS = (
    "error_destroy",
    "error_message",
    "error_get_code",
    "create",
    "destroy",
    "start",
    "stop",
    "collect_data",
)
_Api = structure(
    "PLUGIN_Profiler_Api",
    "struct_size:z priv:p " + " ".join([f"{name}:p" for name in _FUNCTIONS]),
    "",
)
_Create = structure(
    "PLUGIN_Profiler_Create_Args", "options:p options_size:z profiler:p", "struct_size:z "
)
_Collect = structure(
    "PLUGIN_Profiler_CollectData_Args", "profiler:p buffer:p size:z", "struct_size:z "
)


class Run(NamedTuple):
    """A run of a program during a trace, in nanoseconds since 1970.

    kernels: (name, picoseconds) of each.
    """

    program: str
    start: int
    end: int
    kernels: tuple[tuple[str, int], ...]


class Trace:
    """The runs since a trace began."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.active = False
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin to record runs, which native code then leaves to Python."""
        state.native().drain()
        self.runs, self.active = [], True
        state.native().watch(1)

    def end(self) -> None:
        """End the recording; the runs so far stay."""
        self.active = False
        state.native().watch(0)

    def run(self, program: str, executable: Any, arrays: list[Array]) -> list[Array]:
        """Run a program and note it. Traced runs come one after the other."""
        with self._lock:
            if not hasattr(executable, "execute_watched"):
                start = time.time_ns()
                results: list[Array] = executable.execute(arrays)
                self.runs.append(Run(program, start, time.time_ns(), ()))
                return results
            counters = np.zeros((max(len(executable.steps), 1), 2), np.int64)
            executable.prepare_watched()
            rate = cycle_counter().per_microsecond
            start = time.time_ns()
            results = executable.execute_watched(arrays, counters)
            end = time.time_ns()
            times = [
                (s.name, int(c / rate * 1e6))
                for s, (c, calls) in zip(executable.steps, counters.tolist(), strict=False)
                if calls
            ]
            self.runs.append(Run(program, start, end, tuple(times)))
            return results


trace = Trace()


# -- XSpace ----------------------------------------------------------------------------------------
_STATS = {"hlo_module": 1, "hlo_op": 2, "run_id": 3}


def space(runs: Iterable[Run], device: str) -> bytes:
    """Return the runs as an XSpace: a plane of a device with lines of programs and kernels."""
    runs = list(runs)
    first = min([run.start for run in runs], default=0)
    kinds: dict[tuple[str, str], int] = {}

    def event(program: str, kernel: str, start_ps: int, duration_ps: int, number: int) -> bytes:
        kind = kinds.setdefault((program, kernel), len(kinds) + 1)
        stat = bytes_field(4, number_field(1, _STATS["run_id"]) + number_field(4, number))
        return bytes_field(
            4,
            number_field(1, kind)
            + number_field(2, start_ps)
            + number_field(3, max(duration_ps, 0))
            + stat,
        )

    programs, kernels = [], []
    for number, run in enumerate(runs, start=1):
        at = (run.start - first) * 1000
        programs.append(event(run.program, "", at, (run.end - run.start) * 1000, number))
        for name, duration in run.kernels:
            kernels.append(event(run.program, name, at, duration, number))
            at += duration
    lines = [
        bytes_field(
            3,
            number_field(1, number)
            + bytes_field(2, name.encode())
            + number_field(3, first)
            + b"".join(events),
        )
        for number, (name, events) in enumerate(
            (("XLA Modules", programs), ("Kernels", kernels)), start=1
        )
    ]
    tables = [_entry(4, k, _kind(k, *names)) for names, k in kinds.items()]
    tables += [
        _entry(5, k, number_field(1, k) + bytes_field(2, name.encode()))
        for name, k in _STATS.items()
    ]
    return bytes_field(
        1, number_field(1, 1) + bytes_field(2, device.encode()) + b"".join([*lines, *tables])
    )


def _entry(field: int, key: int, value: bytes) -> bytes:
    """Return a row of a table of names."""
    return bytes_field(field, number_field(1, key) + bytes_field(2, value))


def _kind(number: int, program: str, kernel: str) -> bytes:
    """Return an XEventMetadata, with the kernel's instruction and module as statistics."""
    stats = {"hlo_module": program, "hlo_op": kernel} if kernel else {"hlo_module": program}
    rows = [
        bytes_field(5, number_field(1, _STATS[name]) + bytes_field(5, text.encode()))
        for name, text in stats.items()
    ]
    return number_field(1, number) + bytes_field(2, (kernel or program).encode()) + b"".join(rows)


# -- the extension ---------------------------------------------------------------------------------
_kept: list[Any] = outlives_python([])


def extension(device: str) -> int:
    """Return the address of the profiler extension, for `PJRT_Api.extension_start`."""
    collected: list[Text] = []

    def create(address: int) -> None:
        _Create.from_address(address).profiler = ctypes.addressof(found)

    def start(_: int) -> None:
        trace.begin()

    def stop(_: int) -> None:
        trace.end()
        collected[:] = [Text(space(trace.runs, device))] if trace.runs else []
        trace.runs = []

    def collect(address: int) -> None:
        """Return the collected trace, or its size.

        Older versions of jaxlib first request the size, then pass a buffer. Newer ones read from
        the returned address.
        """
        arguments, content = _Collect.from_address(address), collected[0] if collected else None
        if content is None:
            arguments.size = 0
        elif arguments.buffer:
            ctypes.memmove(arguments.buffer, content.address, min(content.size, arguments.size))
        else:
            arguments.buffer, arguments.size = content.address, content.size

    table = _Api(ctypes.sizeof(_Api))
    found = _Extension(ctypes.sizeof(_Extension), _PROFILER, None, ctypes.addressof(table))
    functions = {"create": create, "start": start, "stop": stop, "collect_data": collect}
    for name in _FUNCTIONS:
        if name in functions:
            callback = CALLBACK(_quietly(functions[name]))
            _kept.append(callback)
            setattr(table, name, ctypes.cast(callback, ctypes.c_void_p))
        else:  # errors are impossible, and Python may have ended when a profiler is destroyed
            setattr(table, name, state.native().nothing)
    _kept.extend([table, found])
    return ctypes.addressof(found)


def _quietly(function: Callable[[int], None]) -> Callable[[int], None]:
    """Return the function with its exceptions as warnings.

    Exceptions must not travel through native frames. A trace without our rows is better than a
    failed program.
    """

    def call(address: int) -> None:
        try:
            function(address)
        except Exception as problem:
            warn(f"the trace has no rows of xla_explorer: {problem}", RuntimeWarning)

    return call
