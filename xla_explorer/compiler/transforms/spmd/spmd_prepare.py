"""Preparation for the partitioner: joined scatters that hide their parallel dimensions are split.

The algebraic simplifier turns the sum of two scatters into one scatter of concatenated indices. The
partitioner then no longer sees that the indices count along a sharded dimension. Source:
xla/service/spmd/spmd_prepare.cc.

=========================================  =====================================================
handled by XLA                             here
=========================================  =====================================================
operand is a sum, combiner is a sum        the same
indices and updates: two parts each        the same
parallel dimensions of the whole           unchanged
both parts: the same parallel dimensions   the same
one of them is split in operand, indices   the same
operand or indices without a sharding      unchanged
several operands                           unchanged
counts through calls (call graph)          hole: only inside the computation
=========================================  =====================================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import substitute
from xla_explorer.compiler.spmd.partitioning.index_dims import index_dims, parallel_dims
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement.scatters import adds_updates
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


@register_pass()
@dataclasses.dataclass(frozen=True)
class SpmdPrepare:
    """Split scatters of concatenated indices if the parts count along a sharded dimension."""

    name: ClassVar[str] = "spmd-prepare"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every scatter with a sharding."""
        changed = False
        for computation in list(module.computations.values()):
            for i in [i for i in computation.post_order() if i.opcode.name == "scatter"]:
                if "sharding" in i.attributes and _hides_parallel_dims(i):
                    _split(i, context, self.name)
                    changed = True
        return changed


def _hides_parallel_dims(i: HloInstruction) -> bool:
    """Return True if the parts of a scatter have sharded parallel dimensions, the whole none."""
    if len(i.operands) != 3:
        return False
    operand, indices, updates = i.operands
    joined = all(
        o.opcode.name == "concatenate" and len(o.operands) == 2 for o in (indices, updates)
    )
    if operand.opcode.name != "add" or not joined or not adds_updates(i):
        return False
    if _parallel(i, indices):
        return False
    found = [_parallel(i, part) for part in indices.operands]
    if not found[0] or found[0] != found[1]:
        return False
    given = [o.attributes.get("sharding") for o in (*operand.operands, *indices.operands)]
    texts = [text for text in given if text]
    if len(texts) < 4:
        return False
    first, parts = Sharding.read(texts[0]), Sharding.read(texts[2])
    if first.kind != "tiled" or parts.kind != "tiled":
        return False
    return any(first.tiles[d] != 1 and parts.tiles[k] != 1 for d, k in found[0].items())


def _parallel(i: HloInstruction, indices: HloInstruction) -> dict[int, int]:
    operand, _, updates = i.operands
    return parallel_dims(index_dims(i, indices, updates.shape.rank, operand.shape.rank), indices)


def _split(i: HloInstruction, context: PassContext, name: str) -> None:
    """Replace a scatter by one for each part of its indices."""
    computation, made = i.parent, i.operands[0]
    attributes = i.attributes.with_values(indices_are_sorted=None, unique_indices=None)
    created = []
    for indices, updates in zip(i.operands[1].operands, i.operands[2].operands, strict=True):
        made = computation.add(
            i.opcode, i.shape, (made, indices, updates), attributes, called=i.called, name=i.name
        )
        created.append(made.id)
    context.rewrote(name, i, made, created)
    substitute(i, made, created[0])
