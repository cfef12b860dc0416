"""The status code and the text of an exception, for PJRT_Error."""

from __future__ import annotations

import os
import sys
import traceback

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.pjrt.layouts import ERROR_CODES


class PjrtError(XlaExplorerError):
    """An error of the interface, with a status code by name (`invalid`, `unimplemented`, ...)."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


# Keyed by names of classes, so that their modules are not imported. A class that is not listed has
# the code of its nearest base that is.
_CODES = {
    "MemoryError": "exhausted", "PluginOptionError": "invalid", "ArgumentError": "invalid", "NotImplementedError": "unimplemented",
    "StablehloUnsupportedError": "unimplemented", "StablehloError": "invalid", "KeyboardInterrupt": "cancelled",
}  # fmt: skip


def code_and_message(problem: BaseException) -> tuple[int, bytes]:
    """Return the status code of an exception, and the text that JAX shows.

    A class without a code is `internal`. The environment variable XLA_EXPLORER_PJRT_TRACEBACKS
    prints the traceback too.
    """
    if os.environ.get("XLA_EXPLORER_PJRT_TRACEBACKS"):
        traceback.print_exception(problem, file=sys.stderr)
    listed = (_CODES[kind.__name__] for kind in type(problem).__mro__ if kind.__name__ in _CODES)
    code = problem.code if isinstance(problem, PjrtError) else next(listed, "internal")
    status = getattr(problem, "status", ERROR_CODES[code])  # a foreign function has its own code
    text = (
        str(problem)
        if isinstance(problem, XlaExplorerError)
        else f"{type(problem).__name__}: {problem}"
    )
    return status, text.encode()
