"""`xla-explorer shard`: collectives of a program on several devices, their causes and changes."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from xla_explorer.cli.output import print_frame, print_json
from xla_explorer.explorer.devices.device_calls import answers
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.display.quantities import byte_count, microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.loading import EntryChoice, load_module
from xla_explorer.hlo.attributes.sharding_error import argument_error
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

_COLUMNS = ("collective", "opcode", "sent_bytes", "axes", "link", "exposed_us", "cause", "line")


def shard(given: Namespace) -> int:
    """Print the collectives, or why one is there."""
    module = load_module(given.file, EntryChoice(given.function, given.shapes))
    verify(module)
    stated = "; ".join(given.shardings) or None
    if given.search:
        found = Devices(module, given.topology, given.policy).search(
            given.mesh, keep=stated, memory=given.memory
        )
        return _printed(found, given.json)
    if given.mesh or stated:
        module = answers().annotated(module, given.mesh, stated)
    devices = Devices(module, given.topology, given.policy)
    devices.placed.program.check_meetings()
    if given.why or given.beside_xla:
        report = devices.why(given.why) if given.why else devices.compare_partitioning()
        return _printed(report, given.json)
    if given.shardings_of_values:
        print_frame(devices.shardings, as_json=given.json)
        return 0
    figures = devices.figures()
    if given.json:
        print_json({**figures, "rows": _records(devices.collectives)})
        return 0
    print(
        f"{module.name} on {given.topology}: a device sends {byte_count(figures['sent_bytes'])}"
        f" by {number_of(figures['collectives'], 'collective')}; step {microseconds(figures['step_us'])},"
        f" {microseconds(figures['exposed_us'])} of it exposed (estimates);"
        f" at most {byte_count(figures['peak_bytes'])} of memory"
    )
    print_frame(devices.collectives, _COLUMNS)
    return 0


def state_partitions(module: HloModule, count: int) -> None:
    """Write the number of devices to a module's header. ShardingError if it states another one."""
    stated = module.attributes.get("num_partitions")
    if count < 2:
        problem = f"at least 2 devices must be given, got {count}"
        hint = "one device runs without --partitions"
    elif stated is not None and int(stated) != count:
        problem = f"{module.name} is a program of {stated} devices"
        hint = f"give --partitions {stated}, or change num_partitions in the module's header"
    else:
        module.attributes["num_partitions"] = count
        return
    raise argument_error("--partitions", str(count), "", problem, hint)


def _printed(report: Report, as_json: bool) -> int:
    if as_json:
        print_json(report.to_json())
    else:
        print(report)
    return 0


def _records(frame: Any) -> Any:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")
