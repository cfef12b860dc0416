"""The pass that turns a program with shardings into the program of one device."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Final, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.spmd.partitioning import handlers  # noqa: F401  # registers them
from xla_explorer.compiler.spmd.partitioning.computations import written_computation
from xla_explorer.compiler.spmd.partitioning.device_axes import axes_for
from xla_explorer.compiler.spmd.partitioning.partitioner import PartitionRun
from xla_explorer.compiler.spmd.partitioning.sharding_errors import check_shardings
from xla_explorer.compiler.spmd.partitioning.shardings import Annotations, sharding_texts
from xla_explorer.compiler.spmd.partitioning.writer import ModuleState
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.module import HloModule

_XLA_WINDOWED_MIB: Final = 256  # SpmdPartitionerOptions::threshold_for_windowed_einsum_mib


class WindowedEinsum(NamedTuple):
    """Options of products as loops; see `SpmdPartitioning`."""

    mib: int = -1
    unroll: bool = False

    def threshold(self, policy: str) -> int | None:
        """Return the bytes from which a product is a loop; None for never."""
        if self.mib >= 0:
            return self.mib << 20
        return _XLA_WINDOWED_MIB << 20 if policy == "xla" else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class SpmdPartitioning:
    """Partition a module by the shardings of its instructions.

    num_partitions: devices; 0 takes the module's `num_partitions`. policy: `cost` (the fewest
    bytes) or `xla` (XLA's order of choices). threshold_for_windowed_einsum_mib: gathered operands
    and scattered results from this size on make a product a loop of products; -1 is XLA's 256 for
    the policy `xla`, and none for `cost`. unroll_windowed_einsum: two parts in each iteration.
    """

    name: ClassVar[str] = "spmd-partitioning"
    num_partitions: int = 0
    policy: str = "cost"
    threshold_for_windowed_einsum_mib: int = -1
    unroll_windowed_einsum: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Partition the entry and what it calls; each choice is a decision in the journal."""
        count = self.num_partitions or int(module.attributes.get("num_partitions") or 1)
        if count < 2:
            return False
        windows = WindowedEinsum(
            self.threshold_for_windowed_einsum_mib, self.unroll_windowed_einsum
        )
        for choice in partition_module(module, count, self.policy, windows).choices:
            context.decide(self.name, (), (), choice.instruction, facts=choice.facts)
        DeadCodeElimination().run(module, context)
        return True


def partition_module(
    module: HloModule,
    count: int,
    policy: str,
    windows: WindowedEinsum = WindowedEinsum(),  # noqa: B008  # immutable
) -> PartitionRun:
    """Partition a module in place and return the run with its decisions and causes.

    ShardingError, and the module stays as it is, if a sharding does not fit.
    """
    check_shardings(module, count)
    shardings = [s for _, text in sharding_texts(module) for s in Sharding.read_all(text)]
    axes = axes_for(count, shardings)
    state = ModuleState(module, axes)
    run = PartitionRun(module, state, Annotations(axes), policy)
    run.windowed_from, run.unrolls_windows = windows.threshold(policy), windows.unroll
    source = module.entry
    known = dict(module.computations)
    try:
        target = written_computation(run, source, run.annotations.of(source.root))
    except Exception:
        module.computations = known
        raise
    module.entry = target
    module.attributes["num_partitions"] = count
    for name in ("entry_computation_layout",):
        module.attributes.pop(name, None)
    _remove_unused(module)
    order_callees_first(module)
    return run


def _remove_unused(module: HloModule) -> None:
    """Remove the computations that the partitioned entry does not reach."""
    reached, pending = {module.entry}, [module.entry]
    while pending:
        for i in pending.pop().instructions.values():
            for called in i.called:
                if called not in reached:
                    reached.add(called)
                    pending.append(called)
    module.computations = {n: c for n, c in module.computations.items() if c in reached}
