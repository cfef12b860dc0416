"""Atomic writes of users' files: a full disk or a stopped process leaves the old file intact.

The content is written beside the file, then renamed. Locks between processes last until the file is
closed or the process ends.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file whole or not at all, and return its path. Text is UTF-8.

    An existing file keeps its permissions, and a link its target. A pipe or device (`/dev/stdout`)
    is written directly.

    Raises
    ------
    OSError
        As from the system; the previous content is then untouched.

    Examples
    --------
    >>> folder = tempfile.mkdtemp()
    >>> write_file(os.path.join(folder, "page.html"), "<p>new</p>").read_text()
    '<p>new</p>'
    """
    with replaced_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` if the block succeeds and is removed otherwise."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:  # a directory raises here
            yield file
        return
    target = os.path.realpath(path)
    if mode is not None and not os.access(target, os.W_OK):
        open(target, "r+b").close()  # raises if it is read-only, which a rename would ignore
    try:
        handle, beside = tempfile.mkstemp(
            prefix=f".{os.path.basename(target)[:40]}.", suffix=".part", dir=os.path.dirname(target)
        )
    except PermissionError:
        if mode is None:
            raise
        with open(target, "wb") as file:  # a writable file in a read-only folder
            yield file
        return
    except FileNotFoundError:
        folder = os.path.dirname(target)
        raise FileNotFoundError(
            errno.ENOENT,
            f"the folder {folder} must exist: create it first, to write",
            os.fspath(path),
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # some systems report a full disk only here
        with suppress(OSError):  # a file system without permissions
            os.chmod(beside, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _umask() -> int:
    """Return the process's umask; without /proc it can only be read by setting it."""
    with suppress(OSError, ValueError), open("/proc/self/status") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    found = os.umask(0o022)
    os.umask(found)
    return found


if sys.platform == "win32":  # no such locks: every process gets the lock

    def try_lock(handle: int) -> bool:
        """Take the lock of an open file if no other process holds it."""
        return True

else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Take the lock of an open file if no other process holds it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
