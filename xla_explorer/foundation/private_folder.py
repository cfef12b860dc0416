"""Folders and files writable only by this user, so that code read from them is the user's own.

Without owners and modes (Windows), the system's own user folders are trusted.
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
    """Make the folder and missing parents for this user alone; return False if others can write it.

    A folder of this user that others may write is closed to them. Raises OSError if it cannot be
    made.
    """
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
    """Return the content of a file that only this user can write, else None.

    None for a missing file, a link, another owner's file, or one that others may write. Raises
    OSError for other failures.
    """
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
