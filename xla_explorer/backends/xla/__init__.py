"""Real XLA in a child process, with its dump of every pass.

Needs the extra `jax`. Importing this does not import jax, and neither does using it: only the child
does.
"""

from __future__ import annotations

from xla_explorer.backends.xla.dumped_compile import dumped_stages, dumped_trace
from xla_explorer.backends.xla.xla_platform import XlaPlatform

__all__ = ["XlaPlatform", "dumped_stages", "dumped_trace", "platform"]


def platform(python: str | None = None) -> XlaPlatform:
    """Return the platform for the registry.

    python: another environment with its own jaxlib (`xla:FOLDER`).
    """
    return XlaPlatform(python)
