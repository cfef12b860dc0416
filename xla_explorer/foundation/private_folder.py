"""Folders and files that only this user can write: what is read from them, and run, was written by this user.

Where the system has no owners and modes (Windows), its own folders for users are trusted.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def _is_ours(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or (
        status.st_uid == os.geteuid() and not status.st_mode & _BY_OTHERS
    )


def private_folder(path: Path) -> bool:
    """Make the folder, for this user alone, with what is missing above it. False where it is (or could be) written by somebody else.

    A folder of ours that others may write is closed to them. Raises OSError where it cannot be made."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    if not hasattr(os, "geteuid"):
        return True
    status = path.stat()
    if status.st_uid == os.geteuid() and status.st_mode & _BY_OTHERS:
        path.chmod(0o700)
        status = path.stat()
    return _is_ours(status)


def read_private(path: Path) -> bytes | None:
    """The content of a file that this user wrote and nobody else can write; None where it is missing, a link, foreign, or open to others.

    Raises OSError where it cannot be read for another reason."""
    try:
        handle = os.open(
            path,
            os.O_RDONLY
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_BINARY", 0),
        )
    except FileNotFoundError:
        return None
    except OSError:
        if path.is_symlink():
            return None
        raise
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        return file.read() if stat.S_ISREG(status.st_mode) and _is_ours(status) else None
