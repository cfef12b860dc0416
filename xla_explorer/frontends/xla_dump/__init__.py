"""Folders that XLA writes with `--xla_dump_to`: which files belong together, and the modules in them."""

from __future__ import annotations

from xla_explorer.frontends.xla_dump.folder import DumpedModule, DumpedPass, DumpError, DumpFolder
from xla_explorer.frontends.xla_dump.fusion_steps import FusionVerdict, fusion_verdicts
from xla_explorer.frontends.xla_dump.snapshots import DumpedStage, read_stages

__all__ = ["DumpError", "DumpFolder", "DumpedModule", "DumpedPass", "DumpedStage", "FusionVerdict", "fusion_verdicts", "read_stages"]
