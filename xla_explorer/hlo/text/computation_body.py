"""The instructions of one computation.

One regular expression per line; any doubt hands the line to the careful reader.

Shapes, attribute tails and literals are looked up by their text first, so that a repeated piece is
read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import BLANK, COMMENT, NAME_PATTERN, PLAIN_METADATA, RESERVED
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.opcode_checks import CHECKED_OPCODES
from xla_explorer.hlo.text.result_shape import SHAPE_FOLLOWS

# root, name, shape, opcode, arguments, attributes. Possessive quantifiers rule out backtracking.
# What follows the line must not continue it (a comma) and must not be a comment. Names with two
# underscores in front are for the careful reader.
_LINE = re.compile(
    rf"""[ \t]*+(ROOT\ )?+%?+((?!__){NAME_PATTERN})\ =\x20
    (?:([a-z][a-z0-9]*+\[[^\]\n]*+\](?:\{{[^{{}}\n]*+\}})?+|\([^\n]*?\))\ )?+
    ([a-z][a-z0-9\-]*+)\(([^()\n]*+)\)(,\ [^\n]*+)?+\n(?!\s*+[,/])""",
    re.VERBOSE | re.ASCII,
)


class _Unusual(Exception):
    """The fast path has a doubt; the careful reader decides."""


class BodyReader:
    """Reads the bodies of one text. `fast_lines` and `slow_lines` count what each path read."""

    def __init__(
        self, text: str, module: HloModule, reader: CarefulReader, *, careful: bool = False
    ) -> None:
        """careful: every line goes to the careful reader."""
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
        """Read instructions up to the closing brace; (offset behind it, its line).

        `at` is behind the opening brace.
        """
        text, module, instructions = self.text, self.module, computation.instructions
        names: dict[str, HloInstruction] = {}
        parameters: list[HloInstruction] = []
        match: Callable[[str, int], re.Match[str] | None] = _LINE.match
        named, new, cls = names.__getitem__, HloInstruction.__new__, HloInstruction
        known_shape, entry_of, literals, metadata_of = (
            _BY_TEXT.get,
            self.rows.get,
            self.literals,
            PLAIN_METADATA.match,
        )
        number, slow, root, private = module._next_instruction, 0, None, False
        i: HloInstruction | None = None
        if self.careful:
            match = _never
        while True:
            m = match(text, at)
            if m is None:
                begin = at
                at = BLANK.match(text, at).end()  # type: ignore[union-attr]
                if at != begin:
                    line += text.count("\n", begin, at)
                if text.startswith("}", at):
                    break
                if at != begin:  # after comments or blank lines the line itself may be ordinary
                    m = match(text, at)
            pieces: Pieces | None = None
            control: tuple[tuple[str, int], ...] = ()
            if m is not None:
                is_root, name, shape_text, opcode_name, arguments, tail = m.groups()
                try:
                    entry = entry_of(opcode_name)
                    if entry is None:
                        entry = self._row(opcode_name)
                    spec, known = entry
                    metadata = None
                    if tail is not None and ", metadata=" in tail:
                        tail, _, rest = tail.partition(", metadata=")
                        if tail and (tail.count("{") != tail.count("}") or tail.count('"') & 1):
                            raise _Unusual  # it stands inside another attribute
                        found = metadata_of(rest)
                        if found is None:
                            raise _Unusual
                        metadata = found.group()
                        if len(metadata) != len(rest):
                            rest = rest[len(metadata) :]
                            if rest[0] != ",":
                                raise _Unusual
                            tail += rest
                        if not tail:
                            tail = None
                    decoded = known.get(tail)
                    if decoded is None:
                        decoded = self._tail(spec, known, tail)
                    attributes, called = decoded
                    payload: object = None
                    operands: tuple[HloInstruction, ...] = ()
                    if spec is PARAMETER:
                        if not (
                            arguments.isdecimal() and arguments.isascii() and len(arguments) < 10
                        ):
                            raise _Unusual
                        payload = int(arguments)
                    elif arguments and spec is not CONSTANT:
                        if "[" in arguments:
                            operands = _typed_operands(arguments, names)
                        elif "/" in arguments or "%%" in arguments:
                            if "//" in arguments or "%%" in arguments:
                                raise _Unusual
                            operands = tuple(
                                map(named, COMMENT.sub("", arguments).replace("%", "").split(", "))
                            )
                        else:
                            operands = tuple(map(named, arguments.replace("%", "").split(", ")))
                    if shape_text is None:
                        raise _Unusual
                    shape = known_shape(shape_text) or parse_shape(shape_text)
                    if spec is CONSTANT:
                        payload = literals.get((shape, arguments))
                        if payload is None:
                            payload = literals[shape, arguments] = read_literal(shape, arguments)
                        shape = payload.shape
                    elif spec.arity is not None:
                        if spec.arity != len(operands):
                            raise _Unusual
                        if opcode_name in CHECKED_OPCODES:
                            self.reader.checks.check(
                                spec, shape, operands, attributes, called, tail or "", at
                            )
                    elif spec is TUPLE:
                        if len(operands) != len(shape.tuple_shapes) or not shape.is_tuple:
                            raise _Unusual
                    elif opcode_name in CHECKED_OPCODES:
                        self.reader.checks.check(
                            spec, shape, operands, attributes, called, tail or "", at
                        )
                    end = m.end()
                    line_step = 1
                except (_Unusual, KeyError, ValueError, IndexError):
                    m = None
                    begin = at
                    at = BLANK.match(text, at).end()  # type: ignore[union-attr]
                    line += text.count("\n", begin, at)
            if m is None:
                module._next_instruction = number
                pieces = self.reader.read(at, names, computation)
                number = module._next_instruction
                is_root, name, _, spec, shape, operands, full, payload, end = pieces
                attributes, called, metadata, control = full
                line_step = text.count("\n", at, end)
                private = private or name.startswith("__")
                slow += 1
            i = new(cls)
            i.id = number
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
            i.parent = computation
            i.line = line
            i._record = None
            for operand in (
                operands
            ):  # add_user, spelled out: `i` is new, so at most the last user is `i` itself
                users = operand.users
                if type(users) is dict:
                    users[i] = None
                elif not users:
                    operand.users = (i,)
                elif users[-1] is not i:  # type: ignore[index]
                    operand.users = (
                        (*users, i)
                        if len(users) < MOST_USERS_IN_A_TUPLE
                        else dict.fromkeys((*users, i))
                    )
            if names.setdefault(name, i) is not i:
                refuse_duplicate(text, at, name, names[name])
            if control:
                i.control_predecessors = tuple(
                    [control_predecessor(names, i, *place) for place in control]
                )
            if spec is PARAMETER:
                parameters.append(i)
            instructions[number] = i
            number += 1
            if is_root:
                if root is not None:
                    raise TextProblem(
                        "one computation should have only one ROOT",
                        BLANK.match(text, at).end(),  # type: ignore[union-attr]
                        f"remove ROOT here, or from {root.name} in line {root.line}",
                        4,
                    )
                root = i
            line += line_step
            at = end
        module._next_instruction = number
        if i is None:
            raise TextProblem(
                "a computation without instructions",
                at,
                "a computation holds at least one instruction: ROOT p = f32[] parameter(0)",
            )
        computation.root = root or i
        self.slow_lines += slow
        self.fast_lines += len(instructions) - slow
        check_parameters(text, parameters)
        if not names.keys().isdisjoint(RESERVED) or private:
            check_reserved(text, names)
        make_names_unique(module, names)
        return at + 1, line

    def _row(
        self, opcode_name: str
    ) -> tuple[OpcodeSpec, dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]]]:
        if opcode_name in ("async-update", "async-done") or opcode_name in SHAPE_FOLLOWS:
            raise _Unusual
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
        """Decode a new attribute tail; raise _Unusual for a tail that names instructions."""
        items = split_tail(tail or "")
        text = tail or ""
        if (
            items is None
            or "control-predecessors" in text
            or "parameter_replication" in text
            or ", metadata=" in text
        ):
            raise _Unusual
        self.attribute_reads += 1
        decoded = decode_attributes(spec, items, self.find)
        if spec.name in ("map", "broadcast") and "dimensions" not in (
            decoded.attributes if spec.name == "map" else text
        ):
            raise _Unusual
        known[tail] = (decoded.attributes, decoded.called)
        return known[tail]


def make_names_unique(module: HloModule, names: dict[str, HloInstruction]) -> None:
    """Names become unique in the module; whoever comes first keeps the name."""
    if module.names.reserve_all(names):
        return
    taken = module.names
    for name, i in names.items():
        i.name = taken.unique(name)


def _never(text: str, at: int) -> re.Match[str] | None:
    return None


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
                raise _Unusual
        found.append(operand)
    return tuple(found)
