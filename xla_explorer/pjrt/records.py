"""Records of the C interface's handles, in C memory that native code and Python read.

A handle is the address of a record. Errors, events and buffers are made and freed by native code;
the records of clients, devices, memories and executables belong to Python objects, found by
`owner_of`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeVar

from xla_explorer.pjrt.layouts import structure

T = TypeVar("T")
LIST_LENGTH = 64  # activations of an executable, dimensions of a buffer

ErrorRecord = structure("ErrorRecord", "code:q message:p message_size:z", "")
# waiting: 1 once the event happened, else a list of waiters. references: its owners. error: an
# ErrorRecord after a failure.
EventRecord = structure("EventRecord", "waiting:q references:q error:p", "")
WaiterRecord = structure("WaiterRecord", "next:q callback:p argument:p", "")
MemoryRecord = structure(
    "MemoryRecord",
    "number:q kind:p kind_size:z kind_number:q text:p text_size:z devices:p device_count:z",
    "",
)
DeviceRecord = structure(
    "DeviceRecord",
    "number:q kind:p kind_size:z text:p text_size:z memory:p memories:p memory_count:z "
    "bytes_in_use:q peak:q",
    "",
)
ClientRecord = structure(
    "ClientRecord",
    "name:p name_size:z version:p version_size:z devices:p device_count:z memories:p "
    "memory_count:z",
    "",
)
# next: the link of the list of executables that jaxlib has destroyed. native: true if `Execute` may
# run without Python. modes: of each parameter, see `native/execute.py`. sources: of each result,
# the parameter whose memory it takes over, or -1. slots: of each result, its place in the table, or
# -1 for a token. activations: addresses of ActivationRecord. patience: a run of more nanoseconds is
# queued; -1: none is. duration: of the newest run. running: the number of runs on the queue.
ExecutableRecord = structure(
    "ExecutableRecord",
    "next:p replicas:z partitions:z outputs:z name:p name_size:z fingerprint:p "
    "fingerprint_size:z code_size:q deleted:q types:p dims:p "
    "ranks:p kinds:p kind_sizes:p devices:p device_count:z assignment:p assignment_size:z "
    "native:q parameters:z entry:p modes:p sources:p slots:p templates:p activations:p "
    "activation_count:q patience:q duration:q "
    "running:q",
    "",
)
# busy: 1 while a caller uses the table.
ActivationRecord = structure("ActivationRecord", "busy:q table:p", "")
# deleted: 1 after it was deleted or donated, 2 while it is being donated. references: the users of
# its memory (itself among them while it is not deleted), plus HANDLE while jaxlib has the handle.
# owner: of the memory, see below. event: of the run that fills it, or null. order: its dimensions
# from the minor to the major one, or null for row-major.
BufferRecord = structure(
    "BufferRecord",
    "dims:p rank:z type:q device:p memory:p data:p nbytes:z deleted:q references:q owner:q "
    "release:p release_argument:p event:p order:p",
    "",
)
# One call of a program: its arguments, their modes, and its results. event: null if the caller
# waits. call: its `Execute_Args`, null on the queue.
JobRecord = structure(
    "JobRecord",
    "next:p executable:p event:p call:p count:q output_count:q buffers:p modes:p outputs:p",
    "",
)
HANDLE = 1 << 32
NO_OWNER, OURSELVES, EVENT, CALLBACK = range(
    4
)  # `owner`: of empty buffers, of our allocator, a transfer's event, a function of the caller


class Text:
    """Bytes that C code points to as long as this object lives."""

    def __init__(self, text: str | bytes) -> None:
        raw = text.encode() if isinstance(text, str) else text
        self.size = len(raw)
        self.memory = ctypes.create_string_buffer(raw, len(raw) + 1)
        self.address = ctypes.addressof(self.memory)


def outlives_python(value: T) -> T:
    """Return the object, which is never freed, nor its contents.

    jaxlib's last destructors call native code that reads and writes it. They run while Python
    clears its modules, and afterwards.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value


_owners: dict[int, Any] = outlives_python({})


class Owner:
    """A Python object with a record; its handle finds it until `forget`."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.handle: int = ctypes.addressof(record)
        self._kept: list[Any] = []
        _owners[self.handle] = self

    def text(self, field: str, text: str | bytes) -> None:
        """Set the fields `field` and `field_size`."""
        kept = Text(text)
        self._kept.append(kept)
        setattr(self.record, field, kept.address)
        setattr(self.record, field + "_size", kept.size)

    def array(self, field: str, kind: Any, values: Sequence[Any]) -> None:
        """Point a field to an array of C values."""
        kept = (kind * max(len(values), 1))(*values)
        self._kept.append(kept)
        setattr(self.record, field, ctypes.addressof(kept))


def owner_of(handle: int) -> Any:
    """Return the object of a handle that Python made."""
    return _owners[handle]


def forget(handle: int) -> None:
    """Forget the object of a handle that jaxlib has destroyed."""
    _owners.pop(handle, None)


def handles() -> int:
    """Return the number of objects that are alive, for tests."""
    return len(_owners)
