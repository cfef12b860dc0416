"""Runs of a student's LLVM IR in a child process, which a crash or an endless loop cannot escape.

A kernel is `define void @name(ptr %x0, ..., ptr %out, i64 %n)`. The child reads requests and writes
replies, a JSON line each.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import re
import select
import subprocess
import sys
import time
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
_LLVM = 120.0  # seconds for LLVM on a busy machine: loading it, compiling a text
_COMPILED = "compiled"
GUARD = 64  # elements before and after each array
_UNTOUCHED = (
    0x7FC0BEEF  # a NaN that no kernel computes: it fills the output and its guards before the run
)
# another one for the guards of inputs, so that results computed from them are recognised
_BESIDE = 0x7FC0DEAD


class OutsideError(XlaExplorerError, IndexError):
    """The kernel wrote outside of its output."""


class NotWrittenError(XlaExplorerError):
    """The kernel left elements of its output as they were."""


class KernelCrashedError(XlaExplorerError, RuntimeError):
    """The kernel ended its process, or did not end."""


class NativeChild:
    """The child process; started at the first request, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self.seconds: list[float] = []
        """Times of the calls of the last run."""

    def run(
        self, ir: str, inputs: Sequence[Array], outputs: int, count: int, repeats: int = 1
    ) -> Array:
        """Return the output of an IR text's kernel.

        Raises KernelCrashedError if the kernel does not return, and OutsideError if it writes
        beyond its output. Raises NotWrittenError if it leaves elements unwritten, and
        XlaExplorerError with LLVM's message for invalid IR.
        """
        sent = [_sent(np.asarray(x, np.float32)) for x in inputs]
        reply = self._ask(
            {"ir": ir, "inputs": sent, "outputs": outputs, "count": count, "repeats": repeats}
        )
        if "error" in reply:
            raise XlaExplorerError(reply["error"])
        if reply["outside"]:
            places = ", ".join(map(str, reply["outside"][:3]))
            raise OutsideError(
                f"the kernel wrote element {places} of an output that has {outputs}",
                "which iteration of the loop is one too many?",
            )
        if reply["beside"]:
            raise OutsideError(
                f"the kernel wrote outside of the {len(inputs)} arrays that it was given, before "
                f"or after number {reply['beside'][0]}",
                "which index is negative, or not below the array's length?",
            )
        if reply["untouched"]:
            places = ", ".join(map(str, reply["untouched"][:3]))
            raise NotWrittenError(
                f"the kernel never wrote element {places} of its output",
                "is there a store, to %out at the loop's index, in every iteration?",
            )
        self.seconds = reply["seconds"]
        return _received(reply["output"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                child_command(__name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
            )
            self._unread = b""
        process = self._process
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            pass
        line = self._line(_LLVM, "LLVM", "is the text longer than it needs to be?")
        if line == _COMPILED:  # from here on the time is the kernel's
            line = self._line(
                options.timeout or SECONDS,
                "the kernel",
                "does the counter of the loop grow, and is it compared with %n?",
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self, seconds: float, who: str, hint: str) -> str:
        """Return the child's next line. who: subject of the message if it is late."""
        process = self._process
        assert process is not None and process.stdout is not None
        while b"\n" not in self._unread:
            if not select.select([process.stdout], [], [], seconds)[0]:
                self.close()
                raise KernelCrashedError(f"{who} did not end within {seconds:g} s", hint)
            more = os.read(process.stdout.fileno(), 1 << 20)
            if not more:
                code = process.wait()
                self.close()
                raise KernelCrashedError(
                    f"the kernel ended its process (code {code})",
                    "check the loop's bounds (a read or write outside of an array) and the "
                    "alignment of vectors "
                    "(`align 4` at loads and stores of <n x float>: arrays begin anywhere)",
                )
            self._unread += more
        line, self._unread = self._unread.split(b"\n", 1)
        return line.decode()

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
    """Run the one kernel of an LLVM IR text on f32 vectors, in a child process.

    count: %n, by default the length of the first.
    """
    arrays = [np.asarray(x, np.float32) for x in inputs]
    with NativeChild() as child:
        return child.run(ir, arrays, outputs, len(arrays[0]) if count is None else count)


def optimized(ir: str) -> str:
    """Return the IR after LLVM's optimisation pipeline, for this machine."""
    return optimized_ir(ir)


def _sent(array: Array) -> str:
    return base64.b85encode(np.ascontiguousarray(array).tobytes()).decode()


def _received(text: str) -> Array:
    return np.frombuffer(base64.b85decode(text), np.float32)


def _guarded(count: int, mark: int) -> Array:
    """Return an array between two guards: reads there return NaN, and writes are detected."""
    return np.full(count + 2 * GUARD, mark, np.uint32).view(np.float32)


def _guards_changed(place: Array) -> bool:
    bits = place.view(np.uint32)
    return bool((bits[:GUARD] != _BESIDE).any() or (bits[-GUARD:] != _BESIDE).any())


def main() -> None:
    """Run the child: answer lines until the input ends."""
    loaded: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            ir = request["ir"]
            inputs = [_received(x) for x in request["inputs"]]
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
                        f"@{name} takes {len(parameters.split(','))} parameters, {wanted} are "
                        "passed",
                        "a pointer for each input, one for the output, and i64 %n",
                    )
                library = NativeLibrary(optimize_and_emit(ir).objects, exports=[name])
                loaded[ir] = library.bind(
                    name, None, [*[ctypes.c_void_p] * (wanted - 1), ctypes.c_int64]
                )
            guarded = [
                *[_guarded(len(x), _BESIDE) for x in inputs],
                _guarded(request["outputs"], _UNTOUCHED),
            ]
            for place, x in zip(guarded, inputs, strict=False):
                place[GUARD : GUARD + len(x)] = x
            sys.stdout.write(_COMPILED + "\n")
            sys.stdout.flush()
            addresses = [place[GUARD:].ctypes.data for place in guarded]
            seconds = []
            for _ in range(request["repeats"]):
                begins = time.perf_counter()
                loaded[ir](*addresses, request["count"])
                seconds.append(time.perf_counter() - begins)
            whole, end = guarded[-1], GUARD + request["outputs"]
            untouched = whole.view(np.uint32) == _UNTOUCHED
            reply: dict[str, Any] = {
                "beside": [k for k, place in enumerate(guarded[:-1]) if _guards_changed(place)],
                "seconds": seconds,
                "output": _sent(whole[GUARD:end]),
                "untouched": np.flatnonzero(untouched[GUARD:end]).tolist(),
                "outside": [
                    k - GUARD for k in np.flatnonzero(~untouched).tolist() if not GUARD <= k < end
                ],
            }
        except Exception as error:
            reply = {"error": f"{error}"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
