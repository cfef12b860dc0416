"""Models in folders that hold StableHLO: TensorFlow's SavedModel, and what torch_xla's `save_as_stablehlo` writes."""

from __future__ import annotations

from xla_explorer.frontends.saved_models.folders import SavedProgram, saved_programs

__all__ = ["SavedProgram", "saved_programs"]
