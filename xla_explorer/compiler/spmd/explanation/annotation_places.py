"""The annotations that propagation starts from: their names, values and instructions."""

from __future__ import annotations

from dataclasses import dataclass

from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph
from xla_explorer.hlo.instruction import HloInstruction


@dataclass(frozen=True)
class Annotation:
    """A sharding that the program states.

    Attributes
    ----------
    origin : str
        `input: 0`, `output: 0`, `constraint_0` or `mc_0_input: 1`.
    value : str
        The argument, result or instruction, with %.
    metadata : str or None
        Of its instruction.
    line : int
        Of the HLO text; 0 if unknown.
    """

    origin: str
    value: str
    metadata: str | None
    line: int


def annotations_of(graph: FlowGraph) -> dict[str, Annotation]:
    """Return the annotations of a graph by the names that origins have."""
    found: dict[str, Annotation] = {}

    def add(origin: str, value: str, i: HloInstruction) -> None:
        found[origin] = Annotation(origin, value, i.metadata, i.line or 0)

    for k, argument in enumerate(graph.arguments):
        add(f"input: {k}", repr(argument), argument.instruction)
    for output in graph.outputs:
        i = output.port.value.instruction
        add(f"output: {output.number}", f"result {output.number} (%{i.name})", i)
    for operation in graph.operations:
        if operation.name:
            i = operation.instruction
            made = operation.kind == "constraint" and operation.operands
            value = f"constraint on {operation.operands[0].value!r}" if made else f"%{i.name}"
            add(operation.name, value, i)
    return found


def annotation_of(found: dict[str, Annotation], origin: str) -> Annotation | None:
    """Return the annotation of an origin; of a region's operand or result, the region's."""
    if origin in found:
        return found[origin]
    head = origin.split("_input")[0].split("_output")[0]
    return found.get(head)
