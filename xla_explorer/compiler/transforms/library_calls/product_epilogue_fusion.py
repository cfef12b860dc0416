"""The pass `product-epilogue-fusion`: fuse elementwise users of a GPU dot into its kernel.

The kernels of products on a GPU apply any elementwise operation to an element in a register, and
read other operands at its index. So whole chains are fused: bias, activation, residual, conversion.
Only a result that is stored in any case is fused; a value that each loop recomputes gains nothing.
A product that a library computes is skipped. Decisions are of the kind `dot-epilogue-fusion`, as on
a CPU.

Source: xla/service/gpu/transforms/gemm_fusion.cc (FuseEpilogue), cublasLt's epilogues.
"""

from __future__ import annotations

import dataclasses
from math import prod
from typing import ClassVar

from xla_explorer.compiler.decisions.formatters import described
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.fusion import fusible
from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.epilogue_policy import (
    IN_MEMORY,
    EpilogueCandidate,
    chain_is_free_to_move,
    is_stored,
    result_is_stored_anyway,
    user_allows_it,
)
from xla_explorer.compiler.transforms.library_calls.library_call import library_call_of
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.analysis.window_phases import MOST_PHASES, all_phases
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_OUTPUT = attributes_of({"kind": "kOutput"})
_TYPES = frozenset({"f32", "f64", "bf16", "f16", "s32", "u32"})
_LEAST, _LEAST_DEPTH = 16, 8
_PRODUCTS = ("dot", "convolution")


def why_no_tiles(dot: HloInstruction) -> Reason | None:
    """Return None for a product that every GPU's tiles support, else the reason.

    Supported: a convolution, or one kept and one reduced dimension on each side, none of them tiny.
    """
    a, b = dot.operands
    kind, result = a.shape.element_type, dot.shape.element_type
    same = (
        kind.name in _TYPES
        and b.shape.element_type is kind
        and (result is kind or (kind.is_float and result.name == "f32"))
    )
    if not same or not dot.shape.layout.is_default:
        return refuse(
            "no-register-tile", f"%{dot.name}: no tiles for {a.shape} and {b.shape} to {dot.shape}"
        )
    if dot.opcode.name == "convolution":
        return _why_no_convolution(dot)
    kept = []
    for operand, side in ((a, "lhs"), (b, "rhs")):
        reduced, batch = (
            dot.attribute(f"{side}_contracting_dims"),
            dot.attribute(f"{side}_batch_dims"),
        )
        kept.append(
            [
                operand.shape.dimensions[d]
                for d in range(operand.shape.rank)
                if d not in reduced and d not in batch
            ]
        )
        if len(reduced) != 1 or operand.shape.dimensions[reduced[0]] < _LEAST_DEPTH:
            return refuse(
                "no-register-tile",
                f"%{dot.name} reduces {len(reduced)} dimensions, or fewer than {_LEAST_DEPTH} "
                "elements",
            )
    if (
        any(len(extents) != 1 or extents[0] < _LEAST for extents in kept)
        or 0 in dot.shape.dimensions
    ):
        return refuse(
            "no-register-tile",
            f"%{dot.name} keeps other than one dimension of at least {_LEAST} of each operand",
            kept=kept,
        )
    return None


def _why_no_convolution(i: HloInstruction) -> Reason | None:
    if 0 in (*i.shape.dimensions, *i.operands[0].shape.dimensions, *i.operands[1].shape.dimensions):
        return refuse("no-register-tile", f"%{i.name} has no multiplication")
    sizes = [i.shape.dimensions[d] for d in i.attribute("dim_labels").output_spatial]
    rules = i.attribute("window").dimensions
    number = prod([len(all_phases(rule, size)) for rule, size in zip(rules, sizes, strict=True)])
    if number > MOST_PHASES:
        return refuse(
            "no-register-tile",
            f"%{i.name} works in {number} phases of a dilated image",
            phases=number,
        )
    return None


@register_pass()
@dataclasses.dataclass(frozen=True)
class ProductEpilogueFusion:
    """Fuse elementwise epilogues into GPU products.

    max_operations: of one epilogue. Does nothing unless the target has the ability
    `product_epilogues`.
    """

    name: ClassVar[str] = "product-epilogue-fusion"
    kinds: ClassVar[tuple[str, ...]] = ("dot-epilogue-fusion",)
    max_operations: int = 24

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every dot and convolution of every computation that control flow runs."""
        if not context.target.abilities.product_epilogues:
            return False
        changed = False
        for computation in sequential_computations(module):
            pinned = fusible.control_successors(computation)
            for dot in [
                i
                for i in computation.post_order()
                if i.opcode.name in _PRODUCTS and library_call_of(i) is None
            ]:
                changed |= self._after(computation, dot, pinned, context)
        if changed:
            order_callees_first(module)
        return changed

    def _after(
        self,
        computation: HloComputation,
        dot: HloInstruction,
        pinned: set[HloInstruction],
        context: PassContext,
    ) -> bool:
        chain = _chain(dot, self.max_operations)
        if len(chain) < 2:
            return False
        end = next((i for i in reversed(chain[1:]) if is_stored(i)), chain[-1])
        inside = chain[: chain.index(end) + 1]
        candidate = EpilogueCandidate(
            tuple(inside), tuple(_members(inside)), pinned, context.control
        )
        reason = context.decide(
            "dot-epilogue-fusion",
            LEGALITY,
            PROFITABILITY,
            dot,
            end,
            candidate=candidate,
            facts=candidate.facts,
        )
        if reason is not None:
            return False
        build_fusion(computation, end, candidate.members, name=candidate.name(), kind=_OUTPUT)
        return True


@value_formatter(
    lambda candidate: "; ".join([described(i) for i in (candidate.dot, *candidate.dot.operands)])
)
def has_register_tiles(candidate: EpilogueCandidate) -> Reason | None:
    """Require a product that every GPU's tiles support."""
    return why_no_tiles(candidate.dot)


LEGALITY = (has_register_tiles, chain_is_free_to_move, user_allows_it)
PROFITABILITY = (result_is_stored_anyway,)


def _chain(dot: HloInstruction, most: int) -> list[HloInstruction]:
    """Return the dot and the elementwise operations after it, in order.

    Other operands are in memory, or in the chain.
    """
    chain = [dot]
    while len(chain) <= most:
        here = chain[-1]
        outside = [user for user in here.users if user not in chain]
        if any(i.is_root for i in chain) or not outside:
            break
        readers = dict.fromkeys([user for i in chain for user in i.users if user not in chain])
        following = next((r for r in readers if _fits(r, dot, chain)), None)
        if following is None:
            break
        chain.append(following)
    # Only the end may have outside readers: cut back to the last instruction that everything passes
    # through.
    while len(chain) > 1 and any(user not in chain for i in chain[:-1] for user in i.users):
        chain.pop()
    return chain


def _fits(i: HloInstruction, dot: HloInstruction, chain: list[HloInstruction]) -> bool:
    if (
        i.opcode not in fusible.ELEMENTWISE
        or i.opcode is fusible.BITCAST_CONVERT
        or i.shape.element_type.is_complex
    ):
        return False
    if (
        not i.shape.is_array
        or i.shape.dimensions != dot.shape.dimensions
        or not i.shape.layout.is_default
    ):
        return False
    return all(o in chain or _readable(o) for o in i.operands)


def _readable(o: HloInstruction) -> bool:
    """Return True if an operand can be read by element from memory, or is a constant."""
    if o.opcode is fusible.BROADCAST:
        o = o.operands[0]
    return fusible.is_small_constant(o) or (
        (o.opcode.name in IN_MEMORY or is_stored(o)) and o.shape.is_array
    )


def _members(inside: list[HloInstruction]) -> list[HloInstruction]:
    """Return the chain, users first, with the broadcasts and constants that it reads."""
    members = dict.fromkeys(reversed(inside))
    for i in inside[1:]:
        for o in i.operands:
            if o.opcode is fusible.BROADCAST or fusible.is_small_constant(o):
                members[o] = None
    for member in list(members):
        if member.opcode is fusible.BROADCAST and fusible.is_small_constant(member.operands[0]):
            members[member.operands[0]] = None
    return list(members)
