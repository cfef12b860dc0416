"""Collectives of narrow values instead of wide ones.

Source: xla/hlo/transforms/collectives/collective_quantizer.cc.

=============================================  ===============================================
handled by XLA                                 here
=============================================  ===============================================
all-gather, all-to-all, collective-broadcast,  the same, with one operand
collective-permute
a narrowing convert of the result, its one     moved before the collective
reader
a scale by a broadcast scalar and a clamp to   moved along, if the scale is equal on the
constants in front of the convert              devices of each group
bitcasts, copies, reshapes and slices between  moved behind the collective
a widening convert of the operand, scaled by   moved behind the collective
a broadcast scalar or not
several replicas with a scale                  refused, as in XLA
=============================================  ===============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.compiler.transforms.collectives.movers.conversion_chains import (
    ConversionChain,
    dequantization,
    quantization,
)
from xla_explorer.hlo.analysis.replication import Replication
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

COLLECTIVES = frozenset(["all-gather", "all-to-all", "collective-broadcast", "collective-permute"])


def scale_is_shared(
    collective: HloInstruction, chain: ConversionChain, partitions: int = 0
) -> bool:
    """Return True if the scale is equal on all devices that exchange values."""
    if chain.scale is None:
        return True
    module = collective.parent.module
    if int(module.attributes.get("replica_count") or 1) > 1:
        return False
    groups = collective.attributes.get("replica_groups")
    listed = groups.groups if groups is not None else ()
    return Replication(module, partitions).is_replicated(chain.scale, listed)


def _copy(of: HloInstruction, shape: Shape, operands: list[HloInstruction]) -> HloInstruction:
    attributes = of.attributes.with_values(sharding=None)
    return of.parent.add(
        of.opcode, shape, operands, attributes, called=of.called, metadata=of.metadata
    )


def _scaled(chain: ConversionChain, value: HloInstruction) -> HloInstruction:
    """Return the chain's scale and clamp, applied to another value."""
    if chain.binary is None or chain.scale is None:
        return value
    scale = _copy(chain.scale, value.shape, list(chain.scale.operands))
    sides = [scale if o is chain.scale else value for o in chain.binary.operands]
    made = _copy(chain.binary, value.shape, sides)
    if chain.clamp is not None:
        low, _, high = chain.clamp.operands
        bounds = [_copy(bound, value.shape, list(bound.operands)) for bound in (low, high)]
        made = _copy(chain.clamp, value.shape, [bounds[0], made, bounds[1]])
    return made


def _moved(value: HloInstruction, moves: tuple[HloInstruction, ...]) -> HloInstruction:
    """Return the moves applied to another value, in its element type."""
    for move in moves:
        kind = value.shape.element_type
        value = _copy(move, move.shape.with_element_type(kind), [value])
    return value


def narrow_before(collective: HloInstruction, chain: ConversionChain) -> None:
    """Convert the operand of the collective instead of its result."""
    kind = chain.convert.shape.element_type
    value = _scaled(chain, collective.operands[0])
    value = _copy(chain.convert, value.shape.with_element_type(kind), [value])
    value = _copy(collective, collective.shape.with_element_type(kind), [value])
    _replace(chain.convert, _moved(value, chain.moves))


def widen_after(collective: HloInstruction, chain: ConversionChain) -> None:
    """Convert the result of the collective instead of its operand."""
    value = _moved(chain.convert.operands[0], chain.moves)
    value = _copy(collective, collective.shape.with_element_type(value.shape.element_type), [value])
    kind = chain.convert.shape.element_type
    value = _copy(chain.convert, value.shape.with_element_type(kind), [value])
    _replace(collective, _scaled(chain, value))


def _replace(old: HloInstruction, new: HloInstruction) -> None:
    computation = old.parent
    computation.replace(old, new)
    remove_if_dead(computation, old)


@register_pass()
@dataclasses.dataclass(frozen=True)
class CollectiveQuantizer:
    """Move narrowing conversions before collectives, and widening ones behind them.

    num_partitions: the number of partitions, if the module does not state it.
    """

    name: ClassVar[str] = "collective-quantizer"
    num_partitions: int = 0

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every collective with one operand."""
        changed = False
        for computation in list(module.computations.values()):
            for i in list(computation.post_order()):
                if (
                    i.opcode.name in COLLECTIVES
                    and len(i.operands) == 1
                    and i.id in computation.instructions
                ):
                    changed |= self._rewrite(i, context)
        return changed

    def _rewrite(self, i: HloInstruction, context: PassContext) -> bool:
        for direction, find, move in (
            ("widen-after", dequantization, widen_after),
            ("narrow-before", quantization, narrow_before),
        ):
            chain = find(i)
            if chain is None or not scale_is_shared(i, chain, self.num_partitions):
                continue
            if context.decide(self.name, (), (), i) is not None:
                return False
            context.rewrote(self.name, i, chain.convert, (), {"direction": direction})
            move(i, chain)
            return True
        return False
