"""Entry of a child process: drop its privileges, then run `main()` of its module.

Run as `python -P -m xla_explorer.foundation.child_start MODULE PARENT process|thread ARGUMENTS...`
(`child_python.child_command`).

If the Linux kernel allows it, the child cannot gain privileges (no_new_privs) and has no network (a
namespace of its own). On other kernels and systems it runs without these limits. It is still a
process of this user, which reads and writes their files.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import sys
import threading
import time
from typing import Any, Final

from xla_explorer.foundation.collector import collector_paused, end_without_collecting

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_CAPABILITY_VERSION_3: Final = 0x20080522
_LOOK_EVERY: Final = 0.5  # seconds


def end_with_parent(parent: int, starter: str) -> None:
    """End this process when the parent ends.

    The kernel does it if the starting thread lives as long as the process; a thread polls as well.
    A program in an endless loop does not read from its pipe, and a killed parent closes nothing.
    """
    if starter == "process":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(0)


def confine() -> None:
    """Give up privileges to come and the network.

    Before any library has started a thread: Linux moves only single ones.
    """
    if not sys.platform.startswith("linux"):
        return
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    libc = _libc()
    unshare = getattr(libc, "unshare", None)
    if (
        unshare is None or unshare(_CLONE_NEWNET) == 0
    ):  # a system administrator needs no user namespace
        return
    user, group = os.geteuid(), os.getegid()
    if unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    # The namespace gave this process every capability within it, and it needs none.
    header, nothing = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capset(header, nothing)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        _libc().prctl(
            option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)
        )


def main() -> None:
    """Confine this process, tie it to its parent, run the module's `main()`."""
    module, parent, starter, *arguments = sys.argv[1:]
    end_without_collecting()
    confine()
    if sys.platform != "win32":
        end_with_parent(int(parent), starter)
    sys.argv = [module, *arguments]
    with collector_paused():  # imported modules stay
        start = importlib.import_module(module).main
    start()


if __name__ == "__main__":
    main()
