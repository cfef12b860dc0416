"""The thread pool: each chunk exactly once, whoever calls, however often."""

import ctypes
import gc
import os
import threading
import time

import numpy as np
import pytest

from xla_explorer.backends.cpu.threads import (
    PARALLEL_FOR_DECLARATION,
    ThreadPool,
    pool_ir,
    thread_pool,
    why_no_threads,
)
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.target_machine import describe_target

KERNELS = f"""
{PARALLEL_FOR_DECLARATION}

define void @count(ptr %context, i64 %chunk) {{
  %p = getelementptr i64, ptr %context, i64 %chunk
  %old = atomicrmw add ptr %p, i64 1 monotonic, align 8
  ret void
}}

define void @nested(ptr %context, i64 %chunk) {{
  call void @xla_explorer_parallel_for(ptr @count, ptr %context, i64 16)
  ret void
}}

define void @repeat(ptr %context, i64 %chunks, i64 %times) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  call void @xla_explorer_parallel_for(ptr @count, ptr %context, i64 %chunks)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %times
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""


@pytest.fixture(scope="module", params=[1, 2, 4], ids="{} threads".format)
def pool(request):
    pool = ThreadPool(request.param, spins=200)
    yield pool
    pool.close()


@pytest.fixture
def library(pool, runs_here):
    return NativeLibrary(
        optimize_and_emit(KERNELS).objects, pool.symbols, ["count", "nested", "repeat"]
    )


@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 17, 1000])
def test_each_chunk_once(pool, library, chunks):
    counts = np.zeros(chunks + 1, "i8")
    for _ in range(20):
        pool.parallel_for(library.function_address("count"), counts.ctypes.data, chunks)
    assert (counts[:-1] == 20).all() and counts[-1] == 0


def test_many_short_jobs_from_native_code(library):
    counts = np.zeros(8, "i8")
    library.bind("repeat", None, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64])(
        counts.ctypes.data, 8, 20_000
    )
    assert (counts == 20_000).all()


def test_the_caller_takes_chunks_from_the_front(pool):
    """And the workers from the back, so that a core finds in its cache what it had before."""
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(
        lambda _, chunk: seen.append((chunk, threading.get_ident()))
    )
    for _ in range(20):
        seen.clear()
        pool.parallel_for(ctypes.cast(function, ctypes.c_void_p).value, 0, 6)
        mine = [chunk for chunk, thread in seen if thread == threading.get_ident()]
        assert mine == list(range(len(mine)))
        assert sorted(chunk for chunk, _ in seen) == list(range(6))


def test_jobs_after_pauses_find_sleeping_workers(pool, library):
    counts = np.zeros(8, "i8")
    for number in range(30):
        time.sleep(0.002 if number % 3 == 0 else 0)
        pool.parallel_for(library.function_address("count"), counts.ctypes.data, 8)
    assert (counts == 30).all()


def test_nested_jobs_run_where_they_are(pool, library):
    counts = np.zeros(16, "i8")
    pool.parallel_for(library.function_address("nested"), counts.ctypes.data, 10)
    assert (counts == 10).all()


def test_callers_on_several_threads(library):
    repeat = library.bind("repeat", None, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64])
    arrays = [np.zeros(6, "i8") for _ in range(4)]
    callers = [
        threading.Thread(target=repeat, args=(array.ctypes.data, 6, 3000)) for array in arrays
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((array == 3000).all() for array in arrays)


def test_work_is_shared():
    pool = ThreadPool(2)
    if pool.reason is not None:
        pytest.skip(str(pool.reason))
    seen = set()
    together = threading.Barrier(2, timeout=10)

    def chunk(context, number):
        seen.add(threading.get_ident())
        together.wait()

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(chunk)
    pool.parallel_for(ctypes.cast(callback, ctypes.c_void_p).value, 0, 2)
    assert len(seen) == 2
    pool.close()


def test_after_close_it_is_serial():
    pool = ThreadPool(3)
    library = NativeLibrary(optimize_and_emit(KERNELS).objects, pool.symbols, ["count"])
    pool.close()
    counts = np.zeros(5, "i8")
    pool.parallel_for(library.function_address("count"), counts.ctypes.data, 5)
    assert (counts == 1).all() and repr(pool) == "<ThreadPool of 1>"


def test_a_dropped_pool_ends_its_workers():
    pool = ThreadPool(3, spins=10)
    workers = list(pool._workers)
    del pool
    gc.collect()
    for worker in workers:
        worker.join(timeout=10)
        assert not worker.is_alive()


def test_reasons():
    assert why_no_threads(1).code == "one-thread"
    assert ThreadPool(1).reason.code == "one-thread"
    assert thread_pool(2) is thread_pool(2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_runs_serially(runs_here):
    pool = ThreadPool(2)
    library = NativeLibrary(optimize_and_emit(KERNELS).objects, pool.symbols, ["count"])
    counts = np.zeros(5, "i8")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            pool.parallel_for(library.function_address("count"), counts.ctypes.data, 5)
            status = 0 if (counts == 1).all() else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    pool.close()


@pytest.mark.parametrize("triple", ["aarch64-linux-gnu", "riscv64-linux-gnu"])
def test_compiles_for_other_targets(triple):
    description = describe_target(triple, features="+m,+a,+f,+d,+c" if "riscv" in triple else "")
    assert optimize_and_emit(pool_ir(description.architecture), description).object_bytes
