"""Modules from files and from whatever a user has in hand."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

# What MLIR text begins with, after comments; HLO text begins with HloModule, a name or a percent sign.
_MLIR = re.compile(r"(?:\s++|//[^\n]*+)*+(?:#[\w$]+\s*=|module\b(?!\s*\()|func(?:\.func)?\s|\"builtin\.module\"|\{-#)")

# A file's name where a text is wanted: a module has blanks and braces.
_PATH = re.compile(r"[^\s{}=]+\.(?:hlo|txt|mlir|mlirbc|stablehlo|mhlo|gz)", re.IGNORECASE)


class LoadError(XlaExplorerError, OSError):
    """A path that cannot be read as a module."""


def load(path: str | Path) -> Any:
    """Read a module from a file: HLO text (`.hlo`, `.txt`), StableHLO or MHLO (`.mlir` as text; as bytecode or portable artifact with the
    extra `jax`), also gzipped (`.gz`). A folder that XLA wrote with `--xla_dump_to` becomes an `XlaDump`.

    Raises:
        HloParseError: with the place in the file.
        LoadError: the file does not exist or cannot be read.
        DumpError: the folder holds no dump.
        StablehloError: MLIR text that cannot be read, with the place; StablehloUnsupportedError: with the Reason.
        MissingExtraError, MlirConversionError: bytecode without jaxlib, or such that it refuses.
    """
    if isinstance(path, str) and ("\n" in path or path.startswith("HloModule ")):
        raise LoadError("this is a module's text, and xla_explorer.load reads files", "give a path, or the text to parse_hlo or compile")
    path = Path(path)
    if path.is_dir():
        from xla_explorer.explorer.xla_dump import XlaDump

        return XlaDump(path)
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise LoadError(f"cannot read {path}: {reason}", "give the path of a file of HLO text (.hlo, .txt, also .gz)") from None
    if {suffix.lower() for suffix in path.suffixes} & {".mlir", ".mlirbc", ".stablehlo", ".mhlo"}:
        if raw[:4] == b"ML\xefR":  # bytecode
            from xla_explorer.frontends.jax_program import module_from_mlir

            return module_from_mlir(raw, str(path))
        from xla_explorer.frontends.stablehlo import parse_stablehlo

        return parse_stablehlo(raw, str(path))
    return _module_of_text(raw, str(path))


def _module_of_text(text: str | bytes, filename: str | None) -> HloModule:
    """HLO text or MLIR text, by how it begins."""
    start = text[:4096] if isinstance(text, str) else text[:4096].decode("utf-8", "replace")
    if _MLIR.match(start) is None:
        return parse_hlo(text, filename)
    from xla_explorer.frontends.stablehlo import parse_stablehlo

    return parse_stablehlo(text, filename)


def as_module(given: Any, filename: str | None = None) -> HloModule:
    """A module from a module, HLO or StableHLO text (str or bytes), the path of a file, a traced function. TypeError for anything else."""
    if isinstance(given, HloModule):
        return given
    if isinstance(given, str | bytes | bytearray):
        if isinstance(given, str) and _PATH.fullmatch(given):
            return as_module(load(given))
        return _module_of_text(given if isinstance(given, str) else bytes(given), filename)
    if isinstance(given, Path):
        return as_module(load(given))
    module = getattr(given, "module", None)
    if isinstance(module, HloModule):
        return module
    raise TypeError(f"expected an HLO module, HLO text, a path or a traced function, got {type(given).__name__}")
