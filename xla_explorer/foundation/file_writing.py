"""Atomic writes of users' files: a full disk or a stopped process leaves the old file intact.

The content is written to a temporary file in the same folder, which is then renamed. Locks between
processes last until the file is closed or the process ends.
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

from xla_explorer.foundation.diagnostic import XlaExplorerError


class FileWriteError(XlaExplorerError, OSError):
    """A file cannot be written; the previous content is untouched. `errno` is the system's."""


def write_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file whole or not at all, and return its path. Text is UTF-8.

    An existing file keeps its permissions, and a link its target. A pipe or device (`/dev/stdout`)
    is written directly.

    Raises
    ------
    FileWriteError
        With the cause and a next step; the previous content is then untouched.

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
def explained_writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Replace errors of the system in a block that writes `path` by a FileWriteError."""
    try:
        yield
    except FileWriteError:
        raise
    except OSError as problem:
        raise _explained(path, problem) from None
    except ValueError as problem:  # a name with a null byte
        raise FileWriteError(f"cannot write {path}: {problem}", "choose another name") from None


def _explained(path: str | os.PathLike[str], problem: OSError) -> FileWriteError:
    folder = os.path.dirname(os.path.realpath(path))
    cause, hint = problem.strerror or str(problem), "choose another place"
    if problem.errno == errno.ENOENT and not os.path.isdir(folder):
        cause, hint = f"the folder {folder} must exist", "create it first"
    elif problem.errno == errno.ENOENT:
        cause, hint = f"the system makes no files in {folder}", "choose a folder of your own"
    elif problem.errno == errno.EISDIR:
        cause, hint = "it is a folder", "add the name of a file"
    elif problem.errno == errno.ENOTDIR:
        cause, hint = f"{folder} must be a folder", "choose a folder"
    elif problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "choose a place that you may write, or change the permissions"
    elif problem.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free space there, or choose another disk"
    elif problem.errno == errno.ENAMETOOLONG:
        hint = "choose a shorter name"
    made = FileWriteError(f"cannot write {path}: {cause}", hint)
    made.errno, made.filename = problem.errno, os.fspath(path)
    return made


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` if the block succeeds and is removed otherwise.

    FileWriteError if the system refuses.
    """
    with explained_writing(os.fspath(path)), _replaced_file(os.fspath(path)) as file:
        yield file


@contextmanager
def _replaced_file(path: str) -> Iterator[BinaryIO]:
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
        handle, temporary = tempfile.mkstemp(
            prefix=f".{os.path.basename(target)[:40]}.", suffix=".part", dir=os.path.dirname(target)
        )
    except PermissionError:
        if mode is None:
            raise
        with open(target, "wb") as file:  # a writable file in a read-only folder
            yield file
        return
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # some systems report a full disk only here
        with suppress(OSError):  # a file system without permissions
            os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
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
