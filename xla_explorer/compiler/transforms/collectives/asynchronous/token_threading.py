"""A token through the state of the loops and conditionals around an instruction."""

from __future__ import annotations

from collections.abc import Sequence

from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import token_shape, tuple_shape


def element(whole: HloInstruction, index: int) -> HloInstruction:
    """Add an element of a tuple."""
    return whole.parent.add(
        "get-tuple-element",
        whole.shape.tuple_shapes[index],
        (whole,),
        attributes_of({"index": index}),
    )


def parts_of(whole: HloInstruction) -> list[HloInstruction]:
    """Return the elements of a tuple."""
    if whole.opcode.name == "tuple":
        return list(whole.operands)
    return [element(whole, k) for k in range(len(whole.shape.tuple_shapes))]


def empty_token(computation: HloComputation) -> HloInstruction:
    """Add a token that waits for nothing."""
    return computation.add("after-all", token_shape())


def as_tuple(value: HloInstruction, *, rebuild: bool = False) -> HloInstruction:
    """Return a tuple instruction with the elements of the value, or with the value alone."""
    if value.opcode.name == "tuple" and not rebuild:
        return value
    parts = parts_of(value) if value.shape.is_tuple else [value]
    return value.parent.add("tuple", tuple_shape([p.shape for p in parts]), parts)


def widen_parameter(computation: HloComputation) -> HloInstruction:
    """Add a token to the tuple that the only parameter holds; return the token."""
    [parameter] = computation.parameters()
    old, users, was_root = parameter.shape, list(parameter.users), parameter.is_root
    parts = list(old.tuple_shapes) if old.is_tuple else [old]
    computation.set_shape(parameter, tuple_shape([*parts, token_shape()]))
    readers = [u for u in users if not old.is_tuple or u.opcode.name != "get-tuple-element"]
    if readers or was_root:
        made = [element(parameter, k) for k in range(len(parts))]
        whole = computation.add("tuple", old, made) if old.is_tuple else made[0]
        for reader in readers:
            operands = [whole if o is parameter else o for o in reader.operands]
            computation.set_operands(reader, operands)
        if was_root:
            computation.set_root(whole)
    return element(parameter, len(parts))


def widen_root(computation: HloComputation, token: HloInstruction | None) -> None:
    """Add a token to the result of a computation; None is a token that waits for nothing."""
    parts = as_tuple(computation.root).operands
    given = token if token is not None else empty_token(computation)
    shape = tuple_shape([*[p.shape for p in parts], token_shape()])
    computation.set_root(computation.add("tuple", shape, [*parts, given]))


def _widened(value: HloInstruction, token: HloInstruction) -> HloInstruction:
    parts = parts_of(value) if value.shape.is_tuple else [value]
    shape = tuple_shape([*[p.shape for p in parts], token_shape()])
    return value.parent.add("tuple", shape, [*parts, token])


def _replace_caller(
    old: HloInstruction, operands: Sequence[HloInstruction], called: tuple[HloComputation, ...]
) -> HloInstruction:
    """Replace a loop or conditional by one whose result has a token more; return it."""
    computation = old.parent
    parts = list(old.shape.tuple_shapes) if old.shape.is_tuple else [old.shape]
    shape = tuple_shape([*parts, token_shape()])
    made = computation.add(
        old.opcode,
        shape,
        operands,
        old.attributes.with_values(sharding=None),
        called=called,
        name=old.name,
        metadata=old.metadata,
    )
    elements = [element(made, k) for k in range(len(parts))]
    whole = computation.add("tuple", old.shape, elements) if old.shape.is_tuple else elements[0]
    for user in list(old.users):
        if old.shape.is_tuple and user.opcode.name == "get-tuple-element":
            computation.replace(user, elements[int(user.attributes["index"])])
            computation.remove(user)
    computation.replace(old, whole)
    computation.set_control_predecessors(made, old.control_predecessors)
    computation.set_control_predecessors(old, ())
    for after in computation.instructions.values():
        if old in after.control_predecessors:
            before = [made if p is old else p for p in after.control_predecessors]
            computation.set_control_predecessors(after, before)
    computation.remove(old)
    return made


def through_loop(
    loop: HloInstruction, inner: HloInstruction, output: HloInstruction
) -> tuple[HloInstruction, HloInstruction, HloInstruction]:
    """Carry a token in a loop's state.

    inner: the token that the body's chain starts with. output: the token at its end. Returns the
    new loop, the token that it starts with, and the token after it.
    """
    condition, body = loop.called
    widen_root(body, output)
    body.replace(inner, widen_parameter(body))
    widen_parameter(condition)
    token = empty_token(loop.parent)
    start = _widened(loop.operands[0], token)
    made = _replace_caller(loop, (start,), loop.called)
    return made, token, element(made, len(made.shape.tuple_shapes) - 1)


def through_conditional(
    conditional: HloInstruction,
    branch: HloComputation,
    inner: HloInstruction,
    output: HloInstruction,
) -> tuple[HloInstruction, HloInstruction, HloInstruction]:
    """Carry a token through one branch; the others return a token that waits for nothing."""
    for other in dict.fromkeys(conditional.called):
        widen_root(other, output if other is branch else None)
    branch.replace(inner, widen_parameter(branch))
    token = empty_token(conditional.parent)
    operands = list(conditional.operands)
    number = conditional.called.index(branch) + 1
    operands[number] = _widened(operands[number], token)
    made = _replace_caller(conditional, operands, conditional.called)
    return made, token, element(made, len(made.shape.tuple_shapes) - 1)
