"""Runs LLVM IR that a student wrote, in a child process: a crash or an endless loop there is an answer, not the end of the notebook.

A kernel is `define void @name(ptr %x0, ..., ptr %out, i64 %n)`. The child reads requests and writes replies, a JSON line each.
"""

from __future__ import annotations

import ctypes
import json
import re
import select
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError

Array = np.ndarray[Any, Any]
SECONDS = 10.0


class KernelCrashedError(XlaExplorerError, RuntimeError):
    """The kernel ended its process, or did not end."""


class NativeChild:
    """The child process; started at the first request, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, ir: str, inputs: Sequence[Array], outputs: int, count: int) -> Array:
        """What the kernel of an IR text writes. LlvmIrError for IR that is none, KernelCrashedError when it does not come back."""
        reply = self._ask({"ir": ir, "inputs": [np.asarray(x, np.float32).tolist() for x in inputs], "outputs": outputs, "count": count})
        if "error" in reply:
            raise XlaExplorerError(reply["error"])
        return np.array(reply["output"], np.float32)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                child_command(__name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=child_environment(),
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except OSError:
            pass
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            self.close()
            raise KernelCrashedError(
                f"the kernel did not end within {SECONDS:g} s", "does the counter of the loop grow, and is it compared with %n?"
            )
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self.close()
            raise KernelCrashedError(
                f"the kernel ended its process (code {code})", "it read or wrote outside of its arrays: look at the loop's bounds"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def __enter__(self) -> NativeChild:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_ir(ir: str, *inputs: Any, outputs: int, count: int | None = None) -> Array:
    """Run the one kernel of an LLVM IR text on f32 vectors, in a child process. count: %n, by default the length of the first."""
    arrays = [np.asarray(x, np.float32) for x in inputs]
    with NativeChild() as child:
        return child.run(ir, arrays, outputs, len(arrays[0]) if count is None else count)


def optimized(ir: str) -> str:
    """The IR after LLVM's optimisation pipeline, for this machine."""
    from xla_explorer.backends.llvm.llvm_compiler import optimized_ir

    return optimized_ir(ir)


def main() -> None:
    """The child: answer lines until there are no more."""
    from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
    from xla_explorer.backends.llvm.native_library import NativeLibrary

    loaded: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            ir = request["ir"]
            inputs = [np.array(x, np.float32) for x in request["inputs"]]
            if ir not in loaded:
                names = re.findall(r"define\s+void\s+@([\w.$]+)\s*\(([^)]*)\)", ir)
                if len(names) != 1:
                    raise XlaExplorerError(
                        f"the text defines {len(names)} void functions, it must define one",
                        "define void @kernel(ptr %x0, ptr %out, i64 %n) { ... }",
                    )
                name, parameters = names[0]
                wanted = len(inputs) + 2
                if len(parameters.split(",")) != wanted:
                    raise XlaExplorerError(
                        f"@{name} takes {len(parameters.split(','))} parameters, {wanted} are passed",
                        "a pointer for each input, one for the output, and i64 %n",
                    )
                library = NativeLibrary(optimize_and_emit(ir).objects, exports=[name])
                loaded[ir] = library.bind(name, None, [*[ctypes.c_void_p] * (wanted - 1), ctypes.c_int64])
            output = np.full(request["outputs"], np.nan, np.float32)
            loaded[ir](*[x.ctypes.data for x in inputs], output.ctypes.data, request["count"])
            reply: dict[str, Any] = {"output": output.tolist()}
        except Exception as error:
            reply = {"error": f"{error}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()

