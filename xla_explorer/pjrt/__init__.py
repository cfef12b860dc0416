"""A platform of JAX: unmodified programs on our compiler.

Start reading at `plugin.py`.

JAX finds this module by the entry point group `jax_plugins` and calls `initialize`. Every compile
of the process is a session: `xla_explorer.pjrt.sessions[-1].decisions("fusion")`. `options` sets
the options of compiles.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import TYPE_CHECKING, Any

from xla_explorer.pjrt.jax_hooks import capsule, register
from xla_explorer.pjrt.plugin import api_table

if TYPE_CHECKING:
    from xla_explorer.pjrt.plugin_options import options
    from xla_explorer.pjrt.session_list import sessions

__all__ = ["initialize", "options", "sessions", "table_address"]
PLATFORM = "xla_explorer"
_tables: list[Any] = []
_registered: list[Any] = []
# Start-up time: JAX imports this module in every process.
_LATER = {
    "options": "xla_explorer.pjrt.plugin_options",
    "sessions": "xla_explorer.pjrt.session_list",
}


def initialize() -> None:
    """Register the platform with JAX, below JAX's own CPU; JAX calls this.

    A second call does nothing. The file that XLA_EXPLORER_XLA_OVERRIDES names acts in real XLA.
    """
    if not _registered:
        if path := os.environ.get("XLA_EXPLORER_XLA_OVERRIDES"):
            from xla_explorer.explorer.xla.overrides.by_file import install_file

            install_file(path)
        table_address()
        _registered.append(capsule(_tables[0]))
        register(PLATFORM, _registered[0])


def table_address() -> int:
    """Return the address of the `PJRT_Api` of this process.

    The shared object of `xla-explorer pjrt-plugin` calls this function.
    """
    if not _tables:
        _tables.append(api_table())
    return ctypes.addressof(_tables[0])


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
