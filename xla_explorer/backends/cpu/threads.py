"""A pool of threads for native code: `parallel_for` without Python or system calls when busy.

The workers are Python threads that stay inside native code, so the interpreter lock is free. A job
is a function called once for each chunk number; each free thread takes the next chunk, the caller
included. An idle worker spins for a moment, then sleeps in a semaphore: waking costs a system call,
spinning costs only time that a core would idle away. Compiled kernels reach the pool through the
symbol `xla_explorer_parallel_for`.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import weakref
from typing import Any, Final

from xla_explorer.backends.cpu.aligned_arena import allocate_aligned
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.object_cache import default_object_cache
from xla_explorer.backends.llvm.target_machine import host_target, usable_cores, why_not_here
from xla_explorer.foundation.reason import Reason

PARALLEL_FOR_SYMBOL: Final = "xla_explorer_parallel_for"
PARALLEL_FOR_DECLARATION: Final = f"declare void @{PARALLEL_FOR_SYMBOL}(ptr, ptr, i64)"

# Offsets in the state, one cache line each.
_TICKET, _JOB, _PENDING, _BUSY, _SLEEPERS, _STOP, _WORKERS, _SEMAPHORE, _STATE_BYTES = (
    64 * k for k in range(9)
)

_IR: Final = """
; ticket: generation of the job in the upper 16 bits, then, of the chunks that no thread has taken, the first and the end, 24 bits each.
@state = external global [512 x i8], align 64

declare i32 @sem_post(ptr) nounwind
declare i32 @sem_wait(ptr) nounwind
declare i32 @sched_yield() nounwind
PAUSE_DECLARATION

define internal i1 @nothing_left(i64 %ticket) nounwind alwaysinline {
  %above = lshr i64 %ticket, 24
  %first = and i64 %above, 16777215
  %end = and i64 %ticket, 16777215
  %none = icmp eq i64 %first, %end
  ret i1 %none
}

; The caller takes chunks from the front and the workers from the back: then a core gets what it had in the run before, or in the kernel
; before, which is still in its cache.
define internal void @take_chunks(i1 %from_the_front) nounwind {
entry:
  br label %look
look:
  %ticket = load atomic i64, ptr TICKET acquire, align 8
  %none = call i1 @nothing_left(i64 %ticket)
  br i1 %none, label %exit, label %try
try:
  %above = lshr i64 %ticket, 24
  %first = and i64 %above, 16777215
  %end = and i64 %ticket, 16777215
  %last = sub i64 %end, 1
  %chunk = select i1 %from_the_front, i64 %first, i64 %last
  %first_taken = add i64 %ticket, 16777216
  %last_taken = sub i64 %ticket, 1
  %less = select i1 %from_the_front, i64 %first_taken, i64 %last_taken
  %pair = cmpxchg ptr TICKET, i64 %ticket, i64 %less acq_rel monotonic, align 8
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %run, label %look
run:
  ; The job cannot end before this chunk is done, so its fields are stable now.
  %function = load ptr, ptr JOB, align 8
  %context = load ptr, ptr JOB_CONTEXT, align 8
  call void %function(ptr %context, i64 %chunk)
  %before = atomicrmw sub ptr PENDING, i64 1 release, align 8
  br label %look
exit:
  ret void
}

define void @xla_explorer_parallel_for(ptr %function, ptr %context, i64 %chunks) nounwind {
entry:
  %workers = load atomic i64, ptr WORKERS monotonic, align 8
  %alone = icmp eq i64 %workers, 0
  %small = icmp ult i64 %chunks, 2
  %large = icmp ugt i64 %chunks, 16777215
  %a = or i1 %alone, %small
  %serial_wanted = or i1 %a, %large
  br i1 %serial_wanted, label %serial_entry, label %claim
claim:
  %claimed = cmpxchg ptr BUSY, i64 0, i64 1 acquire monotonic, align 8
  %mine = extractvalue { i64, i1 } %claimed, 1
  br i1 %mine, label %publish, label %serial_entry
serial_entry:
  %any = icmp ne i64 %chunks, 0
  br i1 %any, label %serial, label %exit
serial:
  %k = phi i64 [0, %serial_entry], [%k_next, %serial]
  call void %function(ptr %context, i64 %k)
  %k_next = add i64 %k, 1
  %k_more = icmp ult i64 %k_next, %chunks
  br i1 %k_more, label %serial, label %exit
publish:
  store ptr %function, ptr JOB, align 8
  store ptr %context, ptr JOB_CONTEXT, align 8
  store atomic i64 %chunks, ptr PENDING monotonic, align 8
  %old = load atomic i64, ptr TICKET monotonic, align 8
  %generation = and i64 %old, -281474976710656
  %next_generation = add i64 %generation, 281474976710656
  %ticket = or i64 %next_generation, %chunks
  store atomic i64 %ticket, ptr TICKET seq_cst, align 8
  %others = sub i64 %chunks, 1
  %wanted = call i64 @llvm.umin.i64(i64 %others, i64 %workers)
  br label %wake
wake:
  %w = phi i64 [%wanted, %publish], [%w, %take_sleeper], [%w_next, %post]
  %enough = icmp eq i64 %w, 0
  br i1 %enough, label %work, label %look_for_sleeper
look_for_sleeper:
  %sleepers = load atomic i64, ptr SLEEPERS seq_cst, align 8
  %all_awake = icmp eq i64 %sleepers, 0
  br i1 %all_awake, label %work, label %take_sleeper
take_sleeper:
  %fewer = sub i64 %sleepers, 1
  %taken = cmpxchg ptr SLEEPERS, i64 %sleepers, i64 %fewer seq_cst monotonic, align 8
  %took = extractvalue { i64, i1 } %taken, 1
  br i1 %took, label %post, label %wake
post:
  %posted = call i32 @sem_post(ptr SEMAPHORE)
  %w_next = sub i64 %w, 1
  br label %wake
work:
  call void @take_chunks(i1 true)
  br label %wait
wait:
  %spins = phi i64 [0, %work], [%spins_next, %spin_again]
  %pending = load atomic i64, ptr PENDING acquire, align 8
  %done = icmp eq i64 %pending, 0
  br i1 %done, label %finish, label %spin
spin:
  PAUSE
  %spins_next = add i64 %spins, 1
  %low = and i64 %spins_next, 2047
  %long = icmp eq i64 %low, 0
  br i1 %long, label %yield, label %spin_again
yield:
  ; The worker that holds the last chunk may be waiting for this very core.
  %yielded = call i32 @sched_yield()
  br label %spin_again
spin_again:
  br label %wait
finish:
  store atomic i64 0, ptr BUSY release, align 8
  br label %exit
exit:
  ret void
}

define void @worker(i64 %spins) nounwind {
entry:
  br label %awake
awake:
  br label %spin
spin:
  %n = phi i64 [0, %awake], [%n_next, %idle]
  %ticket = load atomic i64, ptr TICKET monotonic, align 8
  %nothing = call i1 @nothing_left(i64 %ticket)
  br i1 %nothing, label %check_stop, label %work
check_stop:
  %stop = load atomic i64, ptr STOP monotonic, align 8
  %stopping = icmp ne i64 %stop, 0
  br i1 %stopping, label %exit, label %idle
idle:
  PAUSE
  %n_next = add i64 %n, 1
  %go_on = icmp ult i64 %n_next, %spins
  br i1 %go_on, label %spin, label %sleep
sleep:
  %sleeping = atomicrmw add ptr SLEEPERS, i64 1 seq_cst, align 8
  %again = load atomic i64, ptr TICKET seq_cst, align 8
  %again_nothing = call i1 @nothing_left(i64 %again)
  %again_work = xor i1 %again_nothing, true
  %again_stop = load atomic i64, ptr STOP seq_cst, align 8
  %again_stopping = icmp ne i64 %again_stop, 0
  %leave = or i1 %again_work, %again_stopping
  br i1 %leave, label %withdraw, label %wait
withdraw:
  %sleepers = load atomic i64, ptr SLEEPERS seq_cst, align 8
  %gone = icmp eq i64 %sleepers, 0
  ; No worker counted as asleep: a post for us is on its way.
  br i1 %gone, label %wait, label %try_withdraw
try_withdraw:
  %fewer = sub i64 %sleepers, 1
  %pair = cmpxchg ptr SLEEPERS, i64 %sleepers, i64 %fewer seq_cst monotonic, align 8
  %withdrawn = extractvalue { i64, i1 } %pair, 1
  br i1 %withdrawn, label %work, label %withdraw
wait:
  %result = call i32 @sem_wait(ptr SEMAPHORE)
  %interrupted = icmp ne i32 %result, 0
  br i1 %interrupted, label %wait, label %work
work:
  call void @take_chunks(i1 false)
  br label %awake
exit:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
"""

_PAUSES: Final = {
    "x86_64": ("call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()"),
    "aarch64": ("call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)"),
}


def pool_ir(architecture: str) -> str:
    """Write the LLVM IR of the pool.

    It needs a symbol `state` of 512 zeroed bytes with a semaphore at 448.
    """
    pause, declaration = _PAUSES.get(architecture, ('fence syncscope("singlethread") seq_cst', ""))
    places = {
        "JOB_CONTEXT": _JOB + 8,
        "TICKET": _TICKET,
        "JOB": _JOB,
        "PENDING": _PENDING,
        "BUSY": _BUSY,
        "SLEEPERS": _SLEEPERS,
        "STOP": _STOP,
        "WORKERS": _WORKERS,
        "SEMAPHORE": _SEMAPHORE,
    }
    text = _IR.replace("PAUSE_DECLARATION", declaration).replace("PAUSE", pause)
    for name, offset in places.items():
        text = text.replace(f"ptr {name}", f"ptr getelementptr (i8, ptr @state, i64 {offset})")
    return text


def why_no_threads(threads: int) -> Reason | None:
    """Return None if a pool of so many threads runs in parallel here, else why it runs serially."""
    if threads < 2:
        return Reason(
            "one-thread", f"the pool has {threads} thread(s), the caller only", {"threads": threads}
        )
    if not sys.platform.startswith("linux"):
        return Reason(
            "no-unnamed-semaphores",
            f"the thread pool needs POSIX unnamed semaphores; {sys.platform} has none",
            {"platform": sys.platform},
        )
    return why_not_here(host_target())


class ThreadPool:
    """Threads for `parallel_for`; the caller counts as one of them.

    threads: number of threads, by default the usable cores. spins: pause instructions of an idle
    worker before it sleeps (20,000 are about 0.2 to 1 ms). If threads are not possible (see
    `reason`), `parallel_for` runs all chunks on the caller. One job runs at a time. A
    `parallel_for` inside a job, or from a second thread meanwhile, runs serially in its thread.
    """

    def __init__(self, threads: int | None = None, *, spins: int = 20_000) -> None:
        wanted = threads if threads is not None else usable_cores()
        self.reason = why_no_threads(wanted)
        self.threads = 1 if self.reason else wanted
        self._owner, offset, self._state = allocate_aligned(_STATE_BYTES)
        self._words = (ctypes.c_int64 * (_STATE_BYTES // 8)).from_buffer(self._owner, offset)
        ir = pool_ir(host_target().architecture)
        compiled = optimize_and_emit(ir, cache=default_object_cache())
        self._library = NativeLibrary(
            compiled.objects, {"state": self._state}, [PARALLEL_FOR_SYMBOL, "worker"]
        )
        self.parallel_for_address = self._library.function_address(PARALLEL_FOR_SYMBOL)
        self._call = self._library.bind(
            PARALLEL_FOR_SYMBOL, None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        )
        self._workers: list[threading.Thread] = []
        if self.threads > 1:
            self._start(spins)
        _pools.add(self)

    def _start(self, spins: int) -> None:
        process = ctypes.CDLL(None)
        self._semaphore_post: Any = process.sem_post
        self._semaphore_post.argtypes = [ctypes.c_void_p]
        process.sem_init.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
        process.sem_init(self._state + _SEMAPHORE, 0, 0)
        worker = self._library.bind("worker", None, [ctypes.c_int64])

        def run(_state_owner: Any) -> None:
            worker(spins)

        for number in range(self.threads - 1):
            # Not joined at interpreter exit: they hold no Python state and end with the process.
            thread = threading.Thread(
                target=run, args=(self._owner,), daemon=True, name=f"xla_explorer_worker_{number}"
            )
            thread.start()
            self._workers.append(thread)
        self._words[_WORKERS // 8] = len(self._workers)

    @property
    def symbols(self) -> dict[str, int]:
        """Return the pool's symbol, for `NativeLibrary(symbols=...)`.

        It is `void xla_explorer_parallel_for(ptr function, ptr context, i64 chunks)`, which calls
        `void function(ptr context, i64 chunk)` once for each chunk from 0 to chunks - 1. Calls are
        on any thread, in any order; it returns when all are done.
        """
        return {PARALLEL_FOR_SYMBOL: self.parallel_for_address}

    def parallel_for(self, function_address: int, context: int, chunks: int) -> None:
        """Call a function once per chunk, from Python.

        It must be native code, or safe to call from several threads.
        """
        self._call(function_address, context, chunks)

    def close(self) -> None:
        """End the workers. Later calls of `parallel_for` run serially; no job may be running."""
        for worker in self._dismiss():
            worker.join()

    def _dismiss(self) -> list[threading.Thread]:
        workers, self._workers = self._workers, []
        self.threads = 1
        self._words[_WORKERS // 8] = 0
        self._words[_STOP // 8] = 1
        for _ in workers:
            self._semaphore_post(self._state + _SEMAPHORE)
        return workers

    def __del__(self) -> None:
        # The workers own the state and the code until they have ended. Late in the interpreter's
        # end, module names are gone.
        if getattr(self, "_workers", None) and sys is not None and not sys.is_finalizing():
            self._dismiss()

    def _forget_workers(self) -> None:
        """Reset the pool in a forked child, which has no workers."""
        self._workers = []
        self.threads = 1
        ctypes.memset(self._state, 0, _SEMAPHORE)

    def __repr__(self) -> str:
        return f"<ThreadPool of {self.threads}>"


_pools: weakref.WeakSet[ThreadPool] = weakref.WeakSet()


@functools.lru_cache(maxsize=8)
def thread_pool(threads: int | None = None) -> ThreadPool:
    """Return the shared pool of so many threads (default: usable cores), started on first use."""
    return ThreadPool(threads)


def _after_fork() -> None:
    for pool in list(_pools):
        pool._forget_workers()
    thread_pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
