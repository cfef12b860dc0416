"""JAX's foreign functions: the interface's version, and how native code of ours becomes one that JAX's CPU calls."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xla_explorer.foundation.optional import import_optional

_TARGET = "xla_explorer_program"
_VERSION = re.compile(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)")


@functools.lru_cache(maxsize=1)
def interface_version() -> tuple[int, int] | None:
    """Major and minor of the installed jaxlib's interface, as its header says; None where there is no such header."""
    jax = import_optional("jax", "jax")
    try:
        text = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    except (AttributeError, OSError):
        return None
    found = dict(_VERSION.findall(text))
    return (int(found["MAJOR"]), int(found["MINOR"])) if len(found) == 2 else None


@functools.lru_cache(maxsize=1)
def program_target(handler: Callable[[int, int], int]) -> str | None:
    """The name under which JAX's CPU knows our programs, registered at the first call; None where jaxlib's version is not known.

    handler: the address of the function for an interface version.
    """
    version = interface_version()
    if version is None:
        return None
    jax = import_optional("jax", "jax")
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    jax.ffi.register_ffi_target(_TARGET, capsule(handler(*version), None, None), platform="cpu")
    return _TARGET


@functools.lru_cache(maxsize=1)
def tracing_nothing() -> Callable[[], bool] | None:
    """A function that says whether JAX is tracing nothing on this thread; None where this version of JAX has none that is as fast."""
    import_optional("jax", "jax")
    try:
        from jax._src import core

        return core.trace_ctx.is_top_level  # type: ignore[no-any-return]
    except (ImportError, AttributeError):
        return None


def call_program(
    target: str, record: int, results: Any, arguments: Any, given_away: dict[int, int]
) -> list[Any]:
    """The results of a program, traced: a call of the foreign function.

    results: shapes and types. given_away: for arguments whose memory a result takes over, its
    number.
    """
    jax, numpy = import_optional("jax", "jax"), import_optional("numpy", "jax")
    shapes = [jax.ShapeDtypeStruct(r.shape, r.dtype) for r in results]
    return list(
        jax.ffi.ffi_call(target, shapes, input_output_aliases=given_away)(
            *arguments, record=numpy.int64(record)
        )
    )
