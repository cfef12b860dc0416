"""Warnings and refusals of programs for several devices, since real XLA runs here on one."""

from __future__ import annotations

from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import INTO, OUT_OF, meshes_of
from xla_explorer.hlo.evaluator import UnsupportedOpcodeError
from xla_explorer.hlo.module import HloModule

_INSTEAD = (
    "xe.explore(jax.jit(f).lower(...).compile()) shows what XLA compiled for each device, "
    "xe.hlo.evaluate_replicated runs a module on several"
)


class SeveralDevicesWarning(UserWarning):
    """A program for several devices is compiled and measured on one."""


def devices_of(module: HloModule) -> int:
    """Return how many devices a program was written for, by its header and its meshes."""
    replicas, partitions = _header_counts(module)
    return replicas * max([partitions, *[mesh.count for mesh in meshes_of(module).values()]])


def _header_counts(module: HloModule) -> tuple[int, int]:
    """Return (replicas, partitions) by the header."""
    return int(module.attributes.get("replica_count") or 1), int(
        module.attributes.get("num_partitions") or 1
    )


def measured_on_one(module: HloModule) -> str | None:
    """Return the warning for a program of several devices compiled for one; None for others."""
    count = devices_of(module)
    if count < 2:
        return None
    axes = "; ".join(
        [
            ", ".join([f"{name}={size}" for name, size in mesh.axes])
            for mesh in meshes_of(module).values()
            if mesh.axes
        ]
    )
    mesh = f" (mesh {axes})" if axes else ""
    return (
        f"{module.name} is for {count} devices{mesh}; real XLA compiles and measures it here on "
        "one, as a whole: "
        f"partitions and collectives that its shardings request are not included. {_INSTEAD}"
    )


def refuse_to_measure_on_one(module: HloModule) -> None:
    """Raise if one device cannot run the program; warn if the program is for several devices."""
    refusal = manual_region_error(module) or collective_error(module)
    if refusal is not None:
        raise refusal
    if (note := measured_on_one(module)) is not None:
        warn(note, SeveralDevicesWarning)


def manual_region_error(module: HloModule) -> UnsupportedOpcodeError | None:
    """Return the error of a module with a manual region (`shard_map`), else None.

    XLA can compile it only for its own number of devices.
    """
    for i in module.instructions():
        if custom_call_target(i) in INTO | OUT_OF:
            message = (
                f"%{i.name} borders a manual region (shard_map) of {devices_of(module)} devices; "
                "real XLA compiles here for one"
            )
            return UnsupportedOpcodeError(i.opcode.name, message, f'use backend="cpu"; {_INSTEAD}')
    return None


def collective_error(module: HloModule) -> UnsupportedOpcodeError | None:
    """Return the error of a module with a collective between several devices, else None.

    Real XLA runs on one device here, and the value of one device is not the result.
    """
    replicas, partitions = _header_counts(module)
    for i in module.instructions():
        groups = (
            i.attributes.value("replica_groups")
            if "replica_groups" in i.opcode.attributes
            else None
        )
        pairs = i.attributes.get("source_target_pairs") or ()
        count = max([len(group) for group in groups.groups], default=0) if groups is not None else 0
        if any(a != b for a, b in pairs) or (
            "replica_groups" in i.opcode.attributes and (count or replicas * partitions) > 1
        ):
            message = f"%{i.name} works between devices; real XLA runs here on one"
            return UnsupportedOpcodeError(
                i.opcode.name, message, "run the module with xe.hlo.evaluate_replicated"
            )
    return None
