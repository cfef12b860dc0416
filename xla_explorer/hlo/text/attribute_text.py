"""Reads what follows the operands of an instruction: `, dimensions={0}, to_apply=%add, metadata={...}`.

Source: hlo_parser.cc ParseAttributes and the attribute table of each opcode.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.hlo.attributes import CODECS, Attributes, attributes_of
from xla_explorer.hlo.opcodes.spec import OpcodeSpec
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.lexical import NAME, balanced_end, skip_blank, without_comments, without_comments_outside_strings

if TYPE_CHECKING:
    from xla_explorer.hlo.computation import HloComputation

ROLES = frozenset(
    [
        "to_apply",
        "calls",
        "body",
        "condition",
        "select",
        "scatter",
        "true_computation",
        "false_computation",
        "branch_computations",
        "called_computations",
    ]
)
# Allowed on every opcode.
COMMON = (
    "sharding",
    "frontend_attributes",
    "metadata",
    "backend_config",
    "control-predecessors",
    "origin",
    "parameter_replication",
    "statistics",
)
_OPTIONAL_ROLES = frozenset({"custom-call", "all-reduce-done", "async-update", "async-done"})
_VERBATIM = frozenset({"backend_config", "frontend_attributes", "metadata"})

# The common case of one attribute: a word, a string, or braces that nest at most twice and hold no comment.
_ATTRIBUTE = re.compile(
    r""",\ ([A-Za-z_][\w\-]*+)=((?:[^\s,{}()\[\]"'/]++|"(?:[^"\\\n]|\\.)*+"|\[[^\]\n"'{/]*+\]|\([^()\n"'{/]*+\)
    |\{(?:[^{}"'\n/]++|"(?:[^"\\\n]|\\.)*+"
    |\{(?:[^{}"'\n/]++|"(?:[^"\\\n]|\\.)*+"|\{[^{}"'\n/]*+\})*+\})*+\})++)(?=,\ |$)""",
    re.VERBOSE,
)
_KEY = re.compile(r"([A-Za-z_][\w\-]*)=", re.ASCII)


class AttributeText(NamedTuple):
    """One attribute as written. Offsets are those of the text it was read from."""

    name: str
    value: str
    name_at: int
    value_at: int


class DecodedAttributes(NamedTuple):
    """What the attributes of one instruction mean."""

    attributes: Attributes
    called: tuple[HloComputation, ...]
    metadata: str | None
    control_predecessors: tuple[tuple[str, int], ...]


class FindComputation:
    """Looks up computations that were defined before; `inline` reads one that stands in the attribute itself."""

    def __init__(self, computations: dict[str, HloComputation], inline: Callable[[str, int], HloComputation] | None = None) -> None:
        self.computations = computations
        self.inline = inline

    def one(self, text: str, at: int) -> HloComputation:
        """The computation named by `text` (or written in braces), whose first character stands at `at`."""
        if text.startswith("{") and self.inline is not None:
            return self.inline(text, at)
        found = self.computations.get(text.removeprefix("%"))
        if found is None:
            near = difflib.get_close_matches(text.lstrip("%"), self.computations, 2)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else "computations stand before their callers: move its definition above this computation"
                if NAME.fullmatch(text)
                else "write the name of a computation defined above"
            )
            raise TextProblem(f"computation does not exist: {text}", at, hint, max(len(text), 1))
        return found

    def many(self, text: str, at: int) -> list[HloComputation]:
        """The computations of a list `{a, %b}`, or of a single name."""
        if not text.startswith("{"):
            return [self.one(text, at)]
        found = []
        place = skip_blank(text, 1)
        while not text.startswith("}", place):
            end = balanced_end(text, place)
            if end == place:
                raise TextProblem("expects the name of a computation", at + place, "write a list such as {%a, %b}")
            found.append(self.one(text[place:end], at + place))
            place = skip_blank(text, end)
            if text.startswith(",", place):
                place = skip_blank(text, place + 1)
        return found


def split_tail(tail: str) -> list[AttributeText] | None:
    """The attributes of a tail such as `, a=1, b={2}`; None when it is unusual and the careful reader should look."""
    found: list[AttributeText] = []
    at, match = 0, _ATTRIBUTE.match
    while at < len(tail):
        m = match(tail, at)
        if m is None:
            return None if tail[at:].strip() else found
        found.append(AttributeText(m.group(1), m.group(2), m.start(1), m.start(2)))
        at = m.end()
    return found


def read_attributes(text: str, at: int) -> tuple[list[AttributeText], int]:
    """The attributes that start with the comma at or after `at`, in any spelling; and the offset behind the last."""
    found: list[AttributeText] = []
    while True:
        comma = skip_blank(text, at)
        if not text.startswith(",", comma):
            return found, at
        start = skip_blank(text, comma + 1)
        key = _KEY.match(text, start)
        if key is None:
            raise TextProblem(
                "expects the name of an attribute and '='",
                start,
                "attributes look like name=value, with no space before '='",
            )
        value_at = skip_blank(text, key.end())
        at = balanced_end(text, value_at)
        if at == value_at:
            raise TextProblem(f"attribute {key.group(1)} has no value", value_at, f"write a value after {key.group(1)}=")
        if key.group(1) == "replica_groups" and text.startswith("mesh[", value_at):  # mesh['x'=2] {'x'}: two parts
            brace = skip_blank(text, at)
            if text.startswith("{", brace):
                at = balanced_end(text, brace)
        elif key.group(1) == "literal" and text.startswith(" ", at):  # literal=s32[] 1: a shape and its literal
            at = balanced_end(text, at + 1)
        found.append(AttributeText(key.group(1), text[value_at:at], start, value_at))


def _normal(name: str, value: str) -> str:
    if name in _VERBATIM or '"' in value or "'" in value:
        return value
    value = without_comments(value)
    return " ".join(value.split()) if "\n" in value or "  " in value else value


def _refuse_unknown(spec: OpcodeSpec, item: AttributeText) -> None:
    """A misspelt name is an error; one that is like no name we know is kept, so that newer XLA's attributes survive."""
    if item.name == "result_accuracy":
        raise TextProblem(f'unexpected attribute "{item.name}"', item.name_at, f"{spec.name} is exact; remove it", len(item.name))
    allowed = {*spec.attributes, *spec.called, *COMMON}
    near = difflib.get_close_matches(item.name, {*allowed, *CODECS, *ROLES}, 1, 0.8)
    if near:
        own = ", ".join([*spec.attributes, *spec.called]) or "none of its own"
        raise TextProblem(
            f'unexpected attribute "{item.name}"',
            item.name_at,
            f"did you mean {near[0]}? ({spec.name} takes {own})",
            len(item.name),
        )


def decode_attributes(spec: OpcodeSpec, items: list[AttributeText], find: FindComputation) -> DecodedAttributes:
    """Decode each attribute by its codec. TextProblem (offsets as in `items`) for what XLA would refuse."""
    values: dict[str, Any] = {}
    roles: dict[str, list[HloComputation]] = {}
    seen: set[str] = set()
    metadata: str | None = None
    control: list[tuple[str, int]] = []
    for item in items:
        name, value = item.name, item.value
        if name in seen:
            raise TextProblem(f"attribute {name} already exists", item.name_at, f"keep one {name}= and remove the other", len(name))
        seen.add(name)
        codec = CODECS.get(name)
        if name in ROLES and (codec is None or name in spec.called):
            many = name in ("branch_computations", "called_computations") or (spec.name == "custom-call" and "," in value)
            roles[name] = find.many(value, item.value_at) if many else [find.one(value, item.value_at)]
        elif name == "metadata":
            if not value.startswith("{") or balanced_end(value, 0, one_bracket=True) != len(value):
                raise TextProblem("expects metadata in braces", item.value_at, 'write metadata={op_name="..."}', min(len(value), 60))
            metadata = without_comments_outside_strings(value)
        elif name == "control-predecessors":
            for m in NAME.finditer(without_comments(value)):
                control.append((m.group(1), item.value_at + max(value.find(m.group()), 0)))
        elif codec is not None and (name != "result_accuracy" or name in spec.attributes):
            try:
                values[name] = codec.read(_normal(name, value))
            except TextProblem as problem:
                raise TextProblem(problem.message, item.value_at + problem.at, problem.hint, problem.length) from None
            except (ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError) as problem:
                raise TextProblem(
                    f"error parsing attribute {name}: {problem}",
                    item.value_at,
                    f"{name}: {codec.summary}",
                    min(len(value), 60),
                ) from None
        else:
            _refuse_unknown(spec, item)
            values[name] = _normal(name, value)
    for name in spec.required:
        if name not in seen:
            codec = CODECS.get(name)
            raise TextProblem(
                f"attribute {name} is expected but not seen",
                -1,
                f"add {name}= after the operands" + (f" ({codec.summary})" if codec else ""),
                len(spec.name),
            )
    return DecodedAttributes(attributes_of(values), _called(spec, roles), metadata, tuple(control))


def _called(spec: OpcodeSpec, roles: dict[str, list[HloComputation]]) -> tuple[HloComputation, ...]:
    """The called computations in the order of the opcode's roles."""
    if spec.name == "conditional":
        if "branch_computations" in roles:
            return tuple(roles["branch_computations"])
        if "true_computation" in roles and "false_computation" in roles:
            return (*roles["true_computation"], *roles["false_computation"])
        missing = "branch_computations" if not roles else "false_computation" if "true_computation" in roles else "true_computation"
        raise TextProblem(
            f"attribute {missing} is expected but not seen",
            -1,
            "a conditional names branch_computations={a, b}, or true_computation=a, false_computation=b",
            len(spec.name),
        )
    if spec.name in _OPTIONAL_ROLES or not spec.called:
        if spec.name == "custom-call":
            return tuple([c for name in ("to_apply", "called_computations", "calls") for c in roles.get(name, ())])
        return ()
    for name in spec.called:
        if name not in roles:
            raise TextProblem(
                f"attribute {name} is expected but not seen",
                -1,
                f"add {name}= and the name of a computation defined above",
                len(spec.name),
            )
    return tuple([c for name in spec.called for c in roles[name]])
