"""Common subexpression elimination. Source: xla/service/hlo_cse.cc."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys, without_sharding
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER, OpcodeSpec
from xla_explorer.hlo.opcodes.spec import Trait

_NON_DETERMINISTIC = frozenset(["rng", "rng-get-and-update-state"])


def _mergeable(row: OpcodeSpec) -> bool:
    return not (
        row is PARAMETER
        or row.side_effect
        or row.asynchronous
        or row.name in _NON_DETERMINISTIC
        or Trait.NON_DETERMINISTIC in row.traits
    )


def shardings_differ(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if both have a sharding, and not the same."""
    if not a.attributes.sharding_text or not b.attributes.sharding_text:
        return False
    one, other = a.attributes.get("sharding"), b.attributes.get("sharding")
    return one is not None and other is not None and one != other


MERGE = "merge-equal"


def merge_equal_instructions(
    computation: HloComputation, keys: StructuralKeys, context: PassContext | None = None
) -> int:
    """Redirect users of equal instructions to the first, remove the others.

    Return the number removed.
    """
    context = context or PassContext()
    seen: dict[Any, HloInstruction] = {}
    lookup = seen.setdefault
    order = list(computation.post_order())
    targets = control_targets(computation)
    merged: list[HloInstruction] = []
    rows: dict[OpcodeSpec, bool] = {}
    payload_keys: dict[int, Any] = {}
    for i in order:
        row = i.opcode
        fits = rows.get(row)
        if fits is None:
            fits = rows[row] = _mergeable(row)
        if not fits:
            continue
        key = _key_of(i, keys, payload_keys)
        if key is None:
            continue
        first = lookup(key, i)
        fits = first is not i and not shardings_differ(i, first)
        if (
            fits
            and not i.control_predecessors
            and i not in targets
            and not first.control_predecessors
        ):
            if not context.may_rewrite(MERGE):
                continue
            computation.replace(i, first)
            context.rewrote(MERGE, i, first)
            merged.append(i)
    for i in reversed(merged):
        computation.remove(i)
    return len(merged)


def _key_of(
    i: HloInstruction, keys: StructuralKeys, payload_keys: dict[int, Any]
) -> tuple[Any, ...] | None:
    """Return a key that equal instructions share; None for side effects.

    payload_keys: of constants seen before, by the id of their literal.
    """
    row = i.opcode
    shape = i.shape if keys.layout_sensitive else i.shape.base
    if row is CONSTANT:
        payload = i.payload
        value = payload_keys.get(id(payload))
        if value is None:
            value = payload_keys[id(payload)] = payload.key
        return (row, shape, value, without_sharding(i.attributes))
    if i.called:
        return None if has_side_effect(i) else (*keys.parts(i), i.operands)
    if row.name == "custom-call" and has_side_effect(i):
        return None
    operands = i.operands
    if row.commutative and len(operands) == 2 and operands[0].id > operands[1].id:
        operands = (operands[1], operands[0])
    return (row, shape, without_sharding(i.attributes), i.payload, operands)


@register_pass()
@dataclasses.dataclass(frozen=True)
class CommonSubexpressionElimination:
    """Merge equal instructions on equal operands.

    is_layout_sensitive: shapes must agree in their layouts. only_fusion_computations: skip all
    other computations.
    """

    name: ClassVar[str] = "cse"
    is_layout_sensitive: bool = False
    only_fusion_computations: bool = False

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Merge in every computation."""
        keys = StructuralKeys(self.is_layout_sensitive)
        chosen: Iterable[HloComputation] = module.computations.values()
        if self.only_fusion_computations:
            chosen = module.fusion_computations()
        return sum([merge_equal_instructions(c, keys, context) for c in list(chosen)]) > 0
