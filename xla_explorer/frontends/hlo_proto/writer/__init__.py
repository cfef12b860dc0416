"""HLO modules as serialized `HloModuleProto`: the inverse of the reader in the parent folder."""

from xla_explorer.frontends.hlo_proto.writer.module import (
    computation_proto,
    instruction_proto,
    write_hlo_proto,
)

__all__ = ["computation_proto", "instruction_proto", "write_hlo_proto"]
