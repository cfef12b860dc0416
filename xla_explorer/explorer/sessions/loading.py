"""Modules from files, texts and objects that hold one."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from xla_explorer.explorer.sessions.file_formats import MLIR_SUFFIXES, MODULE_SUFFIXES
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import FileReadError, read_file, unpacked_bytes
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.limits import limited_run
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.frontends.hlo_proto import looks_like_proto, read_hlo_proto
from xla_explorer.frontends.mixed_precision import with_tpu_conversions, write_out_conversions
from xla_explorer.frontends.saved_models import saved_programs
from xla_explorer.frontends.stablehlo import (
    StablehloError,
    StablehloUnsupportedError,
    parse_stablehlo,
)
from xla_explorer.frontends.xla_dump import DumpFolder, read_stages
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

# What MLIR text begins with, after comments; HLO text begins with HloModule, a name or a percent
# sign.
_MLIR = re.compile(
    r"(?:\s++|//[^\n]*+)*+(?:#[\w$]+\s*=|module\b(?!\s*\()|func(?:\.func)?\s|\"builtin\.module\"|\{-#)"
)

# A file's name, even if no such file exists: a module's text has blanks and braces.
_PATH = re.compile(rf"[^\s{{}}=]+(?:{'|'.join(map(re.escape, MODULE_SUFFIXES))})", re.IGNORECASE)

_OTHER_DIALECT = re.compile(r"\b(?:vhlo|mhlo)\.\w")
_BYTECODE = b"ML\xefR"
_CONTAINER_HEAD = 1 << 20  # bytes of a container in which its bytecode begins
_LONGEST_PATH = 4096


class HasModule(Protocol):
    """A session, a trace, a dump, a traced function."""

    @property
    def module(self) -> HloModule:
        """The module."""


ModuleLike = HloModule | str | bytes | os.PathLike[str] | HasModule
"""A module, HLO or StableHLO text, the path of a file, or an object that has a module."""


class LoadError(XlaExplorerError, OSError):
    """A path that cannot be read as a module."""


class NotAModuleError(XlaExplorerError, TypeError):
    """The given object holds no module."""


class EntryChoice(NamedTuple):
    """A user's choices for MLIR: the entry function and the shapes of its arguments."""

    function: str | None = None
    shapes: Sequence[Any] | None = None

    @property
    def is_made(self) -> bool:
        """True if the user chose anything."""
        return self.function is not None or self.shapes is not None


NO_CHOICE = EntryChoice()


@limited_run()
@default_floating_point()
def load_module(path: str | os.PathLike[str], entry: EntryChoice = NO_CHOICE) -> HloModule:
    """Return the module of a file or folder; see `xe.load`.

    Of a folder that XLA wrote it is the optimised main module, of a saved model the largest
    StableHLO program.
    """
    checked = checked_path(path)
    found = saved_module(checked, entry)
    return module_of_file(checked, entry) if found is None else found


def saved_module(path: Path, entry: EntryChoice = NO_CHOICE) -> HloModule | None:
    """Return the largest StableHLO program of a saved model's folder; None for another path."""
    programs = saved_programs(path)
    if programs is None:
        return None
    program = max(programs, key=lambda one: len(one.raw))
    return module_of_bytes(program.raw, f"{path}:{program.name}", mlir=True, entry=entry)


def module_of_file(path: Path, entry: EntryChoice = NO_CHOICE) -> HloModule:
    """Return the module of a file, or the main one of a folder that XLA wrote."""
    try:
        if path.is_dir():
            _refuse_choice(entry, "a dump of XLA")
            return read_stages(DumpFolder(path).module(), only=())[1]
        raw = read_file(
            path,
            hint="give the path of a file of HLO text (.hlo, .txt) or of a proto (.hlo.pb), also "
            "gzipped (.gz)",
        )
    except FileReadError as problem:
        raise LoadError(problem.message, problem.hint) from None
    except (OSError, ValueError) as problem:  # a name that no file can have
        reason = getattr(problem, "strerror", None) or problem
        raise LoadError(
            f"cannot read {str(path)[:200]!r}: {reason}", "give the path of a file"
        ) from None
    is_mlir = bool({suffix.lower() for suffix in path.suffixes} & MLIR_SUFFIXES)
    return module_of_bytes(raw, str(path), mlir=is_mlir, entry=entry)


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the given value as a path.

    LoadError for the text of a module, NotAModuleError for a value that names no file.
    """
    if isinstance(path, str) and ("\n" in path or path.startswith("HloModule ")):
        raise LoadError(
            "this is a module's text, and xla_explorer.load reads files",
            "give a path, or the text to parse_hlo or compile",
        )
    if not isinstance(path, str | os.PathLike):
        raise NotAModuleError(
            f"expected the path of a file, got {type(path).__name__}",
            "xe.compile takes modules and text as well",
        )
    return Path(path)


def module_of_bytes(
    raw: bytes, filename: str | None, *, mlir: bool = False, entry: EntryChoice = NO_CHOICE
) -> HloModule:
    """Return the module of a file's bytes: HLO or MLIR text, an HLO proto, or MLIR bytecode.

    Each may be gzipped. mlir: the file's name ends as those of MLIR.
    """
    try:
        raw = unpacked_bytes(raw, filename or "the module")
    except FileReadError as problem:
        raise LoadError(problem.message, problem.hint) from None
    bytecode = _bytecode_inside(raw)
    if bytecode is not None:
        # jaxlib is optional.
        from xla_explorer.frontends.jax_program import foreign_mlir

        name = filename or "<mlir>"
        if entry.is_made:
            return parse_stablehlo(
                foreign_mlir.stablehlo_text(bytecode, name), name, **entry._asdict()
            )
        return foreign_mlir.module_of_foreign_mlir(bytecode, name)
    if looks_like_proto(raw):
        _refuse_choice(entry, "an HLO proto")
        return with_tpu_conversions(read_hlo_proto(raw, filename).module)
    if _BYTECODE in raw[:_CONTAINER_HEAD]:
        raise LoadError(
            f"{filename or 'the module'} holds MLIR bytecode in a container that is cut or damaged",
            "write exported.mlir_module_serialized of jax.export to a file",
        )
    return _module_of_text(raw, filename, mlir=mlir, entry=entry)


def _refuse_choice(entry: EntryChoice, what: str) -> None:
    for name, value in entry._asdict().items():
        if value is not None:
            has = "one entry" if name == "function" else "the shapes that it states"
            raise LoadError(
                f"{what} has {has}: `{name}` must be left out, got {value!r}", f"leave `{name}` out"
            )


def _bytecode_inside(raw: bytes) -> bytes | None:
    """Return MLIR bytecode, the file itself or inside jax.export's container (a FlatBuffer).

    None if there is none.
    """
    start = raw.find(_BYTECODE, 0, _CONTAINER_HEAD)
    if start <= 0:
        return None if start else raw
    size = int.from_bytes(raw[start - 4 : start], "little")  # the length of the vector is before it
    return raw[start : start + size] if len(_BYTECODE) < size <= len(raw) - start else None


def _module_of_text(
    text: str | bytes, filename: str | None, *, mlir: bool = False, entry: EntryChoice = NO_CHOICE
) -> HloModule:
    """Return the module of HLO or MLIR text. mlir: True if the file's name is one of MLIR."""
    start = text[:4096] if isinstance(text, str) else text[:4096].decode("utf-8", "replace")
    if not mlir and _MLIR.match(start) is None:
        _refuse_choice(entry, "HLO text")
        return with_tpu_conversions(parse_hlo(text, filename))
    try:
        return parse_stablehlo(text, filename, **entry._asdict())
    except StablehloError as problem:
        other = None if entry.is_made else _read_by_jaxlib(text, filename, problem)
        if other is None:
            raise
        return other


def _read_by_jaxlib(
    text: str | bytes, filename: str | None, problem: StablehloError
) -> HloModule | None:
    """Read a program whose dialect or operation our reader lacks; None if jaxlib cannot either."""
    plain = text if isinstance(text, str) else text.decode("utf-8", "replace")
    code = problem.reason.code if isinstance(problem, StablehloUnsupportedError) else ""
    if code not in ("dialect", "operation") and _OTHER_DIALECT.search(plain) is None:
        return None
    from xla_explorer.frontends.jax_program.foreign_mlir import module_of_foreign_mlir
    from xla_explorer.frontends.jax_program.mlir import MlirConversionError

    try:
        return module_of_foreign_mlir(plain, filename or "<mlir>")
    except (MissingExtraError, MlirConversionError):
        return None  # our reader's error has a place


@limited_run()
def as_module(given: Any, filename: str | None = None, entry: EntryChoice = NO_CHOICE) -> HloModule:
    """Return the module of an object that holds one.

    The object is a module, HLO or StableHLO text, bytes, the path of a file, a traced function, a
    session, or an object of JAX. Those are `Traced`, `Lowered`, `Compiled`, `Exported`,
    `ClosedJaxpr`, `ir.Module`, `XlaComputation`. NotAModuleError (a TypeError) for anything else.
    """
    if not isinstance(given, str | bytes | bytearray | os.PathLike):
        _refuse_choice(entry, f"a {type(given).__name__}")
    if isinstance(given, HloModule):
        return with_tpu_conversions(given)
    if isinstance(given, str):
        if _is_path(given):
            return load_module(given, entry)
        return _module_of_text(given, filename, entry=entry)
    if isinstance(given, bytes | bytearray):
        return module_of_bytes(bytes(given), filename, entry=entry)
    if isinstance(given, os.PathLike):
        return load_module(given, entry)
    from xla_explorer.frontends.jax_program.stages import is_stage, stage_module

    if is_stage(given):
        return stage_module(given)
    # Asked statically first: an AttributeError inside of a traced function is the user's, and must
    # not look like a missing attribute.
    if has_module(given) and isinstance(module := given.module, HloModule):
        return module
    raise NotAModuleError(
        "expected an HLO module, HLO text, a path or a traced function, got "
        f"{type(given).__name__}",
        (
            "write @xe.hlo above a function of HLO values; lower a JAX function: "
            "xe.compile(xe.from_jax(function, *arrays))"
        )
        if callable(given)
        else "give what xe.load read or xe.from_jax lowered",
    )


def has_module(given: Any) -> bool:
    """Return whether an object has an attribute `module`, without computing it."""
    return inspect.getattr_static(given, "module", None) is not None or "module" in getattr(
        given, "__dict__", ()
    )


def in_explicit_precision(module: HloModule) -> HloModule:
    """Return a copy of a module in which each change of float precision is a convert."""
    explicit = module.clone()
    write_out_conversions(explicit)
    return explicit


def _is_path(text: str) -> bool:
    """Return True if a text is the path of a file, by its form or since such a file exists."""
    if len(text) > _LONGEST_PATH or "\n" in text or "\0" in text:
        return False
    if _PATH.fullmatch(text):
        return True
    try:
        return bool(text) and os.path.exists(text)
    except (OSError, ValueError):
        return False
