"""Runs of `session.devices`: whole arrays, the shards of each device, times, deadlocks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.sessions.arguments import Result
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.explorer.questions.device_runs import DeviceRuns
    from xla_explorer.explorer.sessions.compilation import Compilation


def answers() -> ModuleType:
    """Return the module of the answers; it loads propagation and partitioner.

    Most programs run on one device, so it loads with the first question.
    """
    from xla_explorer.explorer.devices import answers as loaded

    return loaded


@explains_methods
class CallsOfDevices:
    """A program with annotations that runs on virtual devices.

    base: of a what-if, the devices that it changes. session: that runs; of a what-if, the base's is
    compiled again.
    """

    def __init__(
        self, module: HloModule, base: CallsOfDevices | None, session: Compilation | None
    ) -> None:
        self._module, self._base, self._session = module, base, session

    @cached_property
    def _compiled(self) -> DeviceRuns:
        origin: CallsOfDevices = self
        while origin._session is None and origin._base is not None:
            origin = origin._base
        session = origin._session
        if session is None:
            raise XlaExplorerError(
                "these devices are not compiled",
                "xe.compile(module, mesh=..., shardings=...).devices runs on virtual devices",
            )
        if origin is not self:  # a what-if is compiled at its first run, as the session it changes
            session = answers().recompiled(session, source=self._module)
        found: DeviceRuns = answers().DeviceRuns(session)
        return found

    def __call__(self, *arrays: Any) -> Result:
        """Shard whole arrays, run the partitioned program, and return the whole result.

        On the backend `cpu` each device is a thread with its own memory, and collectives are done
        in shared memory. On `gpu` each device is a PTX emulator; they run one after another
        between collectives. The result has the same bits in every run.

        Parameters
        ----------
        *arrays
            The arguments of the program, as a call of the session takes them.

        Raises
        ------
        ShardingError
            A sharding does not fit its value or the number of devices; nothing is run.
        DeadlockError
            The devices would wait forever in a collective; nothing is run.
        RendezvousError
            Devices are missing from a collective; the message names them.
        """
        return self._compiled.run_whole(arrays)

    def run(self, per_device: Sequence[Sequence[Any]], *, timeout: float = 3600.0) -> list[Result]:
        """Run the program of one device on every device; return the result of each.

        Parameters
        ----------
        per_device : sequence
            The arguments of each device, its shards; device number = replica * partitions +
            partition.
        timeout : float
            Seconds that a device waits for others in a collective.

        Raises
        ------
        DeadlockError, RendezvousError
            As for a call.
        """
        return self._compiled.run(per_device, timeout)

    def timings(self, *arrays: Any) -> pandas.DataFrame:
        """Run once; return a row for each kernel and collective on each device.

        Columns: device, step, opcode, runs_on, calls, total_us and waited_us. A collective waits
        until the last member of its group arrives; the wait is part of its total.

        Parameters
        ----------
        *arrays
            Whole arrays, as for a call. For a program with replicas, or without shardings: a list
            of arguments for each device.
        """
        return self._compiled.timings(arrays)

    @property
    def deadlocks(self) -> pandas.DataFrame:
        """One row per collective in which devices would wait forever, with the devices missing.

        `certain` is False if the deadlock depends on values that are unknown before a run.
        """
        return self._compiled.deadlocks()
