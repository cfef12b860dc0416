"""What JAX says of a compile: XLA's CompileOptionsProto, read by its fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xla_explorer.frontends.protobuf import Message, MessageType

_OPTIONS = MessageType("CompileOptionsProto", build=3, overrides=7)
_BUILD = MessageType("ExecutableBuildOptionsProto", replicas=4, partitions=5)
_ENTRY = MessageType("EnvOptionOverridesEntry", key=1, value=2)
_OVERRIDE = MessageType("OptionOverrideProto", text=1, flag=2, number=3, real=4)


@dataclass
class CompileRequest:
    """replicas, partitions: how many devices share the program. overrides: JAX's `compiler_options`."""

    replicas: int = 1
    partitions: int = 1
    overrides: dict[str, Any] = field(default_factory=dict)


def read_compile_options(data: bytes) -> CompileRequest:
    """Of serialised options. ProtoError where they are not what they should be."""
    message = Message(_OPTIONS, data)
    found = CompileRequest()
    build = message.message("build", _BUILD)
    if build is not None:
        found.replicas, found.partitions = max(build.number("replicas"), 1), max(build.number("partitions"), 1)
    for entry in message.messages("overrides", _ENTRY):
        value = entry.message("value", _OVERRIDE)
        found.overrides[entry.text("key")] = _value(value) if value is not None else ""
    return found


def _value(value: Message) -> Any:
    for name, read in (("text", value.text), ("flag", value.flag), ("number", value.number), ("real", value.real)):
        if value.has(name):
            return read(name)
    return ""
