"""Elements of results before they are used, and what a graph needs of the program around them."""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.spmd.propagation.annotations import GROUP, Annotations
from xla_explorer.compiler.spmd.propagation.axis_lists import Axes, Axis
from xla_explorer.compiler.spmd.propagation.flow_graph import Border, Port
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction


@dataclass
class Leaf:
    """An element of an instruction's result, before it is used.

    port: None for a constant expression, which each use copies. constant: its instruction, with
    user and index of the first operand that reads it. output: a stated output sharding.
    """

    port: Port | None
    constant: HloInstruction | None = None
    user: tuple[HloInstruction, int] | None = None
    output: ValueSharding | None = None


def unchanged_elements(loop: HloInstruction) -> set[int]:
    """Return the elements of a loop's state that its body returns as it got them."""
    root = loop.called[-1].root
    if root.opcode.name != "tuple" or any(p.is_tuple for p in loop.shape.tuple_shapes):
        return set()
    return {
        k
        for k, one in enumerate(root.operands)
        if one.opcode.name == "get-tuple-element"
        and one.operands[0].opcode.name == "parameter"
        and one.attribute("index") == k
    }


def with_replicated(given: ValueSharding, border: Border) -> Axes:
    """Return the replicated axes of an outer sharding, the unused manual axes among them."""
    more = [axis for axis in border.replicated if axis not in given.replicated]
    return (*given.replicated, *more)


def whole_axes(annotations: Annotations) -> list[Axis]:
    """Return the axes of the mesh that have more than one device."""
    return [Axis(name, 1, size) for name, size in annotations.mesh.axes if size > 1]


def live_instructions(computation: HloComputation) -> set[HloInstruction]:
    """Return the instructions that the root needs, and those with side effects."""
    stack = [computation.root, *computation.parameters()]
    stack += [
        i
        for i in computation.instructions.values()
        if i.opcode.side_effect or custom_call_target(i) == GROUP
    ]
    found: set[HloInstruction] = set()
    while stack:
        i = stack.pop()
        if i not in found:
            found.add(i)
            stack += i.operands
    return found
