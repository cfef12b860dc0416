"""`xe.load`: a module from a file, or everything that a folder written by XLA holds."""

from __future__ import annotations

import os
from typing import Any

from xla_explorer.explorer.sessions.loading import checked_path, load_module
from xla_explorer.explorer.xla_dump import XlaDump


def load(path: str | os.PathLike[str]) -> Any:
    """Read a module from a file: HLO text (`.hlo`, `.txt`), StableHLO or MHLO (`.mlir` as text; as bytecode or portable artifact with the
    extra `jax`), also gzipped (`.gz`). A folder that XLA wrote with `--xla_dump_to` becomes an `XlaDump`.

    Raises:
        HloParseError: with the place in the file.
        LoadError: the file does not exist, cannot be read, or unpacks to more bytes than the environment's
            XLA_EXPLORER_LARGEST_FILE (1 GiB).
        DumpError: the folder holds no dump.
        StablehloError: MLIR text that cannot be read, with the place; StablehloUnsupportedError: with the Reason.
        MissingExtraError, MlirConversionError: bytecode without jaxlib, or such that it refuses.
    """
    checked = checked_path(path)
    return XlaDump(checked) if _is_folder(checked) else load_module(checked)


def _is_folder(path: os.PathLike[str]) -> bool:
    try:
        return os.path.isdir(path)
    except (OSError, ValueError):  # a name that no file can have; reading it says what is wrong
        return False
