"""`%load_ext xla_explorer`: magics, completion, and diagnostics without internal frames."""

from __future__ import annotations

from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.notebook.completion import register_completion
from xla_explorer.notebook.diagnostics import show_without_frames
from xla_explorer.notebook.displays import register_displays
from xla_explorer.notebook.magics import HloMagics


def load(shell: Any) -> None:
    """Register everything with an IPython shell. Loading twice does no harm."""
    shell.register_magics(HloMagics)
    register_displays(shell)
    register_completion(shell)
    # One slot for all extensions: the first one keeps it.
    if not shell.custom_exceptions:
        shell.set_custom_exc((XlaExplorerError,), show_without_frames)
