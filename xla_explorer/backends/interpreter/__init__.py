"""The evaluator behind a backend's interfaces."""

from __future__ import annotations

from xla_explorer.backends.interpreter.interpreter_platform import InterpreterPlatform


def platform() -> InterpreterPlatform:
    """Return the platform for the registry."""
    return InterpreterPlatform()
