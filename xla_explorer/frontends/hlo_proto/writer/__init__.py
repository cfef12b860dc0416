"""HLO modules as serialized `HloModuleProto`: the inverse of the reader in the parent folder."""

from xla_explorer.frontends.hlo_proto.writer.module import write_hlo_proto

__all__ = ["write_hlo_proto"]
