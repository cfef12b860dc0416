"""Reading of files from others: gzip is decompressed, with a limit on memory."""

from __future__ import annotations

import os
import stat
import zlib
from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError

LARGEST_VARIABLE = "XLA_EXPLORER_LARGEST_FILE"
LARGEST_UNPACKED = 1 << 30
"""Default limit of bytes of a decompressed file: 2 MB of gzip can hold 2 GB."""
_GZIP = b"\x1f\x8b"


class FileReadError(XlaExplorerError, OSError):
    """A file cannot be read whole."""


def read_file(path: str | os.PathLike[str], *, hint: str = "") -> bytes:
    """Return the bytes of a file, decompressed if it is gzipped.

    Parameters
    ----------
    path
        Of the file.
    hint
        The next step if the file cannot be read.

    Raises
    ------
    FileReadError
        The file is missing or damaged, or decompresses to more than
        `XLA_EXPLORER_LARGEST_FILE` bytes (1 GiB).
    """
    path = os.fspath(path)  # an integer would be a descriptor, which reading closes
    try:
        what = _no_file(path)
        if what:
            raise FileReadError(f"cannot read {path}: it is {what}", hint)
        raw = Path(path).read_bytes()
    except OSError as problem:
        raise FileReadError(f"cannot read {path}: {problem.strerror or problem}", hint) from None
    except (
        ValueError,
        MemoryError,
    ) as problem:  # a name with a null byte; a file larger than the memory
        raise FileReadError(
            f"cannot read {path}: {problem or 'it is larger than the memory'}", hint
        ) from None
    return unpacked_bytes(raw, str(path), hint=hint)


def _no_file(path: str | os.PathLike[str]) -> str:
    """Return the kind of a path other than a file, empty for a file.

    Reading a pipe may block without a writer, and a device has no end. Pipes from a shell, as in
    `run /dev/stdin` and `run <(command)`, have a writer and count as files.
    """
    mode = os.stat(path).st_mode
    if (
        stat.S_ISREG(mode)
        or stat.S_ISDIR(mode)
        or os.fspath(path).startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/"))
    ):
        return ""
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def unpacked_bytes(raw: bytes, name: str, *, hint: str = "") -> bytes:
    """Return `raw`, decompressed if it is gzipped; errors as in `read_file`."""
    if not raw.startswith(_GZIP):
        return raw
    most, parts, size, rest = _largest(), [], 0, raw
    while rest:
        stream = zlib.decompressobj(31)
        try:
            parts.append(stream.decompress(rest, most - size + 1))
        except zlib.error:
            raise FileReadError(
                f"cannot read {name}: its compressed data is damaged", hint
            ) from None
        except MemoryError:
            raise _too_large(name, len(raw), most) from None
        size += len(parts[-1])
        if size > most:
            raise _too_large(name, len(raw), most)
        if not stream.eof:
            raise FileReadError(f"cannot read {name}: the compressed data ends in the middle", hint)
        rest = stream.unused_data.lstrip(b"\0")
        if rest and not rest.startswith(_GZIP):
            raise FileReadError(
                f"cannot read {name}: the {len(rest)} bytes after the compressed data are not "
                "compressed",
                hint,
            )
    return b"".join(parts)


def _largest() -> int:
    given = os.environ.get(LARGEST_VARIABLE)
    if not given:
        return LARGEST_UNPACKED
    if not given.isdecimal() or int(given) == 0:
        raise FileReadError(
            f"{LARGEST_VARIABLE}={given!r} must be a number of bytes above zero",
            "such as 4000000000",
        )
    return int(given)


def _too_large(name: str, packed: int, most: int) -> FileReadError:
    return FileReadError(
        f"cannot read {name}: its {packed:,} bytes unpack to more than {most:,}",
        f"if it is meant to, set {LARGEST_VARIABLE} to the bytes it may take, or unpack it first",
    )
