"""Serialised modules (`.hlo.pb`), without jaxlib or TensorFlow.

`read_hlo_proto` takes the bytes of an HloModuleProto, HloProto, HloSnapshot or
HloUnoptimizedSnapshot. `writer.write_hlo_proto` returns the bytes of an HloModuleProto; compiles do
not import it.
"""

from xla_explorer.frontends.hlo_proto.reader import (
    HloProtoContents,
    looks_like_proto,
    read_hlo_proto,
)

__all__ = ["HloProtoContents", "looks_like_proto", "read_hlo_proto"]
