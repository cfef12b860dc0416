"""OpenBLAS from the wheel `scipy-openblas32`, by symbol address, for native code to call.

The wheel is a base dependency. Its Python package is found but never imported: importing it loads
the library with OpenBLAS's own choice of core type. Interfaces: CBLAS (32-bit integers, row or
column major by argument), LAPACKE, and Fortran LAPACK (column major, arguments by pointer). All
have their standard names, without the wheel's prefix.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from xla_explorer.backends.llvm.target_machine import TargetDescription, host_target, why_not_here
from xla_explorer.compiler.codegen.lapack import LAPACK_SYMBOLS
from xla_explorer.foundation.diagnostic import XlaExplorerError

_PREFIX: Final = "scipy_"
_HINT: Final = "pip install scipy-openblas32"

CBLAS_ROW_MAJOR: Final = 101
CBLAS_COLUMN_MAJOR: Final = 102
CBLAS_NO_TRANSPOSE: Final = 111
CBLAS_TRANSPOSE: Final = 112
CBLAS_CONJUGATE_TRANSPOSE: Final = 113
CBLAS_UPPER: Final = 121
CBLAS_LOWER: Final = 122
CBLAS_NON_UNIT: Final = 131
CBLAS_UNIT: Final = 132
CBLAS_LEFT: Final = 141
CBLAS_RIGHT: Final = 142

# Routines by name without the type letter; each exists for s, d, c and z.
_CBLAS_ROUTINES: Final = (
    "gemm",
    "gemv",
    "trsm",
    "trmm",
    "gemm_batch",
    "gemm_batch_strided",
    "copy",
    "axpy",
)
_CBLAS_REAL_ROUTINES: Final = ("dot", "ger", "syrk")
_LAPACK_ROUTINES: Final = ("trtri", "trtrs")  # besides those that programs call


class BlasUnavailableError(XlaExplorerError):
    """No OpenBLAS is installed; the hint is the command that installs it."""


def blas_library_path() -> Path:
    """Return the path of the shared library in the wheel, without loading it.

    Raises BlasUnavailableError.
    """
    specification = importlib.util.find_spec("scipy_openblas32")
    if specification is None or not specification.submodule_search_locations:
        raise BlasUnavailableError("OpenBLAS is not installed", _HINT)
    folder = Path(next(iter(specification.submodule_search_locations))) / "lib"
    for suffix in (".so", ".dylib", ".dll"):
        for candidate in sorted(folder.glob(f"*scipy_openblas*{suffix}")):
            return candidate
    raise BlasUnavailableError(f"no OpenBLAS library in {folder}", f"{_HINT} --force-reinstall")


_CORE_TYPES: Final = {"x86-64-v2": "Nehalem", "x86-64-v3": "Haswell", "x86-64-v4": "SkylakeX"}


def preferred_core_type(target: TargetDescription) -> str | None:
    """Return the OPENBLAS_CORETYPE that this machine needs; None if OpenBLAS detects it.

    OpenBLAS does not recognise the newest AMD families and falls back to AVX2 kernels, at half the
    speed of the AVX-512 ones. On Intel it recognises AVX-512 (and better, its successors) itself. A
    level of x86-64 (XLA_EXPLORER_TARGET) has the kernels of its first CPUs, unless this machine
    could not execute them.
    """
    if target.cpu in _CORE_TYPES and why_not_here(target) is None:
        return _CORE_TYPES[target.cpu]
    needed = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
    if target.cpu.startswith("znver") and needed <= target.enabled_features:
        return "SkylakeX"
    return None


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the block, then restore them."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@functools.lru_cache(maxsize=1)
def load_blas() -> ctypes.CDLL:
    """Load the library once, with one thread per call, because programs partition the work.

    Raises BlasUnavailableError.

    OpenBLAS reads OPENBLAS_CORETYPE and OPENBLAS_NUM_THREADS only while it is loaded, so both are
    set for that moment. An OPENBLAS_CORETYPE of the environment is meant for numpy's and scipy's
    copies, often to work around the same fall-back. For this copy set XLA_EXPLORER_BLAS_CORETYPE.
    If the process has loaded this file before, its core type stays as it was: see `corename`.
    """
    path = blas_library_path()
    settings = {"OPENBLAS_NUM_THREADS": "1"}
    core_type = os.environ.get("XLA_EXPLORER_BLAS_CORETYPE") or preferred_core_type(host_target())
    if core_type:
        settings["OPENBLAS_CORETYPE"] = core_type
    with _environment(settings):
        try:
            library = ctypes.CDLL(str(path))
        except OSError as problem:
            raise BlasUnavailableError(
                f"cannot load {path.name}: {problem}", f"{_HINT} --force-reinstall"
            ) from problem
    set_threads = getattr(library, f"{_PREFIX}openblas_set_num_threads", None)
    if set_threads is not None:
        set_threads(ctypes.c_int(1))
    return library


def corename() -> str:
    """Return the kernels that OpenBLAS uses: `SkylakeX`, `Haswell`, `neoversen1` ...

    Raises BlasUnavailableError.
    """
    function = getattr(load_blas(), f"{_PREFIX}openblas_get_corename")
    function.restype = ctypes.c_char_p
    name: bytes = function()
    return name.decode()


def symbol_address(name: str) -> int:
    """Return a routine's address by its standard name: `cblas_sgemm`, `LAPACKE_spotrf`, `spotrf_`.

    Raises BlasUnavailableError, KeyError if the library exports no such routine.
    """
    address = _address(load_blas(), name)
    if not address:
        raise KeyError(f"OpenBLAS exports no {name!r}")
    return address


@functools.lru_cache(maxsize=1)
def _all_symbols() -> dict[str, int]:
    library = load_blas()
    names: list[str] = []
    for letter in "sdcz":
        real = letter in "sd"
        cblas = _CBLAS_ROUTINES + (_CBLAS_REAL_ROUTINES if real else ())
        names += [f"cblas_{letter}{routine}" for routine in cblas]
        names += [f"{letter}{routine}_" for routine in _LAPACK_ROUTINES]
    names += [
        f"LAPACKE_{name.removesuffix('_')}"
        for name in (*LAPACK_SYMBOLS, *names)
        if name.endswith("_")
    ]
    names += LAPACK_SYMBOLS
    found = ((name, _address(library, name)) for name in names)
    return {name: address for name, address in found if address}


def blas_symbols() -> dict[str, int]:
    """Return addresses by standard name, for `NativeLibrary(symbols=...)`.

    `cblas_{s,d,c,z}{gemm,gemv,trsm,trmm,...}`; LAPACK as `LAPACKE_spotrf` (row or column major;
    checks for NaN, may allocate) and as Fortran `spotrf_` (column major, by pointer): trtri, trtrs,
    and those of `LAPACK_SYMBOLS`. A routine that the library does not export is absent. Raises
    BlasUnavailableError.
    """
    return dict(_all_symbols())


def _address(library: ctypes.CDLL, name: str) -> int:
    try:
        function = getattr(library, _PREFIX + name)
    except AttributeError:
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0
