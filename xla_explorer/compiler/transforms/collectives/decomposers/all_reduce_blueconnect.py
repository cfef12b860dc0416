"""All-reduces over hosts as reduce-scatter in hosts, all-reduce between, and all-gather in hosts.

Source: xla/backends/gpu/transforms/collectives/all_reduce_blueconnect.cc.

============================================  ================================================
handled by XLA                                here
============================================  ================================================
groups with equally many devices on each host the same: scattered within a host, or over pairs
several operands, if the parts divide them    the same
the inner all-reduce again                    the same
control edges                                 at the first and last of the three
groups of replicas, and of global ids         the same; other modes are unchanged
the device assignment                         device k is on host k / num_devices_per_host;
                                              the count is replica_count where no group says it
constrained layouts                           the module stays as it is
============================================  ================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.transforms.collectives.decomposers.collective_permute_cycle_decomposer import (
    next_channel,
)
from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape, tuple_shape


def split_group(group: Sequence[int], host: int) -> tuple[list[list[int]], list[list[int]]] | None:
    """Return the groups within hosts and between them, or None."""
    by_host: dict[int, list[int]] = {}
    for device in group:
        by_host.setdefault(device // host, []).append(device)
    sizes = {len(devices) for devices in by_host.values()}
    if len(sizes) != 1:
        return None
    part = max(sizes.pop(), 2)
    ordered = [device for number in sorted(by_host) for device in by_host[number]]
    if len(ordered) % part or len(ordered) // part < 2:
        return None
    inside = [ordered[k : k + part] for k in range(0, len(ordered), part)]
    return inside, [ordered[k::part] for k in range(part)]


def _text(groups: list[list[int]]) -> str:
    return "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}"


@register_pass()
@dataclasses.dataclass(frozen=True)
class AllReduceBlueConnect:
    """Exchange less between hosts.

    num_devices_per_host: device numbers are consecutive on a host. replica_count: of all-reduces
    without groups, if the module does not state it.
    """

    name: ClassVar[str] = "all-reduce-blueconnect"
    num_devices_per_host: int = 8
    replica_count: int = 0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every all-reduce."""
        found = [i for i in module.instructions() if i.opcode.name == "all-reduce"]
        if any(i.attributes.get("constrain_layout") for i in found):
            return False
        changed = False
        for i in found:
            while (split := self._split(i)) is not None:
                if context.decide(self.name, (), (), i) is not None:
                    break
                i = self._rewrite(i, *split, context)
                changed = True
        return changed

    def _split(self, i: HloInstruction) -> tuple[list[list[int]], list[list[int]]] | None:
        channel, ids = [i.attributes.get(n) for n in ("channel_id", "use_global_device_ids")]
        if bool(channel) != bool(ids):
            return None
        stated = int(i.parent.module.attributes.get("replica_count") or 0)
        count = self.replica_count or stated
        groups = i.attributes.get("replica_groups")
        listed = groups.groups if groups is not None and groups.groups else (range(count),)
        inside: list[list[int]] = []
        between: list[list[int]] = []
        for group in listed:
            found = split_group(group, self.num_devices_per_host) if len(group) else None
            if found is None or (inside and len(found[0][0]) != len(inside[0])):
                return None
            inside += found[0]
            between += found[1]
        if any(x.shape.element_count % len(inside[0]) for x in i.operands):
            return None
        return inside, between

    def _rewrite(
        self,
        i: HloInstruction,
        inside: list[list[int]],
        between: list[list[int]],
        context: PassContext,
    ) -> HloInstruction:
        """Replace an all-reduce by the three steps, and return the inner all-reduce."""
        computation, before = i.parent, i.parent.module.next_instruction_id
        kind, parts = i.operands[0].shape.element_type, len(inside[0])
        flat = [array_shape(kind, (x.shape.element_count,)) for x in i.operands]
        short = [array_shape(kind, (s.dimensions[0] // parts,)) for s in flat]
        several = len(flat) > 1
        base = i.attributes.with_values(sharding=None)

        def exchange(opcode: str, values: list[HloInstruction], own: bool) -> HloInstruction:
            along = {} if opcode == "all-reduce" else {"dimensions": (0,)}
            channel = i.attributes.get("channel_id")
            if channel and not own:
                along["channel_id"] = next_channel(computation.module)  # type: ignore[assignment]
            groups = CODECS["replica_groups"].read(_text(between if own else inside))
            shapes = flat if opcode == "all-gather" else short
            return computation.add(
                opcode,
                tuple_shape(shapes) if several else shapes[0],
                values,
                base.with_values(replica_groups=groups, **along),
                called=() if opcode == "all-gather" else i.called,
            )

        def results(made: HloInstruction) -> list[HloInstruction]:
            if not several:
                return [made]
            return [
                computation.add("get-tuple-element", s, (made,), attributes_of({"index": k}))
                for k, s in enumerate(made.shape.tuple_shapes)
            ]

        values = [
            computation.add("bitcast", s, (x,)) for s, x in zip(flat, i.operands, strict=True)
        ]
        scatter = exchange("reduce-scatter", values, False)
        inner = exchange("all-reduce", results(scatter), True)
        gather = exchange("all-gather", results(inner), False)
        wanted = [x.shape for x in i.operands]
        moved = [
            computation.add("bitcast", s, (x,))
            for s, x in zip(wanted, results(gather), strict=True)
        ]
        made = computation.add("tuple", i.shape, moved) if several else moved[0]
        context.rewrote(self.name, i, made, (scatter.id, inner.id, gather.id))
        computation.set_control_predecessors(scatter, i.control_predecessors)
        computation.set_control_predecessors(i, ())
        substitute(i, made, before)
        return inner
