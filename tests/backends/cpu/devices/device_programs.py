"""Programs of several devices for tests: compiled for the CPU, and beside the evaluator."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from xla_explorer.backends.cpu.devices.device_program import DeviceProgram
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.registry import platform
from xla_explorer.hlo.evaluator import evaluate_replicated, flatten_value
from xla_explorer.hlo.evaluator.devices.world import World
from xla_explorer.hlo.text import parse_hlo

REDUCERS = """
add {{ a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] add(a, b) }}
max {{ a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] maximum(a, b) }}
odd {{ a = {t}[] parameter(0) b = {t}[] parameter(1) d = {t}[] multiply(a, b)
  ROOT c = {t}[] subtract(d, b) }}
or {{ a = pred[] parameter(0) b = pred[] parameter(1) ROOT c = pred[] or(a, b) }}
"""


def device_program(text: str, replicas: int = 1, partitions: int = 1) -> DeviceProgram:
    """Compile a program of one of several devices."""
    module = parse_hlo(text)
    module.attributes["replica_count"] = replicas
    module.attributes["num_partitions"] = partitions
    compiler = platform("cpu").compiler()
    options = CompileOptions(threads=1)
    executable = compiler.run_backend(compiler.run_hlo_passes(module, options), options).executable
    return DeviceProgram(executable, replicas, partitions)  # type: ignore[arg-type]


def expected(
    text: str, per_device: Sequence[Sequence[Any]], replicas: int = 1, partitions: int = 1
) -> list[list[Any]]:
    """Return the leaves of each device on the evaluator."""
    results = evaluate_replicated(
        parse_hlo(text), per_device, replicas=replicas, partitions=partitions
    )
    return [flatten_value(one) for one in results]


def check(
    text: str, per_device: Sequence[Sequence[Any]], replicas: int = 1, partitions: int = 1
) -> DeviceProgram:
    """Compare native runs with the evaluator, bit for bit; no step may run on the evaluator."""
    program = device_program(text, replicas, partitions)
    slow = [s.opcode for s in program.executable.steps if s.runs_on == "evaluator"]
    assert slow == []
    found = program.run([list(one) for one in per_device])
    wanted = expected(text, per_device, replicas, partitions)
    for device, (one, other) in enumerate(zip(found, wanted, strict=True)):
        for a, b in zip(one, other, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, err_msg=f"device {device}")
    return program


def delay_arrivals(monkeypatch: pytest.MonkeyPatch, seed: int, most: float = 0.003) -> None:
    """Delay every arrival at a rendezvous by a random time, so that the order changes."""
    chance, lock = random.Random(seed), threading.Lock()
    for name in ("meet", "exchange"):
        plain = getattr(World, name)

        def late(self: World, *arguments: Any, plain: Any = plain) -> Any:
            with lock:
                pause = chance.uniform(0, most)
            time.sleep(pause)
            return plain(self, *arguments)

        monkeypatch.setattr(World, name, late)
