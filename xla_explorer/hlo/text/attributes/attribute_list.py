"""Reader of the attributes of an instruction: `, dimensions={0}, to_apply=%add, metadata={...}`.

Source: hlo_parser.cc ParseAttributes and the attribute table of each opcode.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes import CODECS, Attributes, attributes_of
from xla_explorer.hlo.opcodes.spec import OpcodeSpec
from xla_explorer.hlo.text.attributes.pieces import listed
from xla_explorer.hlo.text.attributes.values import READERS, canonical_value, reader_of
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.lexical import balanced_end
from xla_explorer.hlo.text.tokens import ATTRIBUTE, END, Tokens

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
_OPTIONAL_ROLES = frozenset({"custom-call", "async-update", "async-done"})
_LISTED_ROLES = frozenset({"branch_computations", "called_computations"})
# Attributes that XLA reads and ignores. `order` of a comparison, which newer XLA writes, becomes
# its `type`.
_IGNORED = {
    "all-reduce": ("mode",),
    "all-reduce-start": ("mode",),
    "reduce-scatter": ("mode",),
    "ragged-all-to-all": ("dimensions",),
    "compare": ("order",),
}
# Synonyms of roles: names that XLA's parser accepts for a role of the row.
_MORE_ROLES = {
    "custom-call": ("to_apply",),
    "conditional": ("true_computation", "false_computation"),
    "async-update": ("calls",),
    "async-done": ("calls",),
}

# The common case of one attribute: a word, a string, or braces that nest at most twice and hold no
# comment.
_ATTRIBUTE = re.compile(
    r""",\ ([A-Za-z_][\w\-]*+)=((?:[^\s,{}()\[\]"'/]++|"(?:[^"\\\n]|\\.)*+"|\[[^\]\n"'{/]*+\]|\([^()\n"'{/]*+\)
    |\{(?:[^{}"'\n/]++|"(?:[^"\\\n]|\\.)*+"
    |\{(?:[^{}"'\n/]++|"(?:[^"\\\n]|\\.)*+"|\{[^{}"'\n/]*+\})*+\})*+\})++)(?=,\ |$)""",
    re.VERBOSE,
)
_PLAIN_NAME = re.compile(r"%[A-Za-z_][A-Za-z0-9_.\-]*+")


class AttributeText(NamedTuple):
    """One attribute as written.

    Offsets are those of the text it was read from. canonical: its value in one spelling, once it
    was read.
    """

    name: str
    value: str
    name_at: int
    value_at: int
    canonical: str | None = None


class DecodedAttributes(NamedTuple):
    """Decoded attributes of one instruction."""

    attributes: Attributes
    called: tuple[HloComputation, ...]
    metadata: str | None
    control_predecessors: tuple[tuple[str, int], ...]


class FindComputation:
    """Lookup of computations that were defined before.

    `inline` reads a computation whose body is the value of the attribute.
    """

    def __init__(
        self,
        computations: dict[str, HloComputation],
        inline: Callable[[int], HloComputation] | None = None,
    ) -> None:
        self.computations = computations
        self.inline = inline

    def named(self, name: str, at: int, length: int) -> HloComputation:
        """Return the computation with a name; TextError at the offset if there is none."""
        found = self.computations.get(name)
        if found is None:
            near = nearest(name, self.computations, 2)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else (
                    "computations precede their callers: move its definition above this computation"
                )
            )
            raise TextError(f"computation does not exist: {name}", at, hint, max(length, 1))
        return found

    def one(self, tokens: Tokens, base: int) -> HloComputation:
        """Parse a computation: its name, or its body in braces."""
        if tokens.kind == "{" and self.inline is not None:
            try:
                found = self.inline(base + tokens.start)
            except TextError as problem:  # its offset counts from the beginning of the file
                raise TextError(
                    problem.message, problem.at - base, problem.hint, problem.length
                ) from None
            tokens.end = balanced_end(tokens.text, tokens.start, one_bracket=True)
            tokens.advance()
            return found
        at, length = tokens.start, tokens.end - tokens.start
        name = tokens.name(
            "the name of a computation", "write the name of a computation defined above"
        )
        return self.named(name, at, length)

    def read(self, name: str, text: str, base: int) -> list[HloComputation]:
        """Return the computations that the value of a role names: one, or a list `{a, %b}`.

        Offsets of problems are relative to `text`, which starts at `base`.
        """
        if _PLAIN_NAME.fullmatch(text) and name not in _LISTED_ROLES:
            return [self.named(text[1:], 0, len(text))]
        tokens = Tokens(text)
        found: list[HloComputation] = []

        def item(tokens: Tokens) -> str:
            found.append(self.one(tokens, base))
            return ""

        if name in _LISTED_ROLES:
            listed(tokens, item, what="a list of computations such as {%a, %b}")
        else:
            item(tokens)
        tokens.expect(END, "the end of the value")
        return found


def split_tail(tail: str) -> list[AttributeText] | None:
    """Return the attributes of a tail such as `, a=1, b={2}`.

    None for an unusual tail, which the careful reader reads.
    """
    found: list[AttributeText] = []
    at, match = 0, _ATTRIBUTE.match
    while at < len(tail):
        m = match(tail, at)
        if m is None:
            return None if tail[at:].strip() else found
        found.append(AttributeText(m.group(1), m.group(2), m.start(1), m.start(2)))
        at = m.end()
    return found


def read_attributes(tokens: Tokens, opcode_name: str) -> list[AttributeText]:
    """Parse the attributes that begin with the comma here, in any spelling."""
    found: list[AttributeText] = []
    while tokens.eat(","):
        start, name = tokens.start, tokens.value
        if tokens.kind != ATTRIBUTE:
            hint = "attributes look like name=value, with no space before '='"
            raise TextError(
                "expects the name of an attribute and '='", start, hint, max(tokens.end - start, 1)
            )
        tokens.advance()
        value_at = tokens.start
        try:
            canonical = _parse_value(tokens, opcode_name, name)
        except TextError:
            if tokens.start > value_at or tokens.kind not in (",", END):
                raise  # the value is not absent but wrong
            raise TextError(
                f"attribute {name} has no value", value_at, f"write a value after {name}="
            ) from None
        found.append(
            AttributeText(
                name, tokens.text[value_at : tokens.previous_end], start, value_at, canonical
            )
        )
    return found


def _parse_value(tokens: Tokens, opcode_name: str, name: str) -> str | None:
    reader = reader_of(opcode_name, name)
    if reader is not None:
        return reader(tokens)
    if (name in ROLES or name == "control-predecessors") and tokens.kind != "{":
        tokens.name("a name")
    else:
        # A body of instructions, a list of names, or unknown text: its brackets determine the end.
        end = balanced_end(tokens.text, tokens.start, one_bracket=tokens.kind == "{")
        if end == tokens.start:
            raise tokens.problem(f"a value of {name}")
        tokens.end = end
        tokens.advance()
    return None


def allowed(spec: OpcodeSpec) -> tuple[str, ...]:
    """Return the attributes and roles that an opcode accepts in addition to the `COMMON` ones."""
    return (
        *spec.attributes,
        *spec.called,
        *_MORE_ROLES.get(spec.name, ()),
        *_IGNORED.get(spec.name, ()),
    )


def _refuse_unexpected(spec: OpcodeSpec, item: AttributeText) -> NoReturn:
    """Raise TextError for an attribute that the opcode does not accept, as XLA's parser does."""
    known = {*CODECS, *ROLES, *[key if isinstance(key, str) else key[1] for key in READERS]}
    near = (
        [item.name]
        if item.name in known
        else nearest(item.name, {*allowed(spec), *COMMON, *known}, 1, 0.8)
    )
    own = ", ".join(allowed(spec)) or "none of its own"
    hint = (
        f"did you mean {near[0]}? ({spec.name} takes {own})"
        if near and near[0] != item.name
        else f"{spec.name} takes {own}"
    )
    if item.name == "result_accuracy":
        hint = f"{spec.name} is exact; remove it"
    raise TextError(f'unexpected attribute "{item.name}"', item.name_at, hint, len(item.name))


def _control_predecessors(text: str, base: int) -> list[tuple[str, int]]:
    tokens = Tokens(text)
    found: list[tuple[str, int]] = []

    def item(tokens: Tokens) -> str:
        at = tokens.start + base
        name = tokens.name("the name of an instruction")
        if all(name != other for other, _ in found):
            found.append((name, at))
        return name

    if not listed(tokens, item):
        raise TextError(
            "expects the name of an instruction", 0, "leave the attribute out", len(text)
        )
    tokens.expect(END, "the end of the value")
    return found


def decode_attributes(
    spec: OpcodeSpec, items: list[AttributeText], find: FindComputation
) -> DecodedAttributes:
    """Decode each attribute by its codec.

    TextError (offsets as in `items`) for attributes that XLA rejects.
    """
    decoder = _Decoder(spec, find)
    seen: set[str] = set()
    for item in items:
        name = item.name
        if name in seen:
            raise TextError(
                f"attribute {name} already exists",
                item.name_at,
                f"keep one {name}= and remove the other",
                len(name),
            )
        seen.add(name)
        try:
            decoder.decode(item)
        except TextError as problem:
            raise TextError(
                problem.message, item.value_at + problem.at, problem.hint, problem.length
            ) from None
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError) as problem:
            codec = CODECS.get(name)
            summary = codec.summary if codec is not None else "it has another form"
            raise TextError(
                f"error parsing attribute {name}: {problem}",
                item.value_at,
                f"{name}: {summary}",
                min(len(item.value), 60),
            ) from None
    _check_presence(spec, seen)
    return decoder.decoded()


class _Decoder:
    """The attributes of one instruction, as they are decoded."""

    def __init__(self, spec: OpcodeSpec, find: FindComputation) -> None:
        self.spec, self.find = spec, find
        self.values: dict[str, Any] = {}
        self.roles: dict[str, list[HloComputation]] = {}
        self.metadata: str | None = None
        self.control: list[tuple[str, int]] = []

    def decode(self, item: AttributeText) -> None:
        """Decode one attribute; offsets of problems are relative to its value."""
        spec, name, value = self.spec, item.name, item.value
        codec = CODECS.get(name)
        if name in spec.called or name in _MORE_ROLES.get(spec.name, ()):
            self.roles[name] = self.find.read(name, value, item.value_at)
        elif name == "metadata":
            metadata = item.canonical or canonical_value(spec.name, name, value)
            self.metadata = metadata if metadata != "{}" else None
        elif name == "control-predecessors":
            self.control += _control_predecessors(value, item.value_at)
        elif codec is not None and (name in spec.attributes or name in COMMON):
            text = item.canonical or canonical_value(spec.name, name, value)
            self.values[name] = codec.read(text)
        elif name in _IGNORED.get(spec.name, ()):
            if canonical_value(spec.name, name, value) == "TOTAL":
                self.values["type"] = "TOTALORDER"
        else:
            _refuse_unexpected(spec, item._replace(name_at=item.name_at - item.value_at))

    def decoded(self) -> DecodedAttributes:
        """Return the decoded attributes."""
        return DecodedAttributes(
            attributes_of(self.values),
            _called(self.spec, self.roles),
            self.metadata,
            tuple(self.control),
        )


def _check_presence(spec: OpcodeSpec, seen: set[str]) -> None:
    """Check that required attributes are present, and that no two exclude each other."""
    if spec.name == "compare" and {"type", "order"} <= seen:
        raise TextError(
            "a comparison must have type= or order=, got both", -1, "keep order=", len(spec.name)
        )
    for name in spec.required:
        if name not in seen:
            codec = CODECS.get(name)
            raise TextError(
                f"attribute {name} is expected but not seen",
                -1,
                f"add {name}= after the operands" + (f" ({codec.summary})" if codec else ""),
                len(spec.name),
            )


def _called(spec: OpcodeSpec, roles: dict[str, list[HloComputation]]) -> tuple[HloComputation, ...]:
    """Return the called computations in the order of the opcode's roles."""
    if spec.name == "conditional":
        if "branch_computations" in roles:
            return tuple(roles["branch_computations"])
        if "true_computation" in roles and "false_computation" in roles:
            return (*roles["true_computation"], *roles["false_computation"])
        missing = (
            "branch_computations"
            if not roles
            else "false_computation"
            if "true_computation" in roles
            else "true_computation"
        )
        raise TextError(
            f"attribute {missing} is expected but not seen",
            -1,
            "a conditional names branch_computations={a, b}, or true_computation=a, "
            "false_computation=b",
            len(spec.name),
        )
    if spec.name in _OPTIONAL_ROLES or not spec.called:
        if spec.name == "custom-call":
            return tuple(
                [
                    c
                    for name in ("to_apply", "called_computations", "calls")
                    for c in roles.get(name, ())
                ]
            )
        return ()
    for name in spec.called:
        if name not in roles:
            raise TextError(
                f"attribute {name} is expected but not seen",
                -1,
                f"add {name}= and the name of a computation defined above",
                len(spec.name),
            )
    return tuple([c for name in spec.called for c in roles[name]])
