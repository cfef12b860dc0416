"""Exceptions as PJRT_Error: code, message and hint."""

from __future__ import annotations

import os
import sys
import traceback

from xla_explorer.backends.interfaces.host_arguments import ArgumentError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.stablehlo.errors import StablehloError, StablehloUnsupportedError
from xla_explorer.hlo.evaluator import UnsupportedOpcodeError
from xla_explorer.pjrt.layouts import ERROR_CODES
from xla_explorer.pjrt.plugin_options import PluginOptionError


class PjrtError(XlaExplorerError):
    """What a function of the interface refuses, with a status code by its name (`invalid`, `unimplemented`, ...)."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


# The first that fits.
_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "exhausted"), (PluginOptionError, "invalid"), (ArgumentError, "invalid"), (UnsupportedOpcodeError, "unimplemented"),
    (NotImplementedError, "unimplemented"), (StablehloUnsupportedError, "unimplemented"), (StablehloError, "invalid"),
    (KeyboardInterrupt, "cancelled"),
)  # fmt: skip


def code_and_message(problem: BaseException) -> tuple[int, bytes]:
    """The status code, and the text that JAX shows."""
    if os.environ.get("XLA_EXPLORER_PJRT_TRACEBACKS"):
        traceback.print_exception(problem, file=sys.stderr)
    code = problem.code if isinstance(problem, PjrtError) else next((c for kind, c in _CODES if isinstance(problem, kind)), "internal")
    text = str(problem) if isinstance(problem, XlaExplorerError) else f"{type(problem).__name__}: {problem}"
    return ERROR_CODES[code], text.encode()
