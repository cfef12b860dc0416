"""The hook by which an interrupted compile raises KeyboardInterrupt in JAX, as on its own CPU.

Since 0.12 jaxlib compiles on the caller's thread, and the callback must hand an error back.
"""

from __future__ import annotations


def raise_interrupts(_: str) -> None:
    """Let JAX raise KeyboardInterrupt for the error of a compile that it interrupted."""
    from jax._src import compiler

    compiler.register_xla_runtime_error_handler(_interrupt)


def _interrupt(problem: BaseException) -> BaseException | None:
    return KeyboardInterrupt() if str(problem).startswith("CANCELLED: KeyboardInterrupt") else None
