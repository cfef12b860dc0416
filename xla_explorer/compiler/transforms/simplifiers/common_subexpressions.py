"""Common subexpression elimination. Source: xla/service/hlo_cse.cc."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import control_targets, has_side_effect
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER, OpcodeSpec
from xla_explorer.hlo.opcodes.spec import Trait

_NON_DETERMINISTIC = frozenset(["rng", "rng-get-and-update-state"])


def order_from_root(computation: HloComputation) -> list[HloInstruction]:
    """Return instructions in post order from the root, then from parameters and dead code.

    Operands are visited in operand order, so the result does not depend on the order of creation.
    """
    found: dict[HloInstruction, None] = {}
    for start in (computation.root, *computation.parameters(), *computation.post_order()):
        stack = [start]
        while stack:
            i = stack[-1]
            missing = (
                [o for o in (*i.operands, *i.control_predecessors) if o not in found]
                if i not in found
                else []
            )
            if missing:
                stack.append(missing[0])
            else:
                found[stack.pop()] = None
    return list(found)


class StructuralKeys:
    """Keys by which computations are compared.

    Equal computations have the same operations in the same order on the same parameters, names
    aside.
    """

    def __init__(self, layout_sensitive: bool) -> None:
        self.layout_sensitive = layout_sensitive
        self._keys: dict[HloComputation, Any] = {}
        self._numbers: dict[Any, int] = {}

    def of(self, computation: HloComputation) -> int:
        """Return the number of the computation's class of equal computations."""
        found = self._keys.get(computation)
        if found is None:
            order = order_from_root(computation)
            place = {i: number for number, i in enumerate(order)}
            rows = tuple([(*self.parts(i), tuple([place[o] for o in i.operands])) for i in order])
            found = self._keys[computation] = self._numbers.setdefault(
                (rows, place[computation.root]), len(self._numbers)
            )
        return int(found)

    def parts(self, i: HloInstruction) -> tuple[Any, ...]:
        """Return the properties that must be equal besides operands."""
        payload = i.payload.key if isinstance(i.payload, Literal) else i.payload
        return (
            i.opcode,
            i.shape if self.layout_sensitive else i.shape.base,
            without_sharding(i.attributes),
            payload,
            tuple([self.of(c) for c in i.called]) if i.called else (),
        )


def _mergeable(row: OpcodeSpec) -> bool:
    return not (
        row is PARAMETER
        or row.side_effect
        or row.asynchronous
        or row.name in _NON_DETERMINISTIC
        or Trait.NON_DETERMINISTIC in row.traits
    )


_BESIDE_VALUE = {"sharding": None, "origin": None}


def without_sharding(attributes: Attributes) -> Attributes:
    """Return the attributes that affect the value, without sharding and origin."""
    return attributes.with_values(**_BESIDE_VALUE) if attributes.sharding_text else attributes


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
