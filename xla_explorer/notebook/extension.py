"""What `%load_ext xla_explorer` does: magics, completion, and diagnostics without internal frames."""

from __future__ import annotations

from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.notebook.completion import complete_hlo_text, complete_magic_line
from xla_explorer.notebook.diagnostics import show_without_frames
from xla_explorer.notebook.displays import register_displays
from xla_explorer.notebook.magics import HloMagics


def load(shell: Any) -> None:
    """Register everything with an IPython shell. Loading twice does no harm."""
    shell.register_magics(HloMagics)
    register_displays(shell)
    for magic in ("%%hlo", "%%jax"):
        shell.set_hook("complete_command", complete_magic_line, str_key=magic)
    shell.set_hook("complete_command", complete_hlo_text, re_key=r".*=\s*\S+\s+[a-z\-]*$")
    # One slot for all extensions: leave it to whoever took it first.
    if not shell.custom_exceptions:
        shell.set_custom_exc((XlaExplorerError,), show_without_frames)
