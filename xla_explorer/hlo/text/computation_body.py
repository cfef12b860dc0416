"""The instructions of one computation: one regular expression per line.

The careful reader reads other lines. Shapes, attribute tails and literals are looked up by their
text first, so that a repeated piece is read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from xla_explorer.foundation.limits import check_deadline
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import MOST_USERS_IN_A_TUPLE, HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, OPCODES, PARAMETER, TUPLE, OpcodeSpec
from xla_explorer.hlo.shape import _BY_TEXT, Shape, parse_shape
from xla_explorer.hlo.text.attributes.attribute_list import (
    FindComputation,
    decode_attributes,
    split_tail,
)
from xla_explorer.hlo.text.careful_reader import CarefulReader, Pieces
from xla_explorer.hlo.text.computation_checks import (
    check_parameters,
    check_reserved,
    control_predecessor,
    refuse_duplicate,
)
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import (
    COMMENT,
    NAME_PATTERN,
    PLAIN_METADATA,
    RESERVED,
    skip_blank,
)
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.opcode_checks import CHECKED_OPCODES
from xla_explorer.hlo.text.result_shape import SHAPE_FOLLOWS

# root, name, shape, opcode, arguments, attributes. Possessive quantifiers rule out backtracking.
# The next line must not continue this one (a comma) and must not be a comment. Names that begin
# with two underscores are left to the careful reader.
_LINE = re.compile(
    rf"""[ \t]*+(ROOT\ )?+%?+((?!__){NAME_PATTERN})\ =\x20
    (?:([a-z][a-z0-9]*+\[[^\]\n]*+\](?:\{{[^{{}}\n]*+\}})?+|\([^\n]*?\))\ )?+
    ([a-z][a-z0-9\-]*+)\(([^()\n]*+)\)(,\ [^\n]*+)?+\n(?!\s*+[,/])""",
    re.VERBOSE | re.ASCII,
)


# (is root, name, opcode, shape, operands, attributes, called computations, payload, metadata)
_Line: TypeAlias = (
    "tuple[Any, str, OpcodeSpec, Shape, tuple[HloInstruction, ...], Attributes, "
    "tuple[HloComputation, ...], Any, str | None]"
)


class _UnusualError(Exception):
    """A line that the fast path does not read; the careful reader does."""


class BodyReader:
    """Reads the bodies of one text. `fast_lines` and `slow_lines` count what each path read."""

    def __init__(
        self, text: str, module: HloModule, reader: CarefulReader, *, careful: bool = False
    ) -> None:
        """Make a reader. careful: the careful reader reads every line."""
        self.text, self.module, self.reader, self.careful = text, module, reader, careful
        self.fast_lines = 0
        self.slow_lines = 0
        self.attribute_reads = 0
        self.find = FindComputation(module.computations)
        self.rows: dict[
            str, tuple[OpcodeSpec, dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]]]
        ] = {}
        self.literals: dict[tuple[Shape, str], Literal] = {}

    def read(self, at: int, computation: HloComputation, line: int) -> tuple[int, int]:
        """Read instructions up to the closing brace and return the offset after it, and its line.

        `at` is the offset after the opening brace.
        """
        text, body = self.text, _Body(self.text, self.module, computation)
        match: Callable[[str, int], re.Match[str] | None] = _never if self.careful else _LINE.match
        slow = 0
        while True:
            if not line & 255:
                check_deadline("reading the text")
            m = match(text, at)
            if m is None:
                begin, at = at, skip_blank(text, at)
                line += text.count("\n", begin, at)
                if text.startswith("}", at):
                    break
                if at != begin:  # after comments or blank lines the line itself may be ordinary
                    m = match(text, at)
            made = None if m is None else self._read_fast(m, body.names, at)
            if m is not None and made is not None:
                body.add(made, line, at)
                line, at = line + 1, m.end()
                continue
            begin, at = at, skip_blank(text, at)
            line += text.count("\n", begin, at)
            pieces = self.reader.read(at, body.names, computation)
            body.add_pieces(pieces, line, at)
            line += text.count("\n", at, pieces.end)
            at = pieces.end
            slow += 1
        body.finish(at)
        self.slow_lines += slow
        self.fast_lines += len(computation.instructions) - slow
        return at + 1, line

    def _read_fast(
        self, m: re.Match[str], names: dict[str, HloInstruction], at: int
    ) -> _Line | None:
        """Return the instruction of an ordinary line; None for the careful reader."""
        is_root, name, shape_text, opcode_name, arguments, tail = m.groups()
        try:
            spec, known = self.rows.get(opcode_name) or self._row(opcode_name)
            metadata = None
            if tail is not None and ", metadata=" in tail:
                tail, metadata = _split_metadata(tail)
            attributes, called = known.get(tail) or self._tail(spec, known, tail)
            if shape_text is None:
                return None
            shape = _BY_TEXT.get(shape_text) or parse_shape(shape_text)
            payload: object = None
            operands: tuple[HloInstruction, ...] = ()
            if spec is PARAMETER:
                payload = _parameter_number(arguments)
            elif spec is CONSTANT:
                payload = self._literal(shape, arguments)
                shape = payload.shape
            elif arguments:
                operands = _operands(arguments, names)
            if spec is TUPLE:
                if len(operands) != len(shape.tuple_shapes) or not shape.is_tuple:
                    return None
            elif spec.arity is not None and spec.arity != len(operands):
                return None
            elif opcode_name in CHECKED_OPCODES:
                self.reader.checks.check(spec, shape, operands, attributes, called, tail or "", at)
        except (_UnusualError, KeyError, ValueError, IndexError):
            return None
        return is_root, name, spec, shape, operands, attributes, called, payload, metadata

    def _literal(self, shape: Shape, text: str) -> Literal:
        found = self.literals.get((shape, text))
        if found is None:
            found = self.literals[shape, text] = read_literal(shape, text)
        return found

    def _row(
        self, opcode_name: str
    ) -> tuple[OpcodeSpec, dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]]]:
        if opcode_name in ("async-update", "async-done") or opcode_name in SHAPE_FOLLOWS:
            raise _UnusualError
        spec = OPCODES[opcode_name]
        entry: tuple[
            OpcodeSpec, dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]]
        ] = (spec, {})
        if (
            not spec.required
            and (not spec.called or spec.name == "custom-call")
            and spec.name != "broadcast"
        ):
            entry[1][None] = entry[1][""] = (NO_ATTRIBUTES, ())
        self.rows[opcode_name] = entry
        return entry

    def _tail(
        self,
        spec: OpcodeSpec,
        known: dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]],
        tail: str | None,
    ) -> tuple[Attributes, tuple[HloComputation, ...]]:
        """Decode a new attribute tail; raise _UnusualError for a tail that names instructions."""
        items = split_tail(tail or "")
        text = tail or ""
        if (
            items is None
            or "control-predecessors" in text
            or "parameter_replication" in text
            or ", metadata=" in text
        ):
            raise _UnusualError
        self.attribute_reads += 1
        decoded = decode_attributes(spec, items, self.find)
        if spec.name in ("map", "broadcast") and "dimensions" not in (
            decoded.attributes if spec.name == "map" else text
        ):
            raise _UnusualError
        known[tail] = (decoded.attributes, decoded.called)
        return known[tail]


class _Body:
    """A computation under construction."""

    def __init__(self, text: str, module: HloModule, computation: HloComputation) -> None:
        self.text, self.module, self.computation = text, module, computation
        self.names: dict[str, HloInstruction] = {}
        self.last: HloInstruction | None = None
        self.root: HloInstruction | None = None
        self.has_private_names = False

    def add(self, made: _Line, line: int, at: int) -> HloInstruction:
        """Add an instruction at an offset of the text."""
        is_root, name, spec, shape, operands, attributes, called, payload, metadata = made
        i = self.last = HloInstruction.__new__(HloInstruction)
        number = i.id = self.module._next_instruction
        self.module._next_instruction = number + 1
        i.name = name
        i.opcode = spec
        i.shape = shape
        i.operands = operands
        i.users = ()
        i.attributes = attributes
        i.called = called
        i.payload = payload
        i.metadata = metadata
        i.control_predecessors = ()
        i.parent = self.computation
        i.line = line
        i._record = None
        if operands:
            _add_to_users(i, operands)
        if self.names.setdefault(name, i) is not i:
            refuse_duplicate(self.text, at, name, self.names[name])
        if is_root:
            self._set_root(i, at)
        self.computation.instructions[number] = i
        return i

    def add_pieces(self, pieces: Pieces, line: int, at: int) -> None:
        """Add an instruction of the careful reader."""
        is_root, name, _, spec, shape, operands, decoded, payload, _ = pieces
        attributes, called, metadata, control = decoded
        made = is_root, name, spec, shape, operands, attributes, called, payload, metadata
        i = self.add(made, line, at)
        i.control_predecessors = tuple(
            [control_predecessor(self.names, i, *place) for place in control]
        )
        self.has_private_names = self.has_private_names or name.startswith("__")

    def _set_root(self, i: HloInstruction, at: int) -> None:
        if self.root is not None:
            raise TextError(
                "one computation should have only one ROOT",
                skip_blank(self.text, at),
                f"remove ROOT here, or from {self.root.name} in line {self.root.line}",
                4,
            )
        self.root = i

    def finish(self, at: int) -> None:
        """Set the root, check parameters and names, and make the names unique in the module."""
        if self.last is None:
            raise TextError(
                "a computation without instructions",
                at,
                "a computation holds at least one instruction: ROOT p = f32[] parameter(0)",
            )
        self.computation.root = self.root or self.last
        check_parameters(self.text, [i for i in self.names.values() if i.opcode is PARAMETER])
        if not self.names.keys().isdisjoint(RESERVED) or self.has_private_names:
            check_reserved(self.text, self.names)
        make_names_unique(self.module, self.names)


def _add_to_users(i: HloInstruction, operands: tuple[HloInstruction, ...]) -> None:
    """Register a new instruction with its operands, as `add_user` does, in one call."""
    for operand in operands:
        users = operand.users
        if type(users) is dict:
            users[i] = None
        elif not users:
            operand.users = (i,)
        elif users[-1] is not i:  # type: ignore[index]  # `i` is new, so no other can be `i`
            operand.users = (
                (*users, i) if len(users) < MOST_USERS_IN_A_TUPLE else dict.fromkeys((*users, i))
            )


def make_names_unique(module: HloModule, names: dict[str, HloInstruction]) -> None:
    """Make names unique in the module; the first instruction with a name keeps it."""
    if module.names.reserve_all(names):
        return
    taken = module.names
    for name, i in names.items():
        i.name = taken.unique(name)


def _never(text: str, at: int) -> re.Match[str] | None:
    return None


def _split_metadata(tail: str) -> tuple[str | None, str]:
    """Return the tail without its metadata, and the metadata."""
    before, _, rest = tail.partition(", metadata=")
    if before and (before.count("{") != before.count("}") or before.count('"') & 1):
        raise _UnusualError  # it is inside another attribute
    found = PLAIN_METADATA.match(rest)
    if found is None:
        raise _UnusualError
    metadata = found.group()
    if len(metadata) != len(rest):
        rest = rest[len(metadata) :]
        if rest[0] != ",":
            raise _UnusualError
        before += rest
    return before or None, metadata


def _parameter_number(arguments: str) -> int:
    if not (arguments.isdecimal() and arguments.isascii() and len(arguments) < 10):
        raise _UnusualError
    return int(arguments)


def _operands(arguments: str, names: dict[str, HloInstruction]) -> tuple[HloInstruction, ...]:
    if "[" in arguments:
        return _typed_operands(arguments, names)
    if "/" in arguments or "%%" in arguments:
        if "//" in arguments or "%%" in arguments:
            raise _UnusualError
        arguments = COMMENT.sub("", arguments)
    return tuple(map(names.__getitem__, arguments.replace("%", "").split(", ")))


def _typed_operands(arguments: str, names: dict[str, HloInstruction]) -> tuple[HloInstruction, ...]:
    """Return the operands of the old long form, `f32[2]{0} %p, s32[] %q`.

    Tuple shapes are left to the careful reader.
    """
    found = []
    known: Callable[[str], Shape | None] = _BY_TEXT.get
    text = COMMENT.sub("", arguments) if "/" in arguments else arguments
    for piece in text.split(", "):
        shape_text, _, name = piece.rpartition(" ")
        operand = names[name.removeprefix("%")]
        if shape_text:
            declared = known(shape_text) or parse_shape(shape_text)
            if declared is not operand.shape and declared.base is not operand.shape.base:
                raise _UnusualError
        found.append(operand)
    return tuple(found)
