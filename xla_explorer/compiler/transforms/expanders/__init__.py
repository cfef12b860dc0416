"""Passes that express one operation by simpler ones."""

from __future__ import annotations

from xla_explorer.compiler.transforms.expanders import change_op_data_type, logistic_expander

__all__ = ["change_op_data_type", "logistic_expander"]
