"""PJRT_LoadedExecutable_Execute without Python: a job that runs at once or on the queue.

The record of each parameter has a mode. The elements of a plain one are held until the program has
run. A donated one (DELETED and above) is deleted at once. When the program runs, it may write into
its memory (WRITTEN), or a result may take the memory over (TAKEN). If others use the memory, the
program gets a copy. A job is queued (`queue.py`) if the last run took long, or if an argument is
still being computed. Each run uses an activation of its own. If none is free, if an argument was
deleted, and after every failure, Python continues: it makes another activation, or raises the
error.
"""

from __future__ import annotations

import ctypes
import time

from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.layouts import ARGUMENTS, ExecuteOptions
from xla_explorer.pjrt.native.events import is_null
from xla_explorer.pjrt.native.function import NativeFunction
from xla_explorer.pjrt.native.memory import yielding
from xla_explorer.pjrt.records import (
    HANDLE,
    LIST_LENGTH,
    NO_OWNER,
    OURSELVES,
    ActivationRecord,
    BufferRecord,
    ExecutableRecord,
    JobRecord,
)

PLAIN, DELETED, WRITTEN, TAKEN = range(4)  # modes of parameters
NO_ACTIVATION, GONE_ARGUMENT, FAILED = 1, 2, 3  # the cause for which Python continues
HEADER = """
@watched = global i64 0
declare i32 @clock_gettime(i32, ptr)
"""
_ARGUMENTS = ARGUMENTS["LoadedExecutable_Execute"]
_SIZE = ctypes.sizeof(BufferRecord)
_JOB = ctypes.sizeof(JobRecord)


def functions() -> list[NativeFunction]:
    """Return `LoadedExecutable_Execute` and its parts."""
    return [
        _watch(), _mode(), _claim(), _cancel(), _fill(), _settle(), _fill_result(), _fail_results(), _take_activation(), _now(), _run_job(),
        _new_job(), _make_results(), _execute(),
    ]  # fmt: skip


def _watch() -> NativeFunction:
    """Build `watch`: 1 lets Python run and note all programs, 0 lets native code run them."""
    f = NativeFunction("watch", [I64], None)
    f.atomic_store(f.global_address("watched"), f.parameters[0])
    f.give()
    return f


def _mode() -> NativeFunction:
    """Build `mode`: return the mode of parameter k in this call; undonatable ones are plain."""
    f = NativeFunction("mode", [PTR, PTR, I64], I64, internal=True)
    w, (executable, options, k) = f.writer, f.parameters
    mode = w.load(f.element(f.get(ExecutableRecord, executable, "modes"), k), I64)
    with f.when(mode.equals(PLAIN)):
        f.give(PLAIN)
    kept = f.get(ExecuteOptions, options, "non_donatable")
    with (
        f.each(f.get(ExecuteOptions, options, "num_non_donatable")) as n,
        f.when(w.load(f.element(kept, n), I64).equals(k)),
    ):
        # The program writes into it all the same, so it gets a copy.
        f.give(w.select(mode >= WRITTEN, w.number(-1, I64) - mode, w.number(PLAIN, I64)))
    f.give(mode)
    return f


def _argument(f: NativeFunction, job: Value, k: Value) -> tuple[Value, Value]:
    """Return (the buffer, its mode) of argument k of a job."""
    places = [f.element(f.get(JobRecord, job, name), k) for name in ("buffers", "modes")]
    return f.writer.load(places[0], PTR), f.writer.load(places[1], I64)


# -- arguments -------------------------------------------------------------------------------------
def _claim() -> NativeFunction:
    """Build `claim`: hold an argument for a job; 1 if it was deleted.

    Parameters with modes below 0 keep their memory.
    """
    f = NativeFunction("claim", [PTR, I64], I64, internal=True)
    w, (buffer, mode) = f.writer, f.parameters
    with f.when(mode <= PLAIN):
        f.do("add_reference", buffer)
        with f.when(f.atomic_load(f.place(BufferRecord, buffer, "deleted")).differs(0)):
            f.do("drop_reference", buffer, w.number(1, I64))
            f.give(1)
        f.give(0)
    _, first = f.exchange(f.place(BufferRecord, buffer, "deleted"), 0, 2)
    f.give(w.convert("zext", w.negated(first), "i64"))
    return f


def _cancel() -> NativeFunction:
    """Build `cancel`: drop a job before it ran. count: the number of claimed arguments."""
    f = NativeFunction("cancel", [PTR, I64], None, internal=True)
    w, (job, count) = f.writer, f.parameters
    with f.each(count) as k:
        buffer, mode = _argument(f, job, k)
        with f.when(mode <= PLAIN):
            f.do("drop_reference", buffer, w.number(1, I64))
        with f.when(mode > PLAIN):
            f.atomic_store(f.place(BufferRecord, buffer, "deleted"), 0)
    f.do("free", job)
    f.give()
    return f


def _fill() -> NativeFunction:
    """Enter an argument into the table; 1 where memory for the copy that it needs is missing."""
    f = NativeFunction("fill", [PTR, I64, PTR], I64, internal=True)
    w, (buffer, mode, entry) = f.writer, f.parameters
    data, size = f.get(BufferRecord, buffer, "data"), f.get(BufferRecord, buffer, "nbytes")
    w.store(data, entry)
    alone = (f.atomic_load(f.place(BufferRecord, buffer, "references")) & (HANDLE - 1)).equals(1)
    ours = f.get(BufferRecord, buffer, "owner").equals(OURSELVES)
    free = w.both(w.both(alone, ours), mode >= WRITTEN)
    writes = w.either(mode >= WRITTEN, mode < PLAIN)
    with f.when(w.both(writes, w.negated(free))):
        own = f.call("allocate", PTR, size)
        with f.when(is_null(f, own)):
            f.give(1)
        f.copy(own, data, size)
        w.store(own, entry)
    f.give(0)
    return f


def _settle() -> NativeFunction:
    """Build `settle`: release a plain argument after the run, or delete a donated one.

    taken: a result has its memory. entry: null if nothing ran.
    """
    f = NativeFunction("settle", [PTR, I64, PTR, I64], None, internal=True)
    w, (buffer, mode, entry, taken) = f.writer, f.parameters
    with f.when(w.negated(is_null(f, entry))):
        used, size = w.load(entry, PTR), f.get(BufferRecord, buffer, "nbytes")
        copied = f.as_integer(used).differs(f.as_integer(f.get(BufferRecord, buffer, "data")))
        with f.when(w.both(taken.equals(0), copied)):
            f.do("free_block", used, size)
        with f.when(w.both(taken.differs(0), copied)):
            f.do("count", f.get(BufferRecord, buffer, "device"), size)
        with f.when(w.both(taken.differs(0), w.negated(copied))):
            f.set(BufferRecord, buffer, "owner", NO_OWNER)
    with f.when(mode > PLAIN):
        f.atomic_store(f.place(BufferRecord, buffer, "deleted"), 1)
    f.do("drop_reference", buffer, w.number(1, I64))
    f.give()
    return f


# -- results ---------------------------------------------------------------------------------------
def _fill_result() -> NativeFunction:
    """Build `fill_result`: allocate a result, or use the memory `taken`; 1 without memory."""
    f = NativeFunction("fill_result", [PTR, PTR], I64, internal=True)
    record, taken = f.parameters
    with f.when(f.writer.negated(is_null(f, taken))):
        f.set(BufferRecord, record, "data", taken)
        f.give(0)
    size = f.get(BufferRecord, record, "nbytes")
    made = f.call("allocate", PTR, size)
    with f.when(is_null(f, made)):
        f.give(1)
    f.set(BufferRecord, record, "data", made)
    f.do("count", f.get(BufferRecord, record, "device"), size)
    f.give(0)
    return f


def _fail_results() -> NativeFunction:
    """Build `fail_results`: after a failure, results without computed elements own no memory.

    They are the results from the given one on, and those that take memory over.
    """
    f = NativeFunction("fail_results", [PTR, I64], None, internal=True)
    w, (job, first) = f.writer, f.parameters
    sources = f.get(ExecutableRecord, f.get(JobRecord, job, "executable"), "sources")
    with f.each(f.get(JobRecord, job, "output_count")) as m:
        result = w.load(f.element(f.get(JobRecord, job, "outputs"), m), PTR)
        with f.when(w.either(m >= first, w.load(f.element(sources, m), I64) >= 0)):
            f.set(BufferRecord, result, "owner", NO_OWNER)
    f.give()
    return f


# -- running ---------------------------------------------------------------------------------------
def _take_activation() -> NativeFunction:
    """Build `take_activation`: claim a free activation; null if another one may be made."""
    f = NativeFunction("take_activation", [PTR], PTR, internal=True)
    w, (executable,) = f.writer, f.parameters
    listed = f.get(ExecutableRecord, executable, "activations")
    with f.repeat() as until:
        count = f.atomic_load(f.place(ExecutableRecord, executable, "activation_count"))
        with f.each(count) as k:
            activation = w.load(f.element(listed, k), PTR)
            _, mine = f.exchange(f.place(ActivationRecord, activation, "busy"), 0, 1)
            with f.when(mine):
                f.give(activation)
        with f.when(count < LIST_LENGTH):
            f.give()
        yielding(f)
        until.append(count < 0)
    f.give()
    return f


def _now() -> NativeFunction:
    """Build `now`: return the nanoseconds of a monotonic clock."""
    f = NativeFunction("now", [], I64, internal=True)
    w = f.writer
    place = w.stack_slot(I64, 2)
    f.call("clock_gettime", I32, w.number(int(time.CLOCK_MONOTONIC), I32), place)
    f.give(w.load(place, I64) * 1_000_000_000 + w.load(f.element(place, 1), I64))
    return f


def _run_job() -> NativeFunction:
    """Run a job in an activation, which is free again then.

    Gives the error that ended it, or null.
    """
    f = NativeFunction("run_job", [PTR, PTR], PTR, internal=True)
    w, (job, activation) = f.writer, f.parameters
    executable, count = f.get(JobRecord, job, "executable"), f.get(JobRecord, job, "count")
    busy, table = (
        f.place(ActivationRecord, activation, "busy"),
        f.get(ActivationRecord, activation, "table"),
    )
    outputs, results = f.get(JobRecord, job, "outputs"), f.get(JobRecord, job, "output_count")
    error, filled, slot = [w.stack_slot(t) for t in (PTR, I64, PTR)]
    w.store(f.null, error)
    w.store(w.number(0, I64), filled)

    def well() -> Value:
        return is_null(f, w.load(error, PTR))

    with f.each(count) as k:
        buffer, mode = _argument(f, job, k)
        with f.when(well()):
            w.store(f.call("wait_buffer", PTR, buffer), error)
        with f.when(well()):
            with f.when(f.call("fill", I64, buffer, mode, f.element(table, k)).differs(0)):
                w.store(f.call("no_memory", PTR), error)
            with f.when(well()):
                w.store(k + 1, filled)
    made = w.stack_slot(I64)
    w.store(w.number(0, I64), made)
    sources, slots = (
        f.get(ExecutableRecord, executable, "sources"),
        f.get(ExecutableRecord, executable, "slots"),
    )
    with f.each(results) as m, f.when(well()):
        record, source, place = (
            w.load(f.element(outputs, m), PTR),
            w.load(f.element(sources, m), I64),
            w.load(f.element(slots, m), I64),
        )
        w.store(f.null, slot)
        with f.when(source >= 0):
            w.store(w.load(f.element(table, source), PTR), slot)
        with f.when(f.call("fill_result", I64, record, w.load(slot, PTR)).differs(0)):
            w.store(f.call("no_memory", PTR), error)
        with f.when(well()):
            w.store(m + 1, made)
            with f.when(place >= 0):
                w.store(f.get(BufferRecord, record, "data"), f.element(table, place))
    with f.when(well()):
        started = f.call("now", I64)
        status = f.call_pointer(f.get(ExecutableRecord, executable, "entry"), I32, table)
        assert status is not None
        f.set(ExecutableRecord, executable, "duration", f.call("now", I64) - started)
        with f.when(status.differs(0)):
            call = f.get(JobRecord, job, "call")
            with f.when(is_null(f, call)):
                w.store(f.call("run_failed", PTR), error)
            with f.when(w.negated(is_null(f, call))):
                w.store(
                    f.call("execute_in_python", PTR, call, w.number(FAILED, I64), activation), error
                )
    with f.when(w.negated(well())):
        f.do("fail_results", job, w.load(made, I64))
    with f.each(count) as k:
        buffer, mode = _argument(f, job, k)
        entry = w.select(k < w.load(filled, I64), f.element(table, k), f.null)
        taken = w.both(
            w.load(f.element(f.get(ExecutableRecord, executable, "modes"), k), I64).equals(TAKEN),
            well(),
        )
        f.do("settle", buffer, mode, entry, w.convert("zext", taken, "i64"))
    f.atomic_store(busy, 0)
    f.give(w.load(error, PTR))
    return f


# -- the function of the interface -----------------------------------------------------------------
def _new_job() -> NativeFunction:
    """Build `new_job`: return a job with room for the arguments and results of an executable."""
    f = NativeFunction("new_job", [PTR, PTR], PTR, internal=True)
    call, executable = f.parameters
    count, results = (
        f.get(ExecutableRecord, executable, "parameters"),
        f.get(ExecutableRecord, executable, "outputs"),
    )
    job = f.call("malloc", PTR, ((count << 1) + results << 3) + _JOB)
    buffers = f.element(job, _JOB // 8)
    places = {
        "buffers": buffers,
        "modes": f.element(buffers, count),
        "outputs": f.element(buffers, count << 1),
    }
    for name, value in {
        "executable": executable,
        "event": f.null,
        "call": call,
        "count": count,
        "output_count": results,
        **places,
    }.items():
        f.set(JobRecord, job, name, value)
    f.give(job)
    return f


def _make_results() -> NativeFunction:
    """Build `make_results`: make the buffers of the results for the job and for the caller.

    The event of the job happens when they are filled.
    """
    f = NativeFunction("make_results", [PTR], None, internal=True)
    w, (job,) = f.writer, f.parameters
    results, event = f.get(JobRecord, job, "output_count"), f.get(JobRecord, job, "event")
    with f.when(results > 0):
        out = w.load(f.get(_ARGUMENTS, f.get(JobRecord, job, "call"), "outputs"), PTR)
        templates = f.get(ExecutableRecord, f.get(JobRecord, job, "executable"), "templates")
        with f.each(results) as m:
            made = f.call("new_buffer", PTR, f.element(templates, m * (_SIZE // 8)))
            f.set(BufferRecord, made, "event", event)
            with f.when(w.negated(is_null(f, event))):
                f.do("add_reference", made)
            w.store(made, f.element(f.get(JobRecord, job, "outputs"), m))
            w.store(made, f.element(out, m))
    f.give()
    return f


def _python(f: NativeFunction, why: int) -> Value:
    """Let Python go on."""
    return f.call("execute_in_python", PTR, f.parameters[0], f.writer.number(why, I64), f.null)


def _execute() -> NativeFunction:
    f = NativeFunction("LoadedExecutable_Execute")
    w, (a,) = f.writer, f.parameters
    executable, count = f.get(_ARGUMENTS, a, "executable"), f.get(_ARGUMENTS, a, "num_args")
    usual = w.both(
        f.get(ExecutableRecord, executable, "native").equals(1),
        count.equals(f.get(ExecutableRecord, executable, "parameters")),
    )
    usual = w.both(usual, f.get(ExecutableRecord, executable, "deleted").equals(0))
    usual = w.both(usual, f.atomic_load(f.global_address("watched")).equals(0))
    with f.when(w.negated(usual)):
        f.give(_python(f, 0))
    activations = f.place(ExecutableRecord, executable, "activation_count")
    with f.when(f.atomic_load(activations).equals(0)):
        error = _python(f, NO_ACTIVATION)
        with f.when(w.negated(is_null(f, error))):
            f.give(error)
    job = f.call("new_job", PTR, a, executable)
    options, events = f.get(_ARGUMENTS, a, "options"), f.get(_ARGUMENTS, a, "events")
    slot, waits = w.stack_slot(PTR), w.stack_slot(I64)
    w.store(w.number(0, I64), waits)
    with f.when(count > 0):
        given = w.load(f.get(_ARGUMENTS, a, "arguments"), PTR)
        with f.each(count) as k:
            buffer, mode = (
                w.load(f.element(given, k), PTR),
                f.call("mode", I64, executable, options, k),
            )
            w.store(buffer, f.element(f.get(JobRecord, job, "buffers"), k))
            w.store(mode, f.element(f.get(JobRecord, job, "modes"), k))
            with f.when(f.call("claim", I64, buffer, mode).differs(0)):
                f.do("cancel", job, k)
                f.give(_python(f, GONE_ARGUMENT))
            w.store(w.load(waits, I64) + f.call("pending", I64, buffer), waits)
    patience = f.get(ExecutableRecord, executable, "patience")
    long = w.either(
        f.get(ExecutableRecord, executable, "duration") >= patience, w.load(waits, I64) > 0
    )
    queued = w.both(
        w.both(patience >= 0, long), f.atomic_load(f.global_address("closed")).equals(0)
    )
    with f.when(queued):
        has_events = w.convert("zext", w.negated(is_null(f, events)), "i64")
        event = f.call("new_event", PTR, f.get(JobRecord, job, "output_count") + has_events + 1)
        f.set(JobRecord, job, "event", event)
        f.do("make_results", job)
        f.set(JobRecord, job, "call", f.null)
        with f.when(w.negated(is_null(f, events))):
            w.store(event, events)
        f.do("enqueue", job)
        f.give()
    with f.repeat() as until:
        w.store(f.call("take_activation", PTR, executable), slot)
        none = is_null(f, w.load(slot, PTR))
        with f.when(none):
            error = _python(f, NO_ACTIVATION)
            with f.when(w.negated(is_null(f, error))):
                f.do("cancel", job, count)
                f.give(error)
        until.append(w.negated(none))
    f.do("make_results", job)
    error = f.call("run_job", PTR, job, w.load(slot, PTR))
    with f.when(w.negated(is_null(f, error))):
        with f.each(f.get(JobRecord, job, "output_count")) as m:
            f.do("destroy_buffer", w.load(f.element(f.get(JobRecord, job, "outputs"), m), PTR))
        f.do("free", job)
        f.give(error)
    f.do("free", job)
    with f.when(w.negated(is_null(f, events))):
        w.store(f.global_address("ready_event"), events)
    f.give()
    return f
