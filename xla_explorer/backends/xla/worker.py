"""The child process in which jaxlib compiles and runs, so that a crash spares the user's kernel.

Requests, as `foundation.messages` over this process's own pipes: ("version",), ("compile", text,
constants), ("run", arrays), ("time", arrays, repeats), ("profile", arrays, repeats). Answers:
("ok", value) or ("error", message).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from xla_explorer.foundation.messages import received, send
from xla_explorer.frontends.hlo_proto.large_constants import Payload, with_constants

DEVICES = "XLA_EXPLORER_WORKER_DEVICES"
"""Names the platform whose first device is used; the CPU by default."""
CLOCK = "XLA_EXPLORER_WORKER_CLOCK"
"""`process` times runs by the processor time of all threads, for a machine with other work."""


def is_processor_time() -> bool:
    """Return True if the environment sets the processor time of all threads as the clock."""
    return os.environ.get(CLOCK) == "process"


def _find_lapack() -> None:
    """Load LAPACK's routines into jaxlib, as JAX does when it lowers a call.

    Otherwise a program from a file calls null pointers.
    """
    try:
        import numpy as np
        from jaxlib.lapack import prepare_lapack_call

        prepare_lapack_call("potrf_ffi", np.dtype(np.float32))
    except (ImportError, AttributeError, KeyError, TypeError):  # a jaxlib that finds them otherwise
        return


class Worker:
    """jaxlib's CPU client and the one executable that was compiled last."""

    def __init__(self) -> None:
        import jax
        from jaxlib import _jax

        jax.config.update("jax_enable_x64", True)
        # Dispatch on the calling thread: the best latency for small programs.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        self.jax, self.device = jax, jax.devices(os.environ.get(DEVICES, "cpu"))[0]
        self.devices = _jax.DeviceList((self.device,))
        self.executable: Any = None
        _find_lapack()

    def compile(
        self, text: str, constants: Mapping[str, Payload] | None = None
    ) -> dict[str, float]:
        """Compile HLO text, with the values of large constants beside it; return seconds by phase.

        The first compile of a process warms the client up before it is timed.
        """
        from jaxlib import _jax
        from jaxlib import xla_client as xc

        started = time.perf_counter()
        proto = self.proto(text, constants or {})
        parsed = time.perf_counter()
        stablehlo = _jax.mlir.hlo_to_stablehlo(proto)
        converted = time.perf_counter()
        self.executable = self.device.client.compile_and_load(
            stablehlo, self.devices, xc.CompileOptions()
        )
        return {
            "parse": parsed - started,
            "to-stablehlo": converted - parsed,
            "xla": time.perf_counter() - converted,
        }

    def proto(self, text: str, constants: Mapping[str, Payload]) -> bytes:
        """Return the proto of HLO text, with the values of large constants beside it."""
        from jaxlib import _jax

        parse: Any = getattr(_jax, "hlo_module_from_text", None)  # jaxlib 0.6 has it here
        if parse is None:
            from jaxlib import _hlo

            parse = _hlo.hlo_module_from_text
        return with_constants(parse(text).as_serialized_hlo_module_proto(), constants)

    def version(self) -> str:
        """Return the version of jaxlib, which is that of XLA."""
        import jaxlib

        return str(jaxlib.__version__)

    def plugin_version(self) -> str:
        """Return the versions that a loaded plugin states, of its platform and its interface."""
        return str(self.device.client.platform_version)

    def run(self, arrays: list[Any]) -> list[Any]:
        """Run the program on argument leaves and return the result leaves."""
        import numpy as np

        return [np.asarray(o) for o in self.executable.execute(self._placed(arrays, []))]

    def _placed(self, arrays: list[Any], before: list[Any]) -> list[Any]:
        """Keep the device arguments of the run before, and copy those that it donated once more.

        The copy of a copy is the runtime's own memory, which alone can be donated: numpy's is taken
        as it is if it is aligned.
        """
        old = before or [None] * len(arrays)
        put = self.jax.device_put
        placed = [
            put(put(array, self.device), self.device, may_alias=False)
            if there is None or there.is_deleted()
            else there
            for array, there in zip(arrays, old, strict=True)
        ]
        for argument in placed:
            argument.block_until_ready()
        return placed

    def time(self, arrays: list[Any], repeats: int, by_wall: bool = False) -> list[float]:
        """Return the microseconds of each run, with the arguments on the device already.

        by_wall: of wall time, though the environment sets another clock.
        """
        placed: list[Any] = []
        samples = []
        by_processor = is_processor_time() and not by_wall
        clock = time.process_time_ns if by_processor else time.perf_counter_ns
        for _ in range(repeats):
            placed = self._placed(arrays, placed)
            started = clock()
            for output in self.executable.execute(placed):
                output.block_until_ready()
            samples.append((clock() - started) / 1e3)
        return samples

    def profile(self, arrays: list[Any], repeats: int) -> bytes:
        """Return the XSpace of some runs, from XLA's own profiler without its tracer of Python."""
        from jaxlib import _profiler

        options = _profiler.ProfileOptions()
        options.python_tracer_level = 0
        placed = self._placed(arrays, [])
        recording = _profiler.ProfilerSession(options)
        for _ in range(repeats):
            placed = self._placed(arrays, placed)
            for output in self.executable.execute(placed):
                output.block_until_ready()
        return bytes(recording.stop())


def main() -> None:
    """Answer requests until the pipe closes."""
    answer_requests(Worker)


def answer_requests(kind: type[Worker]) -> None:
    """Answer requests by the methods of a worker of this class until the pipe closes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not get between messages
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    worker: Worker | None = None
    for name, *arguments in received(sys.stdin.buffer):
        try:
            worker = worker or kind()
            send(answers, ("ok", getattr(worker, name)(*arguments)))
        except Exception as problem:  # whatever jaxlib says is the answer
            send(answers, ("error", f"{type(problem).__name__}: {problem}"))
