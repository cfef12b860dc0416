"""Operations that may write their result into an operand's buffer, with the conditions.

Source: `HloDataflowAnalysis::GetInPlaceInputOutputPairs` and `CanShareOperandBufferWithUser` in
xla/hlo/analysis.
"""

from __future__ import annotations

from xla_explorer.hlo.instruction import HloInstruction


def repacks(i: HloInstruction) -> bool:
    """Return True if a bitcast changes the number of bytes: `s4[8,2]` as `s8[8]`.

    HLO packs sub-byte elements; here each element has a byte.
    """
    return (
        i.opcode.name == "bitcast"
        and i.shape.is_array
        and i.shape.byte_size != i.operands[0].shape.byte_size
    )


def in_place_pairs(i: HloInstruction) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the (operand number, result index) pairs of operands updated in place.

    These are operands of dynamic-update-slice, of scatter, and of some fusions. The root of such a
    fusion is a dynamic-update-slice of a parameter, which is read only at the written element.
    """
    name = i.opcode.name
    if name == "fusion":
        number = in_place_fusion_operand(i)
        return ((number, ()),) if number is not None else ()
    if name == "dynamic-update-slice":
        return ((0, ()),)
    if name == "scatter":
        count = (len(i.operands) - 1) // 2
        return ((0, ()),) if count == 1 else tuple([(k, (k,)) for k in range(count)])
    return ()


def in_place_fusion_operand(fusion: HloInstruction) -> int | None:
    """Return the operand that a fusion updates in place.

    None if its root is not an update, or if it reads other elements of the buffer than the one it
    writes.
    """
    root = fusion.called[0].root
    if root.opcode.name != "dynamic-update-slice":
        return None
    target = root.operands[0]
    if target.opcode.name != "parameter":
        return None
    for user in target.users:
        if user is root:
            if any(o is target for o in root.operands[1:]):
                return None
            continue
        if (
            user.opcode.name != "dynamic-slice"
            or user.operands[0] is not target
            or user.operands[1:] != root.operands[2:]
            or user.shape.dimensions != root.operands[1].shape.dimensions
            or not _elementwise_to(user, root)
        ):
            return None
    return int(target.payload)


def _elementwise_to(i: HloInstruction, root: HloInstruction) -> bool:
    """Return True if every path from `i` to the update of `root` is elementwise over one shape."""
    update = root.operands[1]
    seen: set[HloInstruction] = set()
    stack = [i]
    while stack:
        here = stack.pop()
        for user in here.users:
            if user is root:
                if here is not update or any(
                    o is here for k, o in enumerate(root.operands) if k != 1
                ):
                    return False
            elif not user.opcode.elementwise or user.shape.dimensions != update.shape.dimensions:
                return False
            elif user not in seen:
                seen.add(user)
                stack.append(user)
    return True


def may_overwrite(i: HloInstruction, operand_number: int) -> bool:
    """Return True if an operation may write its result over an operand that dies there.

    Element k of each result must depend only on element k of the operand, in any order of k. The
    caller checks that the sizes are equal.
    """
    operand = i.operands[operand_number]
    if i.opcode.name == "fusion":
        if i.attributes.get("kind") == "kOutput":
            return False  # tiles of a product may be written twice, computed from a second read
        return sum([1 for o in i.operands if o is operand]) == 1 and reads_in_step(
            i, operand_number
        )
    return (
        i.opcode.elementwise
        and i.opcode.name not in ("copy", "map")
        and i.shape.is_array
        and (operand.shape.dimensions == i.shape.dimensions)
    )


def reads_in_step(fusion: HloInstruction, operand_number: int) -> bool:
    """Return True if element k of every result depends only on element k of the operand."""
    fused = fusion.called[0]
    root = fused.root
    roots = root.operands if root.opcode.name == "tuple" else (root,)
    parameter = next(
        (
            p
            for p in fused.instructions.values()
            if p.opcode.name == "parameter" and p.payload == operand_number
        ),
        None,
    )
    if parameter is None or any(
        not r.shape.is_array or r.shape.dimensions != parameter.shape.dimensions for r in roots
    ):
        return False
    dimensions = parameter.shape.dimensions
    seen: set[HloInstruction] = set()
    stack = [parameter]
    while stack:
        for user in stack.pop().users:
            if user is root and root.opcode.name == "tuple":
                continue
            if (
                not user.opcode.elementwise
                or user.opcode.name == "map"
                or user.shape.dimensions != dimensions
            ):
                return False
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return True
