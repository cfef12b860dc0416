"""Passes that express one operation by simpler ones."""

from __future__ import annotations

from xla_explorer.compiler.transforms.expanders import logistic_expander

__all__ = ["logistic_expander"]
