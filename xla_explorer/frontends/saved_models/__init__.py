"""Folders that hold StableHLO: TensorFlow's SavedModel and torch_xla's."""

from __future__ import annotations

from xla_explorer.frontends.saved_models.folders import SavedProgram, saved_programs

__all__ = ["SavedProgram", "saved_programs"]
