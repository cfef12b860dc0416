"""The text of schedules: `split{j,64},split{ji,16},unroll{jio},vectorize{jii}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING
from typing import Any, cast

from xla_explorer.compiler.codegen.nest import directives as plain_directives
from xla_explorer.compiler.codegen.nest.directives import TAILS, Directive, fields_of
from xla_explorer.compiler.codegen.nest.directives.gpu_directives import GPU_DIRECTIVES
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.suggestions import nearest

DIRECTIVES = plain_directives.DIRECTIVES | GPU_DIRECTIVES
_DIRECTIVE = re.compile(r"\s*([\w-]+)\{([^{}]*)\}\s*(?:,|$)")
_KERNEL = re.compile(r"%?([\w.\-]+)\s*:\s*(.*)")


class ScheduleError(XlaExplorerError, ValueError):
    """A directive that is refused, or a text that is not a schedule.

    reason: of the refusal.
    """

    def __init__(self, message: str, hint: str = "", reason: Reason | None = None) -> None:
        super().__init__(message, hint)
        self.reason = reason


def parse_directives(text: str) -> tuple[Directive, ...]:
    """Return the directives of a text such as `split{j,16},vectorize{ji}`.

    Raises
    ------
    ScheduleError
        If the text cannot be read.
    """
    found: list[Directive] = []
    at = 0
    while at < len(text.rstrip()):
        m = _DIRECTIVE.match(text, at)
        if m is None:
            raise ScheduleError(
                f"expected a directive such as split{{j,16}}, got {text[at:].strip()!r}"
            )
        found.append(_directive(m[1], [part.strip() for part in m[2].split(",")]))
        at = m.end()
    return tuple(found)


def parse_schedules(text: str) -> dict[str, tuple[Directive, ...]]:
    """Return the directives of each kernel of a text.

    A line is `%kernel: split{j,16},vectorize{ji}`, and `#` begins a comment. A kernel without
    directives runs as its plain nest.

    Raises
    ------
    ScheduleError
        With the number of the line.
    """
    found: dict[str, tuple[Directive, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        m = _KERNEL.fullmatch(content)
        if m is None:
            raise ScheduleError(
                f"line {number}: expected %kernel: directives, got {content!r}",
                "write %fusion: split{j,16},vectorize{ji}",
            )
        if m[1] in found:
            raise ScheduleError(
                f"line {number}: %{m[1]} has a schedule already", "write one line a kernel"
            )
        try:
            found[m[1]] = parse_directives(m[2])
        except ScheduleError as problem:
            raise ScheduleError(
                f"line {number}: %{m[1]}: {problem.message}", problem.hint, problem.reason
            ) from None
    return found


def schedules_text(schedules: Mapping[str, Iterable[Directive]]) -> str:
    """Return the text that `parse_schedules` reads."""
    return "".join(
        [f"%{name}: {','.join(map(str, directives))}\n" for name, directives in schedules.items()]
    )


def form_of(made: type[Directive]) -> str:
    """Return the form of a directive, such as `reorder{axis,inner}`."""
    return f"{made.name}{{{','.join([field.name for field in fields_of(made)])}}}"


def directive_of(made: type[Directive], *values: Any, **named: Any) -> Directive:
    """Return a directive with the given values of its fields.

    Raises
    ------
    ScheduleError
        If a value is missing, unknown or not possible.
    """
    try:
        return cast(Any, made)(*values, **named)  # type: ignore[no-any-return]
    except TypeError as problem:
        raise ScheduleError(
            f"{made.name}: {problem}".replace(f"{made.__name__}.__init__() ", ""),
            f"write {form_of(made)}",
        ) from None


def _directive(name: str, values: list[str]) -> Directive:
    made = DIRECTIVES.get(name)
    if made is None:
        near = nearest(name, DIRECTIVES, 1)
        raise ScheduleError(
            f"unknown directive {name!r}",
            f"near: {near[0]}" if near else f"choose from {', '.join(DIRECTIVES)}",
        )
    wanted = fields_of(made)
    arguments: list[str | int | bool] = []
    for field, value in zip(wanted, values, strict=False):
        readable = {
            "int": value.lstrip("-").isdigit(),
            "bool": value == field.name,
            "str": bool(value) or field.default == "",
            "Tail": value in TAILS,
        }
        if not readable[str(field.type)]:
            raise ScheduleError(f"cannot read {value!r} as {field.name} of {form_of(made)}")
        arguments.append(
            int(value) if field.type == "int" else True if field.type == "bool" else value
        )
    needed = len([field for field in wanted if field.default is MISSING])
    if not needed <= len(values) <= len(wanted):
        raise ScheduleError(f"{name} must be written {form_of(made)}, got {len(values)} values")
    return directive_of(made, *arguments)
