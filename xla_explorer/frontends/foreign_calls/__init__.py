"""Foreign functions that a user registered with JAX by their address (`jax.ffi.register_ffi_target`), as programs of ours call them."""

from __future__ import annotations

from xla_explorer.frontends.foreign_calls.targets import bind_foreign_calls, registered_target

__all__ = ["bind_foreign_calls", "registered_target"]
