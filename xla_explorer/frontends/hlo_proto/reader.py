"""From the bytes of an HLO proto to a module, with the arguments of a snapshot."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.hlo_proto.literals import read_literal
from xla_explorer.frontends.hlo_proto.module_text import ModuleText
from xla_explorer.frontends.protobuf import Message, ProtoError
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import ShapeError
from xla_explorer.hlo.text import HloParseError, parse_hlo


class HloProtoContents(NamedTuple):
    """Contents of a proto.

    module: the program. arguments, result: of one run, if the proto is a snapshot. platform: of
    that run.
    """

    module: HloModule
    arguments: tuple[Literal, ...] = ()
    result: Literal | None = None
    platform: str = ""


def looks_like_proto(data: bytes) -> bool:
    """Return True if bytes are a serialized message rather than text.

    They begin with its first field, and contain bytes that no text has.
    """
    return data[:1] == b"\n" and any(byte < 9 for byte in data[:4096])


def read_hlo_proto(data: bytes | memoryview, filename: str | None = None) -> HloProtoContents:
    """Read an HLO module from a serialized proto.

    Parameters
    ----------
    data
        The bytes of an HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot.
    filename
        For messages.

    Returns
    -------
    HloProtoContents
        The module, and the other contents of the proto.

    Raises
    ------
    ProtoError
        The bytes are none of these messages, are cut off, or hold a module that contradicts itself.
    """
    data = memoryview(data)
    module = _module_message(data)
    if module is not None:
        return HloProtoContents(_module(module, filename))
    snapshot = Message(schema.SNAPSHOT, data)
    hlo = snapshot.message("hlo", schema.HLO)
    inside = hlo.message("hlo_module", schema.MODULE) if hlo is not None else None
    if inside is not None and _is_module(inside):
        arguments = tuple(
            [read_literal(one) for one in snapshot.messages("arguments", schema.LITERAL)]
        )
        result = snapshot.message("result", schema.LITERAL)
        value = read_literal(result) if result is not None else None
        return HloProtoContents(
            _module(inside, filename), arguments, value, snapshot.text("execution_platform")
        )
    raise ProtoError(
        f"{filename or 'the file'} holds no HLO module",
        "an HloModuleProto, HloProto or HloSnapshot is read",
    )


def _is_module(message: Message) -> bool:
    # The other messages have numbers of their own for computations, but none for an entry.
    return message.has("computations") and (
        message.has("entry_computation_id") or message.has("entry_computation_name")
    )


def _module_message(data: memoryview) -> Message | None:
    """Return the module of an HloModuleProto, HloProto or HloUnoptimizedSnapshot, or None."""
    try:
        module = Message(schema.MODULE, data)
        if _is_module(module):
            return module
    except ProtoError:
        pass
    try:
        inside = Message(schema.HLO, data).message("hlo_module", schema.MODULE)
        return inside if inside is not None and _is_module(inside) else None
    except ProtoError:
        return None


def _module(message: Message, filename: str | None) -> HloModule:
    text = ModuleText(message)
    try:
        module = parse_hlo(text.text, filename)
        for i in module.instructions():
            if (literal := text.constants.get(i.name)) is not None:
                i.parent.set_payload(i, read_literal(literal, i.shape))
    except HloParseError as problem:
        line = problem.span.line_text.strip()
        raise ProtoError(
            f"the HLO proto holds a module that is not valid: {problem.message} (in {line[:200]})",
            problem.hint,
        ) from problem
    except ShapeError as problem:
        raise ProtoError(
            f"the HLO proto holds a shape that cannot be: {problem}",
            "check that the file is complete",
        ) from problem
    return module
