"""The pass `layout-assignment`: row-major arrays inside, the caller's layouts at the entry.

An array whose layout is not row-major is, byte for byte, a row-major array with its dimensions
permuted. So a parameter in another layout becomes a bitcast to the permuted array and a transpose
back, and a result the reverse. A transpose next to one of these cancels with it. Source:
xla/service/layout_assignment.h (which instead propagates layouts through the program).
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.layout.xla_layouts import XlaLayouts
from xla_explorer.foundation.measured import equal
from xla_explorer.foundation.reason import Reason, refuse, value_formatter
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape
from xla_explorer.hlo.text.module_header import parse_entry_computation_layout

BITCAST = opcode("bitcast")
TRANSPOSE = opcode("transpose")
COPY = opcode("copy")


@register_pass()
@dataclasses.dataclass(frozen=True)
class LayoutAssignment:
    """Assign default layouts inside, and keep the layouts of the entry's parameters and results.

    policy: `row-major` as above; `xla` assigns the layouts of XLA:CPU, with copies wherever it
    moves data. Our kernels read row-major arrays only, so `xla` is for inspection, not for
    compilation.
    """

    name: ClassVar[str] = "layout-assignment"
    kinds: ClassVar[tuple[str, ...]] = ("layout",)
    policy: typing.Literal["row-major", "xla"] = "row-major"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Normalise, then adapt the entry's parameters and results."""
        parameters, result = _wanted(module)
        if self.policy == "xla":
            return XlaLayouts(module, context, parameters, result).run()
        changed = False
        for computation in module.computations.values():
            changed |= bool(make_bitcasts_row_major(computation))
            for i in list(computation.instructions.values()):
                changed |= _normalise(computation, i)
        entry = module.entry
        for i in entry.parameters():
            wanted = parameters[int(i.payload)]
            if wanted is not i.shape:
                changed = True
                _adapt_parameter(entry, i, wanted, context)
        if result is not entry.root.shape:
            changed = True
            _adapt_root(entry, result, context)
        return changed


def why_transposed(i: HloInstruction, wanted: Shape) -> Reason | None:
    """Return None if the required layout has the bytes of the row-major one, else the reason."""
    if _moves_nothing(wanted):
        return None
    return refuse(
        "layout-differs",
        f"%{i.name} has layout {wanted.layout} outside and {i.shape.base.layout} inside",
        outside=str(wanted.layout),
        inside=str(i.shape.base.layout),
    )


def _wanted(module: HloModule) -> tuple[list[Shape], Shape]:
    parameters, result = [p.shape for p in module.entry.parameters()], module.entry.root.shape
    text = module.attributes.get("entry_computation_layout")
    if isinstance(text, str):
        said, said_result = parse_entry_computation_layout(text)
        if len(said) == len(parameters) and all(
            a.base is b.base for a, b in zip(said, parameters, strict=True)
        ):
            parameters = list(said)
        if said_result.base is result.base:
            result = said_result
    return parameters, result


def make_bitcasts_row_major(computation: HloComputation) -> dict[str, HloInstruction]:
    """Rewrite bitcasts between other layouts as transposes around a row-major bitcast.

    A bitcast depends on its layouts, so this must come before they become row-major. Returns the
    replacements by the names of the bitcasts.
    """
    replaced: dict[str, HloInstruction] = {}
    for i in list(computation.instructions.values()):
        if i.opcode is not BITCAST or not (i.shape.is_array and i.operands[0].shape.is_array):
            continue
        source = i.operands[0]
        if source.shape.base is source.shape and i.shape.base is i.shape:
            continue
        stored, order = _physical(source.shape)
        wanted, wanted_order = _physical(i.shape)
        value = source
        if order != tuple(range(len(order))):
            value = computation.add(
                TRANSPOSE,
                stored,
                (source,),
                attributes_of({"dimensions": order}),
                metadata=i.metadata,
            )
        if stored is not wanted:
            value = computation.add(BITCAST, wanted, (value,), metadata=i.metadata)
        if wanted_order != tuple(range(len(wanted_order))):
            value = computation.add(
                TRANSPOSE,
                i.shape,
                (value,),
                attributes_of({"dimensions": _inverse(wanted_order)}),
                metadata=i.metadata,
            )
        computation.replace(i, value)
        computation.remove(i)
        replaced[i.name] = value
    return replaced


def _normalise(computation: HloComputation, i: HloInstruction) -> bool:
    changed = False
    if i.shape.base is not i.shape:
        computation.set_shape(i, i.shape.base)
        changed = True
    if i.opcode is CONSTANT and i.literal.shape is not i.shape:
        computation.set_payload(i, _with_shape(i.literal, i.shape))
        changed = True
    if i.opcode is COPY and not i.control_predecessors and i.operands[0].shape.base is i.shape:
        computation.replace(i, i.operands[0])
        computation.remove(i)
        changed = True
    return changed


def _with_shape(literal: Literal, shape: Shape) -> Literal:
    if shape.is_tuple:
        return Literal(
            shape,
            parts=tuple(
                [_with_shape(p, s) for p, s in zip(literal.parts, shape.tuple_shapes, strict=True)]
            ),
        )
    return Literal(shape, literal.array)


def _physical(shape: Shape) -> tuple[Shape, tuple[int, ...]]:
    """Return the row-major array with the same bytes, and its dimensions in the logical array.

    The dimensions are major to minor.
    """
    order = tuple(reversed(shape.layout.minor_to_major))
    return array_shape(shape.element_type, [shape.dimensions[d] for d in order]), order


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    result = [0] * len(order)
    for place, dimension in enumerate(order):
        result[dimension] = place
    return tuple(result)


def _moves_nothing(shape: Shape) -> bool:
    """Return True if dimensions of several elements have the default order."""
    real = [d for d in reversed(shape.layout.minor_to_major) if shape.dimensions[d] != 1]
    return real == sorted(real) or shape.element_count == 0


def _transpose(
    computation: HloComputation, i: HloInstruction, order: tuple[int, ...], like: HloInstruction
) -> HloInstruction:
    """Return `i` with dimensions in the given order; transposes that cancel are removed."""
    if i.opcode is TRANSPOSE:
        inner: tuple[int, ...] = i.attribute("dimensions")
        order, i = tuple([inner[d] for d in order]), i.operands[0]
    if order == tuple(range(len(order))):
        return i
    made = computation.add(
        TRANSPOSE,
        array_shape(i.shape.element_type, [i.shape.dimensions[d] for d in order]),
        (i,),
        attributes_of({"dimensions": order}),
        metadata=like.metadata,
    )
    made.line = like.line
    return made


def _adapt_parameter(
    entry: HloComputation, parameter: HloInstruction, wanted: Shape, context: PassContext
) -> None:
    users = list(parameter.users)
    was_root = entry.root is parameter
    entry.set_shape(parameter, wanted)
    inside = _inside(entry, parameter, wanted, context)
    for user in users:
        for number, operand in enumerate(user.operands):
            if operand is parameter:
                entry.replace_operand(user, number, inside)
        if user.opcode is TRANSPOSE:
            folded = _transpose(entry, inside, user.attribute("dimensions"), user)
            if folded.opcode is not TRANSPOSE or folded.operands[0] is not inside:
                entry.replace(user, folded)
                entry.remove(user)
    if was_root:
        entry.set_root(inside)
    if (
        inside is not parameter
        and inside.opcode is TRANSPOSE
        and not inside.users
        and entry.root is not inside
    ):
        entry.remove(inside)


def _inside(
    entry: HloComputation, i: HloInstruction, wanted: Shape, context: PassContext
) -> HloInstruction:
    """Return the row-major form of an instruction that has the caller's layout."""
    if wanted.is_tuple:
        parts = []
        for number, part in enumerate(wanted.tuple_shapes):
            element = entry.add(GET_TUPLE_ELEMENT, part, (i,), attributes_of({"index": number}))
            parts.append(_inside(entry, element, part, context))
        return entry.add(TUPLE, tuple_shape([p.shape for p in parts]), parts)
    if not wanted.is_array or wanted.base is wanted:
        return i
    if context.decide("layout", (functools.partial(layouts_agree, wanted),), (), i) is None:
        return entry.add(BITCAST, wanted.base, (i,))
    physical, order = _physical(wanted)
    return _transpose(entry, entry.add(BITCAST, physical, (i,)), _inverse(order), i)


@value_formatter(lambda wanted, i: equal("layouts", wanted.layout, i.shape.base.layout))
def layouts_agree(wanted: Shape, i: HloInstruction) -> Reason | None:
    """Require an outside layout with the bytes of the row-major one."""
    return why_transposed(i, wanted)


def _adapt_root(entry: HloComputation, wanted: Shape, context: PassContext) -> None:
    entry.set_root(_outside(entry, entry.root, wanted, context))


def _outside(
    entry: HloComputation, i: HloInstruction, wanted: Shape, context: PassContext
) -> HloInstruction:
    """Return an instruction in the layout that the caller requires."""
    if i.shape is wanted:
        return i
    if wanted.is_tuple:
        parts = []
        for number, part in enumerate(wanted.tuple_shapes):
            if i.opcode is TUPLE:
                element = i.operands[number]
            else:
                element = entry.add(
                    GET_TUPLE_ELEMENT,
                    i.shape.tuple_shapes[number],
                    (i,),
                    attributes_of({"index": number}),
                )
            parts.append(_outside(entry, element, part, context))
        made = entry.add(TUPLE, wanted, parts, metadata=i.metadata)
        if i.opcode is TUPLE and not i.users and entry.root is not i:
            entry.remove(i)
        return made
    if not wanted.is_array:
        return i
    if i.opcode is PARAMETER and i.shape.base is not i.shape:
        raise AssertionError("parameters are adapted before the root")
    if context.decide("layout", (functools.partial(layouts_agree, wanted),), (), i) is None:
        return entry.add(BITCAST, wanted, (i,), metadata=i.metadata)
    _, order = _physical(wanted)
    return entry.add(BITCAST, wanted, (_transpose(entry, i, order, i),), metadata=i.metadata)
