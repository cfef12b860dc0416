"""The text of a loop nest; `parser.parse_nest` reads it.

The decisions of lowering steps are shown too, and not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import (
    Allocate,
    AxisKind,
    Barrier,
    Body,
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
    axes_of,
    elements_of,
    ids_of,
)
from xla_explorer.hlo.analysis.indexing import Axis, Guard, place_text


class Line(NamedTuple):
    """A line of the text, and the id of its HLO instruction."""

    text: str
    origin: int | None = None


def nest_text(nest: LoopNest) -> str:
    """Return the text of a nest."""
    return "".join([f"{line.text}\n" for line in nest_lines(nest)])


def nest_lines(nest: LoopNest) -> Iterator[Line]:
    """Yield the lines of the text, each with its origin."""
    arrays = ", ".join([array_text(a) for a in nest.arrays])
    tasks = f" tasks {nest.tasks}" if nest.tasks > 1 else ""
    numbers = ", ".join([f"{axis} in {axis.extent}" for axis in nest.launch])
    launch = f" with {numbers}" if nest.launch else ""
    yield Line(f"kernel @{nest.name}({arrays}){tasks}{launch} {{")
    yield from _body_lines(nest.body, nest, 1)
    yield Line("}")


def array_text(a: NestArray) -> str:
    """Return the declaration of an array."""
    shape = a.shape.text_without_layout if a.shape.layout.is_default else a.shape.text
    if a.space is not Space.PARAMETER:
        return f"%{a.name}: {shape} in {a.space.value}"
    head = f"{'out ' if a.written else ''}{'stream ' if a.streamed else ''}%{a.name}: {shape}"
    return f"{head} aliasing %{a.aliases}" if a.aliases else head


def guards_text(guards: tuple[Guard, ...]) -> str:
    """Return guards as text, joined by `and`."""
    return " and ".join(map(str, guards))


def _ids(ids: tuple[int, ...]) -> str:
    return ", ".join([f"%{number}" for number in ids])


def _note(origin: Origin | None, names: Mapping[int, str]) -> str:
    if origin is None:
        return ""
    name = (
        f" %{names[origin.instruction]}{place_text(origin.place)}"
        if origin.instruction in names
        else ""
    )
    return f"  # {origin.instruction}{name}"


def _body_lines(body: Body, nest: LoopNest, depth: int) -> Iterator[Line]:
    for s in body:
        yield from _statement_lines(s, nest, depth)


def _axis_text(axis: Axis, kind: AxisKind, nest: LoopNest) -> str:
    return f"{axis} in {axis.extent} @{kind.value}{nest.form(axis).text}"


def _wide_text(s: Load | Store) -> str:
    return f" {s.wide.form} {s.wide.width} along {s.wide.axis}" if s.wide else ""


def _statement_lines(s: Statement, nest: LoopNest, depth: int) -> Iterator[Line]:
    names, pad, inside = nest.names, "  " * depth, "  " * (depth + 1)
    if isinstance(s, For):
        word = "if" if nest.form(s.axis).branches else "where"
        where = f" {word} {guards_text(s.guards)}" if s.guards else ""
        ordered = " ordered" if s.ordered else ""
        yield Line(f"{pad}for {_axis_text(s.axis, s.kind, nest)}{ordered}{where} {{")
        yield from _body_lines(s.body, nest, depth + 1)
        yield Line(f"{pad}}}")
        return
    if isinstance(s, Allocate):
        yield Line(f"{pad}allocate {array_text(s.array)}")
        return
    if isinstance(s, Barrier):
        yield Line(f"{pad}barrier")
        return
    note, origin = _note(s.origin, names), s.origin.instruction if s.origin else None
    if isinstance(s, Store):
        yield Line(
            f"{pad}store %{s.value}, %{s.array}{place_text(s.place)}{_wide_text(s)}{note}", origin
        )
        return
    types = ", ".join([t.name for t in elements_of(s)])
    head = f"{pad}{_ids(ids_of(s))} = {_operation(s, nest)} : {types}"
    if not isinstance(s, SelectRegion | Reduce):
        yield Line(head + note, origin)
        return
    yield Line(f"{head} {{{note}", origin)
    if isinstance(s, SelectRegion):
        for case in s.cases:
            yield Line(
                f"{inside}{f'case {guards_text(case.guards)}' if case.guards else 'else'} {{"
            )
            yield from _body_lines(case.body, nest, depth + 2)
            yield Line(f"{inside}  yield %{case.value}")
            yield Line(f"{inside}}}")
    else:
        yield from _body_lines(s.body, nest, depth + 1)
        yield Line(f"{inside}yield {_ids(s.values)}")
        if isinstance(s.combiner, Combination):
            for c in s.combiner.combinations:
                yield Line(
                    f"{pad}}} {'combine' if c is s.combiner else 'join'} {_ids(c.left)} with "
                    f"{_ids(c.right)} {{"
                )
                yield from _body_lines(c.body, nest, depth + 1)
                yield Line(f"{inside}yield {_ids(c.results)}")
        if s.each:
            yield Line(f"{pad}}} each {_ids(s.running)} {{")
            yield from _body_lines(s.each, nest, depth + 1)
    yield Line(f"{pad}}}")


def _operation(s: Load | Constant | Iota | Compute | SelectRegion | Reduce, nest: LoopNest) -> str:
    """Return the text between `=` and the types."""
    if isinstance(s, Load):
        return (
            f"{'prefetch' if s.is_prefetch else 'load'} "
            f"%{s.array}{place_text(s.place)}{_wide_text(s)}"
        )
    if isinstance(s, Constant):
        return f"constant {s.literal.text}"
    if isinstance(s, Iota):
        return f"iota {s.index}{f' by lines of %{s.lines_of}' if s.lines_of else ''}"
    if isinstance(s, Compute):
        return f"{s.opcode.name} {_ids(s.operands)}{s.attributes.text}"
    if isinstance(s, SelectRegion):
        return "select-region"
    axes = ", ".join([_axis_text(axis, kind, nest) for axis, kind in axes_of(s)])
    combiner = "" if isinstance(s.combiner, Combination) else f" {s.combiner.name}"
    where = f" where {guards_text(s.guards)}" if s.guards else ""
    return f"{'scan' if s.each else 'reduce'}{combiner} from {_ids(s.initial)} over {axes}{where}"
