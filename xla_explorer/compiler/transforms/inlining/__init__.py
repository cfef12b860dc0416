"""Passes that bring called computations to their callers."""

from __future__ import annotations

from xla_explorer.compiler.transforms.inlining import call_inliner

__all__ = ["call_inliner"]
