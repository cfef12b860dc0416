"""Operations on unsupported types in a wider type. Source: xla/service/float_normalization.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.removal import order_callees_first
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.compiler.transforms.simplifiers.tuple_simplifier import simplify_tuples
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import layout
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape
from xla_explorer.hlo.type_conversion import in_types_of

UNTOUCHED = frozenset(
    [
        "tuple",
        "get-tuple-element",
        "constant",
        "domain",
        "parameter",
        "fusion",
        "convert",
        "call",
        "custom-call",
        "while",
        "conditional",
        "bitcast-convert",
        "bitcast",
        "opt-barrier",
        "async-start",
        "async-update",
        "async-done",
        "copy-start",
        "copy-done",
    ]
)


def in_wide_type(i: HloInstruction, low: PrimitiveType, high: PrimitiveType) -> bool:
    """Convert operands and result of one instruction; return True if any had the narrow type."""
    computation = i.parent
    narrow = [k for k, o in enumerate(i.operands) if o.shape.element_type is low]
    leaves = [leaf.element_type is low for _, leaf in i.shape.leaves()]
    if not narrow and not any(leaves):
        return False
    converted: dict[HloInstruction, HloInstruction] = {}
    for k in narrow:
        operand = i.operands[k]
        if operand not in converted:
            converted[operand] = computation.add(
                "convert",
                operand.shape.with_element_type(high),
                (operand,),
                metadata=operand.metadata,
            )
    computation.set_operands(i, [converted.get(o, o) for o in i.operands])
    if i.called:
        computation.set_called(i, tuple([_applied_in_wide_type(c, low, high) for c in i.called]))
    if any(leaves):
        users, was_root, shape = list(i.users), i.is_root, i.shape
        computation.set_shape(i, _widened(shape, low, high))
        back = in_types_of(i, shape)
        wideners = [u for u in users if u.opcode.name == "convert" and u.shape is i.shape]
        for user in [u for u in users if u not in wideners]:
            computation.set_operands(user, [back if o is i else o for o in user.operands])
        # A reader that widens the narrow result reads the wide one, which is rounded once less.
        for user in wideners:
            computation.replace(user, i)
            computation.remove(user)
        if not back.users and not was_root:
            computation.remove(back)
        if was_root:
            computation.set_root(back)
    return True


def _widened(shape: Shape, low: PrimitiveType, high: PrimitiveType) -> Shape:
    if shape.is_tuple:
        return tuple_shape([_widened(part, low, high) for part in shape.tuple_shapes])
    if shape.element_type is not low:
        return shape
    plain = array_shape(high, shape.dimensions, layout(shape.layout.minor_to_major), shape.dynamic)
    return plain if shape.layout.properties else shape.with_element_type(high)


def _applied_in_wide_type(
    applied: HloComputation, low: PrimitiveType, high: PrimitiveType
) -> HloComputation:
    """Return a copy of a reducer (comparator ...) on the wide type, or the reducer itself.

    The copy computes in the wide type, and rounds its result to the narrow one.
    """
    kinds = [p.shape.element_type for p in applied.parameters()] + [
        leaf.element_type for _, leaf in applied.root.shape.leaves()
    ]
    if low not in kinds:
        return applied
    copy = applied.clone(f"{applied.name}.clone")
    for parameter in copy.parameters():
        if parameter.shape.element_type is low:
            users, shape = list(parameter.users), parameter.shape
            copy.set_shape(parameter, _widened(shape, low, high))
            narrow = copy.add("convert", shape, (parameter,))
            for user in users:
                copy.set_operands(user, [narrow if o is parameter else o for o in user.operands])
            if parameter.is_root:
                copy.set_root(narrow)
    for i in [i for i in copy.post_order() if i.opcode.name not in UNTOUCHED]:
        in_wide_type(i, low, high)
    for i in list(copy.post_order()):
        source = i.operands[0] if i.opcode.name == "convert" else i
        if (
            source.opcode.name == "convert"
            and source.operands[0].opcode.name == "parameter"
            and source.operands[0].shape is i.shape
        ):
            copy.replace(i, source.operands[0])
    copy.set_root(in_types_of(copy.root, _widened(copy.root.shape, low, high)))
    return copy


class FloatNormalization:
    """Compute operations on the unsupported type `low` in `high`."""

    name: ClassVar[str]
    low: ClassVar[PrimitiveType]
    high: ClassVar[PrimitiveType]

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Visit every computation that control flow runs.

        Computations applied inside kernels follow their callers.
        """
        changed = False
        for computation in sequential_computations(module):
            for i in [
                i
                for i in computation.post_order()
                if i.opcode.name not in UNTOUCHED and not i.opcode.side_effect
            ]:
                changed |= in_wide_type(i, self.low, self.high)
        if changed:
            for computation in list(module.computations.values()):
                simplify_tuples(computation)
            DeadCodeElimination().run(module, context)
            order_callees_first(module)
        return changed


def _declare(low: str, high: str) -> type[FloatNormalization]:
    made = type(
        f"FloatNormalization{low.upper()}",
        (FloatNormalization,),
        {
            "name": f"float-normalization-{low}",
            "low": PRIMITIVE_TYPES[low],
            "high": PRIMITIVE_TYPES[high],
            "__doc__": f"Operations on {low} happen in {high}; their results are rounded back.",
            "__module__": __name__,
        },
    )
    return register_pass()(dataclasses.dataclass(frozen=True)(made))


_PAIRS = {
    "bf16": "f32",
    "f8e5m2": "f16",
    "f8e4m3": "f16",
    "f8e4m3fn": "f16",
    "f8e4m3b11fnuz": "f16",
    "f8e5m2fnuz": "f16",
    "f8e4m3fnuz": "f16",
    "f8e3m4": "f16",
    "f4e2m1fn": "f16",
    "f8e8m0fnu": "f32",
    "s4": "s8",
    "u4": "u8",
}
PASSES = [_declare(low, high) for low, high in _PAIRS.items() if low in PRIMITIVE_TYPES]
