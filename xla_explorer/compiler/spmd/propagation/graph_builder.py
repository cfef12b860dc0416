"""Building of the flow graph of an HLO module.

Source: Shardy's constant_or_scalar_splitter.cc, add_data_flow_edges.cc, manual_axes_cleanup.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from xla_explorer.compiler.spmd.propagation.annotations import (
    BARRIER,
    CONSTRAINT,
    GROUP,
    INWARDS,
    OUTPUT,
    OUTWARDS,
    Annotations,
    frontend,
)
from xla_explorer.compiler.spmd.propagation.flow_graph import (
    Border,
    CopiedUse,
    FlowGraph,
    FlowOperation,
    Output,
    Port,
    Value,
)
from xla_explorer.compiler.spmd.propagation.graph_leaves import (
    Leaf,
    live_instructions,
    unchanged_elements,
    whole_axes,
    with_replicated,
)
from xla_explorer.compiler.spmd.propagation.value_sharding import ValueSharding
from xla_explorer.compiler.spmd.rules import rule_of
from xla_explorer.compiler.spmd.rules.factor_rule import identity_rule
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import is_region
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_KEEPS_CONSTANTS: Final = frozenset(["broadcast", "reshape", "slice", "copy", "bitcast"])


@dataclass
class GraphBuilder:
    """Builds the flow graph of one module, computation by computation.

    copies_constants: copy constants and broadcasts of scalars for each use.
    """

    module: HloModule
    annotations: Annotations
    graph: FlowGraph
    leaves: dict[HloInstruction, list[Leaf]] = field(default_factory=dict)
    constants: set[HloInstruction] = field(default_factory=set)
    order: list[tuple[tuple[int, int], FlowOperation]] = field(default_factory=list)
    places: dict[HloInstruction, int] = field(default_factory=dict)
    place: int = 0
    borders: dict[HloInstruction, HloInstruction] = field(default_factory=dict)
    copies_constants: bool = True

    def build(self) -> FlowGraph:
        """Return the graph of the entry computation and of all that it runs."""
        entry = self.module.entry
        for key in ("parameters", "output"):
            stated = self.module.attributes.get(f"allow_spmd_sharding_propagation_to_{key}", "")
            words = str(stated).strip("{}").split(",")
            self.graph.free[key] = [word.strip() == "true" for word in words]
        self._computation(entry, {}, frozenset())
        root = self._of(entry.root, None, 0)
        for k, leaf in enumerate(root):
            stated = leaf.output
            if stated is None and leaf.constant is None and not self.graph.may_choose_output(k):
                stated = self.annotations.of_instruction(entry.root, k, len(self._sizes(leaf)))
            port = self._use(leaf)
            self.graph.outputs.append(Output(port, k, stated))
        self.graph.arguments.sort(key=lambda value: (value.instruction.payload, value.leaf))
        self.order.sort(key=lambda pair: pair[0])
        self.graph.operations = [operation for _, operation in self.order]
        self.graph.connect()
        return self.graph

    @staticmethod
    def _sizes(leaf: Leaf) -> tuple[int, ...]:
        if leaf.port is not None:
            return leaf.port.value.sizes
        assert leaf.constant is not None
        return leaf.constant.shape.dimensions

    # Instructions
    def _computation(
        self,
        computation: HloComputation,
        given: dict[int, list[Leaf]],
        manual: frozenset[str],
    ) -> None:
        """Add the instructions of a computation. given: the leaves of its parameters."""
        self.graph.manual[computation.id] = manual
        live = live_instructions(computation)
        for i in computation.post_order():
            if i not in live:
                continue
            self.place += 1
            self.places[i] = self.place
            if i.opcode.name == "parameter" and i.payload in given:
                self.leaves[i] = given[i.payload]
                self.graph.values[i] = [
                    leaf.port.value for leaf in given[i.payload] if leaf.port is not None
                ]
            else:
                self._instruction(i, manual)

    def _instruction(self, i: HloInstruction, manual: frozenset[str]) -> None:
        name, target = i.opcode.name, custom_call_target(i)
        if name == "tuple":
            self.leaves[i] = [leaf for k, o in enumerate(i.operands) for leaf in self._of(o, i, k)]
        elif name == "get-tuple-element":
            self.leaves[i] = self._element(i)
        elif target == OUTPUT:
            stated = self.annotations.of_text(frontend(i, "sharding"), -1)
            inner = self._of(i.operands[0], i, 0)
            self.leaves[i] = [
                Leaf(leaf.port, leaf.constant, leaf.user, stated[k] if k < len(stated) else None)
                for k, leaf in enumerate(inner)
            ]
        elif name == "while":
            self._loop(i, manual)
        elif name == "conditional":
            self._conditional(i, manual)
        elif name == "opt-barrier":
            self._barrier(i)
        elif target in (INWARDS, OUTWARDS):
            self._region_border(i, manual, inwards=target == INWARDS)
        elif is_region(i) and self._inner_border(i) is not None:
            self._region(i, manual)
        elif name == "call" and i.called[0].id not in self.graph.manual:
            self._call(i, manual)
        else:
            self._operation(i, target)

    def _element(self, i: HloInstruction) -> list[Leaf]:
        (source,) = i.operands
        index = i.attribute("index")
        skipped = [sum([1 for _ in part.leaves()]) for part in source.shape.tuple_shapes[:index]]
        count = sum([1 for _ in i.shape.leaves()])
        return self._of(source, i, 0)[sum(skipped) : sum(skipped) + count]

    def _operation(self, i: HloInstruction, target: str) -> None:
        if not self.copies_constants:
            pass
        elif self._is_constant(i):
            self.constants.add(i)
            if i.shape.is_array and i.shape.rank:
                self.leaves[i] = [Leaf(None, i)]
                return
        elif i.opcode.name == "broadcast" and i.operands[0].shape.rank == 0:
            for operand in i.operands:  # the scalar is computed once
                self._of(operand, i, 0)
            self.leaves[i] = [Leaf(None, i)]
            return
        operands = [self._use(leaf) for k, o in enumerate(i.operands) for leaf in self._of(o, i, k)]
        if target == GROUP:
            self._group(i, operands)
        results = self._results(i)
        self._add(self._made(i, operands, results))

    def _made(self, i: HloInstruction, operands: list[Port], results: list[Port]) -> FlowOperation:
        """Return the operation of an instruction; constraints state the sharding of the result."""
        target = custom_call_target(i)
        kind = {CONSTRAINT: "constraint", BARRIER: "barrier"}.get(target, "operation")
        fits = len(operands) == len(i.operands) and all(o.shape.is_array for o in i.operands)
        made = FlowOperation(kind, i, rule_of(i) if fits else None, operands, results)
        if kind == "constraint":
            made.annotated = results[0].value.sharding
        return made

    def _group(self, i: HloInstruction, operands: list[Port]) -> None:
        number = int(frontend(i, "sharding_group_id").strip('"').split()[0] or 0)
        for port in operands:
            port.value.group = number
            self.graph.groups.setdefault(number, []).append(port.value)

    def _results(self, i: HloInstruction) -> list[Port]:
        ports = []
        for k, (_, shape) in enumerate(i.shape.leaves()):
            value = Value(i, k, shape.dimensions if shape.is_array else ())
            value.sharding = self._stated(i, k, value)
            value.kind = self.annotations.kind_of(i, k)
            ports.append(Port(value))
        if i.opcode.name == "parameter" and i.parent.is_entry:
            self.graph.arguments += [port.value for port in ports]
        self.graph.values[i] = [port.value for port in ports]
        self.leaves[i] = [Leaf(port) for port in ports]
        return ports

    def _stated(self, i: HloInstruction, leaf: int, value: Value) -> ValueSharding | None:
        if i.opcode.name == "parameter" and i.parent.is_entry:
            free = self.graph.may_choose_parameter(value)
            if free and not frontend(i, "sharding"):
                return None
        return self.annotations.of_instruction(i, leaf, len(value.sizes))

    # Constants
    def _is_constant(self, i: HloInstruction) -> bool:
        if i.opcode.name in ("constant", "iota"):
            return True
        keeps = (
            i.opcode.name in _KEEPS_CONSTANTS
            or (i.opcode.elementwise and i.opcode.name != "map")
            or custom_call_target(i) == CONSTRAINT
        )
        return keeps and bool(i.operands) and all(o in self.constants for o in i.operands)

    def _of(self, i: HloInstruction, user: HloInstruction | None, index: int) -> list[Leaf]:
        """Return the leaves of an operand; a constant remembers the operand that reads it."""
        found = self.leaves[i]
        if user is None or len(found) != 1 or found[0].constant is None:
            return found
        one = found[0]
        return [Leaf(None, one.constant, one.user or (user, index), one.output)]

    def _use(self, leaf: Leaf) -> Port:
        """Return the port of a leaf that an operation uses; constants are copied for it."""
        if leaf.constant is not None:
            copies: dict[HloInstruction, Value] = {}
            port = self._copy(leaf.constant, copies, {})
            if leaf.user is not None:
                use = CopiedUse(leaf.user[0], leaf.user[1], leaf.constant, copies)
                self.graph.copied.append(use)
        else:
            assert leaf.port is not None
            port = leaf.port
        port.uses += 1
        return port

    def _copy(
        self,
        i: HloInstruction,
        copies: dict[HloInstruction, Value],
        ports: dict[HloInstruction, Port],
    ) -> Port:
        if i in ports:
            ports[i].uses += 1
            return ports[i]
        operands = []
        for operand in i.operands:
            leaf = self.leaves[operand][0]
            if leaf.constant is not None:
                port = self._copy(leaf.constant, copies, ports)
                port.uses = max(port.uses, 1)
            else:
                port = self._use(leaf)
            operands.append(port)
        value = Value(i, 0, i.shape.dimensions)
        value.sharding = self.annotations.of_instruction(i, 0, len(value.sizes))
        ports[i] = Port(value)
        copies[i] = value
        self.graph.values.setdefault(i, []).append(value)
        made = self._made(i, operands, [ports[i]])
        self.order.append(((self.places[i], len(self.order)), made))
        return ports[i]

    def _add(self, operation: FlowOperation) -> None:
        self.order.append(((self.place, len(self.order)), operation))

    # Control flow
    def _edge(
        self,
        i: HloInstruction,
        leaf: int,
        value: Value,
        sources: list[Port],
        border: Border | None = None,
    ) -> None:
        if not value.sizes:
            return
        rule = identity_rule(value.sizes, len(sources))
        self._add(
            FlowOperation("edge", i, rule, sources, [Port(value, 1)], leaf=leaf, border=border)
        )

    def _state(self, i: HloInstruction, shape: Shape) -> list[Value]:
        found = []
        for k, (_, part) in enumerate(shape.leaves()):
            value = Value(i, k, part.dimensions if part.is_array else ())
            value.sharding = self.annotations.of_instruction(i, k, len(value.sizes))
            found.append(value)
        self.graph.values[i] = found
        return found

    def _loop(self, i: HloInstruction, manual: frozenset[str]) -> None:
        """Add a loop: operand, parameters, root and result of each element are one value."""
        before = self._of(i.operands[0], i, 0)
        values = self._state(i, i.shape)
        kept = unchanged_elements(i)
        given: list[dict[int, Leaf]] = [{}, {}]
        for k in kept:
            given[0][k] = given[1][k] = self._captured(i, k, before[k])
        sources = {k: self._use(leaf) for k, leaf in enumerate(before) if k not in kept}
        roots: list[Leaf] = []
        for side, computation in enumerate(i.called):  # the condition, then the body
            state = [given[side].get(k, Leaf(Port(v, inner=True))) for k, v in enumerate(values)]
            self._computation(computation, {0: state}, manual)
            roots = self._of(computation.root, None, 0)
            if side == 0:
                self._use(roots[0])
        self.place += 1
        for k, source in sources.items():
            self._edge(i, k, values[k], [source, self._use(roots[k])])
        for k in kept:
            port = given[1][k].port
            if port is not None:
                self.graph.values[i][k] = port.value
        self.leaves[i] = [
            before[k] if k in kept else Leaf(Port(value)) for k, value in enumerate(values)
        ]

    def _captured(self, i: HloInstruction, k: int, leaf: Leaf) -> Leaf:
        """Return an element that a loop leaves as it is; one with a sharding is opened inside.

        Source: xla/service/spmd/shardy/sdy_round_trip, open_while_free_vars_sharding.cc.
        """
        value = leaf.port.value if leaf.port is not None else None
        if value is None or value.sharding is None or not value.sizes or not self.copies_constants:
            return leaf
        inner = Value(i, k, value.sizes, ValueSharding.open_everywhere(len(value.sizes)))
        made = FlowOperation(
            "constraint",
            i,
            identity_rule(value.sizes),
            [self._use(leaf)],
            [Port(inner)],
            leaf=k,
            annotated=inner.sharding,
        )
        self._add(made)
        return Leaf(made.results[0])

    def _conditional(self, i: HloInstruction, manual: frozenset[str]) -> None:
        """Add a conditional: branches read the operands; each result is one value."""
        self._use(self._of(i.operands[0], i, 0)[0])
        sources: list[list[Port]] = []
        for k, branch in enumerate(i.called):
            given = self._of(i.operands[k + 1], i, k + 1)
            self._computation(branch, {0: given}, manual)
            sources.append([self._use(leaf) for leaf in self._of(branch.root, None, 0)])
        values = self._state(i, i.shape)
        self.place += 1
        for k, value in enumerate(values):
            self._edge(i, k, value, [ports[k] for ports in sources])
        self.leaves[i] = [Leaf(Port(value)) for value in values]

    def _barrier(self, i: HloInstruction) -> None:
        """Add an optimization barrier: operand and result of each element are one value."""
        before = [self._use(leaf) for k, o in enumerate(i.operands) for leaf in self._of(o, i, k)]
        values = self._state(i, i.shape)
        for k, value in enumerate(values):
            self._edge(i, k, value, [before[k]])
        self.leaves[i] = [Leaf(Port(value)) for value in values]

    # Manual regions
    def _inner_border(self, i: HloInstruction) -> HloInstruction | None:
        """Return the custom call whose parts a region reads, or the one that takes its results."""
        for one in i.operands:
            source = one.operands[0] if one.opcode.name == "get-tuple-element" else one
            if source in self.borders:
                return source
        return next((u for u in i.users if custom_call_target(u) == OUTWARDS), None) or next(
            (w for u in i.users for w in u.users if custom_call_target(w) == OUTWARDS), None
        )

    def _region_border(self, i: HloInstruction, manual: frozenset[str], *, inwards: bool) -> None:
        """Add the data-flow edges of the operands or results of a manual region."""
        sources = [self._use(leaf) for k, o in enumerate(i.operands) for leaf in self._of(o, i, k)]
        key = "in_shardings" if inwards else "out_shardings"
        stated = self.annotations.of_text(frontend(i, key), -1)
        axes = self.annotations.manual_axes(i)
        self.borders[i] = i
        if inwards:
            region = FlowOperation("region", i, None, sources, [])
            self._add(region)
        ports = []
        for k, (_, shape) in enumerate(i.shape.leaves()):
            value = Value(i, k, shape.dimensions if shape.is_array else ())
            given = (stated[k] if k < len(stated) else None) or ValueSharding.open_everywhere(
                len(value.sizes)
            )
            border = self._border(given, axes, inwards=inwards)
            outer = ValueSharding(
                given.dimensions, given.closed, with_replicated(given, border), given.unreduced
            )
            value.sharding = outer.without_manual(axes) if inwards else outer
            ports.append(Port(value))
            if inwards:
                region.shardings.append(outer)
            self._edge(i, k, value, [sources[k]], border=border)
        self.graph.values[i] = [port.value for port in ports]
        self.leaves[i] = [Leaf(port) for port in ports]

    def _border(self, given: ValueSharding, axes: frozenset[str], *, inwards: bool) -> Border:
        prefixes = tuple([tuple([a for a in part if a.name in axes]) for part in given.dimensions])
        used = {a.name for part in prefixes for a in part} | {a.name for a in given.unreduced}
        replicated = {a.name for a in given.replicated if a.name in axes}
        unused = [
            a
            for a in whole_axes(self.annotations)
            if a.name in axes and (a.name not in used or a.name in replicated)
        ]
        return Border(inwards, axes, prefixes, tuple(unused))

    def _call(self, i: HloInstruction, manual: frozenset[str]) -> None:
        """Add the body of a call, whose parameters are the operands."""
        given = {k: self._of(operand, i, k) for k, operand in enumerate(i.operands)}
        self._computation(i.called[0], given, manual)
        self.leaves[i] = self._of(i.called[0].root, None, 0)
        self.graph.values[i] = [leaf.port.value for leaf in self.leaves[i] if leaf.port]

    def _region(self, i: HloInstruction, manual: frozenset[str]) -> None:
        """Add the body of a manual region, whose parameters are the parts of the operands."""
        given = {k: self._of(operand, i, k) for k, operand in enumerate(i.operands)}
        border = self._inner_border(i)
        axes = self.annotations.manual_axes(border) if border is not None else frozenset()
        self._computation(i.called[0], given, manual | axes)
        self.leaves[i] = self._of(i.called[0].root, None, 0)
        self.graph.values[i] = [leaf.port.value for leaf in self.leaves[i] if leaf.port]


def graph_of(module: HloModule, *, copies_constants: bool = True) -> FlowGraph:
    """Return the flow graph of a module, with or without a copy of constants for each use."""
    annotations = Annotations(module)
    graph = FlowGraph(annotations.mesh, annotations.mesh_name, numbers=annotations.numbers)
    return GraphBuilder(module, annotations, graph, copies_constants=copies_constants).build()
