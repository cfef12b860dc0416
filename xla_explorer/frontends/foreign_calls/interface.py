"""XLA's C interface of foreign functions (`xla/ffi/api/c_api.h`): structures and functions.

A handler runs on the caller's thread. There is no stream, no user context and no thread pool: a
scheduled task runs at once. State of a handler (`State_Set`) lives as long as its call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError

INSTANTIATE, PREPARE, INITIALIZE, EXECUTE = range(4)
STAGES = ("instantiate", "prepare", "initialize", "execute")
ARRAY, DICTIONARY, SCALAR, STRING = 1, 2, 3, 4  # XLA_FFI_AttrType
VERSION = (0, 1)
_CODES = {
    "p": ctypes.c_void_p,
    "z": ctypes.c_size_t,
    "q": ctypes.c_int64,
    "i": ctypes.c_int32,
    "s": ctypes.c_char_p,
}
_HEADER = "struct_size:z extension_start:p "
_BAD, _NOT_THERE = 3, 12  # absl's invalid argument, unimplemented


class ForeignError(XlaExplorerError):
    """The error of a foreign function, or of a call that is impossible. status: absl's code."""

    def __init__(self, message: str, hint: str = "", status: int = 13) -> None:
        super().__init__(message, hint)
        self.status = status


def _structure(name: str, fields: str, header: str = _HEADER) -> type[Any]:
    members = [field.split(":") for field in (header + fields).split()]
    return type(
        name,
        (ctypes.Structure,),
        {"_fields_": [(member, _CODES[code]) for member, code in members]},
    )


Buffer = _structure("Buffer", "dtype:i data:p rank:q dims:p")
Scalar = _structure("Scalar", "dtype:i value:p", "")
Numbers = _structure("Numbers", "dtype:i size:z data:p", "")
Text = _structure("Text", "data:p size:z", "")
Operands = _structure("Operands", "size:q types:p values:p")
Attributes = _structure("Attributes", "size:q types:p names:p values:p")
_Version = _structure("Version", "major:i minor:i")


class Frame(ctypes.Structure):
    """XLA_FFI_CallFrame."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("api", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int32),
        ("arguments", Operands),
        ("results", Operands),
        ("attributes", Attributes),
        ("future", ctypes.c_void_p),
    ]  # the type that ctypes requires


HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# In the order of XLA_FFI_Api. Those without fields are not offered.
_FUNCTIONS = """
Error_Create = message:s code:i
Error_GetMessage = error:p message:p
Error_Destroy = error:p
Handler_Register =
Stream_Get =
Type_Register = name:s name_size:z type_id:p info:p
ExecutionContext_Get =
State_Set = context:p stage:i type_id:p state:p
State_Get = context:p stage:i type_id:p state:p
DeviceMemory_Allocate =
DeviceMemory_Free =
ThreadPool_Schedule = context:p task:p data:p
ThreadPool_NumThreads = context:p count:p
Future_Create = future:p
Future_SetAvailable = future:p
Future_SetError = future:p error:p
RunId_Get = context:p number:q
DeviceOrdinal_Get = context:p number:i
"""


class ForeignState:
    """State that the handlers of one call have set, by stage. `address`: its identity for them."""

    def __init__(self) -> None:
        self.kept: dict[int, int] = {}
        self._place = ctypes.c_int64()
        self.address = ctypes.addressof(self._place)
        _states[self.address] = self


_states: dict[int, ForeignState] = {}
_errors: dict[int, tuple[int, Any]] = {}
_futures: dict[int, tuple[Any, list[int | None]]] = {}
_types: list[int] = []


def new_error(message: bytes, code: int) -> int:
    """Return the address of an error that a handler may return."""
    text = ctypes.create_string_buffer(message)
    _errors[ctypes.addressof(text)] = code, text
    return ctypes.addressof(text)


def take_error(address: int) -> tuple[int, str]:
    """Remove an error and return its (code, message)."""
    code, text = _errors.pop(address, (2, None))
    return code, text.value.decode(
        "utf-8", "replace"
    ) if text is not None else "a foreign function failed"


def take_future(address: int) -> int | None:
    """Remove a future and return its error, or None if the work succeeded.

    ForeignError if the future is not finished.
    """
    _, outcome = _futures.pop(address, (None, []))
    if not outcome:
        raise ForeignError(
            "a foreign function returned a future that is not finished",
            "finish the work before the handler returns",
        )
    return outcome[0]


def number_type(address: int) -> int:
    """Give a type that has no number yet, which is at an address, the next one."""
    number = ctypes.c_int64.from_address(address)
    if not number.value:
        _types.append(address)
        number.value = len(_types)
    return 0


def _set_state(a: Any) -> int:
    _states[a.context].kept[a.stage] = a.state or 0
    return 0


def _get_state(a: Any) -> int:
    kept = _states[a.context].kept
    if a.stage not in kept:
        return new_error(
            f"the handler has set no state in the stage {STAGES[a.stage]}".encode(), _BAD
        )
    a.state = kept[a.stage]
    return 0


def _schedule(a: Any) -> int:
    _TASK(a.task)(a.data)
    return 0


def _thread_count(a: Any) -> int:
    ctypes.c_int64.from_address(a.count).value = 1
    return 0


def _create_future(a: Any) -> int:
    place = ctypes.c_int64()
    a.future = ctypes.addressof(place)
    _futures[a.future] = place, []
    return 0


def _finish_future(a: Any) -> int:
    _futures[a.future][1].append(None)
    return 0


def _fail_future(a: Any) -> int:
    _futures[a.future][1].append(a.error)
    return 0


def _number(a: Any) -> int:
    a.number = 0
    return 0


def _message(a: Any) -> int:
    a.message = a.error  # an error's address is that of its text
    return 0


def _destroy_error(a: Any) -> int:
    _errors.pop(a.error, None)
    return 0


_IMPLEMENTED: dict[str, Callable[[Any], int]] = {
    "Error_Create": lambda a: new_error(a.message or b"", a.code), "Error_GetMessage": _message, "Error_Destroy": _destroy_error,
    "Type_Register": lambda a: number_type(a.type_id), "State_Set": _set_state, "State_Get": _get_state, "ThreadPool_Schedule": _schedule,
    "ThreadPool_NumThreads": _thread_count, "Future_Create": _create_future, "Future_SetAvailable": _finish_future,
    "Future_SetError": _fail_future, "RunId_Get": _number, "DeviceOrdinal_Get": _number,
}  # fmt: skip


def _callback(name: str, fields: str) -> Any:
    kind, function = _structure(name, fields), _IMPLEMENTED.get(name)

    def call(address: int) -> int | None:
        if function is None:
            return new_error(f"xla_explorer has no XLA_FFI_{name}".encode(), _NOT_THERE)
        try:
            return function(kind.from_address(address)) or None
        except BaseException as problem:  # it must not travel through native frames
            return new_error(f"{type(problem).__name__}: {problem}".encode(), _BAD)

    return HANDLER(call)


_table: list[Any] = []


def interface_address() -> int:
    """Return the address of the XLA_FFI_Api that handlers get, made at the first call."""
    if not _table:
        rows = [row.partition(" =") for row in _FUNCTIONS.strip().splitlines()]
        callbacks = [_callback(name, fields) for name, _, fields in rows]
        # struct_size, extension_start, the version's four fields in 24 bytes, internal_api, the
        # functions.
        words = (ctypes.c_uint64 * (6 + len(callbacks)))()
        words[0], words[2], words[4] = (
            ctypes.sizeof(words),
            ctypes.sizeof(_Version),
            VERSION[0] | VERSION[1] << 32,
        )
        for k, callback in enumerate(callbacks):
            words[6 + k] = ctypes.cast(callback, ctypes.c_void_p).value or 0
        _table.extend([words, callbacks])
    return ctypes.addressof(_table[0])
