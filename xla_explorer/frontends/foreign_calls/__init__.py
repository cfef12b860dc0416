"""Foreign functions that a user registered with JAX by their address."""

from __future__ import annotations

from xla_explorer.frontends.foreign_calls.targets import bind_foreign_calls, registered_target

__all__ = ["bind_foreign_calls", "registered_target"]
