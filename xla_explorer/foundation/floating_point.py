"""The floating-point environment of a thread: a compile must not depend on its caller's.

XLA's threads, and libraries built with -ffast-math, set the flags that flush subnormal numbers to
zero. Python and numpy then compute other values: 1e-40 times one is zero, and numpy's smallest
subnormal number is zero, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator
from typing import Final

_LARGEST: Final = 512  # bytes of a `fenv_t`: 32 on x86-64, 8 on aarch64


@contextlib.contextmanager
def default_floating_point() -> Iterator[None]:
    """Round to nearest and keep subnormal numbers in this thread; restore its settings after."""
    found = _functions()
    if found is None:
        yield
        return
    library, default = found
    before = ctypes.create_string_buffer(_LARGEST)
    library.fegetenv(before)
    library.fesetenv(default)
    try:
        yield
    finally:
        library.fesetenv(before)


@functools.cache
def _functions() -> tuple[ctypes.CDLL, ctypes.c_void_p] | None:
    """Return C's functions on the environment and the address of its default; None if absent."""
    try:
        library = ctypes.CDLL(None)  # Python itself needs C's mathematics
        library.fegetenv.argtypes = library.fesetenv.argtypes = [ctypes.c_void_p]
        if sys.platform == "linux":  # FE_DFL_ENV is a number in glibc and musl
            return library, ctypes.c_void_p(-1)
        default = ctypes.c_char.in_dll(library, "_FE_DFL_ENV")  # macOS
        return library, ctypes.c_void_p(ctypes.addressof(default))
    except (OSError, AttributeError, TypeError, ValueError):
        return None
