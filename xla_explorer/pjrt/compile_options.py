"""JAX's options of a compile: the fields of XLA's CompileOptionsProto."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xla_explorer.frontends.protobuf import Message, MessageType

_OPTIONS = MessageType("CompileOptionsProto", build=3, overrides=7)
_BUILD = MessageType("ExecutableBuildOptionsProto", replicas=4, partitions=5, assignment=9)
_ASSIGNMENT = MessageType(
    "DeviceAssignmentProto", replica_count=1, computation_count=2, computation_devices=3
)
_COMPUTATION = MessageType("ComputationDevice", replica_device_ids=1)
_ENTRY = MessageType("EnvOptionOverridesEntry", key=1, value=2)
_OVERRIDE = MessageType("OptionOverrideProto", text=1, flag=2, number=3, real=4)


@dataclass
class CompileRequest:
    """replicas, partitions: how many devices share the program.

    devices: which, replica by replica; () for the first ones. overrides: JAX's `compiler_options`.
    """

    replicas: int = 1
    partitions: int = 1
    devices: tuple[int, ...] = ()
    overrides: dict[str, Any] = field(default_factory=dict)


def read_compile_options(data: bytes) -> CompileRequest:
    """Read serialised options. ProtoError for invalid ones."""
    message = Message(_OPTIONS, data)
    found = CompileRequest()
    build = message.message("build", _BUILD)
    if build is not None:
        found.replicas, found.partitions = (
            max(build.number("replicas"), 1),
            max(build.number("partitions"), 1),
        )
        assignment = build.message("assignment", _ASSIGNMENT)
        if assignment is not None:
            columns = [
                c.numbers("replica_device_ids")
                for c in assignment.messages("computation_devices", _COMPUTATION)
            ]
            found.devices = tuple([device for row in zip(*columns, strict=True) for device in row])
    for entry in message.messages("overrides", _ENTRY):
        value = entry.message("value", _OVERRIDE)
        found.overrides[entry.text("key")] = _value(value) if value is not None else ""
    return found


def _value(value: Message) -> Any:
    for name, read in (
        ("text", value.text),
        ("flag", value.flag),
        ("number", value.number),
        ("real", value.real),
    ):
        if value.has(name):
            return read(name)
    return ""
