"""Recursive descent over one instruction in any legal spelling, with the place of each mistake.

The fast path (computation_body.py) passes on every line that its regular expression does not
accept, or that may be invalid. Source: hlo_parser.cc ParseInstruction, ParseOperands.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes, attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction, new_instruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, OPCODES, PARAMETER, OpcodeSpec
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.async_sugar import begin_async, check_same_step, sugared
from xla_explorer.hlo.text.attributes.attribute_list import (
    AttributeText,
    DecodedAttributes,
    FindComputation,
    decode_attributes,
    read_attributes,
)
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import KEYWORDS, RESERVED_TYPES, balanced_end, skip_blank
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.opcode_checks import CHECKED_OPCODES, OpcodeChecks
from xla_explorer.hlo.text.result_shape import result_shape
from xla_explorer.hlo.text.shape_text import can_be_shape, same_dimensions, shape_of
from xla_explorer.hlo.text.tokens import ATTRIBUTE, END, IDENT, INT, NAME, TYPE, Tokens

NO_DECODED = DecodedAttributes(NO_ATTRIBUTES, (), None, ())
_DEEPEST = 100  # nested operands
_ELEMENT = re.compile(r"(?:#\d{1,9})+")  # `%tuple#1`: newer texts leave get-tuple-element out


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


def _stated(
    spec: OpcodeSpec, shape: Shape, operands: tuple[HloInstruction, ...], attributes: Attributes
) -> Attributes:
    """Return the attributes with those that are optional in the text but always present in XLA."""
    if spec.name == "map" and "dimensions" not in attributes:
        return attributes.with_values(dimensions=tuple(range(shape.rank)) if shape.is_array else ())
    if spec.name == "outfeed" and "outfeed_shape" not in attributes and operands:
        return attributes.with_values(outfeed_shape=operands[0].shape.text)
    return attributes


def near_names(wanted: str, names: dict[str, HloInstruction]) -> str:
    """Return the hint for an operand that does not exist."""
    near = nearest(wanted, list(names)[-5000:], 2, 0.7)
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

    def read(
        self, at: int, names: dict[str, HloInstruction], computation: HloComputation
    ) -> Pieces:
        """Return the instruction at `at`. TextError with its place for invalid text."""
        tokens = Tokens(self.text, at)
        is_root = tokens.eat("ROOT")
        name, name_at = self._definition(tokens)
        shape = shape_of(tokens) if can_be_shape(tokens) else None
        opcode_at = tokens.start
        spec, step = self._opcode(tokens)
        payload, operands = self._arguments(tokens, spec, shape, names, computation, 0)
        items = read_attributes(
            tokens, step[0] if step is not None and step[1] == "start" else spec.name
        )
        end = tokens.previous_end
        shape, decoded, payload = self._made(
            spec, step, shape, operands, items, payload, opcode_at, computation
        )
        return Pieces(is_root, name, name_at, spec, shape, operands, decoded, payload, end)

    def _made(
        self,
        spec: OpcodeSpec,
        step: tuple[str, str] | None,
        shape: Shape | None,
        operands: tuple[HloInstruction, ...],
        items: list[AttributeText],
        payload: Any,
        opcode_at: int,
        computation: HloComputation,
    ) -> tuple[Shape, DecodedAttributes, Any]:
        """Return (shape, attributes, payload), checked as XLA's parser checks them.

        step: the step of an asynchronous operation in short form.
        """
        if step is not None and step[1] == "start":
            spec, decoded = begin_async(
                self.find, computation.module, OPCODES[step[0]], shape, operands, items, opcode_at
            )
        else:
            try:
                decoded = decode_attributes(spec, items, self.find)
            except TextError as problem:
                if problem.at < 0:
                    problem.at = opcode_at
                raise
        made = (
            result_shape(spec, shape, operands, decoded, opcode_at)
            if payload is None or spec is PARAMETER
            else payload.shape
        )
        if step is not None and step[1] != "start":
            check_same_step(step, operands, opcode_at)
        stated = _stated(spec, made, operands, decoded.attributes)
        if stated is not decoded.attributes:
            decoded = decoded._replace(attributes=stated)
        if (
            spec.name == "broadcast"
            and all(item.name != "dimensions" for item in items)
            and not operands[0].shape.is_scalar
        ):
            hint = "name the dimensions of the result that are those of the operand"
            raise TextError(
                "attribute dimensions is expected but not seen", opcode_at, hint, len(spec.name)
            )
        if spec.name in CHECKED_OPCODES or "parameter_replication" in decoded.attributes:
            tail = "".join([f", {item.name}=" for item in items])
            self.checks.check(
                spec, made, operands, decoded.attributes, decoded.called, tail, opcode_at
            )
        return made, decoded, payload

    # -- parts -------------------------------------------------------------------------------------
    def _definition(self, tokens: Tokens) -> tuple[str, int]:
        """Parse a name and its '='; (name, its offset)."""
        start, name, kind, bare = (
            tokens.start,
            tokens.value,
            tokens.kind,
            not self.text.startswith("%", tokens.start),
        )
        if self.single and can_be_shape(tokens):
            return "_", start
        if bare and (kind == TYPE or kind in KEYWORDS or kind == "-inf") and name:
            raise TextError(
                f"{name} is a reserved word, not a name",
                start,
                f"rename it, for example to {name}_",
                tokens.end - start,
            )
        if kind == ATTRIBUTE:
            raise TextError(
                f"expects a name, but sees the attribute name {name}=",
                start,
                f"put a space between {name} and '='",
                tokens.end - start,
            )
        if kind not in (IDENT, NAME):
            word = re.compile(r"[^\s=(),{}]*").match(self.text, start).group()  # type: ignore[union-attr]
            hint = (
                "an instruction looks like: name = f32[2] add(a, b)"
                if kind not in (END, "}")
                else "a computation holds at least one instruction"
                if kind == "}"
                else "add the missing '}'"
            )
            raise TextError("expects the name of an instruction", start, hint, max(len(word), 1))
        tokens.advance()
        if kind == NAME and not bare and name in RESERVED_TYPES:
            raise TextError(
                f"{name} is a reserved word, not a name",
                start,
                f"rename it, for example to {name}_",
                len(name) + 1,
            )
        if tokens.kind != "=":
            raise TextError(
                "expects '=' in instruction",
                tokens.start,
                f"write: {name} = shape opcode(operands)",
            )
        tokens.advance()
        return name, start

    def _opcode(self, tokens: Tokens) -> tuple[OpcodeSpec, tuple[str, str] | None]:
        """Parse an opcode and return its row.

        The second element is (operation, step) of an asynchronous operation in short form, else
        None.
        """
        at, name = tokens.start, tokens.value
        if tokens.kind == TYPE:
            raise TextError(
                f"expects '[' after the element type {name}",
                tokens.end,
                f"write {name}[] for a scalar",
            )
        if tokens.kind == IDENT and tokens.look_ahead() == "[":
            shape_of(tokens)  # fails with the message for an unknown element type
        if tokens.kind != IDENT:
            raise TextError(
                "expects an opcode",
                at,
                "an instruction looks like: name = f32[2] add(a, b)",
                max(tokens.end - at, 1),
            )
        spec = OPCODES.get(name)
        step = None
        if spec is None:
            step = sugared(name)
            if step is None:
                self._unknown_opcode(name, at)
            spec = OPCODES[f"async-{step[1]}"]  # type: ignore[index]
        tokens.advance()
        if tokens.kind != "(":
            raise TextError(
                f"expects '(' after the opcode {name}",
                tokens.start,
                "operands are in parentheses: add(a, b)",
            )
        return spec, step

    def _unknown_opcode(self, name: str, at: int) -> None:
        near = nearest(name, OPCODES, 3)
        raise TextError(
            f"unknown opcode {name}",
            at,
            f"did you mean {' or '.join(near)}?"
            if near
            else "opcodes are written as XLA writes them: add, dot, reduce, custom-call ...",
            len(name),
        )

    def _arguments(
        self,
        tokens: Tokens,
        spec: OpcodeSpec,
        shape: Shape | None,
        names: dict[str, HloInstruction],
        computation: HloComputation,
        depth: int,
    ) -> tuple[Any, tuple[HloInstruction, ...]]:
        """Parse the text in parentheses: (number of a parameter or literal, operands)."""
        opening = tokens.start
        if spec is CONSTANT:
            return self._literal(tokens, shape), ()
        tokens.advance()
        if spec is PARAMETER:
            return self._parameter_number(tokens), ()
        operands: list[HloInstruction] = []
        if tokens.kind != ")":
            operands.append(self._operand(tokens, names, computation, depth))
            while tokens.eat(","):
                operands.append(self._operand(tokens, names, computation, depth))
        if tokens.kind == END:
            raise TextError("'(' is never closed", opening, "add the missing ')'")
        if tokens.kind != ")":
            raise TextError(
                "expects ',' or ')' after an operand",
                tokens.start,
                "separate operands by commas: add(a, b)",
            )
        tokens.advance()
        return None, tuple(operands)

    def _literal(self, tokens: Tokens, shape: Shape | None) -> Literal | None:
        opening = tokens.start
        if shape is None:
            raise TextError(
                "cannot infer shape for opcode: constant",
                opening,
                "write the shape before the opcode",
            )
        end = balanced_end(self.text, opening, one_bracket=True)
        start = skip_blank(self.text, opening + 1)
        payload = read_literal(shape, self.text[start : end - 1].rstrip(), start)
        tokens.end = end
        tokens.advance()
        return payload

    def _parameter_number(self, tokens: Tokens) -> int:
        at = tokens.start
        if tokens.kind != INT or not 0 <= int(tokens.value) < 1_000_000_000:
            raise TextError(
                "expects the number of the parameter",
                at,
                "write parameter(0) for the first",
                max(tokens.end - at, 1),
            )
        number = tokens.integer()
        tokens.expect(")", "')' after the number of the parameter")
        return number

    def _operand(
        self,
        tokens: Tokens,
        names: dict[str, HloInstruction],
        computation: HloComputation,
        depth: int,
    ) -> HloInstruction:
        """Parse a name, perhaps with its shape, or a nested instruction."""
        shape_at = tokens.start
        declared = shape_of(tokens) if can_be_shape(tokens) else None
        at, name = tokens.start, tokens.value
        if tokens.kind not in (IDENT, NAME):
            if self.single and declared is not None:
                return self._parameter(f"_{self._count(computation)}", declared, names, computation)
            raise TextError(
                "expects the name of an operand",
                at,
                "operands are names of instructions defined above",
                max(tokens.end - at, 1),
            )
        if tokens.kind == IDENT and tokens.look_ahead() == "(":
            if depth >= _DEEPEST:
                raise TextError(
                    f"operands nest deeper than {_DEEPEST} levels",
                    at,
                    "give the inner instructions names of their own",
                )
            return self._nested(tokens, declared, names, computation, depth + 1)
        places = _ELEMENT.match(self.text, tokens.end)
        if places is not None:
            tokens.end = places.end()
        tokens.advance()
        operand = names.get(name)
        if operand is None:
            if self.single and declared is not None and name not in RESERVED_TYPES:
                return self._parameter(name, declared, names, computation)
            elsewhere = [
                c.name
                for c in self.find.computations.values()
                if any(i.name == name for i in c.instructions.values())
            ]
            hint = (
                near_names(name, names)
                if not elsewhere
                else f"{name} belongs to computation {elsewhere[0]}; pass its value as a parameter"
            )
            raise TextError(
                f"instruction does not exist: {name}", at, hint, tokens.previous_end - at
            )
        for index in places.group().split("#")[1:] if places is not None else ():
            operand = self._element(operand, int(index), at, names, computation)
        if declared is not None and not same_dimensions(declared, operand.shape):
            raise TextError(
                f"The declared operand shape {declared} is not compatible with the shape of the "
                f"operand instruction {operand.shape}.",
                shape_at,
                "correct the shape, or leave operand shapes out",
                max(at - shape_at, 1),
            )
        return operand

    def _element(
        self,
        operand: HloInstruction,
        index: int,
        at: int,
        names: dict[str, HloInstruction],
        computation: HloComputation,
    ) -> HloInstruction:
        """Return the get-tuple-element that `%operand#index` names; create it at its first use."""
        if not operand.shape.is_tuple or index >= len(operand.shape.tuple_shapes):
            message = (
                f"{operand.name}#{index} names an element that "
                f"{operand.shape.text_without_layout} does not have"
            )
            raise TextError(
                message,
                at,
                "the number after # is that of an element of the tuple, from 0",
                len(operand.name),
            )
        stem = name = f"{operand.name}.element.{index}"
        number = 0
        while (known := names.get(name)) is not None:
            if (
                known.opcode is GET_TUPLE_ELEMENT
                and known.operands == (operand,)
                and known.attribute("index") == index
            ):
                return known
            number += 1
            name = f"{stem}.{number}"
        decoded = NO_DECODED._replace(attributes=attributes_of({"index": index}))
        return self.create(
            name,
            GET_TUPLE_ELEMENT,
            operand.shape.tuple_shapes[index],
            (operand,),
            decoded,
            None,
            names,
            computation,
        )

    def _count(self, computation: HloComputation) -> int:
        return sum([i.opcode is PARAMETER for i in computation.instructions.values()])

    def _parameter(
        self, name: str, shape: Shape, names: dict[str, HloInstruction], computation: HloComputation
    ) -> HloInstruction:
        """Return a new parameter for an operand of a single instruction without a computation."""
        return self.create(
            name, PARAMETER, shape, (), NO_DECODED, self._count(computation), names, computation
        )

    def _nested(
        self,
        tokens: Tokens,
        shape: Shape | None,
        names: dict[str, HloInstruction],
        computation: HloComputation,
        depth: int,
    ) -> HloInstruction:
        at = tokens.start
        spec, step = self._opcode(tokens)
        payload, operands = self._arguments(tokens, spec, shape, names, computation, depth)
        opcode_name = step[0] if step is not None else spec.name
        if OPCODES[opcode_name].required or (
            OPCODES[opcode_name].called and opcode_name != "custom-call"
        ):
            raise TextError(
                f"a nested {opcode_name} cannot have attributes",
                at,
                "give it a name and a line of its own",
                len(opcode_name),
            )
        shape, decoded, payload = self._made(
            spec, step, shape, operands, [], payload, at, computation
        )
        stem = name = f"{spec.name}.anon"
        number = 0
        while name in names:
            number += 1
            name = f"{stem}.{number}"
        return self.create(name, spec, shape, operands, decoded, payload, names, computation)

    def create(
        self,
        name: str,
        spec: OpcodeSpec,
        shape: Shape,
        operands: tuple[HloInstruction, ...],
        decoded: DecodedAttributes,
        payload: Any,
        names: dict[str, HloInstruction],
        computation: HloComputation,
    ) -> HloInstruction:
        """Insert a new instruction into the computation and add it to `names`."""
        number = computation.module.take_instruction_id()
        i = new_instruction(
            number, name, spec, shape, operands, decoded.attributes, decoded.called, payload
        )
        names[name] = computation.insert(i)
        return i
