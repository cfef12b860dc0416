"""Values that are equal on several partitions of a program.

Each value has one label per partition; partitions with one label hold the same value. The labels
are refined until nothing changes, so that values carried by loops are found too. Source:
xla/hlo/analysis/hlo_replication_analysis.cc (with `cross_partition_spmd`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Labels: TypeAlias = tuple[int, ...]
_OVER_GROUPS = frozenset(["all-reduce", "all-gather", "collective-broadcast"])
_OWN = frozenset(
    [
        "partition-id",
        "infeed",
        "rng",
        "rng-get-and-update-state",
        "recv",
        "all-to-all",
        "reduce-scatter",
        "collective-permute",
        "ragged-all-to-all",
    ]
)


class Replication:
    """The labels of every value of a module.

    partitions: the number of partitions; the module's own if 0.
    """

    def __init__(self, module: HloModule, partitions: int = 0) -> None:
        self.partitions = partitions or int(module.attributes.get("num_partitions") or 1)
        self._same: Labels = (0,) * self.partitions
        self._own: Labels = tuple(range(self.partitions))
        self._found: dict[HloInstruction, list[Labels]] = {}
        self._entry = module.entry
        computations = module.post_order_computations()
        changed = True
        while changed:
            changed = False
            for computation in reversed(computations):
                for i in computation.post_order():
                    changed |= self._update(i)

    def is_replicated(
        self, i: HloInstruction, groups: Iterable[Sequence[int]] | None = None
    ) -> bool:
        """Return True if the value is equal on all partitions, or within each group."""
        labels = self._whole(i)
        chosen = list(groups or ()) or [range(self.partitions)]
        return all(len({labels[d] for d in group if d < self.partitions}) <= 1 for group in chosen)

    def _whole(self, i: HloInstruction) -> Labels:
        return self._joined(self._found.get(i, [self._own]))

    def _joined(self, parts: Iterable[Labels]) -> Labels:
        """Return labels that differ where any part differs."""
        rows = list(zip(*parts, strict=True)) or [()] * self.partitions
        number: dict[tuple[int, ...], int] = {}
        return tuple([number.setdefault(row, len(number)) for row in rows])

    def _update(self, i: HloInstruction) -> bool:
        width = len(i.shape.tuple_shapes) if i.shape.is_tuple else 1
        old = self._found.get(i, [self._same] * width)
        made = self._labels(i, width)
        new = [self._joined([a, b]) for a, b in zip(old, made, strict=True)]
        self._found[i] = new
        if i.called:
            self._pass_on(i)
        return new != old

    def _labels(self, i: HloInstruction, width: int) -> list[Labels]:
        name = i.opcode.name
        if name == "parameter":
            if i.parent is self._entry:
                return self._of_sharding(i, width)
            return self._found.get(i, [self._same] * width)
        if name in _OWN or (name == "custom-call" and i.opcode.side_effect):
            return [self._own] * width
        parts = [self._found.get(o, [self._same]) for o in i.operands]
        if name == "tuple":
            return [self._joined(p) for p in parts]
        if name == "get-tuple-element":
            source = parts[0]
            index = int(i.attributes["index"])
            one = source[index] if index < len(source) else self._joined(source)
            return [one] * width
        if name in _OVER_GROUPS:
            return [self._over_groups(i)] * width
        if name == "while":
            ends = [self._found.get(i.called[1].root, [self._same] * width), parts[0]]
            condition = self._whole_or_same(i.called[0].root)
            return [self._joined([e[k] for e in ends] + [condition]) for k in range(width)]
        if name == "conditional":
            roots = [self._found.get(c.root, [self._same] * width) for c in i.called]
            chosen = self._joined(parts[0])
            return [self._joined([r[k] for r in roots] + [chosen]) for k in range(width)]
        if name == "call":
            return self._found.get(i.called[0].root, [self._same] * width)
        return [self._joined([self._joined(p) for p in parts])] * width

    def _whole_or_same(self, i: HloInstruction) -> Labels:
        return self._joined(self._found.get(i, [self._same]))

    def _of_sharding(self, i: HloInstruction, width: int) -> list[Labels]:
        text = i.attributes.get("sharding")
        if not text:
            return [self._own] * width
        shardings = Sharding.read_all(text)
        if len(shardings) != width:
            return [self._own] * width
        found = []
        for sharding in shardings:
            if sharding.is_replicated:
                found.append(self._same)
            elif sharding.kind == "tiled":
                places = [(*sharding.place(d), 0) for d in range(self.partitions)]
                found.append(tuple([places.index(place) for place in places]))
            else:
                found.append(self._own)
        return found

    def _over_groups(self, i: HloInstruction) -> Labels:
        """Return the labels after a collective that gives one value to each group."""
        if not i.attributes.get("channel_id"):
            return self._joined([self._whole_or_same(o) for o in i.operands])
        groups = i.attributes.get("replica_groups")
        if groups is None or not i.attributes.get("use_global_device_ids"):
            return self._same
        group_of = {d: k for k, group in enumerate(groups.groups) for d in group}
        return tuple([group_of.get(d, 0) for d in range(self.partitions)])

    def _pass_on(self, i: HloInstruction) -> None:
        """Join the operands' labels into the parameters of called computations."""
        given: list[tuple[HloComputation, Sequence[HloInstruction]]] = []
        if i.opcode.name == "while":
            given = [(c, (value,)) for c in i.called for value in (i.operands[0], i)]
        elif i.opcode.name == "conditional":
            given = [(c, (o,)) for c, o in zip(i.called, i.operands[1:], strict=False)]
        elif i.opcode.name in ("call", "fusion"):
            given = [(i.called[0], i.operands)]
        for computation, values in given:
            for parameter, value in zip(computation.parameters(), values, strict=False):
                own = self._found.get(parameter)
                labels = self._found.get(value)
                if labels is not None:
                    self._found[parameter] = (
                        labels
                        if own is None
                        else [self._joined([a, b]) for a, b in zip(own, labels, strict=True)]
                    )
