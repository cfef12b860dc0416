"""Runs of a session's program on several virtual devices.

On this CPU each device is a thread; GPUs are emulated one after another between collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import DevicesProgram, SeveralDevices
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.spmd.explanation.array_shards import ArrayShards
from xla_explorer.compiler.spmd.explanation.recorded_partitioning import (
    RecordedPartitioning,
    is_whole_program,
    recorded_partitioning,
)
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.sessions.arguments import Result, Signature
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.manual_regions import device_count
from xla_explorer.hlo.evaluator.devices.deadlocks import check_deadlocks, deadlocks
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.sessions.compilation import Compilation


class DeviceRuns:
    """The program of one device of a session, compiled once, on first use.

    A module with shardings is partitioned by them; another one is a device's program already.
    """

    def __init__(self, session: Compilation) -> None:
        self._session = session
        module = session.source
        self.replicas = int(module.attributes.get("replica_count") or 1)
        stated = int(module.attributes.get("num_partitions") or 1)
        self.partitions = max(stated, device_count(module))
        self.count = self.replicas * self.partitions

    @cached_property
    def partitioned(self) -> RecordedPartitioning | None:
        """The partitioned program; None if the module is the program of one device."""
        module = self._session.source
        if self.partitions < 2 or not is_whole_program(module):
            return None
        return recorded_partitioning(module)

    @property
    def module(self) -> HloModule:
        """The program of one device, before its optimisation."""
        return self._session.source if self.partitioned is None else self.partitioned.module

    @cached_property
    def program(self) -> DevicesProgram:
        """The compiled program.

        DeadlockError for a program whose devices would wait forever; nothing is run.
        """
        session = self._session
        if self.count < 2:
            raise XlaExplorerError(
                f"{session.source.name} runs on one device",
                "write num_partitions=2 or replica_count=2 in the header of the module",
            )
        if session.isolation is not None:
            raise XlaExplorerError(
                "a session that runs in a child process has no threads for several devices",
                "xe.compile(module, isolate=False)",
            )
        check_deadlocks(self.module, self.replicas, self.partitions, self._classes())
        kept = {k: v for k, v in session.options.backend_options.items() if k != "donate"}
        # The devices are the threads.
        options = replace(session.options, threads=1, backend_options=kept, control=None)
        compiler = platform(session.backend).compiler()
        if not isinstance(compiler, SeveralDevices):
            raise XlaExplorerError(
                f"the backend {session.backend} runs programs of one device",
                "xe.compile(module, backend='cpu') runs it on a thread a device, 'gpu' on emulators",
            )
        result = compiler.run_backend(compiler.run_hlo_passes(self.module, options), options)
        program = compiler.on_devices(result, self.replicas, self.partitions)
        if program is None:
            raise XlaExplorerError(
                f"native code must exist for {session.source.name}, got dynamic dimensions",
                "xe.hlo.evaluate_replicated runs it on several devices",
            )
        return program

    def _classes(self) -> list[tuple[int, ...]] | None:
        """Return, for each parameter leaf, classes of devices with the same shard."""
        return None if self.partitioned is None else self.partitioned.shards.classes()

    @cached_property
    def _signature(self) -> Signature:
        return Signature(self.module)

    def run(self, per_device: Sequence[Sequence[Any]], timeout: float) -> list[Result]:
        """Return the result of each device, from the arguments of each device."""
        program = self.program
        if len(per_device) != self.count:
            raise XlaExplorerError(
                f"{self._session.source.name} runs on {self.count} devices, got arguments for "
                f"{len(per_device)}",
                "give one list of arguments for each device: replica * partitions + partition",
            )
        leaves = [self._signature.leaves(arguments) for arguments in per_device]
        return [self._signature.pack(own) for own in program.run(leaves, timeout=timeout)]

    def run_whole(self, arrays: Sequence[Any]) -> Result:
        """Return the whole result, from whole arguments."""
        shards = self._shards()
        program, signature = self.program, self._session.signature
        parts = shards.shards(signature.leaves(arrays))
        return signature.pack(shards.whole(program.run(parts)))

    def _shards(self) -> ArrayShards:
        partitioned = self.partitioned
        if partitioned is None or self.replicas > 1:
            why = "has replicas" if self.replicas > 1 else "is the program of one device"
            raise XlaExplorerError(
                f"{self._session.source.name} {why}, so that whole arrays have no shards",
                "session.devices.run([[arguments of device 0], ...]) takes those of each device",
            )
        return partitioned.shards

    def timings(self, arrays: Sequence[Any]) -> pandas.DataFrame:
        """Run once with counters; return a row for each step on each device."""
        program = self.program
        if self.partitioned is not None and self.replicas == 1:
            given = self.partitioned.shards.shards(self._session.signature.leaves(arrays))
        else:
            given = [self._signature.leaves(own) for own in arrays]
        program.run(given)  # the first run allocates memory
        steps = program.steps
        rows = [
            {
                "device": row.device,
                "step": steps[row.step].name,
                "opcode": steps[row.step].opcode,
                "runs_on": steps[row.step].runs_on,
                "calls": row.calls,
                "total_us": row.total_us,
                "waited_us": row.waited_us,
            }
            for row in program.timed(given)
        ]
        columns = ["device", "step", "opcode", "runs_on", "calls", "total_us", "waited_us"]
        return wide_frame(rows, columns)

    def deadlocks(self) -> pandas.DataFrame:
        """Return a row for each deadlock of the program that its text shows."""
        found = deadlocks(self.module, self.replicas, self.partitions, self._classes())
        columns = ["instruction", "certain", "missing", "message", "hint"]
        rows = [(f.instruction, f.is_certain, f.missing, f.message, f.hint) for f in found]
        frame = wide_frame(rows, columns)
        if not rows:
            frame.attrs["note"] = "every group of devices meets in every collective"
        return frame
