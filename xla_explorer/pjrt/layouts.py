"""Structures and functions of PJRT's C API, version 0.81, as tables.

Later versions 0.x only append fields and functions. Each line of the tables is the name of a
structure and its fields as `field:code`. All structures begin with `struct_size` and
`extension_start`. Codes: p pointer, z size_t, i int32, q int64, b bool, f float. Source:
xla/pjrt/c/pjrt_c_api.h. The order of fields must not change; `tests/pjrt` compares the size of each
structure with the `struct_size` that jaxlib passes.
"""

from __future__ import annotations

import ctypes
from typing import Any

MAJOR, MINOR = 0, 81
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
"""A function of the API: takes a pointer to its `_Args`, returns a PJRT_Error or null."""
_CODES = {
    "p": ctypes.c_void_p,
    "z": ctypes.c_size_t,
    "i": ctypes.c_int32,
    "q": ctypes.c_int64,
    "b": ctypes.c_bool,
    "f": ctypes.c_float,
}
_HEADER = "struct_size:z extension_start:p "


def structure(name: str, fields: str, header: str = _HEADER) -> type[Any]:
    """Return a ctypes structure with the fields of the header and then those of a table's line."""
    members = [field.split(":") for field in (header + fields).split()]
    return type(
        name,
        (ctypes.Structure,),
        {"_fields_": [(member, _CODES[code]) for member, code in members]},
    )


def struct_size(kind: type[Any]) -> int:
    """Return PJRT's `struct_size` of a structure: the end of its last field, without padding."""
    field = getattr(kind, kind._fields_[-1][0])
    return int(field.offset + field.size)


_ARGUMENTS = """
Error_Destroy = error:p
Error_Message = error:p message:p message_size:z
Error_GetCode = error:p code:i
Plugin_Initialize =
Plugin_Attributes = attributes:p num_attributes:z
Event_Destroy = event:p
Event_IsReady = event:p is_ready:b
Event_Error = event:p
Event_Await = event:p
Event_OnReady = event:p callback:p user_arg:p
Client_Create = create_options:p num_options:z kv_get_callback:p kv_get_user_arg:p kv_put_callback:p kv_put_user_arg:p client:p \
    kv_try_get_callback:p kv_try_get_user_arg:p
Client_Destroy = client:p
Client_PlatformName = client:p text:p size:z
Client_ProcessIndex = client:p process_index:i
Client_PlatformVersion = client:p text:p size:z
Client_TopologyDescription = client:p topology:p
Client_Devices = client:p devices:p count:z
Client_AddressableDevices = client:p devices:p count:z
Client_LookupDevice = client:p id:i device:p
Client_LookupAddressableDevice = client:p id:i device:p
Client_AddressableMemories = client:p memories:p count:z
Client_Compile = client:p program:p compile_options:p compile_options_size:z executable:p
Client_DefaultDeviceAssignment = client:p num_replicas:i num_partitions:i size:z assignment:p
Client_BufferFromHostBuffer = client:p data:p type:i dims:p num_dims:z byte_strides:p num_byte_strides:z semantics:i device:p \
    memory:p layout:p done:p buffer:p
Client_CreateViewOfDeviceBuffer = client:p data:p dims:p num_dims:z type:i layout:p device:p on_delete:p on_delete_arg:p stream:p \
    buffer:p memory:p
Client_CreateUninitializedBuffer = client:p dims:p num_dims:z type:i layout:p device:p memory:p buffer:p
DeviceDescription_Id = description:p id:i
DeviceDescription_ProcessIndex = description:p process_index:i
DeviceDescription_Attributes = description:p count:z attributes:p
DeviceDescription_Kind = description:p text:p size:z
DeviceDescription_DebugString = description:p text:p size:z
DeviceDescription_ToString = description:p text:p size:z
Device_GetDescription = device:p description:p
Device_IsAddressable = device:p is_addressable:b
Device_LocalHardwareId = device:p id:i
Device_AddressableMemories = device:p memories:p count:z
Device_DefaultMemory = device:p memory:p
Device_MemoryStats = device:p bytes_in_use:q peak:q peak_set:b allocs:q allocs_set:b largest:q largest_set:b limit:q limit_set:b \
    reserved:q reserved_set:b peak_reserved:q peak_reserved_set:b reservable:q reservable_set:b free_block:q free_block_set:b pool:q \
    pool_set:b peak_pool:q peak_pool_set:b
Memory_Id = memory:p id:i
Memory_Kind = memory:p text:p size:z
Memory_Kind_Id = memory:p id:i
Memory_DebugString = memory:p text:p size:z
Memory_ToString = memory:p text:p size:z
Memory_AddressableByDevices = memory:p devices:p count:z
ExecuteContext_Create = context:p
ExecuteContext_Destroy = context:p
Executable_Destroy = executable:p
Executable_Name = executable:p text:p size:z
Executable_NumReplicas = executable:p count:z
Executable_NumPartitions = executable:p count:z
Executable_NumOutputs = executable:p count:z
Executable_SizeOfGeneratedCodeInBytes = executable:p bytes:q
Executable_GetCostAnalysis = executable:p count:z properties:p
Executable_OutputMemoryKinds = executable:p count:z kinds:p sizes:p
Executable_OutputElementTypes = executable:p types:p count:z
Executable_OutputDimensions = executable:p count:z dims:p ranks:p
Executable_OptimizedProgram = executable:p program:p
Executable_Serialize = executable:p bytes:p size:z owner:p deleter:p
Executable_Fingerprint = executable:p text:p size:z
Executable_GetCompiledMemoryStats = executable:p code:q arguments:q outputs:q aliased:q temporary:q host_code:q host_arguments:q \
    host_outputs:q host_aliased:q host_temporary:q peak:q total:q total_allocation:q indefinite:q peak_unpadded:q
Executable_DeserializeAndLoad = client:p bytes:p size:z executable:p options:p options_size:z
LoadedExecutable_Destroy = executable:p
LoadedExecutable_GetExecutable = loaded:p executable:p
LoadedExecutable_AddressableDevices = executable:p devices:p count:z
LoadedExecutable_Delete = executable:p
LoadedExecutable_IsDeleted = executable:p is_deleted:b
LoadedExecutable_Execute = executable:p options:p arguments:p num_devices:z num_args:z outputs:p events:p device:p
LoadedExecutable_Fingerprint = executable:p text:p size:z
LoadedExecutable_GetDeviceAssignment = executable:p bytes:p size:z owner:p deleter:p
Buffer_Destroy = buffer:p
Buffer_ElementType = buffer:p type:i
Buffer_Dimensions = buffer:p dims:p num_dims:z
Buffer_UnpaddedDimensions = buffer:p dims:p num_dims:z
Buffer_DynamicDimensionIndices = buffer:p indices:p count:z
Buffer_GetMemoryLayout = buffer:p layout_size:z layout_extension:p tiled_size:z tiled_extension:p minor_to_major:p \
    minor_to_major_size:z tile_dims:p tile_dim_sizes:p num_tiles:z layout_type:i
Buffer_OnDeviceSizeInBytes = buffer:p size:z
Buffer_Device = buffer:p device:p
Buffer_Memory = buffer:p memory:p
Buffer_Delete = buffer:p
Buffer_IsDeleted = buffer:p is_deleted:b
Buffer_CopyToDevice = buffer:p device:p result:p
Buffer_CopyToMemory = buffer:p memory:p result:p
Buffer_ToHostBuffer = buffer:p layout:p dst:p dst_size:z event:p
Buffer_CopyRawToHost = buffer:p dst:p offset:q size:q event:p
Buffer_IsOnCpu = buffer:p is_on_cpu:b
Buffer_ReadyEvent = buffer:p event:p
Buffer_UnsafePointer = buffer:p address:z
Buffer_IncreaseExternalReferenceCount = buffer:p
Buffer_DecreaseExternalReferenceCount = buffer:p
Buffer_OpaqueDeviceMemoryDataPointer = buffer:p address:p
TopologyDescription_Create = name:p name_size:z options:p num_options:z topology:p
TopologyDescription_Destroy = topology:p
TopologyDescription_PlatformName = topology:p text:p size:z
TopologyDescription_PlatformVersion = topology:p text:p size:z
TopologyDescription_GetDeviceDescriptions = topology:p descriptions:p count:z
TopologyDescription_Attributes = topology:p attributes:p count:z
"""
ARGUMENTS: dict[str, type[Any]] = {}
"""The argument structure of each function that this plugin implements."""
for _line in _ARGUMENTS.strip().splitlines():
    _name, _, _fields = _line.partition(" =")
    ARGUMENTS[_name] = structure(_name + "_Args", _fields)

Program = structure("Program", "code:p code_size:z format:p format_size:z")
ExecuteOptions = structure(
    "ExecuteOptions",
    "send:p recv:p num_send:z num_recv:z launch_id:i non_donatable:p num_non_donatable:z "
    "context:p location:p",
)
NamedValue = structure("NamedValue", "name:p name_size:z type:i value:p value_size:z")
MemoryLayout = structure(
    "MemoryLayout",
    "tiled_size:z tiled_extension:p first:p first_size:z tile_dims:p tile_dim_sizes:p "
    "num_tiles:z type:i",
)
Version = structure("Version", "major:i minor:i")

_FUNCTIONS = """
    Error_Destroy Error_Message Error_GetCode Plugin_Initialize Plugin_Attributes Event_Destroy Event_IsReady Event_Error Event_Await
    Event_OnReady Client_Create Client_Destroy Client_PlatformName Client_ProcessIndex Client_PlatformVersion Client_Devices
    Client_AddressableDevices Client_LookupDevice Client_LookupAddressableDevice Client_AddressableMemories Client_Compile
    Client_DefaultDeviceAssignment Client_BufferFromHostBuffer DeviceDescription_Id DeviceDescription_ProcessIndex
    DeviceDescription_Attributes DeviceDescription_Kind DeviceDescription_DebugString DeviceDescription_ToString Device_GetDescription
    Device_IsAddressable Device_LocalHardwareId Device_AddressableMemories Device_DefaultMemory Device_MemoryStats Memory_Id Memory_Kind
    Memory_DebugString Memory_ToString Memory_AddressableByDevices Executable_Destroy Executable_Name Executable_NumReplicas
    Executable_NumPartitions Executable_NumOutputs Executable_SizeOfGeneratedCodeInBytes Executable_GetCostAnalysis
    Executable_OutputMemoryKinds Executable_OptimizedProgram Executable_Serialize LoadedExecutable_Destroy LoadedExecutable_GetExecutable
    LoadedExecutable_AddressableDevices LoadedExecutable_Delete LoadedExecutable_IsDeleted LoadedExecutable_Execute
    Executable_DeserializeAndLoad LoadedExecutable_Fingerprint Buffer_Destroy Buffer_ElementType Buffer_Dimensions
    Buffer_UnpaddedDimensions Buffer_DynamicDimensionIndices Buffer_GetMemoryLayout Buffer_OnDeviceSizeInBytes Buffer_Device Buffer_Memory
    Buffer_Delete Buffer_IsDeleted Buffer_CopyToDevice Buffer_ToHostBuffer Buffer_IsOnCpu Buffer_ReadyEvent Buffer_UnsafePointer
    Buffer_IncreaseExternalReferenceCount Buffer_DecreaseExternalReferenceCount Buffer_OpaqueDeviceMemoryDataPointer
    CopyToDeviceStream_Destroy CopyToDeviceStream_AddChunk CopyToDeviceStream_TotalBytes CopyToDeviceStream_GranuleSize
    CopyToDeviceStream_CurrentBytes TopologyDescription_Create TopologyDescription_Destroy TopologyDescription_PlatformName
    TopologyDescription_PlatformVersion TopologyDescription_GetDeviceDescriptions TopologyDescription_Serialize
    TopologyDescription_Attributes Compile Executable_OutputElementTypes Executable_OutputDimensions Buffer_CopyToMemory
    Client_CreateViewOfDeviceBuffer Executable_Fingerprint Client_TopologyDescription Executable_GetCompiledMemoryStats Memory_Kind_Id
    ExecuteContext_Create ExecuteContext_Destroy Buffer_CopyRawToHost AsyncHostToDeviceTransferManager_Destroy
    AsyncHostToDeviceTransferManager_TransferData Client_CreateBuffersForAsyncHostToDevice AsyncHostToDeviceTransferManager_RetrieveBuffer
    AsyncHostToDeviceTransferManager_Device AsyncHostToDeviceTransferManager_BufferCount AsyncHostToDeviceTransferManager_BufferSize
    AsyncHostToDeviceTransferManager_SetBufferError AsyncHostToDeviceTransferManager_AddMetadata Client_DmaMap Client_DmaUnmap
    Client_CreateUninitializedBuffer Client_UpdateGlobalProcessInfo TopologyDescription_Deserialize Client_CreateAliasBuffer
    Client_FulfillAliasBuffer LoadedExecutable_GetDeviceAssignment
"""
FUNCTIONS = tuple(_FUNCTIONS.split())
"""The functions of PJRT_Api, in the order of its fields."""


class Api(ctypes.Structure):
    """PJRT_Api: the function table that `GetPjrtApi` returns to jaxlib."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", Version),
        *[(name, ctypes.c_void_p) for name in FUNCTIONS],
    ]


BUFFER_TYPES = (
    "", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
    "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e4m3fnuz", "int4",
    "uint4", "token", "int2", "uint2", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", "int1", "uint1",
    "float6_e2m3fn", "float6_e3m2fn",
)  # fmt: skip
"""PJRT_Buffer_Type: numpy's or ml_dtypes' name at the index of each value."""
ERROR_CODES = {
    "cancelled": 1, "unknown": 2, "invalid": 3, "deadline": 4, "not found": 5, "exists": 6, "denied": 7, "exhausted": 8, "precondition": 9,
    "aborted": 10, "out of range": 11, "unimplemented": 12, "internal": 13, "unavailable": 14, "data loss": 15,
}  # fmt: skip
"""PJRT_Error_Code, which has the values of absl::StatusCode, by a short name."""
