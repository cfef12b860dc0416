"""Implicit conversions in modules of mixed float precision, such as a TPU's optimised HLO.

`bf16[4] copy(f32[4])` becomes a copy and a convert; `add(bf16[4], f32[4])` becomes an add in f32.
Evaluator, passes and backends then need no case for mixed precision. Source: hlo_verifier.cc,
ShapeVerifier::CheckShape with allow_mixed_precision.
"""

from __future__ import annotations

from collections.abc import Iterator

from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.schedule_update import update_schedules
from xla_explorer.hlo.shape import Shape, ShapeError, tuple_shape
from xla_explorer.hlo.type_conversion import in_types_of
from xla_explorer.hlo.verifier import VerifierOptions, violations
from xla_explorer.hlo.verifier.constraints import inferred_shape
from xla_explorer.hlo.verifier.precision import NEVER_MIXED, mixed_precision

_MIXED = VerifierOptions(allow_mixed_precision=True)
# Their results have the element type of their operand; no shape rule gives the dimensions.
_KEEP_THE_TYPE = frozenset(("broadcast", "reshape", "dynamic-reshape"))


class MixedPrecisionWarning(UserWarning):
    """Conversions between float precisions were written out that the module left implicit."""


def with_tpu_conversions(module: HloModule) -> HloModule:
    """Return a copy with the conversions of a TPU's optimised module written out, and warn.

    A TPU's module has tiled layouts. Other modules are returned unchanged.
    """
    tiled = any("T(" in leaf.layout.properties for _, leaf in _leaves(module) if leaf.is_array)
    if not tiled or not mixes_precisions(module):
        return module
    if violations(module) and not violations(module, _MIXED):
        module = module.clone()
        count = write_out_conversions(module)
        warn(
            f"{module.name} mixes float precisions as a TPU's optimised HLO does: {count} "
            f"conversion{'s' if count != 1 else ''} that it "
            "leaves implicit were written out",
            MixedPrecisionWarning,
        )
    return module


def mixes_precisions(module: HloModule) -> bool:
    """Return True if there are values of more than one float type."""
    return (
        len(
            {
                leaf.element_type
                for _, leaf in _leaves(module)
                if leaf.is_array and leaf.element_type.is_float
            }
        )
        > 1
    )


def _leaves(module: HloModule) -> Iterator[tuple[tuple[int, ...], Shape]]:
    for shape in {i.shape for i in module.instructions()}:
        yield from shape.leaves()


def write_out_conversions(module: HloModule) -> int:
    """Make each change of float precision a convert, in place. Returns the number of converts."""
    count = sum(
        [
            _convert_around(i)
            for c in module.computations.values()
            for i in list(c.instructions.values())
        ]
    )
    update_schedules(module)
    return count


def _convert_around(i: HloInstruction) -> int:
    computation, count = i.parent, 0
    if mixed_precision(i) is not None:
        operands = []
        for operand, kind in zip(i.operands, _operand_types(i), strict=True):
            if kind is not None and kind is not operand.shape.element_type:
                operand = computation.add(
                    "convert",
                    operand.shape.with_element_type(kind),
                    (operand,),
                    metadata=i.metadata,
                )
                count += 1
            operands.append(operand)
        computation.set_operands(i, operands)
    stated, computed = i.shape, _computed(i)
    if computed is None or computed is stated:
        return count
    users, is_root = list(i.users), i.is_root
    computation.set_shape(i, computed)
    before = len(computation.instructions)
    back = in_types_of(i, stated)
    for user in users:
        computation.set_operands(user, [back if o is i else o for o in user.operands])
    if is_root:
        computation.set_root(back)
    return count + sum(
        new.opcode.name == "convert" for new in list(computation.instructions.values())[before:]
    )


def _operand_types(i: HloInstruction) -> list[PrimitiveType | None]:
    """Return the float type that each operand needs; None for operands that are not converted."""
    kinds = [o.shape.element_type for o in i.operands]
    floats = [kind for kind in kinds if kind is not None and kind.is_float]
    widest = max(floats, key=lambda kind: kind.bits)
    wanted: list[PrimitiveType | None] = [widest if kind in floats else None for kind in kinds]
    if i.opcode.name == "dynamic-update-slice":
        wanted[1] = kinds[0]
        wanted[0] = None
    count = len(kinds) // 2
    parameters = [p.shape.element_type for p in i.called[-1].parameters()] if i.called else []
    if i.opcode.name in ("reduce", "reduce-window"):
        wanted = [*parameters[count:], *parameters[:count]]
    elif i.opcode.name == "scatter":
        wanted = [*parameters[:count], None, *parameters[count:]]
    elif i.opcode.name == "sort":
        wanted = list(parameters[::2])
    elif i.opcode.name == "map":
        wanted = list(parameters)
    elif i.opcode.name == "select-and-scatter":
        wanted = [parameters[0]] * 3
    return [
        element_type if kind is not None and kind.is_float else None
        for element_type, kind in zip(wanted, kinds, strict=True)
    ]


def _computed(i: HloInstruction) -> Shape | None:
    """Return the stated shape in the element types that the operands imply.

    None if no conversion is necessary.
    """
    if i.opcode.name in NEVER_MIXED:
        return None
    if i.opcode.name in _KEEP_THE_TYPE:
        kind = i.operands[0].shape.element_type
        return _in_types(i.shape, i.shape.with_element_type(kind)) if kind is not None else None
    try:
        found = i.called[0].root.shape if i.opcode.name == "fusion" else inferred_shape(i)
    except (ShapeError, KeyError):
        return None
    return None if found is None or _accumulates(i) else _in_types(i.shape, found)


def _accumulates(i: HloInstruction) -> bool:
    """Return True if the result may have any stated float type."""
    return i.opcode.name in ("dot", "convolution", "ragged-dot", "scaled-dot")


def _in_types(stated: Shape, computed: Shape) -> Shape | None:
    """Return the stated shape with other float types; None if the shapes differ in more."""
    if stated.is_tuple or computed.is_tuple:
        if len(stated.tuple_shapes) != len(computed.tuple_shapes):
            return None
        parts = [
            _in_types(a, b) for a, b in zip(stated.tuple_shapes, computed.tuple_shapes, strict=True)
        ]
        return None if None in parts else tuple_shape([part for part in parts if part is not None])
    a, b = stated.element_type, computed.element_type
    if a is b or a is None or b is None:
        return stated if a is b else None
    return (
        stated.with_element_type(b)
        if a.is_float and b.is_float and stated.dimensions == computed.dimensions
        else None
    )
