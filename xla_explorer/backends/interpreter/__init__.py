"""The interpreter backend: the numpy evaluator behind the interfaces of a backend. Slow, trusted, runs everywhere."""

from __future__ import annotations

from xla_explorer.backends.interpreter.interpreter_platform import InterpreterPlatform


def platform() -> InterpreterPlatform:
    """The platform object that the registry hands out."""
    return InterpreterPlatform()
