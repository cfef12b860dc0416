"""Normalizations as one fusion for Triton: rows in registers, reduced and read again.

Source: xla/backends/gpu/transforms/softmax_rewriter_triton.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
diamonds op(x, broadcast(reduce(x)))            the same, by their second operand
elementwise operations with one reader on the   the same: one operand, equal operands, or splat
way, bitcasts                                   constants and broadcasts of parameters beside
reduction of the last dimension, row-major      required
reducers of one operation                       required
rows longer than max_row_elements               refused, as by XLA's tiling
diamonds whose root is the next one's producer  one fusion, if the rows are equally long
GPUs before compute capability 8.0              an error
other fusible producers and readers             hole: they stay outside
the cost model's choice of tiles                hole: the fusion has none
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NamedTuple

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion.building import build_fusion
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_CONFIG = '{"fusion_backend_config":{"kind":"__triton"}}'
_LEAST_CAPABILITY = 8.0
_REDUCERS = frozenset(["add", "maximum", "minimum", "multiply", "and", "or"])


class Diamond(NamedTuple):
    """A normalization: the value that is reduced and read again, the reduction, and the result."""

    root: HloInstruction
    reduce: HloInstruction
    producer: HloInstruction


def _is_side_input(i: HloInstruction) -> bool:
    """Return True for a broadcast of a scalar constant or of a parameter."""
    if i.opcode.name == "constant":
        return i.shape.is_scalar
    source = i.operands[0] if i.opcode.name == "broadcast" else i
    return i.opcode.name == "broadcast" and (
        source.opcode.name == "parameter"
        or (source.opcode.name == "constant" and source.shape.is_scalar)
    )


def trivial_operand(i: HloInstruction) -> HloInstruction | None:
    """Return the operand that an instruction on the way continues, or None."""
    if i.opcode.name == "bitcast" or (i.opcode.elementwise and len(set(i.operands)) == 1):
        return i.operands[0]
    if i.opcode.elementwise and len(i.operands) == 2:
        left, right = i.operands
        if _is_side_input(left):
            return right
        if _is_side_input(right):
            return left
    return None


def _follow(i: HloInstruction, opcode: str) -> HloInstruction | None:
    """Return the first instruction of the opcode behind a way of instructions with one reader."""
    while i.opcode.name != opcode:
        next_ = trivial_operand(i) if len(i.users) == 1 else None
        if next_ is None:
            return None
        i = next_
    return i


def _way(i: HloInstruction) -> list[HloInstruction]:
    """Return the instructions behind a value, as far as a fusion may follow them."""
    way = [i]
    while (next_ := trivial_operand(way[-1])) is not None:
        way.append(next_)
    return way


def _reduces_rows(reduce: HloInstruction) -> bool:
    x = reduce.operands[0].shape
    reducer = reduce.called[0]
    plain = (
        reducer.root.opcode.name in _REDUCERS
        and all(o.opcode.name == "parameter" for o in reducer.root.operands)
        and len(reduce.operands) == 2
    )
    return (
        plain
        and list(reduce.attributes["dimensions"]) == [x.rank - 1]
        and x.layout.is_default
        and reduce.operands[1].opcode.name == "constant"
        and len(reduce.users) >= 1
    )


def diamond_at(root: HloInstruction) -> Diamond | None:
    """Return the diamond that ends in an instruction, or None."""
    if not root.opcode.elementwise or len(root.operands) != 2 or not root.shape.is_array:
        return None
    broadcast = _follow(root.operands[1], "broadcast")
    if (
        broadcast is None
        or len(broadcast.users) != 1
        or broadcast.shape.rank - 1 in broadcast.attributes.value("dimensions")
        or not broadcast.shape.layout.is_default
    ):
        return None
    reduce = _follow(broadcast.operands[0], "reduce")
    if reduce is None or len(set(reduce.users)) != 1 or not _reduces_rows(reduce):
        return None
    reduced, kept = _way(reduce.operands[0]), _way(root.operands[0])
    producer = next((i for i in kept if i in reduced), None)
    if producer is None:
        return None
    between = kept[: kept.index(producer)] + reduced[: reduced.index(producer)]
    alone = all(len(set(i.users)) == 1 for i in between)
    return Diamond(root, reduce, producer) if alone else None


@register_pass()
@dataclasses.dataclass(frozen=True)
class SoftmaxRewriterTriton:
    """Fuse chains of normalizations into custom fusions for Triton.

    compute_capability: of the device. max_row_elements: longer rows do not fit a block.
    """

    name: ClassVar[str] = "triton-softmax-rewriter"
    compute_capability: float = 9.0
    max_row_elements: int = 1 << 17

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that is not fused."""
        if self.compute_capability < _LEAST_CAPABILITY:
            raise XlaExplorerError(
                "Triton support is only enabled for Ampere GPUs (compute capability 8.0) and up, "
                f"but got compute capability {self.compute_capability}.",
                "compile for a newer device, or leave the pass out",
            )
        changed = False
        bodies = module.fusion_computations()
        for computation in list(module.computations.values()):
            if computation not in bodies:
                changed |= self._fuse(computation, context)
        return changed

    def _fuse(self, computation: HloComputation, context: PassContext) -> bool:
        found = [d for i in computation.post_order() if (d := diamond_at(i)) is not None]
        found = [d for d in found if _row(d) <= self.max_row_elements]
        chains: list[list[Diamond]] = []
        for diamond in found:
            previous = next((c for c in chains if _continues(c[-1], diamond)), None)
            if previous is not None:
                previous.append(diamond)
            else:
                chains.append([diamond])
        changed = False
        for chain in chains:
            root = chain[-1].root
            if context.decide(self.name, (), (), root) is None:
                members = _members(root, chain[0].producer)
                kind = attributes_of({"kind": "kCustom", "backend_config": _CONFIG})
                fusion = build_fusion(computation, root, members, kind=kind)
                context.rewrote(self.name, root, fusion, (fusion.id,), {"diamonds": len(chain)})
                changed = True
        return changed


def _row(diamond: Diamond) -> int:
    return int(diamond.reduce.operands[0].shape.dimensions[-1])


def _continues(first: Diamond, second: Diamond) -> bool:
    """Return True if the second normalization starts from the first one's result."""
    way = _way(second.producer)
    if first.root not in way or _row(first) != _row(second):
        return False
    return all(len(set(i.users)) == 1 for i in way[1 : way.index(first.root)])


def _members(root: HloInstruction, producer: HloInstruction) -> list[HloInstruction]:
    """Return the instructions from the root to the producer, which stays outside."""
    below = {producer}
    for i in root.parent.post_order():
        if any(o in below for o in i.operands):
            below.add(i)
    wanted: set[HloInstruction] = set()
    work = [root]
    while work:
        i = work.pop()
        side = i.opcode.name == "broadcast" or (i.opcode.name == "constant" and i.shape.is_scalar)
        if i not in wanted and i is not producer and (i in below or side):
            wanted.add(i)
            work += i.operands
    return [i for i in reversed(root.parent.post_order()) if i in wanted]
