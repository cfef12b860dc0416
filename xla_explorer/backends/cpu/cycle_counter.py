"""The cycle counter of instrumented programs: its rate, and the cost of instrumentation."""

from __future__ import annotations

import ctypes
import functools
import time
from typing import Final, NamedTuple

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary

# The body of the loop is the instrumentation of a step (`HostProgramWriter`): subtract the counter,
# add it, count the call.
_IR: Final = """
declare i64 @llvm.readcyclecounter()

define i64 @cycles() {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}

define i64 @instrumentation(ptr %cell, i64 %n) {
entry:
  %first = call i64 @llvm.readcyclecounter()
  %count = getelementptr inbounds i64, ptr %cell, i64 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %start = call i64 @llvm.readcyclecounter()
  %total = load volatile i64, ptr %cell, align 8
  %running = sub i64 %total, %start
  store volatile i64 %running, ptr %cell, align 8
  %end = call i64 @llvm.readcyclecounter()
  %before = load volatile i64, ptr %cell, align 8
  %after = add i64 %before, %end
  store volatile i64 %after, ptr %cell, align 8
  %calls = load volatile i64, ptr %count, align 8
  %more.calls = add i64 %calls, 1
  store volatile i64 %more.calls, ptr %count, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  %last = call i64 @llvm.readcyclecounter()
  %taken = sub i64 %last, %first
  ret i64 %taken
}
"""
_SECONDS: Final = 0.02
_STEPS: Final = 500
_ROUNDS: Final = 9


class CycleCounter(NamedTuple):
    """The rate of the counter and the cost of instrumentation.

    per_microsecond: increments of the counter. instrumentation_us: microseconds that
    instrumentation adds to a step.
    """

    per_microsecond: float
    instrumentation_us: float


@functools.lru_cache(maxsize=1)
def cycle_counter() -> CycleCounter:
    """Measure the counter over 20 ms, once in a process.

    The cost of instrumentation is the minimum of several rounds: other work can only add to it.
    """
    library = NativeLibrary(optimize_and_emit(_IR).objects, {}, ["cycles", "instrumentation"])
    cycles = library.bind("cycles", ctypes.c_int64, [])
    instrumentation = library.bind(
        "instrumentation", ctypes.c_int64, [ctypes.c_void_p, ctypes.c_int64]
    )
    cells = (ctypes.c_int64 * 2)()
    cycles()
    started, first = time.perf_counter(), cycles()
    cost = min([instrumentation(cells, _STEPS) for _ in range(_ROUNDS)]) / _STEPS
    while time.perf_counter() - started < _SECONDS:
        pass
    last, ended = cycles(), time.perf_counter()
    rate = (last - first) / (ended - started) / 1e6
    return CycleCounter(rate, cost / rate)
