"""Folders that XLA writes with `--xla_dump_to`."""

from __future__ import annotations

from xla_explorer.frontends.xla_dump.autotuning import (
    AutotuningError,
    Tuned,
    plain_shape,
    read_autotuning,
)
from xla_explorer.frontends.xla_dump.folder import DumpedModule, DumpedPass, DumpError, DumpFolder
from xla_explorer.frontends.xla_dump.fusion_steps import FusionVerdict, fusion_verdicts
from xla_explorer.frontends.xla_dump.snapshots import DumpedStage, read_stages

__all__ = [
    "AutotuningError", "DumpError", "DumpFolder", "DumpedModule", "DumpedPass", "DumpedStage", "FusionVerdict", "Tuned", "fusion_verdicts",
    "plain_shape", "read_autotuning", "read_stages",
]  # fmt: skip
