"""Serialised modules (`.hlo.pb`), without jaxlib or TensorFlow.

`write_hlo_proto` returns the bytes of an HloModuleProto. `read_hlo_proto` takes the bytes of an
HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot.
"""

from xla_explorer.frontends.hlo_proto.reader import (
    HloProtoContents,
    looks_like_proto,
    read_hlo_proto,
)
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto

__all__ = ["HloProtoContents", "looks_like_proto", "read_hlo_proto", "write_hlo_proto"]
