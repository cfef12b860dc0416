"""The state of a while loop: its elements, checks of them, and replacement of the loop.

Source: xla/service/while_util.cc, while_loop_simplifier.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import GET_TUPLE_ELEMENT, PARAMETER, TUPLE, opcode
from xla_explorer.hlo.shape import Shape, tuple_shape

WHILE = opcode("while")


def element(computation: HloComputation, whole: HloInstruction, index: int) -> HloInstruction:
    """Add a get-tuple-element."""
    return computation.add(
        GET_TUPLE_ELEMENT,
        whole.shape.tuple_shapes[index],
        (whole,),
        attributes_of({"index": index}),
    )


def parameter_of(computation: HloComputation) -> HloInstruction:
    """Return the one parameter of a condition or body."""
    return next(i for i in computation.instructions.values() if i.opcode is PARAMETER)


def remove_replaced(loop: HloInstruction) -> None:
    """Remove a replaced loop, side effects or not, and operands that become dead."""
    computation, operands = loop.parent, loop.operands
    if loop.id not in computation.instructions:
        return  # it died with its last reader
    computation.remove(loop)
    for operand in operands:
        remove_if_dead(computation, operand)


def read_only_by_elements(i: HloInstruction) -> bool:
    """Return True if every user reads one element, and the instruction is not the root."""
    return not i.is_root and all(user.opcode is GET_TUPLE_ELEMENT for user in i.users)


def may_be_reshaped(loop: HloInstruction) -> Reason | None:
    """Require a tuple state that is read only by elements, without a sharding."""
    condition, body = loop.called
    if not loop.shape.is_tuple or body.root.opcode is not TUPLE:
        return refuse("state-not-tuple", f"%{loop.name} does not build its state as a tuple")
    for computation in (condition, body):
        if not read_only_by_elements(parameter_of(computation)):
            return refuse("state-read-whole", f"%{computation.name} reads its state as a whole")
    if loop.attributes.get("sharding") is not None:
        return refuse("sharded", f"%{loop.name} has a sharding for each element")
    return None


def own_computations(loop: HloInstruction) -> None:
    """Clone condition and body if they have other callers."""
    if called_elsewhere(loop):
        loop.parent.set_called(loop, tuple([c.clone() for c in loop.called]))


def called_elsewhere(loop: HloInstruction) -> bool:
    """Return True if condition or body have other callers, or are one computation."""
    module = loop.parent.module
    callers = [i for i in module.instructions() if i.called and i is not loop]
    return loop.called[0] is loop.called[1] or any(
        c in loop.called for i in callers for c in i.called
    )


def initial_parts(loop: HloInstruction) -> list[HloInstruction]:
    """Return the initial value of each element of the state."""
    start = loop.operands[0]
    return (
        list(start.operands)
        if start.opcode is TUPLE
        else [element(loop.parent, start, k) for k in range(len(start.shape.tuple_shapes))]
    )


def readers_of(computation: HloComputation, index: int) -> list[HloInstruction]:
    """Return the instructions of a condition or body that read element `index` of the state."""
    return [
        u
        for u in parameter_of(computation).users
        if u.opcode is GET_TUPLE_ELEMENT and u.attributes["index"] == index
    ]


def passed_on(body: HloComputation) -> set[int]:
    """Return the elements that the body passes on unchanged."""
    return {
        number
        for number, given in enumerate(body.root.operands)
        if given.opcode is GET_TUPLE_ELEMENT
        and given.operands[0].opcode is PARAMETER
        and given.attributes["index"] == number
    }


def needed_only_by_condition(loop: HloInstruction) -> frozenset[HloInstruction]:
    """Return instructions of the body that only the condition needs.

    They compute an element of the state from itself alone, and nothing else reads the element, in
    the loop or after it. Such an element is mostly a counter, superfluous with a known trip count.
    """
    body = loop.called[1]
    if (
        body.root.opcode is not TUPLE
        or not read_only_by_elements(loop)
        or not read_only_by_elements(parameter_of(body))
    ):
        return frozenset()
    read_after = {user.attributes["index"] for user in loop.users}
    found: set[HloInstruction] = set()
    for number, made in enumerate(body.root.operands):
        elements = set(readers_of(body, number))
        chain: set[HloInstruction] = set()
        work = (
            [] if number in read_after else [user for element in elements for user in element.users]
        )
        while work:
            i = work.pop()
            if i is not body.root and i not in chain:
                chain.add(i)
                work += i.users
        known = chain | elements
        alone = all(o in known or o.opcode.name == "constant" for i in chain for o in i.operands)
        others = [o for k, o in enumerate(body.root.operands) if k != number]
        if (
            made in chain
            and alone
            and not any(has_side_effect(i) for i in chain)
            and not any(o in known for o in others)
        ):
            found |= chain
    return frozenset(found)


def replace_loop(
    loop: HloInstruction,
    parts: Sequence[HloInstruction],
    after: Callable[[HloInstruction, int], HloInstruction],
    *,
    same_numbers: bool = False,
) -> HloInstruction:
    """Replace a loop by one with the (changed) condition and body and another state; return it.

    parts: the new state's initial values. after(new loop, k): the value of element k of the old
    state after the loop. same_numbers: the elements of the old state are the first of the new one,
    so that attributes with element numbers stay valid.
    """
    computation = loop.parent
    shape: Shape = tuple_shape([p.shape for p in parts])
    made = computation.add(
        WHILE,
        shape,
        (computation.add(TUPLE, shape, parts),),
        loop.attributes.with_values(origin=None)
        if same_numbers
        else loop.attributes.with_values(backend_config=None, origin=None),
        called=loop.called,
        name=loop.name,
        metadata=loop.metadata,
    )
    for user in list(loop.users):
        if user.opcode is GET_TUPLE_ELEMENT:
            computation.replace(user, after(made, int(user.attributes["index"])))
            remove_if_dead(computation, user)
    if loop.users or loop.is_root:
        whole = [after(made, k) for k in range(len(loop.shape.tuple_shapes))]
        computation.replace(loop, computation.add(TUPLE, loop.shape, whole, metadata=loop.metadata))
    if loop.control_predecessors:
        computation.set_control_predecessors(made, loop.control_predecessors)
        computation.set_control_predecessors(loop, ())
    for other in computation.instructions.values():
        if loop in other.control_predecessors:
            computation.set_control_predecessors(
                other, [made if p is loop else p for p in other.control_predecessors]
            )
    remove_replaced(loop)
    return made
