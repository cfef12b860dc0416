"""Native code of events: `Event_*`, and waiting for buffers that a queued run fills.

One lock and one condition serve all events, because few are waited for. A waiting thread first
releases the interpreter's lock, which the callback of an event may take.
"""

from __future__ import annotations

import ctypes
from typing import Any

from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.layouts import ARGUMENTS
from xla_explorer.pjrt.native.function import NativeFunction
from xla_explorer.pjrt.records import BufferRecord, ErrorRecord, EventRecord, WaiterRecord

READY = 1
HEADER = f"""
@lock = global [16 x i64] zeroinitializer
@changed = global [16 x i64] zeroinitializer
@ready_event = global {{i64, i64, ptr}} {{i64 {READY}, i64 {1 << 40}, ptr null}}
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @PyGILState_Check()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
"""


def functions() -> list[NativeFunction]:
    """Return all functions of this module."""
    return [
        _new_event(), _destroy_event(), _happened(), _error_of(), _leave_python(), _enter_python(), _wait_event(), _pending(),
        _wait_buffer(), _is_ready(), _error(), _await(), _on_ready(), _ready_event(),
    ]  # fmt: skip


def lock(f: NativeFunction) -> None:
    """Emit the acquisition of the lock, which is held for a few instructions at a time.

    It protects the queue and waiting for events.
    """
    f.call("pthread_mutex_lock", I32, f.global_address("lock"))


def unlock(f: NativeFunction) -> None:
    """Emit the release of the lock."""
    f.call("pthread_mutex_unlock", I32, f.global_address("lock"))


def sleep(f: NativeFunction, condition: str) -> None:
    """Release the lock until the condition is signalled."""
    f.call("pthread_cond_wait", I32, f.global_address(condition), f.global_address("lock"))


def wake(f: NativeFunction, condition: str) -> None:
    """Emit a wake-up of all threads that wait for a condition."""
    f.call("pthread_cond_broadcast", I32, f.global_address(condition))


def is_null(f: NativeFunction, pointer: Value) -> Value:
    """Return True if a pointer is null, as an emitted value."""
    return f.as_integer(pointer).equals(0)


def _new_event() -> NativeFunction:
    """Build `new_event`: return an event that has not happened, with a number of owners."""
    f = NativeFunction("new_event", [I64], PTR)
    event = f.call("malloc", PTR, f.writer.number(ctypes.sizeof(EventRecord), I64))
    f.set(EventRecord, event, "waiting", 0)
    f.set(EventRecord, event, "references", f.parameters[0])
    f.set(EventRecord, event, "error", f.null)
    f.give(event)
    return f


def _destroy_event() -> NativeFunction:
    """Build `destroy_event`: drop one owner."""
    f = NativeFunction("destroy_event", [PTR], None)
    (event,) = f.parameters
    with f.when(f.atomic("sub", f.place(EventRecord, event, "references"), 1).equals(1)):
        f.do("free", f.get(EventRecord, event, "error"))
        f.do("free", event)
    f.give()
    return f


def _happened() -> NativeFunction:
    """Build `happened`: mark an event, wake waiting threads and call its callbacks."""
    f = NativeFunction("happened", [PTR], None)
    w, (event,) = f.writer, f.parameters
    waiting = w.stack_slot(I64)
    lock(f)
    w.store(f.atomic("xchg", f.place(EventRecord, event, "waiting"), READY), waiting)
    wake(f, "changed")
    unlock(f)
    with f.when(w.load(waiting, I64) > READY), f.repeat() as until:
        waiter = f.as_pointer(w.load(waiting, I64))
        w.store(f.get(WaiterRecord, waiter, "next"), waiting)
        _call(
            f,
            f.get(WaiterRecord, waiter, "callback"),
            event,
            f.get(WaiterRecord, waiter, "argument"),
        )
        f.do("free", waiter)
        until.append(w.load(waiting, I64) <= READY)
    f.give()
    return f


def _call(f: NativeFunction, callback: Value, event: Value, argument: Value) -> None:
    f.call_pointer(callback, None, f.call("error_of", PTR, event), argument)


def _error_of() -> NativeFunction:
    """Build `error_of`: return the error of an event as a handle for the caller, or null."""
    f = NativeFunction("error_of", [PTR], PTR, internal=True)
    error = f.get(EventRecord, f.parameters[0], "error")
    with f.when(is_null(f, error)):
        f.give()
    code, message, size = [
        f.get(ErrorRecord, error, name) for name in ("code", "message", "message_size")
    ]
    f.give(f.call("new_error", PTR, code, message, size))
    return f


def _leave_python() -> NativeFunction:
    """Build `leave_python`: release the interpreter's lock; null if the thread does not hold it."""
    f = NativeFunction("leave_python", [], PTR, internal=True)
    for question in ("Py_IsInitialized", "PyGILState_Check"):
        with f.when(f.call(question, I32).equals(0)):
            f.give()
    f.give(f.call("PyEval_SaveThread", PTR))
    return f


def _enter_python() -> NativeFunction:
    """Take it again."""
    f = NativeFunction("enter_python", [PTR], None, internal=True)
    with f.when(f.writer.negated(is_null(f, f.parameters[0]))):
        f.do("PyEval_RestoreThread", f.parameters[0])
    f.give()
    return f


def _has_happened(f: NativeFunction, event: Value) -> Value:
    return f.atomic_load(f.place(EventRecord, event, "waiting")).equals(READY)


def _wait_event() -> NativeFunction:
    f = NativeFunction("wait_event", [PTR], None, internal=True)
    (event,) = f.parameters
    with f.when(_has_happened(f, event)):
        f.give()
    thread = f.call("leave_python", PTR)
    lock(f)
    with f.repeat() as until:
        with f.when(f.writer.negated(_has_happened(f, event))):
            sleep(f, "changed")
        until.append(_has_happened(f, event))
    unlock(f)
    f.do("enter_python", thread)
    f.give()
    return f


def _pending() -> NativeFunction:
    """Build `pending`: return 1 if the run that fills a buffer has not ended."""
    f = NativeFunction("pending", [PTR], I64, internal=True)
    event = f.get(BufferRecord, f.parameters[0], "event")
    with f.when(is_null(f, event)):
        f.give(0)
    f.give(f.writer.convert("zext", f.writer.negated(_has_happened(f, event)), "i64"))
    return f


def _wait_buffer() -> NativeFunction:
    """Build `wait_buffer`: wait for a buffer's elements and return the run's error, or null."""
    f = NativeFunction("wait_buffer", [PTR], PTR)
    event = f.get(BufferRecord, f.parameters[0], "event")
    with f.when(is_null(f, event)):
        f.give()
    f.do("wait_event", event)
    f.give(f.call("error_of", PTR, event))
    return f


# -- functions of the interface --------------------------------------------------------------------
def _begin(name: str) -> tuple[NativeFunction, Any, Value]:
    f, arguments = NativeFunction(name), ARGUMENTS[name]
    return f, arguments, f.get(arguments, f.parameters[0], "event")


def _is_ready() -> NativeFunction:
    f, arguments, event = _begin("Event_IsReady")
    f.set(
        arguments,
        f.parameters[0],
        "is_ready",
        f.writer.convert("zext", _has_happened(f, event), "i64"),
    )
    f.give()
    return f


def _error() -> NativeFunction:
    f, _, event = _begin("Event_Error")
    f.give(f.call("error_of", PTR, event))
    return f


def _await() -> NativeFunction:
    f, _, event = _begin("Event_Await")
    f.do("wait_event", event)
    f.give(f.call("error_of", PTR, event))
    return f


def _on_ready() -> NativeFunction:
    """Build `Event_OnReady`: call at once if the event happened, else add to its list."""
    f, arguments, event = _begin("Event_OnReady")
    w = f.writer
    callback, argument = (
        f.get(arguments, f.parameters[0], "callback"),
        f.get(arguments, f.parameters[0], "user_arg"),
    )
    waiting = f.place(EventRecord, event, "waiting")
    with f.when(_has_happened(f, event)):
        _call(f, callback, event, argument)
        f.give()
    waiter = f.call("malloc", PTR, w.number(ctypes.sizeof(WaiterRecord), I64))
    f.set(WaiterRecord, waiter, "callback", callback)
    f.set(WaiterRecord, waiter, "argument", argument)
    number = f.as_integer(waiter)
    with f.repeat() as until:
        first = f.atomic_load(waiting)
        with f.when(first.equals(READY)):  # it happened meanwhile
            f.do("free", waiter)
            _call(f, callback, event, argument)
            f.give()
        f.set(WaiterRecord, waiter, "next", first)
        until.append(f.exchange(waiting, first, number)[1])
    f.give()
    return f


def _ready_event() -> NativeFunction:
    f = NativeFunction("Buffer_ReadyEvent")
    arguments, a = ARGUMENTS[f.name], f.parameters[0]
    event = f.get(BufferRecord, f.get(arguments, a, "buffer"), "event")
    with f.when(is_null(f, event)):
        f.set(arguments, a, "event", f.global_address("ready_event"))
        f.give()
    f.atomic("add", f.place(EventRecord, event, "references"), 1)
    f.set(arguments, a, "event", event)
    f.give()
    return f
