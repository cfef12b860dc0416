"""HLO text to module. One regular expression per line; any doubt hands the line to the careful reader (careful_reader.py).

Both paths look shapes, attribute tails and literals up by their text first, so that a repeated piece is read once. The
fast path makes no error messages: it re-reads a line carefully, and the careful reader finds the exact place.
Source: xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import SourceSpan
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
    read_attributes,
    split_tail,
)
from xla_explorer.hlo.text.attributes.values import canonical_value
from xla_explorer.hlo.text.careful_reader import CarefulReader, Pieces
from xla_explorer.hlo.text.computation_checks import (
    check_parameters,
    check_reserved,
    control_predecessor,
    refuse_duplicate,
)
from xla_explorer.hlo.text.computation_header import ComputationHeader, read_computation_header
from xla_explorer.hlo.text.errors import HloParseError, TextProblem
from xla_explorer.hlo.text.finished_module import (
    apply_header,
    make_computations_unique,
    schedule_as_written,
)
from xla_explorer.hlo.text.lexical import (
    BLANK,
    COMMENT,
    NAME,
    NAME_PATTERN,
    PLAIN_METADATA,
    RESERVED,
    skip_blank,
)
from xla_explorer.hlo.text.literal_text import read_literal
from xla_explorer.hlo.text.module_header import read_header
from xla_explorer.hlo.text.opcode_checks import CHECKED_OPCODES
from xla_explorer.hlo.text.result_shape import SHAPE_FOLLOWS
from xla_explorer.hlo.text.shape_text import same_dimensions
from xla_explorer.hlo.text.source_text import decode_source
from xla_explorer.hlo.text.tokens import Tokens

# root, name, shape, opcode, arguments, attributes. Possessive quantifiers rule out backtracking. What follows the line
# must not continue it (a comma) and must not be a comment. Names with two underscores in front are for the careful reader.
_LINE = re.compile(
    rf"""[ \t]*+(ROOT\ )?+%?+((?!__){NAME_PATTERN})\ =\x20
    (?:([a-z][a-z0-9]*+\[[^\]\n]*+\](?:\{{[^{{}}\n]*+\}})?+|\([^\n]*?\))\ )?+
    ([a-z][a-z0-9\-]*+)\(([^()\n]*+)\)(,\ [^\n]*+)?+\n(?!\s*+[,/])""",
    re.VERBOSE | re.ASCII,
)


class _Unusual(Exception):
    """The fast path has a doubt; the careful reader decides."""


class _Parser:
    """One parse. `fast_lines` and `slow_lines` count what each path read."""

    def __init__(self, text: str, filename: str | None, *, careful: bool = False) -> None:
        self.text = text
        self.filename = filename
        self.careful = careful
        self.module = HloModule("")
        self.module.filename = filename
        self.module.source_text = text
        self.fast_lines = 0
        self.slow_lines = 0
        self.attribute_reads = 0
        self.find = FindComputation(self.module.computations, self._inline)
        self.plain_find = FindComputation(self.module.computations)
        self.reader = CarefulReader(text, self.find)
        self.rows: dict[
            str, tuple[OpcodeSpec, dict[str | None, tuple[Attributes, tuple[HloComputation, ...]]]]
        ] = {}
        self.literals: dict[tuple[Shape, str], Literal] = {}

    # -- errors ------------------------------------------------------------------------------------------------------
    def error(self, problem: TextProblem) -> HloParseError:
        """The public error for a problem at an offset of this text."""
        span = SourceSpan.from_offset(self.text, problem.at, problem.length, self.filename)
        return HloParseError(
            problem.message, span, problem.hint or "compare with the HLO text that XLA prints"
        )

    # -- one computation: the loop that matters ----------------------------------------------------------------------
    def body(self, at: int, computation: HloComputation, line: int) -> tuple[int, int]:
        """Read instructions up to the closing brace; (offset behind it, its line). `at` is behind the opening brace."""
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
        self._make_unique(names)
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
        """Decode a new attribute tail; tails that name instructions belong to the careful reader."""
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
        decoded = decode_attributes(spec, items, self.plain_find)
        if spec.name in ("map", "broadcast") and "dimensions" not in (
            decoded.attributes if spec.name == "map" else text
        ):
            raise _Unusual
        known[tail] = (decoded.attributes, decoded.called)
        return known[tail]

    # -- names ----------------------------------------------------------------------------------------------------
    def _make_unique(self, names: dict[str, HloInstruction]) -> None:
        """Names become unique in the module; whoever comes first keeps the name."""
        if self.module.names.reserve_all(names):
            return
        taken = self.module.names
        for name, i in names.items():
            i.name = taken.unique(name)

    # -- computations ------------------------------------------------------------------------------------------------
    def _inline(self, at: int) -> HloComputation:
        """A computation written in an attribute, `to_apply={...}`; at: its opening brace."""
        computation = HloComputation("_", self.module)
        single, self.reader.single = self.reader.single, False
        self.body(at + 1, computation, self.text.count("\n", 0, at) + 1)
        self.reader.single = single
        name, number = "_", 0
        while name in self.module.computations:
            number += 1
            name = f"_.{number}"
        computation.name = name
        self.module.computations[name] = computation
        return computation

    def computation(self, header: ComputationHeader, line: int) -> tuple[HloComputation, int, int]:
        """One computation; (it, offset behind it, line there)."""
        if header.name in self.module.computations:
            raise TextProblem(
                f"computation already exists: {header.name}",
                header.name_at,
                "rename one of the two",
                len(header.name),
            )
        computation = HloComputation(header.name, self.module)
        at, line = self.body(
            header.end, computation, line + self.text.count("\n", header.start, header.end)
        )
        if header.result is not None and not same_dimensions(header.result, computation.root.shape):
            raise TextProblem(
                f"Shape of computation {header.name}, {header.result}, is not compatible with that of its root "
                "instruction "
                f"{computation.root.name}, {computation.root.shape}",
                header.result_at,
                f"write -> {computation.root.shape.text_without_layout}, or correct the root in line {computation.root.line}",
                len(header.result.text_without_layout),
            )
        self.module.computations[header.name] = computation
        if self.text.startswith(",", skip_blank(self.text, at)):
            end = self._read_thread(computation, at)
            line += self.text.count("\n", at, end)
            at = end
        return computation, at, line

    def _read_thread(self, computation: HloComputation, at: int) -> int:
        """`, execution_thread="t"` behind the body; the offset behind it."""
        tokens = Tokens(self.text, at)
        items = read_attributes(tokens, "")
        for item in items:
            if item.name != "execution_thread" or len(items) > 1:
                message = (
                    f'unexpected attribute "{item.name}" of a computation'
                    if len(items) == 1
                    else "a computation has one attribute"
                )
                raise TextProblem(
                    message,
                    items[-1].name_at,
                    "a computation has execution_thread= or nothing",
                    len(items[-1].name),
                )
            computation.execution_thread = canonical_value("", item.name, item.value)
        return tokens.previous_end

    def parse(self) -> HloModule:
        """The whole text."""
        try:
            return self._parse()
        except TextProblem as problem:
            raise self.error(problem) from None
        except RecursionError:
            raise self.error(
                TextProblem("the text nests too deep", 0, "flatten nested brackets")
            ) from None

    def _parse(self) -> HloModule:
        text, module = self.text, self.module
        header = read_header(text, 0)
        at = header.end
        if header.name is None and not header.frames and at < len(text):
            tokens = Tokens(text, at)
            if tokens.kind != "ENTRY" and tokens.look_ahead() != "{":
                return self._single_instruction(at)
        line = text.count("\n", 0, at) + 1
        last: HloComputation | None = None
        while at < len(text):
            start = read_computation_header(text, at)
            last, behind, line = self.computation(start, line)
            if start.is_entry:
                if module.entry is not None:
                    raise TextProblem(
                        "expects only one ENTRY",
                        start.start,
                        f"remove ENTRY here, or from {module.entry.name}",
                        5,
                    )
                module.entry = last
            at = skip_blank(text, behind)
            line += text.count("\n", behind, at)
        if last is None:
            raise TextProblem(
                "a module without computations",
                at,
                "add a computation: ENTRY main { ROOT p = f32[] parameter(0) }",
            )
        if module.entry is None:
            module.entry = last
        make_computations_unique(module)
        module.name = header.name or f"module_{module.entry.name}"
        apply_header(module, header)
        return module

    def _single_instruction(self, at: int) -> HloModule:
        """A text that is one instruction; operands that do not exist become parameters of their declared shapes."""
        module, text = self.module, self.text
        self.reader.single = True
        computation = HloComputation("_", module)
        names: dict[str, HloInstruction] = {}
        module.computations["_"] = computation  # taken before inlined computations ask for a name
        pieces = self.reader.read(at, names, computation)
        del module.computations["_"]
        if skip_blank(text, pieces.end) < len(text):
            found = NAME.match(text, skip_blank(text, pieces.end))
            raise TextProblem(
                "stray text after a single instruction",
                skip_blank(text, pieces.end),
                "put several instructions into a computation: ENTRY main { ... }",
                len(found.group()) if found else 1,
            )
        i = self.reader._create(
            pieces.name,
            pieces.spec,
            pieces.shape,
            pieces.operands,
            pieces.decoded,
            pieces.payload,
            names,
            computation,
        )
        i.metadata, i.line = pieces.decoded.metadata, text.count("\n", 0, pieces.name_at) + 1
        check_parameters(
            text, [p for p in computation.instructions.values() if p.opcode is PARAMETER]
        )
        self._make_unique(names)
        computation.root = i
        module.name = "_"
        parameters = ", ".join(
            [p.shape.base.text for p in computation.parameters()]
        )  # XLA gives them default layouts
        module.attributes["entry_computation_layout"] = f"{{({parameters})->{i.shape.base.text}}}"
        module.computations["_"] = module.entry = computation
        make_computations_unique(module)
        schedule_as_written(module)
        self.slow_lines += 1
        return module


def _never(text: str, at: int) -> re.Match[str] | None:
    return None


def _typed_operands(arguments: str, names: dict[str, HloInstruction]) -> tuple[HloInstruction, ...]:
    """Operands of the old long form, `f32[2]{0} %p, s32[] %q`; tuple shapes belong to the careful reader."""
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


def parse_hlo(text: str | bytes, filename: str | None = None) -> HloModule:
    """Read HLO text.

    The verifier compares given result shapes with inference. Names are made unique as XLA does; the first of a name keeps it.

    Parameters
    ----------
    text
        A module as XLA prints or accepts it, also without a header, or a single instruction.
    filename
        The name that messages show.

    Returns
    -------
    HloModule
        The module.

    Raises
    ------
    HloParseError
        The text cannot be read. A SyntaxError that says where, what and what to do next.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> module = xe.parse_hlo("ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }")
    >>> module.entry.root.shape.text_without_layout
    'f32[4]'
    """
    with collector_paused():
        return _Parser(decode_source(text, filename), filename).parse()
