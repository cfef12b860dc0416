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

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit, optimized_ir
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.course.checking.deadline import SECONDS
from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.child_python import child_command, child_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError

Array = np.ndarray[Any, Any]
GUARD = 64  # elements before and behind each array
_UNTOUCHED = 0x7FC0BEEF  # a NaN that no kernel computes: what the output and the guards hold before the run


class OutsideError(XlaExplorerError, IndexError):
    """The kernel wrote outside of its output."""


class NotWrittenError(XlaExplorerError):
    """The kernel left elements of its output as they were."""


class KernelCrashedError(XlaExplorerError, RuntimeError):
    """The kernel ended its process, or did not end."""


class NativeChild:
    """The child process; started at the first request, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, ir: str, inputs: Sequence[Array], outputs: int, count: int) -> Array:
        """What the kernel of an IR text writes. KernelCrashedError when it does not come back, OutsideError when it writes beyond its
        output, NotWrittenError when it leaves elements of it alone, XlaExplorerError with LLVM's sentence for IR that is none."""
        reply = self._ask({"ir": ir, "inputs": [np.asarray(x, np.float32).tolist() for x in inputs], "outputs": outputs, "count": count})
        if "error" in reply:
            raise XlaExplorerError(reply["error"])
        if reply["outside"]:
            places = ", ".join(map(str, reply["outside"][:3]))
            raise OutsideError(
                f"the kernel wrote element {places} of an output that has {outputs}", "which round of the loop is one too many?"
            )
        if reply["untouched"]:
            places = ", ".join(map(str, reply["untouched"][:3]))
            raise NotWrittenError(
                f"the kernel never wrote element {places} of its output", "is there a store, to %out at the loop's index, in every round?"
            )
        return np.array(reply["output"], np.float32)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        starts = self._process is None
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
        seconds = options.timeout or SECONDS
        if starts:
            seconds = max(seconds, SECONDS)  # the child loads LLVM first
        if not select.select([process.stdout], [], [], seconds)[0]:
            self.close()
            raise KernelCrashedError(
                f"the kernel did not end within {seconds:g} s", "does the counter of the loop grow, and is it compared with %n?"
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
    return optimized_ir(ir)


def _guarded(count: int) -> Array:
    """An array between two guards. What is read from a guard is a NaN, and a write there shows."""
    return np.full(count + 2 * GUARD, _UNTOUCHED, np.uint32).view(np.float32)


def main() -> None:
    """The child: answer lines until there are no more."""
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
            guarded = [_guarded(count) for count in [*map(len, inputs), request["outputs"]]]
            for place, x in zip(guarded, inputs, strict=False):
                place[GUARD : GUARD + len(x)] = x
            loaded[ir](*[place[GUARD:].ctypes.data for place in guarded], request["count"])
            whole, end = guarded[-1], GUARD + request["outputs"]
            untouched = whole.view(np.uint32) == _UNTOUCHED
            reply: dict[str, Any] = {
                "output": whole[GUARD:end].tolist(),
                "untouched": np.flatnonzero(untouched[GUARD:end]).tolist(),
                "outside": [k - GUARD for k in np.flatnonzero(~untouched).tolist() if not GUARD <= k < end],
            }
        except Exception as error:
            reply = {"error": f"{error}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()

