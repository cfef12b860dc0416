"""MLIR of other programs, read by jaxlib in a child process.

A damaged file may end the process that reads it, or corrupt its memory.

Requests, as `foundation.messages` over the child's own pipes: ("module", program), ("text",
bytecode) and ("triton", bytecode). Answers: ("ok", value), ("refused", message, hint) if jaxlib
rejects the program, ("missing", message, hint) if jaxlib is not installed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from xla_explorer.foundation.child_process import TIME_TO_START, ChildEndedError, MessagingChild
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.limits import Deadline, bounds, deadline, limited_run, uncounted
from xla_explorer.foundation.memory_limit import limit_memory_of
from xla_explorer.foundation.messages import own_streams, received, send
from xla_explorer.foundation.optional import MissingExtraError, import_optional
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.jax_program.mlir import (
    MlirConversionError,
    serialized_hlo,
    stablehlo_text_here,
    triton_text_here,
)
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.hlo.module import HloModule

_SECONDS: Final = 30.0
"""For a small file: a damaged one may make jaxlib go round for ever."""
_BYTES_A_SECOND: Final = 50_000  # more time for large files; jaxlib itself reads some ten million
_lock = threading.Lock()
_children: dict[int, MessagingChild] = {}
"""The child of each process that forked from this one, by its number."""


def module_of_foreign_mlir(program: str | bytes, filename: str) -> HloModule:
    """Return the module of StableHLO or MHLO from another program.

    The program is text, bytecode or a portable artifact.

    Raises
    ------
    MissingExtraError
        jaxlib is not installed.
    MlirConversionError
        jaxlib rejects the program, does not end, or ends its process.
    """
    import_optional("jaxlib", "jax")
    module = read_hlo_proto(_ask(filename, "module", program, filename), Path(filename).name).module
    complete_source_places(module)
    return module


def stablehlo_text(program: bytes, filename: str) -> str:
    """Return the text of StableHLO bytecode or of a portable artifact.

    Errors as of `module_of_foreign_mlir`.
    """
    import_optional("jaxlib", "jax")
    return str(_ask(filename, "text", program))


def triton_text(bytecode: bytes) -> str:
    """Return the text of a kernel's bytecode in Triton's dialect.

    Errors as of `module_of_foreign_mlir`.
    """
    import_optional("jaxlib", "jax")
    return str(_ask("the kernel's bytecode", "triton", bytecode))


def _ask(what: str, *request: Any) -> Any:
    seconds = _SECONDS + len(request[1]) / _BYTES_A_SECOND
    with _lock, limited_run():
        try:
            child = _ready_child()
            own, given = Deadline.after(seconds), deadline()
            until = own if given is None else min(own, given)
            state, *answer = child.ask(until, *request)
        except TimeoutError as late:
            raise MlirConversionError(
                f"{what} cannot be read: jaxlib {late}",
                "is the file complete? if it is only large, raise xe.options.timeout",
            ) from None
        except ChildEndedError as ended:
            message = f"{what} cannot be read: jaxlib's process {ended}"
            raise MlirConversionError(
                message,
                "the file is damaged, or was written by another version; your session is unharmed",
            ) from None
    if state == "ok":
        return answer[0]
    raise (MissingExtraError if state == "missing" else MlirConversionError)(*answer)


def _ready_child() -> MessagingChild:
    """Return the child, under the present limit of memory. No time limit counts its start."""
    child = _children.get(os.getpid())
    if child is None or not child.alive:
        command = child_command("xla_explorer.frontends.jax_program.foreign_mlir")
        child = _children[os.getpid()] = MessagingChild(
            command, child_environment(JAX_PLATFORMS="cpu")
        )
        with uncounted():
            child.ask(TIME_TO_START, "ready")
    limit_memory_of(child.pid, bounds().memory)
    return child


def _load() -> None:
    import_optional("jax", "jax")
    import_optional("jaxlib._jax", "jax")


def main() -> None:
    """Answer requests until the pipe closes."""
    requests, answers = own_streams()
    readers: dict[str, Callable[..., Any]] = {
        "ready": _load,
        "module": serialized_hlo,
        "text": stablehlo_text_here,
        "triton": triton_text_here,
    }
    for name, *arguments in received(requests):
        try:
            answer: tuple[Any, ...] = ("ok", readers[name](*arguments))
        except (MissingExtraError, MlirConversionError) as problem:
            answer = (
                "missing" if isinstance(problem, MissingExtraError) else "refused",
                problem.message,
                problem.hint or "",
            )
        except Exception as problem:  # whatever jaxlib raises is an answer
            answer = ("refused", f"jaxlib: {type(problem).__name__}: {problem}", "")
        send(answers, answer)


if __name__ == "__main__":
    sys.exit("this module is started by child_start")
