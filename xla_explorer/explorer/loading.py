"""Modules from files and from whatever a user has in hand."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from xla_explorer.explorer.not_yet import NotYetError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo


class LoadError(XlaExplorerError, OSError):
    """A path that cannot be read as a module."""


def load(path: str | Path) -> HloModule:
    """Read a module from a file of HLO text: `.hlo` or `.txt`, also gzipped (`.gz`).

    Raises:
        HloParseError: with the place in the file.
        LoadError: the file does not exist or cannot be read.
        NotYetError: `.mlir` files and dump folders.
    """
    path = Path(path)
    if path.is_dir():
        raise NotYetError(f"{path} is a folder: reading whole XLA dump folders is not there yet", "load one of its .txt files")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".mlir" in suffixes or ".stablehlo" in suffixes:
        raise NotYetError(f"{path}: reading StableHLO is not there yet", "convert it to HLO text, or export HLO text from its origin")
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise LoadError(f"cannot read {path}: {reason}", "give the path of a file of HLO text (.hlo, .txt, also .gz)") from None
    return parse_hlo(raw, str(path))


def as_module(given: Any, filename: str | None = None) -> HloModule:
    """A module from a module, HLO text (str or bytes), a traced function, or a path object. TypeError for anything else."""
    if isinstance(given, HloModule):
        return given
    if isinstance(given, str | bytes | bytearray):
        return parse_hlo(given if isinstance(given, str) else bytes(given), filename)
    if isinstance(given, Path):
        return load(given)
    module = getattr(given, "module", None)
    if isinstance(module, HloModule):
        return module
    raise TypeError(f"expected an HLO module, HLO text, a path or a traced function, got {type(given).__name__}")
