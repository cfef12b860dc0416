"""Native code of functions that only read a record, and of errors and buffers.

They take no interpreter lock and cannot fail, because jaxlib ends the process if a getter fails.
"""

from __future__ import annotations

from typing import Any

from xla_explorer.compiler.codegen.ir.types import I64, PTR
from xla_explorer.pjrt import records as r
from xla_explorer.pjrt.layouts import ARGUMENTS, ERROR_CODES
from xla_explorer.pjrt.native.function import NativeFunction

_Fields = dict[str, str]
_TEXT = {"text": "text", "size": "text_size"}
_FINGERPRINT = {"text": "fingerprint", "size": "fingerprint_size"}
_DIMENSIONS = {"dims": "dims", "num_dims": "rank"}
_DEVICES = {"devices": "devices", "count": "device_count"}
_MEMORIES = {"memories": "memories", "count": "memory_count"}
_NAME = {"text": "name", "size": "name_size"}
_VERSION = {"text": "version", "size": "version_size"}
_KIND = {"text": "kind", "size": "kind_size"}
# function -> (record of its first argument, field of the arguments <- field of the record)
COPIES: dict[str, tuple[type[Any], _Fields]] = {
    "Error_Message": (r.ErrorRecord, {"message": "message", "message_size": "message_size"}),
    "Error_GetCode": (r.ErrorRecord, {"code": "code"}),
    "Client_PlatformName": (r.ClientRecord, _NAME),
    "Client_PlatformVersion": (r.ClientRecord, _VERSION),
    "TopologyDescription_PlatformName": (r.ClientRecord, _NAME),
    "TopologyDescription_PlatformVersion": (r.ClientRecord, _VERSION),
    "TopologyDescription_GetDeviceDescriptions": (
        r.ClientRecord,
        {"descriptions": "devices", "count": "device_count"},
    ),
    "Client_Devices": (r.ClientRecord, _DEVICES),
    "Client_AddressableDevices": (r.ClientRecord, _DEVICES),
    "Client_AddressableMemories": (r.ClientRecord, _MEMORIES),
    "DeviceDescription_Id": (r.DeviceRecord, {"id": "number"}),
    "DeviceDescription_Kind": (r.DeviceRecord, _KIND),
    "DeviceDescription_DebugString": (r.DeviceRecord, _TEXT),
    "DeviceDescription_ToString": (r.DeviceRecord, _TEXT),
    "Device_LocalHardwareId": (r.DeviceRecord, {"id": "number"}),
    "Device_AddressableMemories": (r.DeviceRecord, _MEMORIES),
    "Device_DefaultMemory": (r.DeviceRecord, {"memory": "memory"}),
    "Memory_Id": (r.MemoryRecord, {"id": "number"}),
    "Memory_Kind": (r.MemoryRecord, _KIND),
    "Memory_Kind_Id": (r.MemoryRecord, {"id": "kind_number"}),
    "Memory_DebugString": (r.MemoryRecord, _TEXT),
    "Memory_ToString": (r.MemoryRecord, _TEXT),
    "Memory_AddressableByDevices": (r.MemoryRecord, _DEVICES),
    "Executable_Name": (r.ExecutableRecord, _NAME),
    "Executable_NumReplicas": (r.ExecutableRecord, {"count": "replicas"}),
    "Executable_NumPartitions": (r.ExecutableRecord, {"count": "partitions"}),
    "Executable_NumOutputs": (r.ExecutableRecord, {"count": "outputs"}),
    "Executable_SizeOfGeneratedCodeInBytes": (r.ExecutableRecord, {"bytes": "code_size"}),
    "Executable_OutputElementTypes": (r.ExecutableRecord, {"types": "types", "count": "outputs"}),
    "Executable_OutputDimensions": (
        r.ExecutableRecord,
        {"dims": "dims", "ranks": "ranks", "count": "outputs"},
    ),
    "Executable_OutputMemoryKinds": (
        r.ExecutableRecord,
        {"kinds": "kinds", "sizes": "kind_sizes", "count": "outputs"},
    ),
    "Executable_Fingerprint": (r.ExecutableRecord, _FINGERPRINT),
    "LoadedExecutable_Fingerprint": (r.ExecutableRecord, _FINGERPRINT),
    "LoadedExecutable_AddressableDevices": (r.ExecutableRecord, _DEVICES),
    "LoadedExecutable_IsDeleted": (r.ExecutableRecord, {"is_deleted": "deleted"}),
    "Buffer_ElementType": (r.BufferRecord, {"type": "type"}),
    "Buffer_Dimensions": (r.BufferRecord, _DIMENSIONS),
    "Buffer_UnpaddedDimensions": (r.BufferRecord, _DIMENSIONS),
    "Buffer_OnDeviceSizeInBytes": (r.BufferRecord, {"size": "nbytes"}),
    "Buffer_Device": (r.BufferRecord, {"device": "device"}),
    "Buffer_Memory": (r.BufferRecord, {"memory": "memory"}),
}
# Constants that do not depend on the record.
CONSTANTS: dict[str, dict[str, int]] = {
    "Buffer_DynamicDimensionIndices": {"indices": 0, "count": 0},
    "Device_IsAddressable": {"is_addressable": 1},
    "Client_ProcessIndex": {"process_index": 0},
    "DeviceDescription_ProcessIndex": {"process_index": 0},
    "DeviceDescription_Attributes": {"count": 0, "attributes": 0},
    "TopologyDescription_Attributes": {"count": 0, "attributes": 0},
    "TopologyDescription_Destroy": {},
    "Client_Destroy": {},  # there is one client a process; jaxlib destroys it when the process ends
    "ExecuteContext_Create": {"context": 0},
    "ExecuteContext_Destroy": {},
}
# One object plays both.
SAME = {
    "Device_GetDescription": ("device", "description"),
    "Client_TopologyDescription": ("client", "topology"),
}
MESSAGES = {
    "no_memory": (
        ERROR_CODES["exhausted"],
        "no memory for a result of the program or the copy of an argument: delete arrays",
    ),
    "run_failed": (ERROR_CODES["internal"], "the execution of a program failed"),
    "no_such_device": (
        ERROR_CODES["not found"],
        "xla_explorer has no device of this number: jax.devices() lists those there are",
    ),
    "buffer_is_deleted": (
        ERROR_CODES["invalid"],
        "Array has been deleted or donated: keep a copy of what is used later",
    ),
    "ended": (ERROR_CODES["unavailable"], "Python has ended, and xla_explorer with it"),
}
DESCENDING = "descending"  # 63, 62, ... 0: every default layout is its end
HEADER = (
    f"""
@{DESCENDING} = constant [{r.LIST_LENGTH} x i64] [{", ".join([f"i64 {k}" for k in reversed(range(r.LIST_LENGTH))])}]
"""
    + "".join(
        [
            f'@{name}_text = constant [{len(text)} x i8] c"{text}"\n'
            for name, (_, text) in MESSAGES.items()
        ]
    )
    + (
        f"@ended_error = global {{i64, ptr, i64}} {{i64 {MESSAGES['ended'][0]}, ptr @ended_text, i64 {len(MESSAGES['ended'][1])}}}\n"
    )
)


def functions() -> list[NativeFunction]:
    """Return all functions of this module, named as in `PJRT_Api`."""
    made = [_copies(name, record, fields) for name, (record, fields) in COPIES.items()]
    made += [_constants(name, values) for name, values in CONSTANTS.items()]
    made += [_same(name, *fields) for name, fields in SAME.items()]
    return [
        *made, _memory_stats(), _layout(), _is_on_cpu(), _is_deleted(), _lookup("Client_LookupDevice"),
        _lookup("Client_LookupAddressableDevice"), _delete_executable(), *[_address(name) for name in _ADDRESSES],
        *[_on_first(name, function) for name, function in _DESTROYERS.items()],
        _hold_outside(), _let_go_outside(), _destroy_error(), _nothing(), *[_message(name) for name in MESSAGES],
    ]  # fmt: skip


# They wait until the memory is filled.
_ADDRESSES = ("Buffer_UnsafePointer", "Buffer_OpaqueDeviceMemoryDataPointer")
# function -> its action on the handle, unless the handle is null
_DESTROYERS = {
    "Buffer_Destroy": "destroy_buffer",
    "Buffer_Delete": "delete",
    "Event_Destroy": "destroy_event",
    "Executable_Destroy": "push",
    "LoadedExecutable_Destroy": "push",
}


def _begin(name: str) -> tuple[NativeFunction, Any, Any]:
    """Return (function, its argument structure, the handle)."""
    f = NativeFunction(name)
    arguments = ARGUMENTS[name]
    return f, arguments, f.get(arguments, f.parameters[0], arguments._fields_[2][0])


def _copies(name: str, record: type[Any], fields: _Fields) -> NativeFunction:
    f, arguments, handle = _begin(name)
    for to, source in fields.items():
        f.set(arguments, f.parameters[0], to, f.get(record, handle, source))
    f.give()
    return f


def _constants(name: str, values: dict[str, int]) -> NativeFunction:
    f = NativeFunction(name)
    for field, value in values.items():
        f.set(ARGUMENTS[name], f.parameters[0], field, value)
    f.give()
    return f


def _same(name: str, source: str, to: str) -> NativeFunction:
    f = NativeFunction(name)
    f.set(ARGUMENTS[name], f.parameters[0], to, f.get(ARGUMENTS[name], f.parameters[0], source))
    f.give()
    return f


def _on_first(name: str, function: str) -> NativeFunction:
    f, _, handle = _begin(name)
    with f.when(f.as_integer(handle).differs(0)):
        f.do(function, handle)
    f.give()
    return f


def _destroy_error() -> NativeFunction:
    f, _, handle = _begin("Error_Destroy")
    with f.when(f.as_integer(handle).differs(f.as_integer(f.global_address("ended_error")))):
        f.do("free", handle)
    f.give()
    return f


def _memory_stats() -> NativeFunction:
    f, arguments, device = _begin("Device_MemoryStats")
    for name, _ in arguments._fields_[3:]:
        f.set(arguments, f.parameters[0], name, 0)
    f.set(arguments, f.parameters[0], "bytes_in_use", f.get(r.DeviceRecord, device, "bytes_in_use"))
    f.set(arguments, f.parameters[0], "peak", f.get(r.DeviceRecord, device, "peak"))
    f.set(arguments, f.parameters[0], "peak_set", 1)
    f.give()
    return f


def _layout() -> NativeFunction:
    """Build `Buffer_GetMemoryLayout`: no tiles, and minor to major descends by default."""
    f, arguments, buffer = _begin("Buffer_GetMemoryLayout")
    rank = f.get(r.BufferRecord, buffer, "rank")
    values: dict[str, Any] = {
        "tile_dims": 0,
        "tile_dim_sizes": 0,
        "num_tiles": 0,
        "layout_type": 0,
        "minor_to_major_size": rank,
    }
    order = f.get(r.BufferRecord, buffer, "order")
    rows = f.element(f.global_address(DESCENDING), f.writer.number(r.LIST_LENGTH, I64) - rank)
    values["minor_to_major"] = f.writer.select(f.as_integer(order).equals(0), rows, order)
    for name, value in values.items():
        f.set(arguments, f.parameters[0], name, value)
    f.give()
    return f


def _is_on_cpu() -> NativeFunction:
    """Build `Buffer_IsOnCpu`: true if the elements are stored in rows.

    jaxlib then reads them in place as rows. Other arrays are copied.
    """
    f, arguments, buffer = _begin("Buffer_IsOnCpu")
    in_rows = f.as_integer(f.get(r.BufferRecord, buffer, "order")).equals(0)
    f.set(arguments, f.parameters[0], "is_on_cpu", f.writer.convert("zext", in_rows, "i64"))
    f.give()
    return f


def _is_deleted() -> NativeFunction:
    f, arguments, buffer = _begin("Buffer_IsDeleted")
    deleted = f.get(r.BufferRecord, buffer, "deleted").differs(0)
    f.set(arguments, f.parameters[0], "is_deleted", f.writer.convert("zext", deleted, "i64"))
    f.give()
    return f


def _lookup(name: str) -> NativeFunction:
    f, arguments, client = _begin(name)
    number = f.get(arguments, f.parameters[0], "id")
    there = f.writer.both(number >= 0, number < f.get(r.ClientRecord, client, "device_count"))
    with f.when(there):
        devices = f.get(r.ClientRecord, client, "devices")
        f.set(arguments, f.parameters[0], "device", f.writer.load(f.element(devices, number), PTR))
        f.give()
    f.give(f.call("no_such_device", PTR))
    return f


def _address(name: str) -> NativeFunction:
    f, arguments, buffer = _begin(name)
    error = f.call("wait_buffer", PTR, buffer)
    f.set(arguments, f.parameters[0], "address", f.get(r.BufferRecord, buffer, "data"))
    f.give(error)
    return f


def _hold_outside() -> NativeFunction:
    f, _, buffer = _begin("Buffer_IncreaseExternalReferenceCount")
    error = f.call("wait_buffer", PTR, buffer)
    with f.when(f.as_integer(error).differs(0)):
        f.give(error)
    f.do("add_reference", buffer)
    with f.when(f.get(r.BufferRecord, buffer, "deleted").differs(0)):
        f.do("drop_reference", buffer, f.writer.number(1, I64))
        f.give(f.call("buffer_is_deleted", PTR))
    f.give()
    return f


def _let_go_outside() -> NativeFunction:
    f, _, buffer = _begin("Buffer_DecreaseExternalReferenceCount")
    f.do("drop_reference", buffer, f.writer.number(1, I64))
    f.give()
    return f


def _nothing() -> NativeFunction:
    """Build a function without effect, for optional functions of other interfaces."""
    f = NativeFunction("nothing")
    f.give()
    return f


def _message(name: str) -> NativeFunction:
    """Build `ptr name()`: return an error with a constant text."""
    f = NativeFunction(name, [])
    code, text = MESSAGES[name]
    f.give(
        f.call(
            "new_error",
            PTR,
            f.writer.number(code, I64),
            f.global_address(f"{name}_text"),
            f.writer.number(len(text), I64),
        )
    )
    return f


def _delete_executable() -> NativeFunction:
    f, _, executable = _begin("LoadedExecutable_Delete")
    f.set(r.ExecutableRecord, executable, "deleted", 1)
    f.give()
    return f
