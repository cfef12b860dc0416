"""PJRT_LoadedExecutable_Execute without Python: arguments' addresses into a table, memory for the results, one call.

Of each parameter the record has a mode. A plain one is held while the program runs. One that is given away (DELETED and above) is claimed:
the program may write into its memory (WRITTEN) and a result may take it over (TAKEN) where nobody else uses it, else it gets a copy.
Each caller uses an activation of its own. Where none is free, where an argument was deleted, and after every failure Python goes on:
it makes another activation, or says what is wrong.
"""

from __future__ import annotations

import ctypes

from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.layouts import ARGUMENTS, ExecuteOptions
from xla_explorer.pjrt.native_function import NativeFunction
from xla_explorer.pjrt.native_memory import yielding
from xla_explorer.pjrt.records import (
    HANDLE,
    LIST_LENGTH,
    NOBODY,
    OURSELVES,
    ActivationRecord,
    BufferRecord,
    ExecutableRecord,
)

PLAIN, DELETED, WRITTEN, TAKEN = range(4)  # modes of parameters
NO_ACTIVATION, GONE_ARGUMENT, FAILED = 1, 2, 3  # why Python goes on
_ARGUMENTS = ARGUMENTS["LoadedExecutable_Execute"]
_SIZE = ctypes.sizeof(BufferRecord)


def functions() -> list[NativeFunction]:
    """`LoadedExecutable_Execute` and its parts."""
    return [_mode(), _claim(), _unclaim(), _settle(), _make_result(), _take_activation(), _execute()]


def _mode() -> NativeFunction:
    """The mode of parameter k in this call: what must not be donated is plain."""
    f = NativeFunction("mode", [PTR, PTR, I64], I64, internal=True)
    w, (executable, options, k) = f.writer, f.parameters
    mode = w.load(f.element(f.get(ExecutableRecord, executable, "modes"), k), I64)
    with f.when(mode.equals(PLAIN)):
        f.give(PLAIN)
    kept = f.get(ExecuteOptions, options, "non_donatable")
    with f.each(f.get(ExecuteOptions, options, "num_non_donatable")) as n, f.when(w.load(f.element(kept, n), I64).equals(k)):
        # The program writes into it all the same, so it gets a copy.
        f.give(w.select(mode >= WRITTEN, w.number(-1, I64) - mode, w.number(PLAIN, I64)))
    f.give(mode)
    return f


def _claim() -> NativeFunction:
    """Enter an argument into the table; 1 where it was deleted. Modes below 0 are those of parameters that keep what they have."""
    f = NativeFunction("claim", [PTR, I64, PTR], I64, internal=True)
    w, (buffer, mode, entry) = f.writer, f.parameters
    with f.when(mode <= PLAIN):
        f.do("hold", buffer)
        with f.when(f.atomic_load(f.place(BufferRecord, buffer, "deleted")).differs(0)):
            f.do("let_go", buffer, w.number(1, I64))
            f.give(1)
    with f.when(mode > PLAIN):
        _, first = f.exchange(f.place(BufferRecord, buffer, "deleted"), 0, 2)
        with f.when(w.negated(first)):
            f.give(1)
    data, size = f.get(BufferRecord, buffer, "data"), f.get(BufferRecord, buffer, "nbytes")
    w.store(data, entry)
    alone = (f.atomic_load(f.place(BufferRecord, buffer, "holds")) & (HANDLE - 1)).equals(1)
    ours = f.get(BufferRecord, buffer, "owner").equals(OURSELVES)
    free = w.both(w.both(alone, ours), mode >= WRITTEN)
    writes = w.either(mode >= WRITTEN, mode < PLAIN)
    with f.when(w.both(writes, w.negated(free))):
        own = f.call("allocate", PTR, size)
        f.copy(own, data, size)
        w.store(own, entry)
    f.give(0)
    return f


def _unclaim() -> NativeFunction:
    """The opposite, before anything ran."""
    f = NativeFunction("unclaim", [PTR, I64, PTR], None, internal=True)
    w, (buffer, mode, entry) = f.writer, f.parameters
    _free_copy(f, buffer, entry)
    with f.when(mode <= PLAIN):
        f.do("let_go", buffer, w.number(1, I64))
    with f.when(mode > PLAIN):
        f.atomic_store(f.place(BufferRecord, buffer, "deleted"), 0)
    f.give()
    return f


def _free_copy(f: NativeFunction, buffer: Value, entry: Value) -> None:
    used = f.writer.load(entry, PTR)
    with f.when(f.as_integer(used).differs(f.as_integer(f.get(BufferRecord, buffer, "data")))):
        f.do("free_block", used, f.get(BufferRecord, buffer, "nbytes"))


def _settle() -> NativeFunction:
    """An argument after the run: a plain one is no longer held, one that was given away is deleted; taken: a result has its memory."""
    f = NativeFunction("settle", [PTR, I64, PTR, I64], None, internal=True)
    w, (buffer, mode, entry, taken) = f.writer, f.parameters
    with f.when(taken.equals(0)):
        _free_copy(f, buffer, entry)
    with f.when(taken.differs(0)):
        used = w.load(entry, PTR)
        with f.when(f.as_integer(used).equals(f.as_integer(f.get(BufferRecord, buffer, "data")))):
            f.set(BufferRecord, buffer, "owner", NOBODY)
        with f.when(f.as_integer(used).differs(f.as_integer(f.get(BufferRecord, buffer, "data")))):
            f.do("count", f.get(BufferRecord, buffer, "device"), f.get(BufferRecord, buffer, "nbytes"))
    with f.when(mode > PLAIN):
        f.atomic_store(f.place(BufferRecord, buffer, "deleted"), 1)
    f.do("let_go", buffer, w.number(1, I64))
    f.give()
    return f


def _make_result() -> NativeFunction:
    """A buffer of a template. taken: the memory that it takes over, or null."""
    f = NativeFunction("make_result", [PTR, PTR], PTR, internal=True)
    (template, taken) = f.parameters
    record, size = f.call("new_buffer", PTR, template), f.get(BufferRecord, template, "nbytes")
    f.set(BufferRecord, record, "data", taken)
    with f.when(f.as_integer(taken).equals(0)):
        f.set(BufferRecord, record, "data", f.call("allocate", PTR, size))
        f.do("count", f.get(BufferRecord, template, "device"), size)
    f.give(record)
    return f


def _take_activation() -> NativeFunction:
    """A free activation of an executable, claimed; null where all are busy and another one may be made."""
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


def _python(f: NativeFunction, why: int) -> None:
    """Let Python go on."""
    f.give(f.call("execute_in_python", PTR, f.parameters[0], f.writer.number(why, I64), f.null))


def _execute() -> NativeFunction:
    f = NativeFunction("LoadedExecutable_Execute")
    w, (a,) = f.writer, f.parameters
    executable, count = f.get(_ARGUMENTS, a, "executable"), f.get(_ARGUMENTS, a, "num_args")
    usual = w.both(f.get(ExecutableRecord, executable, "native").equals(1), count.equals(f.get(ExecutableRecord, executable, "parameters")))
    usual = w.both(usual, f.get(ExecutableRecord, executable, "deleted").equals(0))
    with f.when(w.negated(usual)):
        _python(f, 0)
    options, modes_of = f.get(_ARGUMENTS, a, "options"), executable
    activation = f.call("take_activation", PTR, executable)
    with f.when(f.as_integer(activation).equals(0)):
        _python(f, NO_ACTIVATION)
    busy, table = f.place(ActivationRecord, activation, "busy"), f.get(ActivationRecord, activation, "table")
    lists = f.get(_ARGUMENTS, a, "arguments")
    slot = w.named(w.stack_slot("ptr"), PTR)
    w.store(f.null, slot)
    with f.when(count > 0):
        w.store(w.load(lists, PTR), slot)
    given = w.load(slot, PTR)

    def argument(k: Value) -> tuple[Value, Value, Value]:
        return w.load(f.element(given, k), PTR), f.call("mode", I64, modes_of, options, k), f.element(table, k)

    with f.each(count) as k:
        buffer, mode, entry = argument(k)
        with f.when(f.call("claim", I64, buffer, mode, entry).differs(0)):
            with f.each(k) as back:
                f.do("unclaim", *argument(back))
            f.atomic_store(busy, 0)
            _python(f, GONE_ARGUMENT)
    results = f.get(ExecutableRecord, executable, "outputs")
    sources, slots = f.get(ExecutableRecord, executable, "sources"), f.get(ExecutableRecord, executable, "slots")
    templates = f.get(ExecutableRecord, executable, "templates")
    with f.when(results > 0):
        out = w.load(f.get(_ARGUMENTS, a, "outputs"), PTR)
        with f.each(results) as m:
            source, place = w.load(f.element(sources, m), I64), w.load(f.element(slots, m), I64)
            w.store(f.null, slot)
            with f.when(source >= 0):
                w.store(w.load(f.element(table, source), PTR), slot)
            template = f.element(templates, m * (_SIZE // 8))
            made = f.call("make_result", PTR, template, w.load(slot, PTR))
            w.store(made, f.element(out, m))
            with f.when(place >= 0):
                w.store(f.get(BufferRecord, made, "data"), f.element(table, place))
    status = f.call_pointer(f.get(ExecutableRecord, executable, "entry"), I32, table)
    assert status is not None
    with f.each(count) as k:
        buffer, mode, entry = argument(k)
        taken = w.load(f.element(f.get(ExecutableRecord, executable, "modes"), k), I64).equals(TAKEN)
        f.do("settle", buffer, mode, entry, w.convert("zext", taken, "i64"))
    with f.when(status.differs(0)):
        with f.when(results > 0):
            out = w.load(f.get(_ARGUMENTS, a, "outputs"), PTR)
            with f.each(results) as m:
                f.do("destroy_buffer", w.load(f.element(out, m), PTR))
        error = f.call("execute_in_python", PTR, a, w.number(FAILED, I64), activation)
        f.atomic_store(busy, 0)
        f.give(error)
    f.atomic_store(busy, 0)
    events = f.get(_ARGUMENTS, a, "events")
    with f.when(f.as_integer(events).differs(0)):
        w.store(f.global_address("ready_event"), events)
    f.give()
    return f
