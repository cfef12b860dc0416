"""The client, its devices and their memories.

Native code answers JAX's queries about them from their records.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from xla_explorer import __version__
from xla_explorer.pjrt.layouts import NamedValue
from xla_explorer.pjrt.plugin_options import options
from xla_explorer.pjrt.records import ClientRecord, DeviceRecord, MemoryRecord, Owner, Text
from xla_explorer.pjrt.state import implements

KINDS = ("device", "pinned_host", "unpinned_host")
"""Memory kinds, as JAX's CPU has them, the default one first; all are names of host memory."""


class PjrtMemory(Owner):
    """One of the memories of a device."""

    def __init__(self, number: int, kind: int) -> None:
        super().__init__(MemoryRecord(number=number, kind_number=kind))
        self.text("kind", KINDS[kind])
        self.text("text", f"xla_explorer memory {number}" + (f" ({KINDS[kind]})" if kind else ""))


class Device(Owner):
    """A device, and its description."""

    def __init__(self, number: int, memories: Sequence[PjrtMemory]) -> None:
        super().__init__(DeviceRecord(number=number, memory=memories[0].handle))
        self.number, self.memories = number, dict(zip(KINDS, memories, strict=True))
        self.text("kind", f"xla_explorer {options.backend}")
        self.text("text", f"XlaExplorerDevice(id={number})")
        self.array("memories", ctypes.c_void_p, [memory.handle for memory in memories])
        self.record.memory_count = len(memories)
        for memory in memories:
            memory.array("devices", ctypes.c_void_p, [self.handle])
            memory.record.device_count = 1


class Client(Owner):
    """The one client of the process, and its topology."""

    def __init__(self, count: int = 1) -> None:
        super().__init__(ClientRecord())
        rows = [
            [PjrtMemory(k + kind * count, kind) for kind in range(len(KINDS))] for k in range(count)
        ]
        self.all_devices = [Device(k, row) for k, row in enumerate(rows)]
        memories = [memory for row in rows for memory in row]
        self.text("name", options.platform)
        self.text("version", f"xla_explorer {__version__}")
        self.array("devices", ctypes.c_void_p, [d.handle for d in self.all_devices])
        self.array("memories", ctypes.c_void_p, [m.handle for m in memories])
        self.record.device_count, self.record.memory_count = count, len(memories)


@implements("Client_Create")
def _create(a: Any) -> None:
    a.client = Client(options.devices).handle


@implements("Client_DefaultDeviceAssignment")
def _default_assignment(a: Any) -> None:
    (ctypes.c_int * a.size).from_address(a.assignment)[:] = list(range(a.size))


_ATTRIBUTES: list[Any] = []


@implements("Plugin_Attributes")
def _attributes(a: Any) -> None:
    """Set the StableHLO version for which jaxlib serialises programs.

    It is jaxlib's current version, because jaxlib's own library reads the programs.
    """
    if "jaxlib" not in sys.modules:  # a host that passes HLO protos
        a.attributes, a.num_attributes = None, 0
        return
    from jaxlib.mlir.dialects import stablehlo  # optional: only a process with jaxlib comes here

    numbers = [int(part) for part in stablehlo.get_current_version().split(".")]
    version, name = (ctypes.c_int64 * len(numbers))(*numbers), Text("stablehlo_current_version")
    row = NamedValue(
        ctypes.sizeof(NamedValue),
        None,
        name.address,
        name.size,
        2,
        ctypes.addressof(version),
        len(numbers),
    )
    rows = (NamedValue * 1)(row)
    _ATTRIBUTES[:] = [version, name, rows]
    a.attributes, a.num_attributes = ctypes.addressof(rows), 1
