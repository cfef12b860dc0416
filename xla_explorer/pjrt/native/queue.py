"""Queue of jobs (`execute.py`) that run while Python continues, and its one thread.

The thread runs jobs in order and never enters Python: programs that call Python run on the caller's
thread. It begins with the first job.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.pjrt.native.events import is_null, lock, sleep, unlock, wake
from xla_explorer.pjrt.native.function import NativeFunction
from xla_explorer.pjrt.native.memory import yielding
from xla_explorer.pjrt.records import EventRecord, ExecutableRecord, JobRecord

MOST_JOBS = 32  # begun or waiting; the next call waits for one to end
HEADER = """
@first_job = global i64 0
@last_job = global i64 0
@jobs = global i64 0
@thread_begun = global i64 0
@closed = global i64 0
@work = global [16 x i64] zeroinitializer
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)
"""


def functions() -> list[NativeFunction]:
    """Return all functions of this module."""
    return [_begin_queue(), _enqueue(), _finish(), _worker(), _drain(), _close_queue()]


def _begin_queue() -> NativeFunction:
    """Build `begin_queue`: set up an empty queue without a thread.

    It runs at the start, and in the child of a fork.
    """
    f = NativeFunction("begin_queue", [], None)
    f.call("pthread_mutex_init", I32, f.global_address("lock"), f.null)
    for condition in ("changed", "work"):
        f.call("pthread_cond_init", I32, f.global_address(condition), f.null)
    for name in ("first_job", "last_job", "jobs", "thread_begun"):
        f.atomic_store(f.global_address(name), 0)
    f.give()
    return f


def _enqueue() -> NativeFunction:
    """Build `enqueue`: append a job, which the queue then owns."""
    f = NativeFunction("enqueue", [PTR], None, internal=True)
    w, (job,) = f.writer, f.parameters
    f.set(JobRecord, job, "next", f.null)
    f.atomic("add", f.place(ExecutableRecord, f.get(JobRecord, job, "executable"), "running"), 1)
    count, first, last, begun = [
        f.global_address(name) for name in ("jobs", "first_job", "last_job", "thread_begun")
    ]
    thread = f.call("leave_python", PTR)
    lock(f)
    with f.repeat() as until:
        with f.when(w.load(count, I64) >= MOST_JOBS):
            sleep(f, "changed")
        until.append(w.load(count, I64) < MOST_JOBS)
    w.store(w.load(count, I64) + 1, count)
    before = w.load(last, I64)
    number = f.as_integer(job)
    with f.when(before.equals(0)):
        w.store(number, first)
    with f.when(before.differs(0)):
        f.set(JobRecord, f.as_pointer(before), "next", job)
    w.store(number, last)
    with f.when(w.load(begun, I64).equals(0)):
        w.store(w.number(1, I64), begun)
        made = w.stack_slot(PTR)
        f.call("pthread_create", I32, made, f.null, f.global_address("worker"), f.null)
        f.call("pthread_detach", I32, w.load(made, PTR))
    wake(f, "work")
    unlock(f)
    f.do("enter_python", thread)
    f.give()
    return f


def _finish() -> NativeFunction:
    """Build `finish`: run a job, mark its event and free it."""
    f = NativeFunction("finish", [PTR], None, internal=True)
    w, (job,) = f.writer, f.parameters
    executable, event = f.get(JobRecord, job, "executable"), f.get(JobRecord, job, "event")
    taken = w.stack_slot(PTR)
    with f.repeat() as until:
        w.store(f.call("take_activation", PTR, executable), taken)
        busy = is_null(f, w.load(taken, PTR))  # other threads run the same program at the moment
        with f.when(busy):
            yielding(f)
        until.append(w.negated(busy))
    error = f.call("run_job", PTR, job, w.load(taken, PTR))
    f.set(EventRecord, event, "error", error)
    outputs = f.get(JobRecord, job, "outputs")
    with f.each(f.get(JobRecord, job, "output_count")) as m:
        f.do("drop_reference", w.load(f.element(outputs, m), PTR), w.number(1, I64))
    f.atomic("sub", f.place(ExecutableRecord, executable, "running"), 1)
    f.do("free", job)
    f.do("happened", event)
    f.do("destroy_event", event)
    f.give()
    return f


def _worker() -> NativeFunction:
    """Build `worker`: the loop of the thread until the process ends."""
    f = NativeFunction("worker", [PTR], PTR, internal=True)
    w = f.writer
    count, first, last = [f.global_address(name) for name in ("jobs", "first_job", "last_job")]
    with f.repeat() as forever:
        lock(f)
        with f.repeat() as until:
            with f.when(w.load(first, I64).equals(0)):
                sleep(f, "work")
            until.append(w.load(first, I64).differs(0))
        job = f.as_pointer(w.load(first, I64))
        following = f.as_integer(f.get(JobRecord, job, "next"))
        w.store(following, first)
        with f.when(following.equals(0)):
            w.store(w.number(0, I64), last)
        unlock(f)
        f.do("finish", job)
        lock(f)
        w.store(w.load(count, I64) - 1, count)
        wake(f, "changed")
        unlock(f)
        forever.append(f.as_integer(job).equals(0))
    f.give()
    return f


def _drain() -> NativeFunction:
    """Wait until no job is left."""
    f = NativeFunction("drain", [], None)
    w, count = f.writer, f.global_address("jobs")
    thread = f.call("leave_python", PTR)
    lock(f)
    with f.repeat() as until:
        with f.when(w.load(count, I64) > 0):
            sleep(f, "changed")
        until.append(w.load(count, I64) < 1)
    unlock(f)
    f.do("enter_python", thread)
    f.give()
    return f


def _close_queue() -> NativeFunction:
    """Build `close_queue`: at Python's end, drain the queue and run later jobs at once."""
    f = NativeFunction("close_queue", [], None)
    f.atomic_store(f.global_address("closed"), 1)
    f.do("drain")
    f.give()
    return f
