"""`xe.sharding.compare_partitioning`: the comparison of the devices without a session."""

from __future__ import annotations

from collections.abc import Mapping

from xla_explorer.compiler.spmd.explanation.annotating import Spec, annotated
from xla_explorer.explorer.devices.devices import Devices
from xla_explorer.explorer.devices.partitioning_comparison import PartitioningComparison
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo


def compare_partitioning(
    module: HloModule | str,
    mesh: Mesh | Mapping[str, int] | str | None = None,
    shardings: Mapping[str, Spec] | str | None = None,
    *,
    policy: str = "cost",
    propagation: str = "shardy",
    seconds: float = 120.0,
) -> PartitioningComparison:
    """Return collectives, bytes and shardings here beside those of real XLA, with reasons.

    XLA:CPU of the installed jaxlib partitions the program for as many virtual devices, in a child
    process; nothing is run.

    Parameters
    ----------
    module : HloModule or str
        The program, or its HLO text; stays unchanged.
    mesh : Mesh, mapping or str, optional
        By default the mesh of the program.
    shardings : mapping or str, optional
        More annotations, as those of `xe.sharding.annotate`.
    policy : str
        Of the partitioner here, `cost` or `xla`.
    propagation : str
        Of XLA, `shardy` or `gspmd`.
    seconds : float
        The longest time of XLA.

    Raises
    ------
    ShardingError
        The mesh or a sharding does not fit the program.
    XlaExplorerError
        XLA refuses the program, or jax is absent.
    """
    read = parse_hlo(module) if isinstance(module, str) else module
    if mesh is not None or shardings:
        read = annotated(read, mesh, shardings)
    return Devices(read, policy=policy).compare_partitioning(propagation, seconds=seconds)
