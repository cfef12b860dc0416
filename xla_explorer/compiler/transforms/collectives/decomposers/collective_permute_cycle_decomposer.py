"""Collective-permutes around a cycle as one for the back edge and one for the others.

A pipeline of devices can then overlap the two transfers. Source:
xla/backends/gpu/transforms/collectives/collective_permute_cycle_decomposer.cc.

==========================================  ===================================================
handled by XLA                              here
==========================================  ===================================================
forward cycle {0,1},{1,2},...,{n-1,0}       the same: the last pair is the back edge
backward cycle {0,n-1},{1,0},...,{n-1,n-2}  the same: the first pair is the back edge
other permutations                          unchanged
arrays below the threshold                  unchanged
channels: the second permute gets a new one the same
_xla_send_recv_validation bounds            split like the pairs
several operands, asynchronous permutes     unchanged in both
==========================================  ===================================================
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.construction import scalar_constant
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass
from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRED, U32
from xla_explorer.hlo.shape import array_shape

Pairs: TypeAlias = tuple[tuple[int, int], ...]
_VALIDATION = re.compile(r"(_xla_send_recv_validation=)[\"']?(\{(?:\{[^{}]*\},?)*\})[\"']?")


def back_edge(pairs: Pairs) -> int | None:
    """Return the position of the back edge of a cycle over neighbours, or None."""
    count = len(pairs)
    if count < 2:
        return None
    if all(pair == (k, (k + 1) % count) for k, pair in enumerate(pairs)):
        return count - 1
    if all(pair == (k, (k - 1) % count) for k, pair in enumerate(pairs)):
        return 0
    return None


def next_channel(module: HloModule) -> int:
    """Return a channel that no instruction of the module uses."""
    used = [i.attributes.get("channel_id") or 0 for i in module.instructions()]
    return int(max(used, default=0)) + 1


def _with_bounds(text: str | None, chosen: Sequence[int]) -> str | None:
    """Return frontend attributes with the validation bounds of the chosen pairs only."""
    found = _VALIDATION.search(text or "")
    if text is None or found is None:
        return text
    bounds = re.findall(r"\{[^{}]*\}", found[2][1:-1])
    if max(chosen) >= len(bounds):
        return text
    kept = ",".join([bounds[k] for k in chosen])
    return f'{text[: found.start()]}{found[1]}"{{{kept}}}"{text[found.end() :]}'


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectivePermuteCycleDecomposer(OpExpanderPass):
    """Split a cyclic collective-permute into its back edge and a chain.

    threshold_in_bytes: smaller arrays stay whole.
    """

    name: ClassVar[str] = "collective-permute-cycle-decomposer"
    opcodes: ClassVar[frozenset[str]] = frozenset(["collective-permute"])
    threshold_in_bytes: int = 0

    def matches(self, i: HloInstruction) -> bool:
        """Return True for one array along a cycle."""
        return (
            len(i.operands) == 1
            and i.shape.is_array
            and i.shape.byte_size >= self.threshold_in_bytes
            and back_edge(i.attributes.value("source_target_pairs")) is not None
        )

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return a select of the two transfers, by the receiver of the back edge."""
        pairs: Pairs = i.attributes.value("source_target_pairs")
        edge = back_edge(pairs)
        if edge is None:
            return None
        computation = b.computation
        channel = i.attributes.get("channel_id")
        parts: list[HloInstruction] = []
        for chosen in ([edge], [k for k in range(len(pairs)) if k != edge]):
            text = "{" + ",".join([f"{{{s},{t}}}" for s, t in [pairs[k] for k in chosen]]) + "}"
            attributes = i.attributes.with_values(
                source_target_pairs=CODECS["source_target_pairs"].read(text),
                channel_id=(next_channel(computation.module) if parts else channel)
                if channel
                else None,
                frontend_attributes=_with_bounds(i.attributes.get("frontend_attributes"), chosen),
            )
            parts.append(
                computation.add(
                    i.opcode, i.shape, i.operands, attributes, name=i.name, metadata=i.metadata
                )
            )
        number = array_shape(U32, ())
        device = computation.add("partition-id" if channel else "replica-id", number)
        receiver = scalar_constant(computation, number, pairs[edge][1])
        is_receiver = computation.add(
            "compare",
            array_shape(PRED, ()),
            (device, receiver),
            attributes_of({"direction": "EQ"}),
        )
        return HloValue(b, computation.add("select", i.shape, (is_receiver, *parts)))
