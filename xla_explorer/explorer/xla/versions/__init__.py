"""`xla-explorer versions`: one script under several versions of jax and sets of XLA's flags."""

from xla_explorer.explorer.xla.versions.comparing import Options, compare_versions
from xla_explorer.explorer.xla.versions.report import VersionRow, Versions

__all__ = ["Options", "VersionRow", "Versions", "compare_versions"]
