"""Files that an agent may name: those below the folders with which the server was started."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from xla_explorer.explorer.sessions.file_formats import MODULE_SUFFIXES
from xla_explorer.foundation.diagnostic import XlaExplorerError

MOST_BYTES: Final = 32 << 20
_MOST_LISTED: Final = 500
_MOST_WALKED: Final = 20_000


class RefusedError(XlaExplorerError, ValueError):
    """A request that the server does not carry out."""


class Folders:
    """The folders of a server. roots: their real paths."""

    def __init__(self, folders: Sequence[str | os.PathLike[str]]) -> None:
        self.roots: list[Path] = []
        for folder in folders:
            real = Path(folder).resolve()
            if not real.is_dir():
                raise RefusedError(f"{str(folder)!r} is no folder", "name folders with modules")
            self.roots.append(real)

    def file(self, name: str) -> Path:
        """Return the real path of a file of modules below a folder; RefusedError for another."""
        if not name or "\0" in name or len(name) > 1000 or not name.isprintable():
            raise RefusedError("a path must be printable text of at most 1000 characters")
        for root in self.roots:
            real = _resolved(root / name)
            if real is not None and real.is_relative_to(root):
                return self._checked(real, name)
        raise RefusedError(
            f"no file {name[:120]!r} below the folders of this server",
            'files() lists them; open(path="example:attention") needs no file',
        )

    def _checked(self, path: Path, name: str) -> Path:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError(f"{name[:120]!r} is no file", "name a file")
        if not _is_module(path.name):
            raise RefusedError(
                f"{name[:120]!r} does not end as a module does",
                f"endings: {', '.join(sorted(MODULE_SUFFIXES))}",
            )
        if status.st_size > MOST_BYTES:
            raise RefusedError(
                f"{name[:120]!r} has {status.st_size} bytes, more than {MOST_BYTES}",
                "minimize the module, or start from one of its computations",
            )
        return path

    def read(self, name: str) -> tuple[bytes, str]:
        """Return the bytes of a file and its name below its folder."""
        path = self.file(name)
        # The last part of a resolved path is no link; one that became a link since is refused.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise RefusedError(f"{name[:120]!r} grew beyond {MOST_BYTES} bytes")
        return raw, path.name

    def listed(self) -> list[tuple[str, int]]:
        """Return names below the folders and sizes, the newest first."""
        found = sorted(self._walk(), reverse=True)
        return [(name, size) for _, name, size in found[:_MOST_LISTED]]

    def _walk(self) -> Iterator[tuple[float, str, int]]:
        walked = 0
        for root in self.roots:
            for folder, _, names in os.walk(root, followlinks=False):
                for name in names:
                    walked += 1
                    if walked > _MOST_WALKED:
                        return
                    path = Path(folder) / name
                    if _is_module(name) and not path.is_symlink() and path.is_file():
                        status = path.stat()
                        yield status.st_mtime, str(path.relative_to(root)), status.st_size


def _is_module(name: str) -> bool:
    return name.lower().endswith(tuple(MODULE_SUFFIXES))


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
