"""Print a module as HLO text that XLA's parser accepts.

Attributes are printed by their codecs; an opcode with an attribute that XLA always prints needs a
row of `_ALWAYS`.

Source: hlo_module.cc Print, hlo_computation.cc Print, hlo_instruction.cc PrintWithCanonicalNameMap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.hlo.attributes import CODECS, Attributes
from xla_explorer.hlo.attributes.codecs import TRAILING
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER, OpcodeSpec
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.async_sugar import wrapped_instruction
from xla_explorer.hlo.text.lexical import KEYWORDS, RESERVED
from xla_explorer.hlo.text.literal_text import write_literal
from xla_explorer.hlo.text.module_header import parse_entry_computation_layout
from xla_explorer.hlo.text.print_options import PrintOptions
from xla_explorer.hlo.text.shape_text import same_sizes

if TYPE_CHECKING:
    from xla_explorer.hlo.instruction import HloInstruction
    from xla_explorer.hlo.literal import Literal
    from xla_explorer.hlo.module import HloModule

# Attributes that are printed even if they have the default value: XLA's parser requires them, or
# XLA's printer always prints them.
_ALWAYS = {
    "triangular-solve": ("transpose_a",),
    "broadcast": ("dimensions",),
    "reduce": ("dimensions",),
    "scan": ("is_associative",),
    "dot": ("lhs_contracting_dims", "rhs_contracting_dims"),
    "gather": ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes"),
    "scatter": ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
}
# Collectives print these first, in this order, before their own attributes.
_COLLECTIVE_ORDER = {
    "channel_id": 0,
    "replica_groups": 1,
    "source_target_pairs": 1,
    "constrain_layout": 2,
}
_COLLECTIVES = {
    "all-reduce", "all-reduce-start", "all-gather", "all-gather-start", "all-to-all", "reduce-scatter", "collective-broadcast",
    "ragged-all-to-all", "collective-permute", "collective-permute-start",
}  # fmt: skip

# XLA prints `calls=` before the body of the called computation, but `to_apply=` before its name.
_CALLS = frozenset(("reduce-scatter", "scan"))
_Key = TypeVar("_Key")
_MOST_ESSENTIAL = 500_000  # largest constant, in elements, whose integers are in a fingerprint


class Printer:
    """The state of one print: its options, and caches of texts that repeat."""

    def __init__(self, options: PrintOptions) -> None:
        self.options = options
        self.percent = "%" if options.percent else ""
        # Canonical names of the instructions of the computation that is being printed.
        self.numbers: dict[HloInstruction, str] = {}
        self.bodies: dict[HloComputation, str] = {}
        self.shapes: dict[Shape, str] = {}
        self.attributes: dict[tuple[OpcodeSpec, Attributes], tuple[str, str, str]] = {}
        self.ends: dict[
            tuple[OpcodeSpec, Attributes, tuple[HloComputation, ...]], tuple[str, str]
        ] = {}

    # -- names -------------------------------------------------------------------------------------
    def name(self, thing: HloInstruction | HloComputation) -> str:
        """Return the printed name, with its percent sign."""
        options = self.options
        if options.canonical_names and not isinstance(thing, HloComputation):
            found = self.numbers.get(thing)
            if found is None:
                found = self.numbers[thing] = f"{self.percent}tmp_{len(self.numbers)}"
            return found
        if not options.own_names:
            return ""
        if thing.name in KEYWORDS:  # without the percent sign it would be parsed as the keyword
            return f"%{thing.name}"
        return self.percent + thing.name

    def reference(self, computation: HloComputation) -> str:
        """Return a called computation as an attribute's value: its name, or its body."""
        if not self.options.nested_bodies:
            return self.name(computation)
        found = self.bodies.get(computation)
        if found is None:
            indent = "\n" + " " * self.options.indent
            # XLA prints nested bodies in post-order, even if the module is scheduled.
            lines = ["{", *self.computation(computation, False, computation.post_order())[1:]]
            found = self.bodies[computation] = indent + "\n".join(lines).replace("\n", indent)
        return found

    # -- parts of an instruction -------------------------------------------------------------------
    def shape(self, shape: Shape) -> str:
        """Return the text of a shape; the options decide on layouts and index comments."""
        found = self.shapes.get(shape)
        if found is None:
            found = self.shapes[shape] = shape_text(
                shape, self.options.layouts, self.options.index_comments
            )
        return found

    def attribute_texts(self, spec: OpcodeSpec, attributes: Attributes) -> tuple[str, str, str]:
        """Return the texts of the three groups of attributes: (own, sharding, backend)."""
        key = (spec, attributes)
        found = self.attributes.get(key)
        if found is None:
            options = self.options
            own = own_attributes(spec, attributes)
            sharding, backend = attributes.sharding_text, attributes.backend_text
            if not (options.sharding and options.frontend_attributes and options.backend_config):
                hidden = {
                    name
                    for name, shown in (
                        ("sharding", options.sharding),
                        ("frontend_attributes", options.frontend_attributes),
                        ("backend_config", options.backend_config),
                    )
                    if not shown
                }
                kept = attributes.with_values(**dict.fromkeys(hidden & attributes.keys()))
                sharding, backend = kept.sharding_text, kept.backend_text
            found = self.attributes[key] = (own, sharding, backend)
        return found

    def called(self, i: HloInstruction) -> str:
        """Return the called computations: `, to_apply=%f`, `, condition=%c, body=%b` ..."""
        names = [self.reference(c) for c in i.called]
        kind, comma, end = i.opcode.name, ", ", ""
        if self.options.nested_bodies:
            comma, end = ",", "\n"
        if kind == "conditional":
            if (
                len(names) == 2
                and i.operands
                and i.operands[0].shape.element_type is not None
                and i.operands[0].shape.element_type.is_pred
            ):
                return f", true_computation={names[0]}, false_computation={names[1]}"
            return f", branch_computations={{{comma.join(names)}{end}}}"
        if kind == "custom-call":
            return f", called_computations={{{comma.join(names)}{end}}}"
        roles = (
            i.opcode.called if not (self.options.nested_bodies and kind in _CALLS) else ("calls",)
        )
        return "".join([f", {role}={name}" for role, name in zip(roles, names, strict=False)])

    def line_ends(self, i: HloInstruction) -> tuple[str, str]:
        """Return the texts before and after the metadata, without control predecessors."""
        own, sharding, backend = self.attribute_texts(i.opcode, i.attributes)
        found = f"{own}{self.called(i) if i.called else ''}{sharding}", backend
        # A conditional's roles depend on its selector too, so they are not cached.
        if i.opcode.name != "conditional":
            self.ends[i.opcode, i.attributes, i.called] = found
        return found

    def operands(self, i: HloInstruction) -> str:
        """Return the text between the parentheses."""
        spec = i.opcode
        if spec is PARAMETER:
            return str(i.payload)
        if spec is CONSTANT:
            literal = i.payload
            if self.options.essential_constants:
                return essential_constant(literal)
            if not self.options.large_constants and (
                literal.shape.is_tuple or literal.shape.element_count > self.options.constant_limit
            ):
                return "{...}"
            if not self.options.large_constants and not literal.is_elided:
                return write_literal(literal)  # the digits that XLA prints
            # With large_constants the digits of the source are kept. `{...}` has no values.
            return "{...}" if literal.is_elided else str(literal.text)
        name = self.name
        if self.options.operand_shapes:
            texts = [f"{self.shape(o.shape)} {name(o)}" for o in i.operands]
        else:
            texts = [name(o) for o in i.operands]
        if len(texts) > 5 and self.options.operand_index_comments:
            texts[5::5] = [f"/*index={k}*/{texts[k]}" for k in range(5, len(texts), 5)]
        return ", ".join(texts)

    def instruction(self, i: HloInstruction, is_root: bool) -> str:
        """Return the line of an instruction, without indentation."""
        options = self.options
        wrapped = wrapped_instruction(i) if i.opcode.asynchronous else None
        own, sharding, backend = self.attribute_texts(i.opcode, i.attributes)
        opcode_name, called = i.opcode.name, self.called(i) if i.called else ""
        if wrapped is not None:
            opcode_name = wrapped.opcode.name + opcode_name[5:]
            called = ""
            if i.opcode.name == "async-start":
                own += self.attribute_texts(wrapped.opcode, wrapped.attributes)[0]
                called = self.called(wrapped) if wrapped.called else ""
                if options.nested_bodies:
                    called += self.called(i)
        control = ""
        if i.control_predecessors and options.control_dependencies:
            control = f", control-predecessors={{{', '.join([self.name(c) for c in i.control_predecessors])}}}"
        metadata = f", metadata={i.metadata}" if i.metadata and options.metadata else ""
        shape = f"{self.shape(i.shape)} " if options.result_shapes else ""
        return (
            f"{'ROOT ' if is_root else ''}{self.name(i)} = {shape}{opcode_name}({self.operands(i)})"
            f"{own}{called}{sharding}{control}{metadata}{backend}"
        )

    # -- computations and modules ------------------------------------------------------------------
    def computation(
        self,
        computation: HloComputation,
        is_entry: bool,
        order: Sequence[HloInstruction] | None = None,
    ) -> list[str]:
        """Return the lines of a computation: header, instructions in sequence or `order`, brace."""
        options = self.options
        signature = ""
        if options.program_shape:
            parameters = [
                f"{self.name(p).removeprefix('%')}: {shape_text(p.shape, False, options.index_comments)}"
                for p in computation.parameters()
            ]
            signature = f"({', '.join(parameters)}) -> {shape_text(computation.root.shape, False, options.index_comments)} "
        lines = [
            " ".join(
                filter(
                    None, ("ENTRY" if is_entry else "", self.name(computation), f"{signature}{{")
                )
            )
        ]
        outer, self.numbers = self.numbers, {}
        indent, root = " " * options.indent, computation.root
        plain = not (options.canonical_names or options.operand_shapes) and options.result_shapes
        if not options.percent:
            plain = plain and KEYWORDS.isdisjoint(
                [i.name for i in computation.instructions.values()]
            )
        with_metadata = options.metadata
        percent, shapes, shape_of, ends_of, new_ends = (
            self.percent,
            self.shapes.get,
            self.shape,
            self.ends.get,
            self.line_ends,
        )
        emit = lines.append
        for i in computation.sequence() if order is None else order:
            operands, spec = i.operands, i.opcode
            count = len(operands)
            if plain and 0 < count < 3 and not (i.control_predecessors or spec.asynchronous):
                # The most frequent form of a line, inlined because printing spends its time here.
                tail, backend = ends_of((spec, i.attributes, i.called)) or new_ends(i)
                arguments = (
                    f"{percent}{operands[0].name}"
                    if count == 1
                    else f"{percent}{operands[0].name}, {percent}{operands[1].name}"
                )
                root_mark = "ROOT " if i is root else ""
                shape = shapes(i.shape) or shape_of(i.shape)
                if i.metadata and with_metadata:
                    emit(
                        f"{indent}{root_mark}{percent}{i.name} = {shape} {spec.name}({arguments}){tail}, metadata={i.metadata}{backend}"
                    )
                else:
                    emit(
                        f"{indent}{root_mark}{percent}{i.name} = {shape} {spec.name}({arguments}){tail}{backend}"
                    )
            else:
                emit(indent + self.instruction(i, i is root))
        self.numbers = outer
        thread = computation.execution_thread if options.own_names else None
        emit("}" + (f", execution_thread={thread}" if thread else ""))
        return lines

    def module(self, module: HloModule) -> tuple[list[str], list[tuple[int, HloComputation]]]:
        """Return the lines of a module, and each computation with the index of its first line."""
        options = self.options
        lines: list[str] = []
        if options.header:
            lines += [self.header(module), ""]
            if module.frames is not None and options.metadata:
                lines += [*module.frames.text.split("\n"), ""]
        order = computations_in_order(module) if options.subcomputations else [module.entry]
        hidden = {
            i.called[0]
            for c in order
            for i in c.instructions.values()
            if i.opcode.asynchronous and i.called and wrapped_instruction(i) is not None
        }
        starts = []
        for computation in order:
            if computation not in hidden:
                starts.append((len(lines), computation))
                lines += self.computation(computation, computation is module.entry)
                lines.append("")
        return lines, starts

    def header(self, module: HloModule) -> str:
        """Return the header line: attributes, shapes of the entry's parameters and result."""
        mark = "%" if module.name in RESERVED else ""  # else it would be parsed as the keyword
        parts = [f"HloModule {mark + module.name if self.options.own_names else ''}"]
        if module.is_scheduled:
            parts.append("is_scheduled=true")
        shown = dict(module.attributes)
        given = shown.pop("entry_computation_layout", None)
        layout_text = f"entry_computation_layout={entry_layout_text(module, given)}"
        before = ("alias_passthrough_params", "input_output_alias", "buffer_donor")
        parts += [f"{key}={shown.pop(key)}" for key in before if key in shown]
        parts.append(layout_text)
        parts += [
            f"{key}={value}"
            for key, value in shown.items()
            if self.options.frontend_attributes or key != "frontend_attributes"
        ]
        return ", ".join(parts)


def essential_constant(literal: Literal) -> str:
    """Return the text of a constant in a fingerprint.

    Source: hlo_instructions.cc HloConstantInstruction.
    """
    shape = literal.shape
    if literal.is_elided or not shape.is_array:
        return "{...}"
    for value in (0, 1):
        if (literal.array == value).all():
            return str(value)
    whole = shape.element_type.is_integer and shape.element_count <= _MOST_ESSENTIAL
    return write_literal(literal) if whole else "{...}"


def own_attributes(spec: OpcodeSpec, attributes: Attributes) -> str:
    """Return the opcode's own attributes as text, including defaults that must be printed."""
    collective = spec.name in _COLLECTIVES
    needed = [
        name
        for name in _ALWAYS.get(spec.name, spec.required)
        if name not in attributes and name in CODECS
    ]
    if not needed and not collective:
        return attributes.text
    texts = {
        name: CODECS[name].write(value) if name in CODECS else value
        for name, value in attributes.items()
        if name not in TRAILING
    }
    texts |= {name: CODECS[name].write(CODECS[name].default) for name in needed}
    if collective and "source_target_pairs" not in texts:
        texts.setdefault("replica_groups", "{}")

    def place(name: str) -> tuple[int, int]:
        own = _COLLECTIVE_ORDER.get(name, 4) if collective else 4
        if name == "use_global_device_ids" and spec.name == "reduce-scatter":
            own = 3
        return own, CODECS[name].rank if name in CODECS else 10_000

    return "".join([f", {name}={texts[name]}" for name in sorted(texts, key=place)])


@lru_cache(maxsize=4096)
def shape_text(shape: Shape, layouts: bool = True, index_comments: bool = True) -> str:
    """Return a shape as text, optionally with `/*index=5*/` before every fifth tuple element."""
    if not (shape.is_tuple or shape.is_buffer) or (
        layouts and len(shape.tuple_shapes) < 6 and not any(p.is_tuple for p in shape.tuple_shapes)
    ):
        return shape.text if layouts else shape.text_without_layout
    parts = [shape_text(part, layouts, index_comments) for part in shape.tuple_shapes]
    if index_comments and len(parts) > 5:
        parts[5::5] = [f"/*index={k}*/{parts[k]}" for k in range(5, len(parts), 5)]
    return f"{'b' if shape.is_buffer else ''}({', '.join(parts)})"


def entry_layout_text(module: HloModule, given: object = None) -> str:
    """Return the layout of the entry: `{(f32[2]{0})->f32[2]{0}}`.

    The header's layout is used if it fits the entry, else the entry's own.
    """
    parameters, result = tuple(module.parameter_shapes()), module.entry.root.shape
    if isinstance(given, str):
        try:
            said, said_result = parse_entry_computation_layout(given)
        except ValueError:
            said, said_result = (), None
        if (
            len(said) == len(parameters)
            and said_result is not None
            and same_sizes(said_result, result)
            and all(map(same_sizes, said, parameters))
        ):
            parameters, result = said, said_result
    texts = [shape_text(shape) for shape in parameters]
    texts[5::5] = [f"/*index={k}*/{texts[k]}" for k in range(5, len(texts), 5)]
    return f"{{({', '.join(texts)})->{shape_text(result)}}}"


def computations_in_order(module: HloModule) -> list[HloComputation]:
    """Return computations with callees before callers, as XLA orders them.

    Uncalled computations, such as the entry, come in the order of the module.
    """
    callees = {
        # XLA orders the body of a `while` before its condition.
        computation: dict.fromkeys(
            [
                c
                for i in computation.sequence()
                if i.called
                for c in (i.called[::-1] if i.opcode.name == "while" else i.called)
            ]
        )
        for computation in module.computations.values()
    }
    return callees_first(callees, module.entry)


def callees_first(callees: Mapping[_Key, Iterable[_Key]], entry: _Key) -> list[_Key]:
    """Return keys of computations, callees before callers, uncalled ones in the order given."""
    order: list[_Key] = []
    done: set[_Key] = set()
    called = {c for found in callees.values() for c in found}
    # Each computation's callees are walked once: a new search for the first missing callee after
    # each would be quadratic.
    rest = {computation: iter(found) for computation, found in callees.items()}
    for start in [*[c for c in callees if c not in called], entry, *callees]:
        stack = [start] if start not in done else []
        while stack:
            computation = stack[-1]
            waiting = next((c for c in rest[computation] if c not in done), None)
            if waiting is not None and len(stack) <= len(callees) + 1:
                stack.append(waiting)
            else:
                if computation not in done:
                    done.add(computation)
                    order.append(computation)
                stack.pop()
    return order


@default_floating_point()
def module_text(module: HloModule, options: PrintOptions | None = None) -> str:
    """Return the module as HLO text."""
    with collector_paused():
        return "\n".join(Printer(options or PrintOptions.default).module(module)[0])


@default_floating_point()
def module_text_with_lines(
    module: HloModule, options: PrintOptions | None = None
) -> tuple[str, dict[int, int]]:
    """Return the text, and {line, counted from 1: instruction id}."""
    with collector_paused():
        lines, starts = Printer(options or PrintOptions.default).module(module)
        owner = {
            start + 1 + offset: i.id
            for start, computation in starts
            for offset, i in enumerate(computation.sequence())
        }
        where: dict[int, int] = {}
        number = 1
        for index, line in enumerate(lines):
            if index in owner:
                where[number] = owner[index]
            number += 1 + line.count("\n")
        return "\n".join(lines), where


def computation_text(computation: HloComputation, options: PrintOptions | None = None) -> str:
    """Return one computation as HLO text."""
    return "\n".join(
        Printer(options or PrintOptions.default).computation(computation, computation.is_entry)
    )


def instruction_text(i: HloInstruction, options: PrintOptions | None = None) -> str:
    """Return one instruction as a line of HLO text."""
    parent = getattr(i, "parent", None)
    return Printer(options or PrintOptions.default).instruction(
        i, parent is not None and parent.root is i
    )
