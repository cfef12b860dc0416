"""Protocol buffers without generated code: the wire format, and messages read by the names of their fields."""

from xla_explorer.frontends.protobuf.message import Message, MessageType, ProtoError

__all__ = ["Message", "MessageType", "ProtoError"]
