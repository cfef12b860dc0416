"""The careful reader: recursive descent over one instruction in any legal spelling; finds the place of each mistake.

The fast path (parser.py) hands over every line that its regular expression does not accept, or that it doubts.
Source: hlo_parser.cc ParseInstruction, ParseOperands.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, NamedTuple

from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes
from xla_explorer.hlo.computation import HloComputation, infer_shape
from xla_explorer.hlo.instruction import HloInstruction, new_instruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import CONSTANT, OPCODES, PARAMETER, TUPLE, OpcodeSpec
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, U32
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape, token_shape, tuple_shape
from xla_explorer.hlo.text.async_sugar import begin_async, sugared
from xla_explorer.hlo.text.attribute_text import DecodedAttributes, FindComputation, decode_attributes, read_attributes
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import KEYWORDS, NAME, RESERVED_TYPES, balanced_end, skip_blank
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.opcode_checks import CHECKED_OPCODES, OpcodeChecks
from xla_explorer.hlo.text.shape_text import read_shape, same_dimensions

_ROOT = re.compile(r"ROOT(?=[\s%/])")
_OPCODE = re.compile(r"([A-Za-z_][\w\-]*)\s*(\(?)", re.ASCII)
_NUMBER = re.compile(r"\s*(\d+)\s*", re.ASCII)
_SHAPE_START = re.compile(r"\(|b\(|[A-Za-z]\w*\s*\[")
_DEEPEST = 100  # nested operands


# XLA's parser takes the data of these from their operands (a recv: from its stated shape), whatever else the text states.
SHAPE_FOLLOWS = frozenset({"send", "send-done", "recv", "recv-done", "infeed", "outfeed"})


class Pieces(NamedTuple):
    """One instruction, read but not yet in its computation."""

    is_root: bool
    name: str
    name_at: int
    spec: OpcodeSpec
    shape: Shape
    operands: tuple[HloInstruction, ...]
    decoded: DecodedAttributes
    payload: Any
    end: int


def _follows(spec: OpcodeSpec, stated: Shape, operands: tuple[Shape, ...]) -> Shape:
    """The shape of a transfer, built as XLA's parser builds it; the stated one where that is the same or cannot be built."""
    parts = stated.tuple_shapes
    try:
        if spec.name in ("recv", "infeed"):
            built = tuple_shape((parts[0], array_shape(U32, ()), token_shape()) if spec.name == "recv" else (parts[0], token_shape()))
        elif spec.name == "send":
            built = tuple_shape((operands[0], array_shape(U32, ()), token_shape()))
        else:
            built = infer_shape(spec, operands)
    except (ShapeError, IndexError):
        return stated
    return stated if stated.base is built.base else built


def _stated(spec: OpcodeSpec, shape: Shape, operands: tuple[HloInstruction, ...], attributes: Attributes) -> Attributes:
    """The attributes with those that may be left out in the text, but that XLA's instruction always has."""
    if spec.name == "map" and "dimensions" not in attributes:
        return attributes.with_values(dimensions=tuple(range(shape.rank)) if shape.is_array else ())
    if spec.name == "outfeed" and "outfeed_shape" not in attributes and operands:
        return attributes.with_values(outfeed_shape=operands[0].shape.text)
    return attributes


def plural(count: int) -> str:
    """`1 operand`, `2 operands`."""
    return f"{count} operand{'' if count == 1 else 's'}"


def near_names(wanted: str, names: dict[str, HloInstruction]) -> str:
    """The hint for an operand that does not exist."""
    near = difflib.get_close_matches(wanted, list(names)[-5000:], 2, 0.7)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "an operand is defined above its use, in the same computation"


class CarefulReader:
    """Reads instructions of one text.

    single: the text is one bare instruction, so unknown operands with shapes become parameters.
    """

    def __init__(self, text: str, find: FindComputation, *, single: bool = False) -> None:
        self.text = text
        self.find = find
        self.single = single
        self.checks = OpcodeChecks()

    def read(self, at: int, names: dict[str, HloInstruction], computation: HloComputation) -> Pieces:
        """The instruction at `at`. TextProblem with its place otherwise."""
        text = self.text
        is_root = _ROOT.match(text, at)
        if is_root:
            at = skip_blank(text, is_root.end())
        name, name_at, at = self._definition(at)
        shape, _, at = self._optional_shape(at)
        opcode_at = at
        opcode_name, at = self._opcode(at)
        spec = OPCODES.get(opcode_name)
        step = None
        if spec is None:
            step = sugared(opcode_name)
            if step is None:
                self._unknown_opcode(opcode_name, opcode_at)
            spec = OPCODES[f"async-{step[1]}"]  # type: ignore[index]
        payload_text, payload_at, operands, end = self._arguments(at, spec, names, computation, 0)
        items, end = read_attributes(text, end)
        if step is not None and step[1] == "start":
            spec, decoded = begin_async(self.find, computation.module, name, OPCODES[step[0]], shape, operands, items, opcode_at)
        else:
            try:
                decoded = decode_attributes(spec, items, self.find)
            except TextProblem as problem:
                if problem.at < 0:
                    problem.at = opcode_at
                raise
        shape, payload = self._finish(spec, shape, operands, decoded, payload_text, payload_at, opcode_at)
        stated = _stated(spec, shape, operands, decoded.attributes)
        if stated is not decoded.attributes:
            decoded = decoded._replace(attributes=stated)
        if spec.name in CHECKED_OPCODES:
            self.checks.check(
                spec,
                shape,
                operands,
                decoded.attributes,
                decoded.called,
                "".join([f", {item.name}=" for item in items]),
                opcode_at,
            )
        return Pieces(bool(is_root), name, name_at, spec, shape, operands, decoded, payload, end)

    # -- parts -------------------------------------------------------------------------------------------------------
    def _definition(self, at: int) -> tuple[str, int, int]:
        """(name, its offset, offset behind '=')."""
        text = self.text
        found = NAME.match(text, at)
        if found is None:
            word = re.compile(r"[^\s=(),{}]*").match(text, at).group()  # type: ignore[union-attr]
            raise TextProblem(
                "expects the name of an instruction",
                at,
                "an instruction looks like: name = f32[2] add(a, b)"
                if at < len(text) and text[at] != "}"
                else "a computation holds at least one instruction"
                if at < len(text)
                else "add the missing '}'",
                max(len(word), 1),
            )
        name, end = found.group(1), found.end()
        bare = text[at] != "%"
        if name in RESERVED_TYPES or (bare and name in KEYWORDS):
            if self.single and name in RESERVED_TYPES:
                return "_", at, at
            raise TextProblem(f"{name} is a reserved word, not a name", at, f"rename it, for example to {name}_", end - at)
        equal = skip_blank(text, end)
        if not text.startswith("=", equal):
            if self.single and text[equal : equal + 1] in ("(", "["):
                return "_", at, at
            raise TextProblem("expects '=' in instruction", equal, f"write: {name} = shape opcode(operands)")
        if bare and equal == end:
            raise TextProblem(
                "expects a name, but sees the attribute name " + name + "=",
                at,
                f"put a space between {name} and '='",
                end - at,
            )
        return name, at, skip_blank(text, equal + 1)

    def _optional_shape(self, at: int) -> tuple[Shape | None, int, int]:
        """(shape or None, its offset, offset behind it)."""
        text = self.text
        start = _SHAPE_START.match(text, at)
        if start is None:
            word = NAME.match(text, at)
            if word is not None and word.group(1) in PRIMITIVE_TYPES:
                raise TextProblem(
                    f"expects '[' after the element type {word.group(1)}",
                    word.end(),
                    f"write {word.group(1)}[] for a scalar",
                )
            return None, at, at
        shape, end = read_shape(text, at)
        return shape, at, skip_blank(text, end)

    def _opcode(self, at: int) -> tuple[str, int]:
        """(opcode name, offset behind its parenthesis)."""
        text = self.text
        found = _OPCODE.match(text, at)
        if found is None:
            raise TextProblem("expects an opcode", at, "an instruction looks like: name = f32[2] add(a, b)")
        if not found.group(2):
            if found.group(1) not in OPCODES and sugared(found.group(1)) is None:
                self._unknown_opcode(found.group(1), at)
            raise TextProblem(
                f"expects '(' after the opcode {found.group(1)}",
                found.end(1),
                "operands stand in parentheses: add(a, b)",
            )
        return found.group(1), found.end()

    def _unknown_opcode(self, name: str, at: int) -> None:
        near = difflib.get_close_matches(name, OPCODES, 3)
        raise TextProblem(
            f"unknown opcode {name}",
            at,
            f"did you mean {' or '.join(near)}?" if near else "opcodes are written as XLA writes them: add, dot, reduce, custom-call ...",
            len(name),
        )

    def _arguments(
        self, at: int, spec: OpcodeSpec, names: dict[str, HloInstruction], computation: HloComputation, depth: int
    ) -> tuple[str, int, tuple[HloInstruction, ...], int]:
        """(text of the payload, its offset, operands, offset behind the closing parenthesis); at: behind the first."""
        text = self.text
        if spec is CONSTANT or spec is PARAMETER:
            end = balanced_end(text, at - 1, one_bracket=True)
            start = skip_blank(text, at)
            return text[start : end - 1].rstrip(), start, (), end
        operands: list[HloInstruction] = []
        opening, at = at - 1, skip_blank(text, at)
        while not text.startswith(")", at):
            if at >= len(text):
                raise TextProblem("'(' is never closed", opening, "add the missing ')'")
            operand, at = self._operand(at, names, computation, depth)
            operands.append(operand)
            at = skip_blank(text, at)
            if text.startswith(",", at):
                at = skip_blank(text, at + 1)
            elif at >= len(text):
                raise TextProblem("'(' is never closed", opening, "add the missing ')'")
            elif not text.startswith(")", at):
                raise TextProblem("expects ',' or ')' after an operand", at, "separate operands by commas: add(a, b)")
        return "", at, tuple(operands), at + 1

    def _operand(self, at: int, names: dict[str, HloInstruction], computation: HloComputation, depth: int) -> tuple[HloInstruction, int]:
        """A name, perhaps with its shape, or a nested instruction."""
        text = self.text
        declared, shape_at, at = self._optional_shape(at)
        found = NAME.match(text, at)
        if found is None and self.single and declared is not None:
            return self._parameter(f"_{self._count(computation)}", declared, names, computation), at
        if found is None:
            raise TextProblem("expects the name of an operand", at, "operands are names of instructions defined above")
        name, end = found.group(1), found.end()
        if text.startswith("(", skip_blank(text, end)) and text[at] != "%":
            if depth >= _DEEPEST:
                raise TextProblem(f"operands nest deeper than {_DEEPEST} levels", at, "give the inner instructions names of their own")
            return self._nested(at, declared, shape_at, names, computation, depth + 1)
        operand = names.get(name)
        if operand is None:
            if self.single and declared is not None and name not in RESERVED_TYPES:
                return self._parameter(name, declared, names, computation), end
            elsewhere = [c.name for c in self.find.computations.values() if any(i.name == name for i in c.instructions.values())]
            hint = (
                near_names(name, names) if not elsewhere else f"{name} belongs to computation {elsewhere[0]}; pass its value as a parameter"
            )
            raise TextProblem(f"instruction does not exist: {name}", at, hint, end - at)
        if declared is not None and not same_dimensions(declared, operand.shape):
            raise TextProblem(
                f"The declared operand shape {declared} is not compatible with the shape of the operand instruction {operand.shape}.",
                shape_at,
                "correct the shape, or leave operand shapes out",
                max(at - shape_at, 1),
            )
        return operand, end

    def _count(self, computation: HloComputation) -> int:
        return sum([i.opcode is PARAMETER for i in computation.instructions.values()])

    def _parameter(self, name: str, shape: Shape, names: dict[str, HloInstruction], computation: HloComputation) -> HloInstruction:
        """A parameter for an operand that a single instruction mentions."""
        return self._create(name, PARAMETER, shape, (), NO_ATTRIBUTES, self._count(computation), names, computation)

    def _nested(
        self,
        at: int,
        shape: Shape | None,
        shape_at: int,
        names: dict[str, HloInstruction],
        computation: HloComputation,
        depth: int,
    ) -> tuple[HloInstruction, int]:
        opcode_name, behind = self._opcode(at)
        spec = OPCODES.get(opcode_name)
        if spec is None:
            self._unknown_opcode(opcode_name, at)
        assert spec is not None
        payload_text, payload_at, operands, end = self._arguments(behind, spec, names, computation, depth)
        decoded = DecodedAttributes(NO_ATTRIBUTES, (), None, ())
        if spec.required or spec.called:
            raise TextProblem(
                f"a nested {opcode_name} cannot have attributes",
                at,
                "give it a name and a line of its own",
                len(opcode_name),
            )
        shape, payload = self._finish(spec, shape, operands, decoded, payload_text, payload_at, at)
        stem = name = f"{opcode_name}.anon"
        number = 0
        while name in names:
            number += 1
            name = f"{stem}.{number}"
        return self._create(name, spec, shape, operands, NO_ATTRIBUTES, payload, names, computation), end

    def _create(
        self,
        name: str,
        spec: OpcodeSpec,
        shape: Shape,
        operands: tuple[HloInstruction, ...],
        attributes: Attributes,
        payload: Any,
        names: dict[str, HloInstruction],
        computation: HloComputation,
    ) -> HloInstruction:
        i = new_instruction(computation.module.take_instruction_id(), name, spec, shape, operands, attributes, (), payload)
        names[name] = computation.insert(i)
        return i

    def _finish(
        self,
        spec: OpcodeSpec,
        shape: Shape | None,
        operands: tuple[HloInstruction, ...],
        decoded: DecodedAttributes,
        payload_text: str,
        payload_at: int,
        opcode_at: int,
    ) -> tuple[Shape, Any]:
        """Arity, shape and payload."""
        if spec.arity is not None and spec.arity != len(operands) and spec is not CONSTANT and spec is not PARAMETER:
            raise TextProblem(
                f"{spec.name} expects {plural(spec.arity)}, but has {len(operands)}",
                opcode_at,
                f"give {spec.name} {plural(spec.arity)}: {spec.summary}",
                len(spec.name),
            )
        if shape is None:
            if not spec.infers_in_text:
                raise TextProblem(
                    f"cannot infer shape for opcode: {spec.name}",
                    opcode_at,
                    "write the result shape before the opcode",
                    len(spec.name),
                )
            try:
                shape = infer_shape(spec, tuple([o.shape for o in operands]), decoded.attributes, decoded.called)
                if spec.elementwise:  # the result of an elementwise operation keeps the layout of its operand
                    shape = next((o.shape for o in operands if o.shape.base is shape), shape)
                elif spec.name == "transpose" and operands[0].shape.is_array:  # inferred as a bitcast of its operand
                    place = {dimension: number for number, dimension in enumerate(decoded.attributes.value("dimensions"))}
                    shape = shape.with_layout(tuple([place[dimension] for dimension in operands[0].shape.layout.minor_to_major]))
                read_shape(shape.text_without_layout, 0)  # its limits hold for inferred shapes too
            except (ShapeError, KeyError, IndexError, AttributeError, OverflowError) as problem:
                raise TextProblem(
                    f"cannot infer the shape of this {spec.name}: {problem}",
                    opcode_at,
                    "correct the operands, or write the result shape before the opcode",
                    len(spec.name),
                ) from None
        elif spec.name in SHAPE_FOLLOWS:
            shape = _follows(spec, shape, tuple([o.shape for o in operands]))
        if spec is TUPLE and shape.is_tuple and len(shape.tuple_shapes) != len(operands):
            raise TextProblem(
                f"tuple expects {plural(len(shape.tuple_shapes))}, but has {len(operands)}",
                opcode_at,
                f"the shape is {shape.text_without_layout}",
                len(spec.name),
            )
        payload: int | Literal | None = None
        if spec is PARAMETER:
            number = _NUMBER.fullmatch(payload_text)
            if number is None or len(number.group(1)) > 9:
                raise TextProblem(
                    "expects the number of the parameter",
                    payload_at,
                    "write parameter(0) for the first",
                    max(len(payload_text), 1),
                )
            payload = int(number.group(1))
        elif spec is CONSTANT:
            payload = read_literal(shape, payload_text, payload_at)
            shape = payload.shape
        return shape, payload
