"""Command lines of Python child processes that import nothing from the working folder.

A `.hlo` file often arrives in a folder with other files, and `python -m` puts the working folder in
front of the path: a `numpy.py` there would run. So every command is made here, with `-P`. The child
gets the import path of this process in PYTHONPATH.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_HOME: Final = str(Path(__file__).resolve().parents[2])
_START: Final = "xla_explorer.foundation.child_start"

# Variables that programs need to find their files, libraries and settings. Everything else (tokens,
# passwords, addresses) is left out.
_NAMES: Final = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "APPDATA",
        "LOCALAPPDATA",
        "USERPROFILE",
        "NUMBER_OF_PROCESSORS",
    }
)
_BEGINNINGS: Final = (
    "LC_",
    "LD_",
    "DYLD_",
    "XDG_",
    "XLA_",
    "JAX_",
    "TF_",
    "LLVM_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "OPENBLAS_",
    "MKL_",
    "BLIS_",
    "MALLOC_",
    "GLIBC_",
    "CUDA_",
    "NVIDIA_",
    "HIP_",
    "ROCR_",
    "QEMU_",
    "ASAN_",
    "UBSAN_",
    "LSAN_",
    "TSAN_",
    "COVERAGE_",
    "COV_CORE_",
    "PYTHON",
)
_NEVER: Final = frozenset({"PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT"})


def python_command(module: str, *arguments: str) -> list[str]:
    """Return `python -m module`, without the working folder on its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def code_command(code: str, *arguments: str) -> list[str]:
    """Return `python -c code`, without the working folder on its path."""
    return [sys.executable, "-P", "-c", code, *arguments]


def script_command(script: str | os.PathLike[str], *arguments: str) -> list[str]:
    """Return `python SCRIPT`: a user's own script finds the modules beside it, as in a shell."""
    return [sys.executable, os.fspath(script), *arguments]


def child_command(
    module: str, *arguments: str, tied: bool = False, bare: bool = False
) -> list[str]:
    """Return the command of a confined child that runs `main()` of a module.

    The child ends with this process (see `child_start`). tied: the child may end with the thread
    that starts it. bare: the child starts without Python's `site`, which takes a third of the time.
    """
    # The kernel ends a child with the thread that started it; only the main thread is sure to live
    # as long as the process.
    starter = (
        "process" if tied or threading.current_thread() is threading.main_thread() else "thread"
    )
    command = python_command(_START, module, str(os.getpid()), starter, *arguments)
    return [command[0], "-S", *command[1:]] if bare else command


def foreign_command(python: str, module: str) -> list[str]:
    """Return the command of a child in another Python environment, for `foreign_environment`.

    Packages of that environment precede those of this one.
    """
    # This package from here, whatever is installed there. Everything else from there, also packages
    # installed next to this one here.
    place = os.path.join(_HOME, "xla_explorer")
    ours = (
        "import sys, importlib.util as u; sys.path[:] = list(filter(None, sys.path)); "
        f"s = u.spec_from_file_location('xla_explorer', {os.path.join(place, '__init__.py')!r}, "
        f"submodule_search_locations=[{place!r}]); "
        "m = sys.modules['xla_explorer'] = u.module_from_spec(s); s.loader.exec_module(m)"
    )
    start = (
        f"{ours}; import runpy; runpy.run_module({_START!r}, run_name='__main__', alter_sys=True)"
    )
    return [python, "-c", start, module, str(os.getpid()), "thread"]


def foreign_environment(**settings: str) -> dict[str, str]:
    """Return the variables for a process of another Python environment.

    Variables that lead to packages of this environment are left out.
    """
    left_out = ("PYTHON", "VIRTUAL_ENV", "CONDA_")
    return {
        name: value
        for name, value in child_environment(**settings).items()
        if not name.startswith(left_out)
    }


def child_environment(also: Iterable[str] = (), **settings: str) -> dict[str, str]:
    """Return the variables of a child: those that programs need, those of `also`, and the settings.

    >>> sorted(child_environment(MODE="quiet"))[-1] != "SECRET_TOKEN"
    True
    """
    wanted = frozenset(also)
    found = {
        name: value
        for name, value in os.environ.items()
        if name in wanted
        or (name not in _NEVER and (name in _NAMES or name.startswith(_BEGINNINGS)))
    }
    # In the order of this process: where the package is installed with others, one of them may be
    # named like a standard module.
    paths = [path for path in sys.path if path]
    found["PYTHONPATH"] = os.pathsep.join(paths if _HOME in paths else [*paths, _HOME])
    return {**found, **settings}
