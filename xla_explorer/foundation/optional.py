"""Import of optional packages, with one error that names the extra to install."""

from __future__ import annotations

import importlib
from types import ModuleType

from xla_explorer.foundation.diagnostic import XlaExplorerError


class MissingExtraError(XlaExplorerError, ImportError):
    """An optional package is not installed; the hint is the command that adds it."""


def import_optional(module: str, extra: str) -> ModuleType:
    """Import `module`, or raise MissingExtraError with `pip install "xla-explorer[extra]"`."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise MissingExtraError(
            f"this needs the package {module.split('.')[0]!r}, which is not installed ({problem})",
            f'pip install "xla-explorer[{extra}]"',
        ) from problem
