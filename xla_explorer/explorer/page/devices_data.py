"""The data of the tab `devices`: mesh, shardings, steps, collectives, a simulated step, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.display.plain_data import plain
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.manual_regions import meshes_of
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram

MOST_COLLECTIVES, MOST_SLOTS, MOST_VALUES, MOST_STEPS = 200, 600, 200, 400
MOST_EXPLAINED = 12
"""Collectives whose explanation a page carries, the most exposed ones first."""


def partition_count(module: HloModule) -> int:
    """Return the devices of a program, by its header or its meshes."""
    stated = int(module.attributes.get("num_partitions") or 1)
    return max([stated, *[mesh.count for mesh in meshes_of(module).values()]])


def devices_data(module: HloModule) -> dict[str, Any] | None:
    """Return the data of the tab; None for a program of one device, or why there is none."""
    if partition_count(module) < 2:
        return None
    devices = Devices(module)
    try:
        placed = devices.placed
    except (XlaExplorerError, ValueError, AssertionError, NotImplementedError) as problem:
        return {"error": str(problem)}
    frame = devices.collectives
    names = list(frame["collective"])
    groups = {one.name: one.traffic for one in placed.collectives}
    memory, steps = devices.memory_per_device(), devices.steps()
    return {
        "topology": devices.topology,
        "figures": devices.figures(),
        "mesh": {
            "axes": [list(axis) for axis in placed.program.mesh.axes],
            "ids": list(placed.program.mesh.device_ids),
        },
        "links": plain(devices.links.values.tolist()),
        "collectives": plain(frame.head(MOST_COLLECTIVES).values.tolist()),
        "groups": {
            name: plain(groups[name].pairs or groups[name].groups)
            for name in names[:MOST_COLLECTIVES]
        },
        "why": {name: str(devices.why(name)) for name in names[:MOST_EXPLAINED]},
        "slots": _slots(placed),
        "step_us": placed.schedule.us,
        "memory": plain([list(row) for row in memory.rows[:MOST_VALUES]]),
        "peak": memory.headline(),
        "values": _values(placed),
        "steps": plain(steps.head(MOST_STEPS).values.tolist()),
        "counts": {"steps": len(steps), "memory": len(memory.rows)},
        "dropped": devices.dropped(),
    }


def _slots(placed: PlacedProgram) -> list[list[Any]]:
    """Return lane, name, start, time, exposed time of the entry's kernels and collectives."""
    entry = placed.program.module.entry
    slots = [slot for slot in placed.schedule.slots if slot.instruction.parent is entry]
    return [
        [slot.lane, f"%{slot.instruction.name}", slot.start_us, slot.us, slot.exposed_us]
        for slot in slots[:MOST_SLOTS]
    ]


def _values(placed: PlacedProgram) -> list[list[Any]]:
    """Return name, sizes, axes of each dimension, and bytes on one device of the values."""
    return [
        [
            f"%{row.name}",
            list(row.dimensions),
            [[str(axis).replace('"', "") for axis in axes] for axes in row.sharding.dimensions],
            row.local_bytes,
            row.replicas,
        ]
        for row in placed.program.report.rows[:MOST_VALUES]
    ]
