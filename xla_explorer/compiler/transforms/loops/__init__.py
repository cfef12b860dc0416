"""Passes on loops and conditionals."""

from __future__ import annotations

from xla_explorer.compiler.transforms.loops import (
    conditional_simplifier,
    invariant_code_motion,
    trip_count_annotator,
    while_loop_simplifier,
)

__all__ = ["conditional_simplifier", "invariant_code_motion", "trip_count_annotator", "while_loop_simplifier"]
