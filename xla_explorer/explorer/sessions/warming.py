"""Loading ahead of time the modules of a first compile for a backend."""

from __future__ import annotations

from xla_explorer.backends.registry import platform


def warm_backend(backend: str) -> None:
    """Load and initialise a backend. UnknownBackendError with near names."""
    compiler = platform(backend).compiler()
    prepare = getattr(compiler, "warm_up", None)
    if prepare is not None:
        prepare()
