"""A GPU program on several devices, which run one after another between collectives.

Each device has its own memory: an emulator of its own, or allocations on the one NVIDIA device. A
collective copies its operands to the host, and the evaluators of the devices exchange them there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.device_executor import DeviceExecutor
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.runtime.devices import warn_once
from xla_explorer.backends.gpu.runtime.emulated_executor import EmulatedExecutor
from xla_explorer.backends.gpu.runtime.instrumentation import Instrumentation
from xla_explorer.backends.interfaces import (
    COLLECTIVE_TIMEOUT,
    DeviceStepTiming,
    ProgramStep,
)
from xla_explorer.compiler.codegen.single_device import COPIES
from xla_explorer.hlo.evaluator import EvaluationError, Evaluator, Host
from xla_explorer.hlo.evaluator.devices.world import Device, World, prepare

Array = np.ndarray[Any, Any]


class WorldInTurn(World):
    """Devices of which one runs at a time; a device that waits for others gives its turn away.

    waited: seconds in collectives, by device and collective.
    """

    def __init__(self, replicas: int, partitions: int, timeout: float) -> None:
        super().__init__(replicas, partitions, timeout)
        self.waited: dict[tuple[int, str], float] = {}
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn, and hold it."""
        with self._turn:
            yield

    def exchange(
        self,
        device: Device,
        place: Any,
        contribution: Any,
        needed: Sequence[int],
        attendance: int,
        description: str,
    ) -> dict[int, Any]:
        """See `World.exchange`."""
        with self._away(device, description):
            return super().exchange(device, place, contribution, needed, attendance, description)

    def take(self, device: Device, channel: Any, source: int | None, description: str) -> Any:
        """See `World.take`."""
        with self._away(device, description):
            return super().take(device, channel, source, description)

    @contextmanager
    def _away(self, device: Device, description: str) -> Iterator[None]:
        began = time.perf_counter()
        self._turn.release()
        try:
            yield
        finally:
            self._turn.acquire()
            key = device.number, description
            self.waited[key] = self.waited.get(key, 0.0) + time.perf_counter() - began


class DevicesInTurn:
    """A GPU executable on `replicas` x `partitions` devices (see `DevicesProgram`).

    Runs are serialised.
    """

    def __init__(self, executable: GpuExecutable, replicas: int, partitions: int) -> None:
        self.executable = executable
        self.replicas, self.partitions = replicas, partitions
        self._lock = threading.Lock()
        self._executors: list[DeviceExecutor] = []

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps of one device; collectives are exchanges between devices."""
        return [
            step._replace(runs_on="exchange", reason=None) if step.opcode in COPIES else step
            for step in self.executable.steps
        ]

    @property
    def count(self) -> int:
        """The number of devices."""
        return self.replicas * self.partitions

    def run(
        self,
        per_device: Sequence[Sequence[Array]],
        *,
        timeout: float = COLLECTIVE_TIMEOUT,
        hosts: Sequence[Host] | None = None,
    ) -> list[list[Array]]:
        """See `DevicesProgram`."""
        world = WorldInTurn(self.replicas, self.partitions, timeout)
        with self._lock:
            return self._run(world, per_device, hosts, None)

    def timed(self, per_device: Sequence[Sequence[Array]]) -> list[DeviceStepTiming]:
        """See `DevicesProgram`. On emulators the times are their own, not those of a device."""
        world = WorldInTurn(self.replicas, self.partitions, COLLECTIVE_TIMEOUT)
        with self._lock:
            watches = [Instrumentation(executor) for executor in self._devices()]
            self._run(world, per_device, None, watches)
        rows = []
        for device, watch in enumerate(watches):
            for number, (calls, mean) in sorted(watch.take().items()):
                step = self.steps[number]
                waited = world.waited.get((device, f"%{step.name} ({step.opcode})"), 0.0) * 1e6
                rows.append(DeviceStepTiming(device, number, calls, mean * calls, waited))
        return rows

    def _devices(self) -> list[DeviceExecutor]:
        """Return the executor of each device; emulators are kept, with the kernels they parsed."""
        if not self._executors:
            own = self.executable.executor
            emulated = own.facts.emulated
            self._executors = [EmulatedExecutor() if emulated else own for _ in range(self.count)]
        return self._executors

    def _run(
        self,
        world: WorldInTurn,
        per_device: Sequence[Sequence[Array]],
        hosts: Sequence[Host] | None,
        watches: Sequence[Instrumentation] | None,
    ) -> list[list[Array]]:
        self._check_count("arguments", per_device)
        self._check_count("hosts", hosts)
        if self.executable.why_emulated is not None:
            warn_once(self.executable.why_emulated)
        prepare(self.executable.module)
        executors = self._devices()

        def one(device: Device) -> list[Array]:
            n = device.number
            watch = None if watches is None else watches[n]
            with world.turn(), self.executable.start(per_device[n], executors[n], watch) as run:
                host = hosts[n] if hosts is not None else None
                run.evaluator = Evaluator(device=device, seed=n, host=host)
                run.run()
                return run.results()

        # A deadline of the caller holds in the threads too.
        contexts = [copy_context() for _ in range(self.count)]
        results: list[list[Array]] = world.run(lambda d: contexts[d.number].run(one, d))
        return results

    def _check_count(self, what: str, given: Sequence[Any] | None) -> None:
        if given is not None and len(given) != self.count:
            raise EvaluationError(
                f"{self.executable.module.name} on {self.replicas} replicas x {self.partitions} "
                f"partitions needs {what} for {self.count} devices, got {len(given)}"
            )
