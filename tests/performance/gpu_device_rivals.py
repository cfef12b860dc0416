"""Rivals on a device: jax's XLA, and cuBLAS by torch.

Both are optional.
"""

from __future__ import annotations

import glob
import importlib
import math
import re
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_MODULES = ("jaxlib._hlo", "jaxlib._jax", "jaxlib._jax.mlir", "jaxlib.xla_client", "jaxlib.xla_client._xla", "jaxlib.xla_extension",
            "jaxlib.xla_extension.mlir")  # fmt: skip


def _from_jaxlib(name: str) -> Any:
    """Return a function of jaxlib's bindings, from its place in this release."""
    for path in _MODULES:
        head, *inner = path.split(".")
        try:
            found: Any = importlib.import_module(head)
            for part in inner:
                found = getattr(found, part, None) or importlib.import_module(
                    f"{found.__name__}.{part}"
                )
        except (ImportError, AttributeError):
            continue
        if hasattr(found, name):
            return getattr(found, name)
    raise RuntimeError(f"this jaxlib has no {name}")


_IN_FULL = re.compile(
    r"^(?!.*operand_precision)(.* (?:dot|convolution)\(.*?)(, metadata=.*)?$", re.MULTILINE
)


def in_full_precision(text: str) -> str:
    """HLO text with f32 products that may not be TF32."""
    return _IN_FULL.sub(r"\1, operand_precision={highest,highest}\2", text)


def stablehlo_of(text: str) -> Any:
    """HLO text as the module that jax's client compiles."""
    proto = _from_jaxlib("hlo_module_from_text")(text).as_serialized_hlo_module_proto()
    return _from_jaxlib("hlo_to_stablehlo")(proto)


class Jax:
    """Real XLA on the same device."""

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.device = jax.devices("gpu")[0]

    def prepare(self, text: str, inputs: list[Any]) -> tuple[Any, list[Any]]:
        """Return an executable and its arguments on the device."""
        executable = self._compiled(stablehlo_of(text))
        arrays = [self.jax.device_put(x, self.device) for x in inputs]
        self.jax.block_until_ready(arrays)
        return executable, arrays

    def _compiled(self, module: Any) -> Any:
        """Return the compiled module of a client, whose interface differs between releases."""
        from jaxlib import xla_client

        options, client = xla_client.CompileOptions(), self.device.client
        problems = []
        for make in (
            lambda: client.compile_and_load(
                module, _from_jaxlib("DeviceList")((self.device,)), options
            ),
            lambda: client.compile_and_load(module, [self.device], options),
            lambda: client.compile(module, options),
        ):
            try:
                return make()
            except (AttributeError, TypeError) as problem:
                problems.append(str(problem).splitlines()[0][:120])
        raise RuntimeError(f"this jaxlib compiles in another way: {problems}")

    def values(self, prepared: tuple[Any, list[Any]]) -> list[Any]:
        """Return result leaves on the host."""
        return [np.asarray(x) for x in prepared[0].execute(prepared[1])]

    def wall(self, prepared: tuple[Any, list[Any]], repeats: int) -> float:
        """Microseconds a run, runs queued one after the other."""
        last: list[Any] = []
        return pipelined(
            lambda: last.__setitem__(slice(None), prepared[0].execute(prepared[1])),
            lambda: self.jax.block_until_ready(last),
            repeats,
        )

    def busy(self, prepared: tuple[Any, list[Any]], repeats: int) -> float | None:
        """Return the profiler's busy microseconds a run; None if its trace has no device."""
        from jax.profiler import ProfileData

        with tempfile.TemporaryDirectory() as folder:
            with self.jax.profiler.trace(folder):
                for _ in range(repeats):
                    out = prepared[0].execute(prepared[1])
                self.jax.block_until_ready(out)
            files = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
            if not files:
                return None
            spans = []
            for plane in ProfileData.from_file(files[0]).planes:
                if not plane.name.startswith("/device:GPU"):
                    continue
                for line in plane.lines:
                    if line.name.startswith("Stream"):
                        spans += [(e.start_ns, e.start_ns + e.duration_ns) for e in line.events]
        return covered(spans) / 1e3 / repeats if spans else None


def covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of intervals."""
    total, end = 0.0, -math.inf
    for first, last in sorted(spans):
        total += max(last - max(first, end), 0.0)
        end = max(end, last)
    return total


def pipelined(launch: Callable[[], Any], wait: Callable[[], Any], repeats: int) -> float:
    """Microseconds a run of several queued at once, by the host's clock."""
    launch()
    wait()
    started = time.perf_counter()
    for _ in range(repeats):
        launch()
    wait()
    return (time.perf_counter() - started) * 1e6 / repeats


def torch_matmul(size: int, repeats: int) -> float:
    """TFLOP/s of torch's (cuBLAS') bf16 product."""
    import torch

    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    times = []
    for k in range(repeats + 3):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        torch.matmul(a, b)
        last.record()
        last.synchronize()
        if k >= 3:
            times.append(first.elapsed_time(last) * 1e3)
    return 2 * size**3 / median(times) / 1e6


def median(values: list[float]) -> float:
    """Return the middle."""
    return float(np.median(values))
