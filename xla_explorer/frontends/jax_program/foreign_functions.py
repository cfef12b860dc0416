"""JAX's foreign functions: their interface version, and the registration of our native code."""

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
    """Return (major, minor) of the installed jaxlib's interface from its header, or None."""
    jax = import_optional("jax", "jax")
    try:
        text = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    except (AttributeError, OSError):
        return None
    found = dict(_VERSION.findall(text))
    return (int(found["MAJOR"]), int(found["MINOR"])) if len(found) == 2 else None


@functools.lru_cache(maxsize=1)
def program_target(handler: Callable[[int, int], int]) -> str | None:
    """Return the name under which our programs are registered for JAX's CPU.

    The first call registers them. None if the header of jaxlib's interface is missing. handler:
    returns the address of the function for an interface version.
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
    """Return JAX's function for whether this thread is outside of tracing.

    None if this version of JAX has no fast function for it.
    """
    import_optional("jax", "jax")
    try:
        from jax._src import core

        return core.trace_ctx.is_top_level  # type: ignore[no-any-return]
    except (ImportError, AttributeError):
        return None


def call_program(
    target: str, record: int, results: Any, arguments: Any, donated: dict[int, int]
) -> list[Any]:
    """Return the traced results of a program: a call of the foreign function.

    results: shapes and types. donated: argument number to the number of the result that reuses
    its memory.
    """
    jax, numpy = import_optional("jax", "jax"), import_optional("numpy", "jax")
    shapes = [jax.ShapeDtypeStruct(r.shape, r.dtype) for r in results]
    return list(
        jax.ffi.ffi_call(target, shapes, input_output_aliases=donated)(
            *arguments, record=numpy.int64(record)
        )
    )
