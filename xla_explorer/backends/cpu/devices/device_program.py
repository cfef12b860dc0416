"""A compiled program on several virtual devices of this CPU.

The program of one device is compiled once. Each device runs it in a thread, with its own argument
table and arena; native code releases the interpreter lock, and a waiting device sleeps.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.cpu.activation import Activation
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable
from xla_explorer.backends.cpu.cycle_counter import cycle_counter
from xla_explorer.backends.cpu.devices.exchanges import Exchanges, Meeting, Prepared
from xla_explorer.backends.interfaces import (
    COLLECTIVE_TIMEOUT,
    DeviceStepTiming,
    ProgramStep,
)
from xla_explorer.hlo.evaluator import EvaluationError, Evaluator, Host
from xla_explorer.hlo.evaluator.devices.world import Device, World

Array = np.ndarray[Any, Any]


class DeviceProgram:
    """An executable on `replicas` x `partitions` devices; device number as in `World`.

    Runs are serialised.
    """

    def __init__(self, executable: CpuExecutable, replicas: int, partitions: int) -> None:
        self.executable = executable
        self.replicas, self.partitions = replicas, partitions
        self._lock = threading.Lock()
        self._activations: list[Activation] = []
        self._prepared: list[dict[int, Prepared]] = [{} for _ in range(self.count)]

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps of one device."""
        return self.executable.steps

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
        """Run on the parameter leaves of each device; return the result leaves of each device.

        RendezvousError names the devices that are missing from a collective. An error on one device
        ends the run.
        """
        with self._lock:
            return self._run(per_device, timeout, hosts)

    def timed(self, per_device: Sequence[Sequence[Array]]) -> list[DeviceStepTiming]:
        """Run the instrumented build once; return the times of each step on each device."""
        with self._lock:
            self.executable.prepare_watched()
            steps = max(len(self.executable.steps), 1)
            counters = [np.zeros((steps, 2), np.int64) for _ in range(self.count)]
            meetings: list[list[Meeting]] = [[] for _ in range(self.count)]
            self._run(per_device, COLLECTIVE_TIMEOUT, None, counters, meetings)
        rows = []
        exchange_rows = self._rows_of_exchanges()
        per_us = cycle_counter().per_microsecond
        for device, (counted, met) in enumerate(zip(counters, meetings, strict=True)):
            waited: dict[int, float] = {}
            for meeting in met:
                row = exchange_rows[meeting.step]
                waited[row] = waited.get(row, 0.0) + (meeting.ready - meeting.arrived) / 1e3
            for number, (cycles, calls) in enumerate(counted[: len(self.executable.steps)]):
                total = float(cycles) / per_us
                rows.append(
                    DeviceStepTiming(
                        device, number, int(calls), total, max(waited.get(number, 0.0), 0.0)
                    )
                )
        return rows

    def _rows_of_exchanges(self) -> dict[int, int]:
        """Return the row of each call into Python, by its number."""
        rows = [s.number for s in self.executable.steps if s.runs_on in ("evaluator", "exchange")]
        calls = [
            k
            for k, s in enumerate(self.executable.program.evaluator_steps)
            if s.record_slot is None
        ]
        return dict(zip(calls, rows, strict=True))

    def _run(
        self,
        per_device: Sequence[Sequence[Array]],
        timeout: float,
        hosts: Sequence[Host] | None,
        counters: Sequence[Array] | None = None,
        meetings: Sequence[list[Meeting]] | None = None,
    ) -> list[list[Array]]:
        for what, given in (("arguments", per_device), ("hosts", hosts)):
            if given is not None and len(given) != self.count:
                raise EvaluationError(
                    f"{self.executable.module.name} on {self.replicas} replicas x "
                    f"{self.partitions} "
                    f"partitions needs {what} for {self.count} devices, got {len(given)}"
                )
        world = World(self.replicas, self.partitions, timeout)
        if not self._activations:
            self._activations = [self.executable.activate() for _ in range(self.count)]
        activations = self._activations

        def one(device: Device) -> list[Array]:
            own = activations[device.number]
            host = hosts[device.number] if hosts is not None else None
            evaluator = Evaluator(device=device, seed=device.number, host=host)
            exchanges = Exchanges(
                self.executable.program, device, evaluator, own.view, self._prepared[device.number]
            )
            if meetings is not None:
                exchanges.meetings = meetings[device.number]
            own.attach(evaluator, exchanges)
            counted = counters[device.number] if counters is not None else None
            return self.executable.execute_on(own, list(per_device[device.number]), counted)

        try:
            results: list[list[Array]] = world.run(one)
        except BaseException:
            # A device of a failed run may still use its memory.
            self._activations = []
            raise
        finally:
            for own in activations:
                own.detach()
        return results
