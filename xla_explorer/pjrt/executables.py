"""Executables: compiling, what JAX asks about them, and running where native code hands over to Python."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from functools import cached_property
from typing import Any

import numpy as np

from xla_explorer.backends.cpu.activation import Activation, NativeCalls
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.cost import Cost, module_cost
from xla_explorer.hlo.shape import Shape
from xla_explorer.pjrt import native_execute as modes
from xla_explorer.pjrt.buffers import array_at, c_list, elements, new_buffer, record_of
from xla_explorer.pjrt.compile_options import read_compile_options
from xla_explorer.pjrt.devices import Client, Device
from xla_explorer.pjrt.element_types import CODES, TOKEN
from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.layouts import ExecuteOptions, NamedValue, Program
from xla_explorer.pjrt.plugin_options import options
from xla_explorer.pjrt.program import compile_program, donated_parameters, hlo_with_config, varint
from xla_explorer.pjrt.records import (
    LIST_LENGTH,
    OURSELVES,
    ActivationRecord,
    BufferRecord,
    ExecutableRecord,
    Owner,
    Text,
    forget,
    owner_of,
)
from xla_explorer.pjrt.state import forget_garbage, implements, native


class CompiledProgram:
    """A compiled program, which several executables may stand for: jaxlib asks for a loaded one and an unloaded one, and destroys both."""

    def __init__(self, code: bytes, session: Session) -> None:
        self.code, self.name = code, session.source.name
        self.fingerprint = hashlib.sha256(code).hexdigest()
        self.run = session.executable.execute
        self.results = [leaf for _, leaf in session.source.result_shape().leaves()]
        self.parameters = [leaf for p in session.source.entry.parameters() for _, leaf in p.shape.leaves()]
        self.donated = donated_parameters(session.source)
        compiled = getattr(session.executable, "compiled", None)
        self.code_size = sum(map(len, compiled.objects)) if compiled is not None else 0
        self.temporary = int(getattr(getattr(session.executable, "assignment", None), "arena_size", 0))
        self._module = session.module
        self._session: Session | None = session
        self._optimized: Text | None = None
        calls = getattr(session.executable, "native_calls", None)
        self.calls: NativeCalls | None = calls() if calls is not None else None

    @cached_property
    def cost(self) -> Cost:
        """Of the optimised module."""
        return module_cost(self._module)

    def optimized(self) -> Text:
        """HloModuleProtoWithConfig; made once, which needs the session, which is let go of then."""
        if self._optimized is None:
            assert self._session is not None
            self._optimized = Text(hlo_with_config(self._session))
            self._session = None
        return self._optimized


def _code_of(shape: Shape) -> int:
    return CODES[np.dtype(shape.element_type.dtype).name] if shape.is_array else TOKEN


class Executable(Owner):
    """An executable on a device, and its record."""

    def __init__(self, program: CompiledProgram, device: Device) -> None:
        super().__init__(ExecutableRecord(replicas=1, partitions=1, code_size=program.code_size, device_count=1))
        self.program, self.device = program, device
        self.codes = [_code_of(shape) for shape in program.results]
        self.dims = [shape.dimensions if shape.is_array else () for shape in program.results]
        self.record.outputs = len(self.codes)
        self.text("name", program.name)
        self.text("fingerprint", program.fingerprint)
        self.array("types", ctypes.c_int32, self.codes)
        self.array("dims", ctypes.c_int64, [n for dims in self.dims for n in dims])
        self.array("ranks", ctypes.c_size_t, [len(dims) for dims in self.dims])
        kind = Text("device")
        self._kept.append(kind)
        self.array("kinds", ctypes.c_void_p, [kind.address] * len(self.codes))
        self.array("kind_sizes", ctypes.c_size_t, [kind.size] * len(self.codes))
        self.array("devices", ctypes.c_void_p, [device.handle])
        # DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3 {replica_device_ids = 1}.
        row = b"\x0a" + varint(1) + varint(device.number)
        self.text("assignment", b"\x08\x01\x10\x01\x1a" + varint(len(row)) + row)
        self._activations: list[Activation] = []
        self._lock = threading.Lock()
        self._places: Any = (ctypes.c_void_p * LIST_LENGTH)()
        self.record.activations = ctypes.addressof(self._places)
        if program.calls is not None:
            self._run_natively(program.calls)

    def _run_natively(self, calls: NativeCalls) -> None:
        """Fill in what native code needs to run the program without Python."""
        program, record = self.program, self.record
        taken = [source for _, source in calls.results if source is not None]
        wanted = [
            modes.TAKEN if k in taken else modes.WRITTEN if k in calls.written else modes.DELETED if k in program.donated else modes.PLAIN
            for k in range(calls.parameters)
        ]
        self.array("modes", ctypes.c_int64, wanted)
        sources, slots, rest = [], [], iter(enumerate(calls.results))
        templates = (BufferRecord * max(len(self.codes), 1))()
        for template, code, dims in zip(templates, self.codes, self.dims, strict=False):
            number, (nbytes, source) = next(rest) if code != TOKEN else (-1, (1, None))
            sources.append(-1 if source is None else source)
            slots.append(-1 if number < 0 else calls.parameters + number)
            sizes = (ctypes.c_int64 * max(len(dims), 1))(*dims)
            self._kept.append(sizes)
            template.dims, template.rank, template.type = ctypes.addressof(sizes), len(dims), code
            template.device, template.memory = self.device.handle, self.device.record.memory
            template.nbytes, template.owner = nbytes, OURSELVES
        self._kept.append(templates)
        self.array("sources", ctypes.c_int64, sources)
        self.array("slots", ctypes.c_int64, slots)
        record.templates, record.entry, record.parameters = ctypes.addressof(templates), calls.entry, calls.parameters
        record.native = int(max(map(len, self.dims), default=0) < LIST_LENGTH)

    def activate(self) -> None:
        """One more caller may run at the same time."""
        assert self.program.calls is not None
        made = self.program.calls.activate()
        with self._lock:
            count = self.record.activation_count
            if count < LIST_LENGTH:
                row = ActivationRecord(0, made.address)
                made.record = row  # type: ignore[attr-defined]  # kept with it
                self._activations.append(made)
                self._places[count] = ctypes.addressof(row)
                self.record.activation_count = count + 1

    def failure(self, activation: int) -> BaseException:
        """What ended a run, of the record of its activation."""
        number = [self._places[k] for k in range(self.record.activation_count)].index(activation)
        return self._activations[number].take_failure() or XlaExplorerError("the execution of a program failed")


# -- compiling ---------------------------------------------------------------------------------------------------------
def _loaded(code: bytes, serialized_options: bytes, client: Client) -> int:
    request = read_compile_options(serialized_options)
    chosen = options.changed(request.overrides)
    if request.replicas * request.partitions != 1:
        raise PjrtError(
            "unimplemented", f"a program for {request.replicas} replicas and {request.partitions} partitions",
            "the plugin has one device; xe.hlo.evaluate_replicated runs a module on several",
        )
    return Executable(CompiledProgram(code, compile_program(code, chosen)), client.all_devices[0]).handle


@implements("Client_Compile")
def _compile(a: Any) -> None:
    forget_garbage()
    program = Program.from_address(a.program)
    form = ctypes.string_at(program.format, program.format_size).decode()
    if form != "mlir":
        raise PjrtError("unimplemented", f"a program in the format {form!r} is not read", "hand over StableHLO (format mlir)")
    code = ctypes.string_at(program.code, program.code_size)
    a.executable = _loaded(code, ctypes.string_at(a.compile_options, a.compile_options_size), owner_of(a.client))


@implements("Executable_DeserializeAndLoad")
def _deserialize(a: Any) -> None:
    """The code is compiled again, from the cache of native code where that has it."""
    forget_garbage()
    given = ctypes.string_at(a.options, a.options_size) if a.options and a.options_size else b""
    a.executable = _loaded(ctypes.string_at(a.bytes, a.size), given, owner_of(a.client))


@implements("LoadedExecutable_GetExecutable")
def _unloaded(a: Any) -> None:
    loaded: Executable = owner_of(a.loaded)
    a.executable = Executable(loaded.program, loaded.device).handle


# -- questions -----------------------------------------------------------------------------------------------------------
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_forget = _DELETER(lambda handle: forget(handle))


class _Serialized(Owner):
    def __init__(self, content: bytes) -> None:
        super().__init__(ActivationRecord())
        self.content = Text(content)


def _hand_over(a: Any, content: bytes) -> None:
    made = _Serialized(content)
    a.bytes, a.size, a.owner = made.content.address, made.content.size, made.handle
    a.deleter = ctypes.cast(_forget, ctypes.c_void_p).value


@implements("Executable_Serialize")
def _serialize(a: Any) -> None:
    _hand_over(a, owner_of(a.executable).program.code)


@implements("LoadedExecutable_GetDeviceAssignment")
def _assignment(a: Any) -> None:
    record = owner_of(a.executable).record
    _hand_over(a, ctypes.string_at(record.assignment, record.assignment_size))


@implements("Executable_GetCostAnalysis")
def _cost(a: Any) -> None:
    executable: Executable = owner_of(a.executable)
    cost = executable.program.cost
    values = {"flops": cost.flops, "transcendentals": cost.transcendentals, "bytes accessed": cost.bytes_accessed}
    rows = (NamedValue * len(values))()
    names = [Text(name) for name in values]
    for row, name, value in zip(rows, names, values.values(), strict=True):
        row.struct_size, row.name, row.name_size, row.type, row.value_size = ctypes.sizeof(row), name.address, name.size, 3, 1
        ctypes.c_float.from_address(ctypes.addressof(row) + NamedValue.value.offset).value = float(value)
    executable._cost = rows, names  # type: ignore[attr-defined]  # jaxlib reads them as long as the executable lives
    a.count, a.properties = len(rows), ctypes.addressof(rows)


@implements("Executable_GetCompiledMemoryStats")
def _memory_stats(a: Any) -> None:
    program = owner_of(a.executable).program
    for name, _ in a._fields_[3:]:
        setattr(a, name, 0)
    a.code = program.code_size
    a.arguments = sum([s.byte_size for s in program.parameters if s.is_array])
    a.outputs = sum([s.byte_size for s in program.results if s.is_array])
    a.aliased = sum([program.parameters[k].byte_size for k in program.donated])
    a.temporary = program.temporary
    a.peak = a.arguments + a.outputs + a.temporary - a.aliased


_FORMAT = Text("hlo_with_config")


@implements("Executable_OptimizedProgram")
def _optimized(a: Any) -> None:
    made = owner_of(a.executable).program.optimized()
    program = Program.from_address(a.program)
    program.format, program.format_size = _FORMAT.address, _FORMAT.size
    if program.code:
        ctypes.memmove(program.code, made.address, made.size)
    program.code_size = made.size


# -- running ---------------------------------------------------------------------------------------------------------------
def execute(a: Any, address: int, why: int, activation: int | None) -> int | None:
    """What native code does not do. Returns the handle of an error, made by native code, or None."""
    executable: Executable = owner_of(a.executable)
    if why == modes.FAILED:
        raise executable.failure(activation or 0)
    if why == modes.NO_ACTIVATION:
        executable.activate()
        error: int | None = native().execute(address)
        return error
    _run(a, executable)
    return None


def _run(a: Any, executable: Executable) -> None:
    """By the backend's `execute`; what is wrong with the arguments is said here."""
    if executable.record.deleted:
        raise PjrtError("precondition", f"the executable of {executable.program.name} was deleted", "compile it again")
    if a.num_devices != 1:
        raise PjrtError("unimplemented", f"a program for {a.num_devices} devices", "the plugin has one device")
    program = executable.program
    if a.num_args != len(program.parameters):
        raise PjrtError("invalid", f"{program.name} takes {len(program.parameters)} arrays, got {a.num_args}")
    handles = c_list(c_list(a.arguments, ctypes.c_size_t, 1)[0], ctypes.c_size_t, a.num_args) if a.num_args else []
    given = ExecuteOptions.from_address(a.options)
    kept = set(c_list(given.non_donatable, ctypes.c_int64, given.num_non_donatable))
    donated = [handles[k] for k in sorted(program.donated - kept)]
    if len(set(donated)) < len(donated) or any(handles.count(h) > 1 for h in donated):
        raise PjrtError("invalid", "Attempt to donate the same buffer twice in Execute()", "pass different arrays")
    arrays = [_argument(handle, shape) for handle, shape in zip(handles, program.parameters, strict=True)]
    results = iter(program.run(arrays))
    made = []
    for code, dims in zip(executable.codes, executable.dims, strict=True):
        made.append(new_buffer(code, dims, executable.device.handle, next(results) if code != TOKEN else np.zeros((), np.bool_)))
    listed: Any = (ctypes.c_size_t * max(len(made), 1)).from_address(c_list(a.outputs, ctypes.c_size_t, 1)[0])
    listed[:len(made)] = made
    for handle in donated:
        native().delete(handle)
    if a.events:
        ctypes.c_size_t.from_address(a.events).value = native().ready_event


def _argument(handle: int, shape: Shape) -> Any:
    if not shape.is_array:
        record_of(handle)
        return None
    array = elements(handle)
    return array if array.shape == shape.dimensions else array_at(record_of(handle).data, shape.dimensions, shape.element_type.dtype)
