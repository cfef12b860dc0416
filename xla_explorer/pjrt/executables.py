"""Executables: compiling, JAX's queries about them, and runs that native code leaves to Python."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.cpu.activation import Activation, NativeCalls
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.frontends.protobuf.writing import bytes_field, number_field, numbers_field
from xla_explorer.hlo.evaluator import TOKEN_VALUE, evaluate_replicated, flatten_value
from xla_explorer.hlo.shape import Shape
from xla_explorer.pjrt.buffers import array_at, c_list, elements, new_buffer, record_of
from xla_explorer.pjrt.compile_options import read_compile_options
from xla_explorer.pjrt.compiled_program import CompiledProgram
from xla_explorer.pjrt.devices import Client, Device
from xla_explorer.pjrt.element_types import CODES, TOKEN
from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.layouts import ExecuteOptions, NamedValue, Program, struct_size
from xla_explorer.pjrt.native import execute as modes
from xla_explorer.pjrt.plugin_options import options
from xla_explorer.pjrt.profiling import trace
from xla_explorer.pjrt.program import compile_program
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


def _code_of(shape: Shape) -> int:
    return CODES[np.dtype(shape.element_type.dtype).name] if shape.is_array else TOKEN


class Executable(Owner):
    """An executable on its devices, one for each partition, and its record."""

    def __init__(self, program: CompiledProgram, devices: Sequence[Device]) -> None:
        replicas, partitions = program.replicas, len(devices) // program.replicas
        super().__init__(
            ExecutableRecord(
                replicas=replicas,
                partitions=partitions,
                code_size=program.code_size,
                device_count=len(devices),
            )
        )
        self.program, self.devices, self.device = program, tuple(devices), devices[0]
        self.codes = [_code_of(shape) for shape in program.results]
        self.dims = [shape.dimensions if shape.is_array else () for shape in program.results]
        if program.layout is not None:
            self.dims = [program.layout.shard_dimensions(k) for k in range(len(self.dims))]
        self.record.outputs = len(self.codes)
        self.text("name", program.name)
        self.text("fingerprint", program.fingerprint)
        self.array("types", ctypes.c_int32, self.codes)
        self.array("dims", ctypes.c_int64, [n for dims in self.dims for n in dims])
        self.array("ranks", ctypes.c_size_t, [len(dims) for dims in self.dims])
        self.kinds = [program.kind(k) for k in range(len(self.codes))]
        kinds = [Text(kind) for kind in self.kinds]
        self._kept.extend(kinds)
        self.array("kinds", ctypes.c_void_p, [kind.address for kind in kinds])
        self.array("kind_sizes", ctypes.c_size_t, [kind.size for kind in kinds])
        self.array("devices", ctypes.c_void_p, [device.handle for device in devices])
        # DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3
        # {replica_device_ids = 1}.
        columns = [[device.number for device in devices[k::partitions]] for k in range(partitions)]
        rows = b"".join([bytes_field(3, numbers_field(1, column)) for column in columns])
        self.text("assignment", number_field(1, replicas) + number_field(2, partitions) + rows)
        self._activations: list[Activation] = []
        self._lock = threading.Lock()
        self._places: Any = (ctypes.c_void_p * LIST_LENGTH)()
        self.record.activations = ctypes.addressof(self._places)
        if program.calls is not None:
            self._run_natively(program.calls)

    def _run_natively(self, calls: NativeCalls) -> None:
        """Set the fields of the record by which native code runs the program without Python."""
        program, record = self.program, self.record
        taken = [source for _, source in calls.results if source is not None]
        wanted = [
            modes.TAKEN
            if k in taken
            else modes.WRITTEN
            if k in calls.written
            else modes.DELETED
            if k in program.donated
            else modes.PLAIN
            for k in range(calls.parameters)
        ]
        self.array("modes", ctypes.c_int64, wanted)
        sources, slots, rest = [], [], iter(enumerate(calls.results))
        templates = (BufferRecord * max(len(self.codes), 1))()
        for template, code, dims, kind in zip(
            templates, self.codes, self.dims, self.kinds, strict=False
        ):
            number, (nbytes, source) = next(rest) if code != TOKEN else (-1, (1, None))
            sources.append(-1 if source is None else source)
            slots.append(-1 if number < 0 else calls.parameters + number)
            sizes = (ctypes.c_int64 * max(len(dims), 1))(*dims)
            self._kept.append(sizes)
            template.dims, template.rank, template.type = ctypes.addressof(sizes), len(dims), code
            template.device, template.memory = self.device.handle, self.device.memories[kind].handle
            template.nbytes, template.owner = nbytes, OURSELVES
        self._kept.append(templates)
        self.array("sources", ctypes.c_int64, sources)
        self.array("slots", ctypes.c_int64, slots)
        record.templates, record.entry, record.parameters = (
            ctypes.addressof(templates),
            calls.entry,
            calls.parameters,
        )
        record.patience = -1 if calls.calls_python else program.patience
        # Nothing has run yet: as long as the memory that it touches takes at 10 bytes a nanosecond.
        record.duration = (
            program.temporary
            + sum([s.byte_size for s in (*program.parameters, *program.results) if s.is_array])
        ) // 10
        record.native = int(max(map(len, self.dims), default=0) < LIST_LENGTH)

    def activate(self) -> None:
        """Add an activation, so that one more caller can run at the same time."""
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
        """Return the exception that ended a run, given its activation."""
        number = [self._places[k] for k in range(self.record.activation_count)].index(activation)
        return self._activations[number].take_failure() or XlaExplorerError(
            "the execution of a program failed"
        )


# -- compiling -------------------------------------------------------------------------------------
@default_floating_point()  # JAX's threads flush subnormal numbers
def _loaded(code: bytes, serialized_options: bytes, client: Client) -> int:
    request = read_compile_options(serialized_options)
    chosen = options.changed(request.overrides)
    if request.replicas > 1 and request.partitions > 1:
        raise PjrtError(
            "unimplemented",
            f"a program for {request.replicas} replicas of {request.partitions} partitions each",
            "use jax.shard_map, whose devices are partitions",
        )
    count = request.replicas * request.partitions
    wanted = request.devices or range(count)
    if len(wanted) != count or not all(0 <= d < len(client.all_devices) for d in wanted):
        raise PjrtError(
            "invalid",
            f"a program for the devices {list(wanted)}, of {len(client.all_devices)}",
            "set XLA_EXPLORER_PJRT_DEVICES",
        )
    compiled = compile_program(code, chosen, request.partitions)
    program = CompiledProgram(code, compiled, request.partitions, chosen.dispatch, request.replicas)
    return Executable(program, [client.all_devices[d] for d in wanted]).handle


@implements("Client_Compile")
def _compile(a: Any) -> None:
    forget_garbage()
    program = Program.from_address(a.program)
    form = ctypes.string_at(program.format, program.format_size).decode()
    if form not in ("mlir", "hlo"):
        raise PjrtError(
            "unimplemented",
            f"a program in the format {form!r} is not read",
            "pass StableHLO (mlir) or HLO (hlo)",
        )
    code = ctypes.string_at(program.code, program.code_size)
    a.executable = _loaded(
        code, ctypes.string_at(a.compile_options, a.compile_options_size), owner_of(a.client)
    )


@implements("Executable_DeserializeAndLoad")
def _deserialize(a: Any) -> None:
    """Compile the code again, or load it from the cache of native code."""
    forget_garbage()
    known = a.struct_size >= struct_size(type(a))  # an older jaxlib ends before the options
    given = (
        ctypes.string_at(a.options, a.options_size)
        if known and a.options and a.options_size
        else b""
    )
    a.executable = _loaded(ctypes.string_at(a.bytes, a.size), given, owner_of(a.client))


@implements("LoadedExecutable_GetExecutable")
def _unloaded(a: Any) -> None:
    loaded: Executable = owner_of(a.loaded)
    a.executable = Executable(loaded.program, loaded.devices).handle


# -- questions -------------------------------------------------------------------------------------
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
    values = {
        "flops": cost.flops,
        "transcendentals": cost.transcendentals,
        "bytes accessed": cost.bytes_accessed,
    }
    rows = (NamedValue * len(values))()
    names = [Text(name) for name in values]
    for row, name, value in zip(rows, names, values.values(), strict=True):
        row.struct_size, row.name, row.name_size, row.type, row.value_size = (
            ctypes.sizeof(row),
            name.address,
            name.size,
            3,
            1,
        )
        ctypes.c_float.from_address(ctypes.addressof(row) + NamedValue.value.offset).value = float(
            value
        )
    executable._cost = rows, names  # type: ignore[attr-defined]  # jaxlib reads them as long as the executable lives
    a.count, a.properties = len(rows), ctypes.addressof(rows)


@implements("Executable_GetCompiledMemoryStats")
def _memory_stats(a: Any) -> None:
    program = owner_of(a.executable).program
    given, made = program.device_bytes()
    arguments, outputs, aliased = sum(given), sum(made), sum([given[k] for k in program.donated])
    # The devices share the memory of one program that runs for all of them.
    temporary = -(-program.temporary // (program.layout.count if program.layout is not None else 1))
    peak = arguments + outputs + temporary - aliased
    values = {
        "code": program.code_size, "arguments": arguments, "outputs": outputs, "aliased": aliased, "temporary": temporary,
        "peak": peak, "total": peak, "total_allocation": peak, "indefinite": arguments + outputs - aliased, "peak_unpadded": peak,
    }  # fmt: skip
    for name, _ in a._fields_[3:]:
        if (
            getattr(type(a), name).offset < a.struct_size
        ):  # an older jaxlib ends before the last fields
            setattr(a, name, values.get(name, 0))


_FORMAT = Text("hlo_with_config")


@implements("Executable_OptimizedProgram")
def _optimized(a: Any) -> None:
    made = owner_of(a.executable).program.optimized()
    program = Program.from_address(a.program)
    program.format, program.format_size = _FORMAT.address, _FORMAT.size
    if program.code:
        ctypes.memmove(program.code, made.address, made.size)
    program.code_size = made.size


# -- running ---------------------------------------------------------------------------------------
def execute(a: Any, address: int, why: int, activation: int | None) -> int | None:
    """Handle an execution that native code leaves to Python.

    Returns the handle of an error, made by native code, or None.
    """
    executable: Executable = owner_of(a.executable)
    if why == modes.FAILED:
        raise executable.failure(activation or 0)
    if why == modes.NO_ACTIVATION:
        executable.activate()
        return None
    _run(a, executable)
    return None


def _run(a: Any, executable: Executable) -> None:
    """Run the backend's `execute`, after checks of the arguments."""
    if executable.record.deleted:
        raise PjrtError(
            "precondition",
            f"the executable of {executable.program.name} was deleted",
            "compile it again",
        )
    if a.num_devices != len(executable.devices):
        raise PjrtError(
            "invalid",
            f"{executable.program.name} runs on {len(executable.devices)} devices, got arrays for {a.num_devices}",
        )
    program, layout = executable.program, executable.program.layout
    if a.num_args != len(program.parameters):
        raise PjrtError(
            "invalid", f"{program.name} takes {len(program.parameters)} arrays, got {a.num_args}"
        )
    lists = (
        c_list(a.arguments, ctypes.c_size_t, a.num_devices) if a.num_args else [0] * a.num_devices
    )
    rows = [c_list(row, ctypes.c_size_t, a.num_args) for row in lists]
    given = ExecuteOptions.from_address(a.options)
    kept = set(c_list(given.non_donatable, ctypes.c_int64, given.num_non_donatable))
    donated = [row[k] for row in rows for k in sorted(program.donated - kept)]
    if len(set(donated)) < len(donated) or any(
        row.count(row[k]) > 1 for row in rows for k in program.donated - kept
    ):
        raise PjrtError(
            "invalid",
            "Attempt to donate the same buffer twice in Execute()",
            "pass different arrays",
        )
    shapes = program.parameters
    of_devices = program.of_devices()
    is_joined = layout is not None and of_devices is None
    if layout is not None and not is_joined:
        per_device = [
            [
                elements(handle) if s.is_array else None
                for handle, s in zip(row, shapes, strict=True)
            ]
            for row in rows
        ]
    elif layout is None:
        per_device = [
            [_argument(handle, shape) for handle, shape in zip(row, shapes, strict=True)]
            for row in rows
        ]
    else:
        per_device = [
            [
                layout.whole(k, [elements(row[k]) for row in rows]) if s.is_array else None
                for k, s in enumerate(shapes)
            ]
        ]
    found = (
        of_devices.run([[x for x in row if x is not None] for row in per_device])
        if of_devices is not None
        else _results(program, per_device)
    )
    wholes = [_with_tokens(executable, results) for results in found]
    outputs = c_list(a.outputs, ctypes.c_size_t, a.num_devices)
    for number, (device, place) in enumerate(zip(executable.devices, outputs, strict=True)):
        made, whole = [], wholes[0 if is_joined else number]
        for k, (code, dims) in enumerate(zip(executable.codes, executable.dims, strict=True)):
            part = whole[k]
            if is_joined and layout is not None and code != TOKEN:
                part = layout.shard(k, part, number)
            memory = device.memories[executable.kinds[k]].handle
            made.append(
                new_buffer(
                    code,
                    dims if layout is None else part.shape,
                    device.handle,
                    part,
                    program.orders.result(k),
                    memory,
                )
            )
        listed: Any = (ctypes.c_size_t * max(len(made), 1)).from_address(place)
        listed[: len(made)] = made
    for handle in donated:
        native().delete(handle)
    if a.events:
        events: Any = (ctypes.c_size_t * a.num_devices).from_address(a.events)
        events[:] = [native().ready_event] * a.num_devices


def _results(program: CompiledProgram, arguments: list[list[Any]]) -> list[Any]:
    """Return the results that are arrays, for each list of arguments."""
    if program.replicated is not None:
        answers = evaluate_replicated(
            program.replicated, arguments, replicas=program.replicas, partitions=1
        )
        return [
            [leaf for leaf in flatten_value(answer) if leaf is not TOKEN_VALUE]
            for answer in answers
        ]
    run = program.executable.execute
    return [
        trace.run(program.name, program.executable, given) if trace.active else run(given)
        for given in arguments
    ]


def _with_tokens(executable: Executable, results: Any) -> list[Any]:
    given = iter(results)
    return [next(given) if code != TOKEN else np.zeros((), np.bool_) for code in executable.codes]


def _argument(handle: int, shape: Shape) -> Any:
    if not shape.is_array:
        record_of(handle)
        return None
    array = elements(handle)
    return (
        array
        if array.shape == shape.dimensions
        else array_at(record_of(handle).data, shape.dimensions, shape.element_type.dtype)
    )
