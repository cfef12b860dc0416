"""Writing of propagated shardings to the HLO module, in the form that the partitioner reads.

Each instruction gets `sharding=`; constraints become copies, the borders of manual regions become
SPMDFullToShardShape and SPMDShardToFullShape. Source: xla/service/spmd/shardy/shardy_xla_pass.cc,
stablehlo_round_trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from xla_explorer.compiler.spmd.propagation.annotations import (
    BARRIER,
    CONSTRAINT,
    GROUP,
    INWARDS,
    OUTPUT,
    OUTWARDS,
)
from xla_explorer.compiler.spmd.propagation.flow_graph import FlowGraph, FlowOperation, Value
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import is_region
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.mesh import AxisPart
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_REPLICATED = "{replicated}"


@dataclass
class ModuleWriter:
    """Writes the shardings of a graph to its module.

    reshards: copy the result if its stated sharding is another.
    """

    module: HloModule
    graph: FlowGraph
    reshards: bool = True
    copied: dict[tuple[HloInstruction, int], Value] = field(default_factory=dict)
    _texts: dict[tuple[ValueSharding | None, frozenset[str]], str] = field(default_factory=dict)

    def write(self) -> None:
        """Write every sharding and replace Shardy's custom calls."""
        self._copy_constants()
        for computation in list(self.module.computations.values()):
            if computation.id in self.graph.manual:
                for i in computation.post_order():
                    text = self._text(i)
                    if text is not None:
                        self._set(i, text)
        for i in list(self.module.instructions()):
            if i.opcode.name == "parameter":
                _drop_annotation(i)
        for operation in self.graph.operations:
            if operation.kind == "constraint" and operation.instruction.opcode.name == "while":
                self._copy_captured(operation)
        for i in list(self.module.instructions()):
            self._replace_marker(i)
        self._write_outputs()

    # Texts
    def _text(self, i: HloInstruction) -> str | None:
        """Return the sharding of an instruction; None if nothing is known of it."""
        values = self._values(i)
        manual = self.graph.manual[(i.called[0] if is_region(i) else i.parent).id]
        if custom_call_target(i) in (INWARDS, OUTWARDS):
            return None
        known = [
            value is not None and (value.sharding is not None or bool(value.kind))
            for value in values
        ]
        if not any(known) and not manual:
            return None
        texts = [
            f"{{{value.kind}}}"
            if value is not None and value.kind
            else self.sharding_text(value.sharding if value else None, manual)
            for value in values
        ]
        if i.shape.is_tuple:
            return "{" + ", ".join(texts) + "}"
        return texts[0] if texts else None

    def sharding_text(self, sharding: ValueSharding | None, manual: frozenset[str]) -> str:
        """Return HLO's text of a sharding, inside a region with some manual axes."""
        key = sharding, manual
        if key not in self._texts:
            self._texts[key] = self._text_of(sharding, manual)
        return self._texts[key]

    def _text_of(self, sharding: ValueSharding | None, manual: frozenset[str]) -> str:
        mesh = self.graph.mesh
        if sharding is None:
            if not manual:
                return _REPLICATED
            sharding = ValueSharding((), ())
        named = sharding.named(mesh, self.graph.mesh_name)
        axes = tuple([AxisPart(name) for name, size in mesh.axes if name in manual and size > 1])
        if manual and not sharding.dimensions and len(axes) < len(mesh.axes):
            named = replace(named, dimensions=())
        tiles = replace(named, manual=axes).tiles(mesh)
        if self.graph.numbers:
            numbers = tuple([self.graph.numbers[one] for one in tiles.devices])
            tiles = replace(tiles, devices=numbers)
        return str(tiles)

    def _values(self, i: HloInstruction) -> Sequence[Value | None]:
        """Return the values of the elements of an instruction's result."""
        if i.opcode.name == "tuple":
            found: list[Value | None] = []
            for k, operand in enumerate(i.operands):
                one = self.copied.get((i, k))
                found += [one] if one is not None else self._values(operand)
            return found
        if i.opcode.name == "get-tuple-element":
            (source,), index = i.operands, i.attribute("index")
            skipped = sum(
                [_leaf_count(part.leaves()) for part in source.shape.tuple_shapes[:index]]
            )
            return self._values(source)[skipped : skipped + _leaf_count(i.shape.leaves())]
        if custom_call_target(i) == OUTPUT:
            return self._values(i.operands[0])
        values = self.graph.values.get(i, [])
        count = _leaf_count(i.shape.leaves())
        return values[:count] if len(values) >= count else [None] * count

    def _set(self, i: HloInstruction, text: str | None) -> None:
        old = i.attributes.get("sharding")
        if old and text and Sharding.read_all(str(old)) == Sharding.read_all(text):
            return
        changed = i.attributes.with_values(sharding=text)
        if changed is not i.attributes:
            i.parent.set_attributes(i, changed)

    # Constants
    def _copy_constants(self) -> None:
        """Give each use of a constant expression the copy that has its shardings."""
        made: dict[tuple[object, ...], HloInstruction] = {}
        originals: dict[HloInstruction, tuple[object, ...]] = {}
        for use in self.graph.copied:
            self.copied[use.user, use.index] = use.copies[use.root]
            if use.user.operands[use.index] is not use.root:
                continue
            new = self._copy(use.root, use.copies, made, originals)
            if new is not use.root:
                use.user.parent.replace_operand(use.user, use.index, new)

    def _copy(
        self,
        i: HloInstruction,
        copies: dict[HloInstruction, Value],
        made: dict[tuple[object, ...], HloInstruction],
        originals: dict[HloInstruction, tuple[object, ...]],
    ) -> HloInstruction:
        """Return the instruction, or a copy of it, for one set of shardings."""
        if i not in copies:
            return i
        operands = [self._copy(operand, copies, made, originals) for operand in i.operands]
        key = (i, copies[i].sharding, *operands)
        if i not in originals and list(operands) == list(i.operands):
            originals[i] = key
            self.graph.values[i] = [copies[i]]
            made[key] = i
        if key not in made:
            new = i.parent.add(
                i.opcode,
                i.shape,
                operands,
                i.attributes,
                called=i.called,
                payload=i.payload,
                metadata=i.metadata,
                name=i.name,
            )
            made[key] = new
            self.graph.values[new] = [copies[i]]
        return made[key]

    # Markers
    def _copy_captured(self, operation: FlowOperation) -> None:
        """Copy an element that a loop keeps, if the loop has it in another sharding."""
        loop, k = operation.instruction, operation.leaf
        state = loop.operands[0]
        if state.opcode.name != "tuple":
            return
        inner = operation.results[0].value
        manual = self.graph.manual[loop.parent.id]
        text = self.sharding_text(inner.sharding, manual)
        copy = self._made("copy", state.operands[k], text)
        self.graph.values[copy] = [inner]
        loop.parent.replace_operand(state, k, copy)
        texts = self._text(state)
        self._set(state, texts)

    def _replace_marker(self, i: HloInstruction) -> None:
        target = custom_call_target(i)
        if target in (OUTPUT, BARRIER):
            i.parent.replace(i, i.operands[0])
            i.parent.remove(i)
        elif target == CONSTRAINT:
            stated = self._text(i) or str(i.attributes.get("sharding", _REPLICATED))
            i.parent.replace(i, self._made("copy", i.operands[0], stated, i))
            i.parent.remove(i)
        elif target == GROUP and not i.users and i is not i.parent.root:
            i.parent.remove(i)
        elif target in (INWARDS, OUTWARDS):
            self._replace_border(i, inwards=target == INWARDS)

    def _made(
        self, opcode: str, operand: HloInstruction, text: str, like: HloInstruction | None = None
    ) -> HloInstruction:
        """Return a new instruction of one operand with a sharding."""
        named = like or operand
        return operand.parent.add(
            opcode,
            operand.shape,
            (operand,),
            attributes_of({"sharding": text}),
            metadata=named.metadata,
            name=named.name,
        )

    def _replace_border(self, i: HloInstruction, *, inwards: bool) -> None:
        """Replace the border of a manual region by a copy and a change of shape per operand."""
        around = self.graph.manual[i.parent.id]
        made = []
        edges = {
            one.leaf: one
            for one in self.graph.operations
            if one.instruction is i and one.border is not None
        }
        for k, (operand, (_, shape)) in enumerate(zip(i.operands, i.shape.leaves(), strict=True)):
            edge = edges.get(k)
            value = edge.results[0].value.sharding if edge else None
            axes = edge.border.manual if edge is not None and edge.border is not None else around
            inside = around | axes
            if value is None or edge is None or edge.border is None:
                outer, inner = _REPLICATED, self.sharding_text(None, inside)
            elif inwards:
                outer = self.sharding_text(edge.border.outer(value), around)
                inner = self.sharding_text(value, inside)
            else:
                outer = self.sharding_text(value, around)
                inner = self.sharding_text(value.without_manual(axes), inside)
            before, after = (outer, inner) if inwards else (inner, outer)
            copy = self._made("copy", operand, before, i)
            name = "SPMDFullToShardShape" if inwards else "SPMDShardToFullShape"
            attributes = {"custom_call_target": f'"{name}"', "sharding": after}
            made.append(
                i.parent.add(
                    "custom-call", shape, (copy,), attributes_of(attributes), metadata=i.metadata
                )
            )
        self._replace_elements(i, made)

    def _replace_elements(self, i: HloInstruction, made: list[HloInstruction]) -> None:
        """Replace an instruction with one element per new instruction."""
        if not i.shape.is_tuple:
            i.parent.replace(i, made[0])
        else:
            for user in list(i.users):
                if user.opcode.name == "get-tuple-element":
                    user.parent.replace(user, made[user.attribute("index")])
                    user.parent.remove(user)
            if i.users or i is i.parent.root:
                i.parent.replace(i, i.parent.add("tuple", i.shape, made))
        i.parent.remove(i)

    def _write_outputs(self) -> None:
        """Give the results of the program the shardings that were stated or found for them."""
        root = self.module.entry.root
        while (
            self.reshards
            and root.opcode.name == "get-tuple-element"
            and root.operands[0].opcode.name == "tuple"
        ):
            element = root.operands[0].operands[root.attribute("index")]
            root.parent.set_root(element)
            root = element
        shardings = [output.sharding for output in self.graph.outputs]
        if not any(one is not None for one in shardings):
            return
        texts = [self.sharding_text(one, frozenset()) for one in shardings]
        if root.shape.is_tuple:
            self._set(root, "{" + ", ".join(texts) + "}")
        elif not self.reshards and root.opcode.name == "get-tuple-element":
            self._set(root, texts[0])  # its annotation, not that of the tuple's element
        elif "sharding" not in root.attributes and (texts[0] == _REPLICATED or not self.reshards):
            self._set(root, texts[0])
        elif self.reshards and root.attributes.get("sharding") != texts[0]:
            root.parent.set_root(self._made("copy", root, texts[0]))


def _leaf_count(leaves: Iterable[object]) -> int:
    return sum([1 for _ in leaves])


def _drop_annotation(i: HloInstruction) -> None:
    """Remove Shardy's annotation of a parameter, which `sharding=` replaces."""
    text = i.attributes.get("frontend_attributes")
    if not text or "xla.sdy.sharding" not in text:
        return
    kept = {k: v for k, v in frontend_attribute_values(text).items() if k != "xla.sdy.sharding"}
    left = "{" + ",".join([f'{k}="{v}"' for k, v in kept.items()]) + "}" if kept else None
    i.parent.set_attributes(i, i.attributes.with_values(frontend_attributes=left))
