"""HLO texts changed so that many remain HLO.

A type becomes another everywhere; sizes, attributes, operands and opcodes change; instructions are
removed, repeated, or taken from another text.

`mutated(seed, texts)` is the same text for the same seed and texts. After most changes the result
shapes that HLO text may leave out are left out, so that the parser infers them anew.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType

_TYPES = "|".join(
    sorted((name for name, t in PRIMITIVE_TYPES.items() if t.is_array_type), key=len, reverse=True)
)
_SHAPE = re.compile(rf"\b({_TYPES})\[([\d,<= ]*)\](\{{[\d,]*\}})?")
_INSTRUCTION = re.compile(
    r"^(?P<indent>\s*)(?P<root>ROOT )?(?P<name>%?[\w.\-]+) = (?P<shape>\([^=]*?\)|[a-z0-9]+\[[^\]]*\](?:\{[^}]*\})?) (?P<opcode>[a-z][\w\-]*)\((?P<rest>.*)$"
)
_OPERAND = re.compile(r"%[\w.\-]+")
_NUMBER = re.compile(r"(?<![\w.%\-])\d+(?![\w.])")
_LITERAL = re.compile(r"-?(?:inf|nan)|true|false|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
# New types, each family several times. Those below a byte are the most frequent, since they are
# rarest elsewhere.
SWAPS = (
    "s2", "u2", "s4", "u4", "f4e2m1fn", "s8", "u8", "pred", "bf16", "f16", "f64", "f32", "c64", "c128", "s16", "u32", "s64", "u64",
    "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e3m4", "f8e8m0fnu", "s1", "u1", "f6e2m3fn", "f6e3m2fn",
    "s4", "u4", "s2", "u2", "s8", "u8", "bf16", "f64",
)  # fmt: skip
SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 130, 257)
_UNARY_FLOAT = ("exponential", "tanh", "sqrt", "rsqrt", "cbrt", "log", "log-plus-one", "exponential-minus-one", "sine", "cosine", "tan", "logistic",
                "floor", "ceil", "round-nearest-afz", "round-nearest-even", "erf", "negate", "abs", "sign", "copy")  # fmt: skip
_UNARY_INTEGER = ("not", "popcnt", "count-leading-zeros", "negate", "abs", "sign", "copy")
_BINARY = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power")
_BINARY_INTEGER = (
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
)
_UNARY = frozenset((*_UNARY_FLOAT, *_UNARY_INTEGER))
_BINARIES = frozenset((*_BINARY, *_BINARY_INTEGER, "atan2"))
_FLAGS = re.compile(r"\b(\w+)=(true|false)\b")
_WORDS = (
    ("direction", ("EQ", "NE", "LT", "LE", "GT", "GE")), ("type", ("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")),
    ("fft_type", ("FFT", "IFFT", "RFFT", "IRFFT")), ("algorithm", ("rng_default", "rng_philox", "rng_three_fry")),
    ("transpose_a", ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")), ("distribution", ("rng_uniform", "rng_normal")),
)  # fmt: skip
_EXTRA = ("window={size=1}", "dimensions={0}", "dimensions={1}", "direction=LT", "index=0", "k=1", "lower=true", "iota_dimension=0", "slice_sizes={1}",
          "feature_group_count=2", "operand_precision={highest,highest}", "sharding={replicated}", "exponent_bits=5", "padding=0_0", "is_stable=true",
          "frontend_attributes={a=\"b\"}", "metadata={op_name=\"x\"}", "backend_config={\"a\":1}", "channel_id=1", "largest=false")  # fmt: skip


class _Line(NamedTuple):
    """A line that is an instruction."""

    indent: str
    root: str
    name: str
    shape: str
    opcode: str
    rest: str

    @property
    def text(self) -> str:
        return (
            f"{self.indent}{self.root}{self.name} = {self.shape} {self.opcode}({self.rest}"
            if self.shape
            else f"{self.indent}{self.root}{self.name} = {self.opcode}({self.rest}"
        )


def _instruction(line: str) -> _Line | None:
    m = _INSTRUCTION.match(line)
    return (
        _Line(m["indent"], m["root"] or "", m["name"], m["shape"], m["opcode"], m["rest"])
        if m
        else None
    )


def _changed(
    text: str,
    choice: random.Random,
    change: Callable[[_Line], str | None],
    which: Callable[[_Line], bool] = lambda _: True,
) -> str:
    """One of the instructions for which `which` holds, changed."""
    lines = text.split("\n")
    places = [
        (k, found)
        for k, line in enumerate(lines)
        if (found := _instruction(line)) is not None and which(found)
    ]
    if not places:
        return text
    at, line = choice.choice(places)
    new = change(line)
    lines[at : at + 1] = [] if new is None else new.split("\n")
    return "\n".join(lines)


# -- types -----------------------------------------------------------------------------------------
def _number(text: str, t: PrimitiveType) -> str:
    """Return a literal's number as one of the type, near it if possible."""
    value = {"true": 1.0, "false": 0.0}.get(text)
    value = float(text) if value is None else value
    if t.is_pred:
        return "true" if value == value and value else "false"
    if t.is_float or t.is_complex:
        if value != value or value in (float("inf"), float("-inf")):
            # Not every type has an infinity; its largest number does as well where a maximum starts
            # from it.
            plain = t.bits >= 16 or t.is_complex
            return (
                text
                if plain
                else "nan"
                if t.name != "f4e2m1fn" and value != value
                else "1"
                if t.name == "f8e8m0fnu" or value > 0
                else "-1"
            )
        return (
            "1"
            if t.name == "f8e8m0fnu" and value <= 0
            else text
            if text not in ("true", "false")
            else str(int(value))
        )
    low, high = (
        (-(1 << (t.bits - 1)), (1 << (t.bits - 1)) - 1) if t.is_signed else (0, (1 << t.bits) - 1)
    )
    if value != value:
        return "0"
    return str(
        int(max(low, min(high, value))) if abs(value) < 2**53 else high if value > 0 else low
    )


def _literal(line: _Line, t: PrimitiveType) -> str:
    """Return the rest of a constant's line, its numbers as numbers of the type."""
    literal, closing, attributes = (
        line.rest.partition("), ")
        if "), " in line.rest
        else (line.rest[: line.rest.rfind(")")], ")", "")
    )
    was_complex = "(" in literal
    if was_complex:
        literal = re.sub(r"\(([^,()]*),[^()]*\)", r"\1", literal)
    made = _LITERAL.sub(
        lambda m: f"({m.group()}, 0)" if t.is_complex else _number(m.group(), t),
        literal.replace("true", "1").replace("false", "0"),
    )
    return made + closing + attributes


def swap_type(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Replace a type in shapes and literals; operations that it lacks become others."""
    present = [m.group(1) for m in _SHAPE.finditer(text)]
    if not present:
        return text
    old = choice.choice(present)
    if old in ("pred", "s32", "s64") and choice.random() < 0.6:
        old = choice.choice(present)
    new = choice.choice([name for name in SWAPS if name != old])
    t = PRIMITIVE_TYPES[new]
    # The components of complex numbers go with them.
    pairs = {old: new}
    if t.is_complex and PRIMITIVE_TYPES[old].is_complex:
        pairs[PRIMITIVE_TYPES[old].component.name] = t.component.name
    shapes = re.compile(rf"\b({'|'.join(pairs)})(?=\[)")
    lines = text.split("\n")
    for k, line in enumerate(lines):
        if not shapes.search(line):
            continue
        lines[k] = shapes.sub(lambda m: pairs[m.group(1)], line)
        found = _instruction(lines[k])
        if found is None or not found.shape.startswith(tuple(pairs.values())):
            continue
        into = PRIMITIVE_TYPES[found.shape.partition("[")[0]]
        if found.opcode == "constant" and "..." not in found.rest:
            lines[k] = found._replace(rest=_literal(found, into)).text
        elif found.opcode in _UNARY | _BINARIES:
            lines[k] = found._replace(opcode=_opcode_for(found.opcode, into, choice)).text
    return re.sub(r", type=[A-Z]+", "", "\n".join(lines))


def _opcode_for(opcode: str, t: PrimitiveType, choice: random.Random) -> str:
    """Return the opcode, or one of as many operands that the type has."""
    whole = t.is_integer or t.is_pred
    if opcode in _UNARY:
        allowed = _UNARY_INTEGER if whole else _UNARY_FLOAT
    else:
        allowed = (*_BINARY, *_BINARY_INTEGER) if whole else (*_BINARY, "atan2")
    if t.is_pred:
        allowed = (
            ("not", "copy")
            if opcode in _UNARY
            else ("and", "or", "xor", "add", "multiply", "maximum", "minimum")
        )
    return opcode if opcode in allowed else choice.choice(allowed)


# -- sizes -----------------------------------------------------------------------------------------
def change_size(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Replace one size in shapes and attributes; rewrite literals of several elements."""
    sizes = [int(n) for m in _SHAPE.finditer(text) for n in re.findall(r"\d+", m.group(2))]
    if not sizes:
        return text
    old, new = choice.choice(sizes), choice.choice(SIZES)
    word = re.compile(rf"(?<![\w.%\-]){old}(?![\w.])")
    lines = text.split("\n")
    for k, line in enumerate(lines):
        found = _instruction(line)
        if found is None:
            continue
        if found.opcode in ("parameter", "constant"):
            shape = _resized(found.shape, word, new)
            changed = found._replace(shape=shape)
            if shape != found.shape and found.opcode == "constant" and "[]" not in shape:
                changed = changed._replace(rest=_fresh_literal(shape, choice) + ")")
            lines[k] = changed.text
            continue
        operands, closing, attributes = found.rest.partition(")")
        lines[k] = found._replace(
            shape=_resized(found.shape, word, new),
            rest=operands + closing + _resized_attributes(attributes, word, new),
        ).text
    return "\n".join(lines)


def _resized(shape: str, word: re.Pattern[str], new: int) -> str:
    return re.sub(r"\[[^\]]*\]", lambda m: word.sub(str(new), m.group()), shape)


def _resized_attributes(text: str, word: re.Pattern[str], new: int) -> str:
    """Attributes that hold sizes."""
    change = lambda m: m.group(1) + word.sub(str(new), m.group(2))  # noqa: E731
    text = re.sub(r"(slice_sizes=|slice=)(\{[^}]*\})", change, text)
    return re.sub(
        r"(size=|pad=)([\dx_\-]+)",
        lambda m: m.group(1) + re.sub(r"\d+", lambda d: word.sub(str(new), d.group()), m.group(2)),
        text,
    )


def _fresh_literal(shape: str, choice: random.Random) -> str:
    """Small numbers for a shape; `{...}`, which a counter stands for, from 300 elements on."""
    m = _SHAPE.match(shape)
    if m is None:
        return "{...}"
    t, sizes = PRIMITIVE_TYPES[m.group(1)], [int(n) for n in re.findall(r"\d+", m.group(2))]
    count = 1
    for size in sizes:
        count *= size
    if not 0 < count <= 300:
        return "{...}"

    def write(rest: list[int]) -> str:
        if not rest:
            number = _number(str(choice.randint(0, 5)), t)
            return f"({number}, 1)" if t.is_complex else number
        return "{" + ", ".join(write(rest[1:]) for _ in range(rest[0])) + "}"

    return write(sizes)


# -- instructions ----------------------------------------------------------------------------------
def edit_attribute(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Change a number, a flag or a word of the attributes."""

    def change(line: _Line) -> str:
        operands, closing, attributes = line.rest.partition("), ")
        numbers = list(_NUMBER.finditer(attributes))
        flags = list(_FLAGS.finditer(attributes))
        draw = choice.random()
        if draw < 0.12 or not attributes:
            return line._replace(rest=line.rest + ", " + choice.choice(_EXTRA)).text
        if draw < 0.24 and flags:
            m = choice.choice(flags)
            attributes = (
                attributes[: m.start(2)]
                + ("false" if m.group(2) == "true" else "true")
                + attributes[m.end(2) :]
            )
        elif draw < 0.4 and any(name + "=" in attributes for name, _ in _WORDS):
            for name, words in _WORDS:
                attributes = re.sub(
                    rf"\b{name}=[\w]+",
                    lambda m, name=name, words=words: f"{name}={choice.choice(words)}",
                    attributes,
                )
        elif numbers:
            m = choice.choice(numbers)
            attributes = (
                attributes[: m.start()]
                + str(max(-1, int(m.group()[:9]) + choice.choice((-1, 1, 1, 2, 3))))
                + attributes[m.end() :]
            )
        else:
            parts = attributes.split(", ")
            parts.pop(choice.randrange(len(parts)))
            attributes = ", ".join(parts)
        return line._replace(rest=operands + closing + attributes).text

    return _changed(
        text, choice, change, lambda line: line.opcode != "parameter" and line.opcode != "constant"
    )


def swap_operands(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Replace an operand by another name of the text, or swap two operands."""
    names = [found.name for line in text.split("\n") if (found := _instruction(line))]

    def change(line: _Line) -> str:
        operands, closing, attributes = line.rest.partition(")")
        parts = operands.split(", ")
        if len(parts) > 1 and choice.random() < 0.4:
            a, b = choice.randrange(len(parts)), choice.randrange(len(parts))
            parts[a], parts[b] = parts[b], parts[a]
        elif choice.random() < 0.1:
            parts.append(choice.choice(parts))
        else:
            parts[choice.randrange(len(parts))] = choice.choice(names)
        return line._replace(rest=", ".join(parts) + closing + attributes).text

    return _changed(
        text, choice, change, lambda line: line.opcode not in ("parameter", "constant", "iota")
    )


def swap_opcode(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Replace an elementwise operation by one of as many operands, sometimes by any opcode."""
    if choice.random() < 0.15:
        return _changed(
            text, choice, lambda line: line._replace(opcode=choice.choice(list(OPCODES))).text
        )

    def change(line: _Line) -> str:
        m = _SHAPE.match(line.shape)
        t = PRIMITIVE_TYPES[m.group(1)] if m else PRIMITIVE_TYPES["f32"]
        opcode = choice.choice(sorted(_UNARY if line.opcode in _UNARY else _BINARIES))
        return line._replace(opcode=_opcode_for(opcode, t, choice)).text

    return _changed(
        text, choice, change, lambda line: line.opcode in _UNARY or line.opcode in _BINARIES
    )


def delete_instruction(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Delete an instruction; its readers read its first operand."""
    gone: list[tuple[str, str]] = []

    def change(line: _Line) -> str | None:
        operands = _OPERAND.findall(line.rest.partition(")")[0])
        if not operands or line.root:
            return line.text
        gone.append((line.name, operands[0]))
        return None

    text = _changed(text, choice, change, lambda line: line.opcode not in ("parameter", "constant"))
    for name, operand in gone:
        text = re.sub(rf"{re.escape(name)}(?![\w.\-])", operand, text)
    return text


def repeat_instruction(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Apply an elementwise instruction to its own result, or read the root once more."""
    n = choice.randrange(10**6)

    def change(line: _Line) -> str:
        operands, closing, attributes = line.rest.partition(")")
        first = line._replace(root="", name=f"%again.{n}").text
        parts = operands.split(", ")
        parts[choice.randrange(len(parts))] = f"%again.{n}"
        return first + "\n" + line._replace(rest=", ".join(parts) + closing + attributes).text

    return _changed(
        text,
        choice,
        change,
        lambda line: line.opcode not in ("parameter", "constant", "iota", "tuple"),
    )


def splice(text: str, choice: random.Random, pool: Sequence[str]) -> str:
    """Insert another text's entry, renamed, in front of the root, which reads one instruction."""
    other = choice.choice(pool)
    if "\n\n" in other.strip() and choice.random() < 0.8:
        other = choice.choice(pool)
    tail = f".s{choice.randrange(1000)}"
    entry = other[other.find("ENTRY") :].split("\n")[1:]
    brought = [
        found
        for line in entry
        if (found := _instruction(line)) is not None
        and "to_apply" not in line
        and "calls" not in line
    ]
    if not brought or "ENTRY" not in text:
        return text
    parameters = len(re.findall(r" parameter\(", text[text.find("ENTRY") :]))
    added = []
    for line in brought:
        rest = _OPERAND.sub(lambda m: m.group() + tail, line.rest)
        if line.opcode == "parameter":
            rest = f"{parameters})"
            parameters += 1
        added.append(line._replace(root="", name=line.name + tail, rest=rest))
    lines = text.split("\n")
    roots = [k for k, line in enumerate(lines) if line.lstrip().startswith("ROOT")]
    if not roots:
        return text
    root = _instruction(lines[roots[-1]])
    if root is None:
        return text
    last = added[-1]
    if choice.random() < 0.5:
        both = f"  ROOT %both{tail} = ({root.shape}, {last.shape}) tuple({root.name}, {last.name})"
        lines[roots[-1] : roots[-1] + 1] = [line.text for line in added] + [
            root._replace(root="").text,
            both,
        ]
    else:
        operands, closing, attributes = root.rest.partition(")")
        parts = operands.split(", ")
        parts[choice.randrange(len(parts))] = last.name
        lines[roots[-1] : roots[-1] + 1] = [line.text for line in added] + [
            root._replace(rest=", ".join(parts) + closing + attributes).text
        ]
    return "\n".join(lines)


def infer_shapes(text: str) -> str:
    """Remove result shapes wherever HLO text may leave them out."""
    lines = text.split("\n")
    for k, line in enumerate(lines):
        found = _instruction(line)
        if found is not None and found.opcode in OPCODES and OPCODES[found.opcode].infers_in_text:
            lines[k] = found._replace(shape="").text
    return "\n".join(lines)


MUTATIONS: tuple[Callable[[str, random.Random, Sequence[str]], str], ...] = (
    swap_type, change_size, change_size, edit_attribute, edit_attribute, swap_operands, swap_opcode, swap_opcode, delete_instruction,
    repeat_instruction, splice,
)  # fmt: skip


def mutated(seed: int, pool: Sequence[str]) -> str:
    """Return a seed's text: one of the pool, often with another type, 0 to 3 changes."""
    choice = random.Random(seed)
    text = choice.choice(pool)
    if choice.random() < 0.65:
        text = swap_type(text, choice, pool)
    count = choice.choice((0, 1, 1, 1, 2, 3))
    for _ in range(count):
        text = choice.choice(MUTATIONS)(text, choice, pool)
    return infer_shapes(text) if choice.random() < 0.75 else text
