"""Protocol buffers without generated code."""

from xla_explorer.frontends.protobuf.message import Message, MessageType, ProtoError

__all__ = ["Message", "MessageType", "ProtoError"]
