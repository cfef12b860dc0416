"""Tables and answers about propagated shardings, for sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.sessions.arguments import Result
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_methods
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

    from xla_explorer.compiler.spmd.propagation.report import ShardingReport
    from xla_explorer.explorer.questions.device_runs import DeviceRuns


@explains_methods
class Devices:
    """A program on several devices: how its values are sharded, why, and its runs.

    The shardings are propagated from the annotations of the program as given, Shardy's way. A call
    takes whole arrays, runs the partitioned program on a thread a device, and returns whole
    results.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile('''HloModule m, num_partitions=2
    ... ENTRY main {
    ...   x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
    ...   ROOT y = f32[8] negate(x)
    ... }''')
    >>> list(session.devices.shardings["tiles"])
    ['{devices=[2]<=[2]}', '{devices=[2]<=[2]}']
    >>> import numpy as np
    >>> session.devices(np.arange(8, dtype=np.float32)).tolist()
    [-0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]
    """

    def __init__(self, module: HloModule, runs: DeviceRuns) -> None:
        self._module = module
        self._runs = runs

    def __call__(self, *arrays: Any) -> Result:
        """Shard whole arrays, run the partitioned program, and return the whole result.

        Each device is a thread with its own memory; collectives are done in shared memory. The
        result has the same bits in every run.

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
        return self._runs.run_whole(arrays)

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
        return self._runs.run(per_device, timeout)

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
        return self._runs.timings(arrays)

    @property
    def deadlocks(self) -> pandas.DataFrame:
        """One row per collective in which devices would wait forever, with the devices missing.

        `certain` is False if the deadlock depends on values that are unknown before a run.
        """
        return self._runs.deadlocks()

    @property
    def partitioned(self) -> HloModule:
        """The program of one device, before its optimisation."""
        return self._runs.module

    @property
    def shardings(self) -> pandas.DataFrame:
        """One row per value: its sharding as axes and tiles, local shape, bytes and origin."""
        return shardings_frame(self._module)

    def why_sharded(
        self, value: str, dimension: int | None = None, *, axis: str | None = None
    ) -> list[str]:
        """Return the steps that split a value, back to the user's annotation.

        Parameters
        ----------
        value : str
            The name of an instruction of the program as given.
        dimension : int
            Only this dimension.
        axis : str
            Return why the value is not split along this axis of the mesh.

        Raises
        ------
        XlaExplorerError
            No value of this name has a sharding; with near names.
        """
        return why_sharded(self._module, value, dimension, axis)

    def __repr__(self) -> str:
        report = _report(self._module)
        return f"{len(report.rows)} values with shardings over {report.graph.mesh}"


def shardings_frame(module: HloModule) -> pandas.DataFrame:
    """Return a row for each value whose sharding is known: axes, tiles, parts and origins."""
    import pandas

    report = _report(module)
    rows: list[dict[str, Any]] = [
        {
            "value": row.name,
            "sharding": str(row.sharding),
            "tiles": row.tiles,
            "shape": row.dimensions,
            "local shape": row.local_dimensions,
            "bytes a device": row.local_bytes,
            "replicas": row.replicas,
            "from": ", ".join([f"{axis}: {origin}" for axis, origin in row.origins.items()]),
        }
        for row in report.rows
    ]
    columns = [
        "value",
        "sharding",
        "tiles",
        "shape",
        "local shape",
        "bytes a device",
        "replicas",
        "from",
    ]
    frame = pandas.DataFrame(rows, columns=columns)
    if not rows:
        frame.attrs["note"] = "no value of the program states a sharding"
    return frame


def why_sharded(
    module: HloModule, name: str, dimension: int | None = None, axis: str | None = None
) -> list[str]:
    """Return why a value is split along its axes, or why it is not split along `axis`.

    XlaExplorerError for an unknown value; with near names.
    """
    report = _report(module)
    wanted = name.lstrip("%")
    _require(report, wanted)
    if axis is None:
        found = report.why(wanted, dimension)
        return found or [f"%{wanted} is not split: every device has all of it"]
    found = report.why_not(wanted, axis)
    split = [one for one in report.why(wanted, dimension) if f" along {axis}" in one]
    return split or found or [f"no operation that reads or makes %{wanted} has {axis} there"]


def _report(module: HloModule) -> ShardingReport:
    # Propagation loads with the first question about it: most programs run on one device.
    from xla_explorer.compiler.spmd.propagation.report import sharding_report

    return sharding_report(module)


def _require(report: ShardingReport, name: str) -> None:
    names = [row.name for row in report.rows]
    if name not in names:
        near = nearest(name, names, 3)
        raise XlaExplorerError(
            f"no value %{name} has a sharding" + (f"; near: {', '.join(near)}" if near else ""),
            "session.devices.shardings lists the values with their shardings",
        )
