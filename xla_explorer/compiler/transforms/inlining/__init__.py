"""Passes that bring called computations to their callers, or give every call its own copy."""

from __future__ import annotations

from xla_explorer.compiler.transforms.inlining import call_inliner, flatten_call_graph

__all__ = ["call_inliner", "flatten_call_graph"]
