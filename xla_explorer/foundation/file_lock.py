"""Locks between processes: whoever holds an open file's lock holds it until the file is closed, or the process ends."""

from __future__ import annotations

import sys

if sys.platform == "win32":  # which has no such locks: everybody holds them

    def try_lock(handle: int) -> bool:
        """Take the lock of an open file if another process does not hold it."""
        return True

else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Take the lock of an open file if another process does not hold it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
