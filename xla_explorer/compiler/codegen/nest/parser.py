"""The parser of loop nests: `nest_text(parse_nest(text))` equals the text."""

from __future__ import annotations

import re
from dataclasses import replace

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Barrier,
    Body,
    BoundAxis,
    Case,
    Combination,
    Compute,
    Constant,
    For,
    Iota,
    Load,
    LoopNest,
    NestArray,
    Origin,
    Reduce,
    SelectRegion,
    Space,
    Statement,
    Store,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.indexing import Axis, Guard, Place, parse_index, parse_place
from xla_explorer.hlo.attributes import CODECS, attributes_of
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.opcodes import OPCODES, OpcodeSpec
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import array_shape, parse_shape

_HEAD = re.compile(r"kernel @([\w.\-]+)\((.*)\)(?: tasks (\d+))? \{")
_ARRAY = re.compile(
    r"(out )?(stream )?%([\w.\-]+): (\w+\[[\d,]*\](?:\{[^}]*\})?)(?: aliasing %([\w.\-]+))?"
)
_ALLOCATE = re.compile(r"allocate %([\w.\-]+): (\w+\[[\d,]*\](?:\{[^}]*\})?) in (scratch|shared)")
_FOR = re.compile(r"for (\w+) in (\d+) @(\w+)( ordered)?(?: where (.*))? \{")
_STORE = re.compile(r"store %(\d+), %([\w.\-]+)\[(.*)\]")
_DEFINITION = re.compile(r"(%\d+(?:, %\d+)*) = (.*) : (\w+(?:, \w+)*)( \{)?")
_REDUCE = re.compile(r"(?:reduce|scan)( \w+)? from (.*?) over (.*?)(?: where (.*))?")
_AXIS = re.compile(r"(\w+) in (\d+) @(\w+)")
_COMBINE = re.compile(r"\} combine (.*) with (.*) \{")
_EACH = re.compile(r"\} each (.*) \{")
_COMPUTE = re.compile(r"([\w\-]+)((?: %\d+,?)*)((?:, \w+=(?:\{[^}]*\}|[\w.]+))*)")
_ATTRIBUTE = re.compile(r", (\w+)=(\{[^}]*\}|[\w.]+)")
_NOTE = re.compile(r"(\d+)(?: %([\w.\-]+)\[(.*)\])?")


class NestSyntaxError(XlaExplorerError, ValueError):
    """A line that is not of the language of loop nests."""


def parse_nest(text: str) -> LoopNest:
    """Return the nest of a text.

    Raises
    ------
    NestSyntaxError
        With the number of the line.
    """
    return _Parser(text).nest()


class _Parser:
    """Recursive descent over lines.

    axes: all axes opened so far. The verifier checks that an axis is open at its uses.
    """

    def __init__(self, text: str) -> None:
        lines = [line for line in text.splitlines() if line.strip()]
        self.lines = [line.partition("  # ")[0].strip() for line in lines]
        self.notes = [line.partition("  # ")[2] for line in lines]
        self.at = 0
        self.axes: dict[str, Axis] = {}
        self.names: dict[int, str] = {}

    def nest(self) -> LoopNest:
        head = _HEAD.fullmatch(self.take())
        if head is None:
            raise self.error("expected kernel @name(arrays) {")
        found = _ARRAY.finditer(head[2])
        arrays = tuple(
            [
                NestArray(
                    m[3], parse_shape(m[4]), bool(m[1]), aliases=m[5] or "", streamed=bool(m[2])
                )
                for m in found
            ]
        )
        body = self.body()
        self.expect("}")
        if self.at < len(self.lines):
            self.at += 1
            raise self.error("expected the end of the text")
        return LoopNest(head[1], arrays, body, self.names, int(head[3] or 1))

    def error(self, problem: str) -> NestSyntaxError:
        line = self.lines[self.at - 1] if 0 < self.at <= len(self.lines) else "the end"
        return NestSyntaxError(f"line {self.at}: {problem}, got {line!r}")

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1] if self.at <= len(self.lines) else ""

    def expect(self, wanted: str) -> None:
        if self.take() != wanted:
            raise self.error(f"expected {wanted!r}")

    def body(self) -> Body:
        found: list[Statement] = []
        while self.at < len(self.lines) and not self.lines[self.at].startswith(("}", "yield ")):
            found.append(self.statement())
        return tuple(found)

    def statement(self) -> Statement:
        line = self.take()
        note = self.notes[self.at - 1]
        if m := _FOR.fullmatch(line):
            axis = self.axis(m[1], m[2])
            guards = self.guards(m[5])
            found = For(axis, self.body(), self.kind(m[3]), guards, bool(m[4]))
            self.expect("}")
            return found
        if m := _STORE.fullmatch(line):
            return Store(m[2], self.place(m[3]), int(m[1]), self.origin(note))
        if m := _ALLOCATE.fullmatch(line):
            return Allocate(NestArray(m[1], parse_shape(m[2]), True, Space(m[3])))
        if line == "barrier":
            return Barrier()
        if m := _DEFINITION.fullmatch(line):
            return self.definition(
                _numbers(m[1]), m[2], tuple([self.element(name) for name in m[3].split(", ")]), note
            )
        raise self.error("expected a statement")

    def definition(
        self, ids: tuple[int, ...], operation: str, elements: tuple[PrimitiveType, ...], note: str
    ) -> Statement:
        if m := _REDUCE.fullmatch(operation):
            return self.reduce(ids, elements, m, note)
        name, _, rest = operation.partition(" ")
        if name == "select-region":
            return self.select_region(ids[0], elements[0], note)
        origin = self.origin(note)
        if name in ("load", "prefetch") and rest.endswith("]"):
            array, _, place = rest[1:-1].partition("[")
            return Load(ids[0], elements[0], array, self.place(place), origin, name == "prefetch")
        if name == "constant":
            return Constant(ids[0], Literal(array_shape(elements[0], ()), text=rest), origin)
        if name == "iota":
            at, _, lines_of = rest.partition(" by lines of %")
            return Iota(ids[0], elements[0], parse_index(at, self.axes.values()), origin, lines_of)
        if m := _COMPUTE.fullmatch(operation):
            attributes = attributes_of(
                {
                    key: CODECS[key].read(value)
                    for key, value in _ATTRIBUTE.findall(m[3])
                    if key in CODECS
                }
            )
            return Compute(
                ids[0], elements[0], self.opcode(m[1]), _numbers(m[2]), attributes, origin
            )
        raise self.error("expected an operation")

    def select_region(self, number: int, element: PrimitiveType, note: str) -> SelectRegion:
        cases: list[Case] = []
        while not cases or cases[-1].guards:
            line = self.take()
            if not (line == "else {" or (line.startswith("case ") and line.endswith(" {"))):
                raise self.error("expected a case or else")
            guards = self.guards(line[5:-2] if line != "else {" else None)
            body = self.body()
            cases.append(Case(guards, body, self.yielded()[0]))
            self.expect("}")
        self.expect("}")
        return SelectRegion(number, element, tuple(cases), self.origin(note))

    def reduce(
        self, ids: tuple[int, ...], elements: tuple[PrimitiveType, ...], m: re.Match[str], note: str
    ) -> Reduce:
        axes = tuple(
            [
                BoundAxis(self.axis(name, extent), self.kind(kind))
                for name, extent, kind in _AXIS.findall(m[3])
            ]
        )
        guards = self.guards(m[4])
        body, values = self.body(), self.yielded()
        combiner: OpcodeSpec | Combination
        closing = self.take()
        if m[1]:
            combiner = self.opcode(m[1].strip())
        else:
            c = _COMBINE.fullmatch(closing)
            if c is None:
                raise self.error("expected } combine ... with ... {")
            combiner, closing = (
                Combination(_numbers(c[1]), _numbers(c[2]), self.body(), self.yielded()),
                self.take(),
            )
            if (
                joined := _COMBINE.fullmatch(closing.replace("} join", "} combine", 1))
            ) is not None:
                join = Combination(
                    _numbers(joined[1]), _numbers(joined[2]), self.body(), self.yielded()
                )
                combiner, closing = replace(combiner, join=join), self.take()
        running: tuple[int, ...] = ()
        each: Body = ()
        if (c := _EACH.fullmatch(closing)) is not None:
            running, each, closing = _numbers(c[1]), self.body(), self.take()
        if closing != "}":
            raise self.error("expected }")
        return Reduce(
            ids,
            elements,
            combiner,
            _numbers(m[2]),
            axes,
            body,
            values,
            guards,
            self.origin(note),
            running,
            each,
        )

    def yielded(self) -> tuple[int, ...]:
        line = self.take()
        if not line.startswith("yield %"):
            raise self.error("expected yield")
        return _numbers(line[6:])

    # -- tokens ------------------------------------------------------------------------------------
    def axis(self, name: str, extent: str) -> Axis:
        found = self.axes[name] = Axis(name, int(extent))
        return found

    def kind(self, name: str) -> AxisKind:
        try:
            return AxisKind(name)
        except ValueError:
            raise self.error(
                f"expected one of {', '.join([k.value for k in AxisKind])} after @"
            ) from None

    def element(self, name: str) -> PrimitiveType:
        if name not in PRIMITIVE_TYPES:
            raise self.error(f"unknown element type {name!r}")
        return PRIMITIVE_TYPES[name]

    def opcode(self, name: str) -> OpcodeSpec:
        if name not in OPCODES:
            raise self.error(f"unknown opcode {name!r}")
        return OPCODES[name]

    def place(self, text: str) -> Place:
        return parse_place(text, self.axes.values())

    def guards(self, text: str | None) -> tuple[Guard, ...]:
        found = []
        for part in text.split(" and ") if text else ():
            sides = part.removeprefix("0 <= ").split(" < ")
            if len(sides) != 2 or not sides[1].isdigit():
                raise self.error(f"expected index < number, got {part!r}")
            found.append(Guard(parse_index(sides[0], self.axes.values()), int(sides[1])))
        return tuple(found)

    def origin(self, note: str) -> Origin | None:
        m = _NOTE.fullmatch(note)
        if m is None:
            return None
        if m[2]:
            self.names[int(m[1])] = m[2]
        return Origin(int(m[1]), self.place(m[3]) if m[3] else ())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple([int(part) for part in re.findall(r"%(\d+)", text)])
