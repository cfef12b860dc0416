"""The shape of an instruction as XLA's parser has it: stated, inferred, or built from the operands.

Source: hlo_parser.cc CreateInstruction.
"""

from __future__ import annotations

from xla_explorer.hlo.computation import infer_shape
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import TUPLE, OpcodeSpec
from xla_explorer.hlo.primitive_type import U32
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, token_shape, tuple_shape
from xla_explorer.hlo.text.attributes.attribute_list import DecodedAttributes
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.shape_text import read_shape

# XLA's parser takes the data of these from their operands (a recv: from its stated shape), whatever
# else the text states.
SHAPE_FOLLOWS = frozenset(
    {"add-dependency", "after-all", "send", "send-done", "recv", "recv-done", "infeed", "outfeed"}
)


def result_shape(
    spec: OpcodeSpec,
    shape: Shape | None,
    operands: tuple[HloInstruction, ...],
    decoded: DecodedAttributes,
    opcode_at: int,
) -> Shape:
    """Return the stated or inferred shape, after a check of the number of operands."""
    if spec.arity is not None and spec.arity != len(operands):
        raise TextError(
            f"{spec.name} expects {_plural(spec.arity)}, but has {len(operands)}",
            opcode_at,
            f"give {spec.name} {_plural(spec.arity)}: {spec.summary}",
            len(spec.name),
        )
    if shape is None:
        if not spec.infers_in_text:
            raise TextError(
                f"cannot infer shape for opcode: {spec.name}",
                opcode_at,
                "write the result shape before the opcode",
                len(spec.name),
            )
        try:
            shape = infer_shape(
                spec, tuple([o.shape for o in operands]), decoded.attributes, decoded.called
            )
            if (
                spec.elementwise
            ):  # the result of an elementwise operation keeps the layout of its operand
                shape = next((o.shape for o in operands if o.shape.base is shape), shape)
            elif (
                spec.name == "transpose" and operands[0].shape.is_array
            ):  # inferred as a bitcast of its operand
                place = {
                    dimension: number
                    for number, dimension in enumerate(decoded.attributes.value("dimensions"))
                }
                shape = shape.with_layout(
                    tuple(
                        [place[dimension] for dimension in operands[0].shape.layout.minor_to_major]
                    )
                )
            read_shape(shape.text_without_layout, 0)  # its limits hold for inferred shapes too
        except (ShapeError, KeyError, IndexError, AttributeError, OverflowError) as problem:
            raise TextError(
                f"cannot infer the shape of this {spec.name}: {problem}",
                opcode_at,
                "correct the operands, or write the result shape before the opcode",
                len(spec.name),
            ) from None
    elif spec.name in SHAPE_FOLLOWS:
        shape = _follows(spec, shape, tuple([o.shape for o in operands]))
    if spec is TUPLE and shape.is_tuple and len(shape.tuple_shapes) != len(operands):
        raise TextError(
            f"tuple expects {_plural(len(shape.tuple_shapes))}, but has {len(operands)}",
            opcode_at,
            f"the shape is {shape.text_without_layout}",
            len(spec.name),
        )
    return shape


def _follows(spec: OpcodeSpec, stated: Shape, operands: tuple[Shape, ...]) -> Shape:
    """Return the shape of a token or transfer as XLA's parser builds it, layouts included.

    The stated shape is returned if it cannot be built.
    """
    parts = stated.tuple_shapes
    try:
        if spec.name in ("recv", "infeed"):
            return tuple_shape(
                (parts[0], array_shape(U32, ()), token_shape())
                if spec.name == "recv"
                else (parts[0], token_shape())
            )
        if spec.name == "send":
            return tuple_shape((operands[0], array_shape(U32, ()), token_shape()))
        if spec.name == "after-all":
            return token_shape()
        if spec.name == "add-dependency":
            return operands[0]
        return infer_shape(spec, operands)
    except (ShapeError, IndexError):
        return stated


def _plural(count: int) -> str:
    """Return `1 operand`, `2 operands`."""
    return f"{count} operand{'' if count == 1 else 's'}"
