"""Pieces of attribute values: lists, numbers, words, strings, sub-attributes, metadata, shapes.

Each reader passes one piece and returns it in one spelling. Source: hlo_parser.cc ParseList,
ParseSubAttributes, ParseMetadata ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.shape_text import shape_of
from xla_explorer.hlo.text.strings import canonical_string
from xla_explorer.hlo.text.tokens import ATTRIBUTE, DXD, IDENT, STRING, Tokens

Reader = Callable[[Tokens], str]
_LARGEST_FLOAT = 3.4028234663852886e38


# -- lists -----------------------------------------------------------------------------------------
def listed(
    tokens: Tokens, item: Reader, opening: str = "{", closing: str = "}", what: str = ""
) -> list[str]:
    """Parse a list in brackets, its items separated by commas."""
    tokens.expect(opening, what or f"a list that starts with '{opening}'")
    found: list[str] = []
    if tokens.kind != closing:
        found.append(item(tokens))
        while tokens.eat(","):
            found.append(item(tokens))
    tokens.expect(closing, f"',' or '{closing}'")
    return found


def integer(tokens: Tokens) -> str:
    """Parse an integer."""
    return str(tokens.integer())


def small_integer(tokens: Tokens) -> str:
    """Parse an integer that fits 32 bits."""
    at = tokens.start
    number = tokens.integer()
    if not -(1 << 31) <= number < 1 << 31:
        raise TextError(
            f"{number} does not fit 32 bits", at, "write a smaller number", tokens.previous_end - at
        )
    return str(number)


def integers(tokens: Tokens) -> str:
    """Parse a list of integers: `{0,1}`."""
    return "{" + ",".join(listed(tokens, integer, what="a list of integers such as {0,1}")) + "}"


def integer_lists(tokens: Tokens) -> str:
    """Parse a list of lists of integers: `{{0,1},{1,0}}`."""
    return (
        "{" + ",".join(listed(tokens, integers, what="a list of lists such as {{0,1},{1,0}}")) + "}"
    )


def tuple_index(tokens: Tokens) -> str:
    """Parse `{0,1}`; a comma may follow the last number."""
    tokens.expect("{", "a tuple index such as {0}")
    found = []
    while tokens.kind != "}":
        found.append(integer(tokens))
        if not tokens.eat(","):
            break
    tokens.expect("}", "',' or '}'")
    return "{" + ",".join(found) + "}"


# -- words and numbers -----------------------------------------------------------------------------
def boolean(tokens: Tokens) -> str:
    """Parse `true` or `false`."""
    if tokens.kind not in ("true", "false"):
        raise tokens.problem("true or false")
    value = tokens.value
    tokens.advance()
    return value


def booleans(tokens: Tokens) -> str:
    """Parse a list of booleans: `{true,false}`."""
    return "{" + ",".join(listed(tokens, boolean)) + "}"


def boolean_or_list(tokens: Tokens) -> str:
    """Parse a boolean, returned as a list, or a list of booleans."""
    return "{" + boolean(tokens) + "}" if tokens.kind in ("true", "false") else booleans(tokens)


def real(tokens: Tokens) -> str:
    """Parse a number in the range of a double."""
    at = tokens.start
    text = tokens.number()
    if "nan" not in text and "inf" not in text and abs(float(text)) > _LARGEST_FLOAT:
        raise TextError(
            f"{text} is out of the range of a float", at, "write a smaller number", len(text)
        )
    return "nan" if "nan" in text else text


def string(tokens: Tokens) -> str:
    """Parse a string in quotes."""
    return canonical_string(tokens.expect(STRING, "a string", 'write a string in quotes: "..."'))


def string_or_dictionary(tokens: Tokens) -> str:
    """Parse a string in quotes, or a dictionary in braces."""
    return string(tokens) if tokens.kind == STRING else tokens.dictionary()


def word_of(what: str, *choices: str, any_case: bool = False) -> Reader:
    """Return a reader of one word out of several.

    any_case: the case of the word is ignored; the spelling of `choices` is returned.
    """

    def read(tokens: Tokens) -> str:
        at, word = tokens.start, tokens.expect(IDENT, f"{what} ({', '.join(choices)})")
        known = word if not any_case else word.upper() if choices[0].isupper() else word.lower()
        if known not in choices:
            message = f"expects {what} ({', '.join(choices)}) but sees: {word}"
            raise TextError(message, at, f"{what}: one of {', '.join(choices)}", len(word))
        return known

    return read


def entries(tokens: Tokens, entry: Reader, what: str) -> list[str]:
    """Parse a list in braces and return its entries; a comma may follow the last entry."""
    tokens.expect("{", what)
    found = []
    while tokens.kind != "}":
        found.append(entry(tokens))
        if not tokens.eat(","):
            break
    tokens.expect("}", "',' or '}'")
    return found


def sub_attributes(tokens: Tokens, readers: Mapping[str, Reader]) -> dict[str, str]:
    """Parse attributes in braces, each at most once; commas before them are optional."""
    tokens.expect("{", "'{' and sub-attributes")
    found: dict[str, str] = {}
    while tokens.kind != "}":
        tokens.eat(",")
        at, name = (
            tokens.start,
            tokens.expect(
                ATTRIBUTE,
                "the name of a sub-attribute and '='",
                f"write {', '.join(readers)} or '}}'",
            ),
        )
        if name in found:
            raise TextError(
                f"attribute {name} already exists", at, "keep one of the two", len(name)
            )
        if name not in readers:
            raise TextError(
                f'unexpected attribute "{name}"',
                at,
                f"allowed here: {', '.join(readers)}",
                len(name),
            )
        found[name] = readers[name](tokens)
    tokens.advance()
    return found


# -- metadata --------------------------------------------------------------------------------------
def _profile_types(tokens: Tokens) -> str:
    at, text = tokens.start, integers(tokens)
    if any(number not in "0123" for number in text[1:-1].split(",")):
        raise TextError(
            f"{text} must list types of profiles",
            at,
            "types count from 0 to 3",
            tokens.previous_end - at,
        )
    return text


# In XLA's printing order.
_METADATA: dict[str, Reader] = {
    "op_type": string,
    "op_name": string,
    "source_file": string,
    "source_line": small_integer,
    "source_end_line": small_integer,
    "source_column": small_integer,
    "source_end_column": small_integer,
    "profile_type": _profile_types,
    "deduplicated_name": string,
    "scheduling_name": string,
    "stack_frame_id": small_integer,
    "metadata_payload": string,
}


def metadata(tokens: Tokens) -> str:
    """Parse the metadata of one instruction; fields with default values are dropped."""
    if tokens.kind != "{":
        raise tokens.problem("metadata in braces", 'write metadata={op_name="..."}')
    found = sub_attributes(tokens, _METADATA)
    return (
        "{"
        + " ".join(
            [
                f"{name}={found[name]}"
                for name in _METADATA
                if found.get(name, "0") not in ("0", '""', "{}")
            ]
        )
        + "}"
    )


def metadata_or_list(tokens: Tokens) -> str:
    """Parse `{op_name="a"}` or `{{op_name="a"}, {op_name="b"}}`."""
    if tokens.kind == "{" and tokens.look_ahead() == "{":
        found = listed(tokens, metadata)
        return found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"
    return metadata(tokens)


# -- convolutions of sparse operands ---------------------------------------------------------------
def _sparsity(tokens: Tokens) -> str:
    """Parse `{sparsity=3x4 dimension=0 stride=1}`; missing numbers are 0."""
    found = {"sparsity": "0x0", "dimension": "0", "stride": "0"}
    tokens.expect("{", "{sparsity=3x4 dimension=0 stride=1}")
    while tokens.kind != "}":
        name = (
            tokens.expect(ATTRIBUTE, "sparsity=, dimension= or stride=")
            if tokens.value in found
            else ""
        )
        if name == "sparsity" and tokens.kind == DXD and tokens.value.count("x") == 1:
            found[name] = tokens.value
            tokens.advance()
        elif name in ("dimension", "stride"):
            found[name] = integer(tokens)
        else:
            raise tokens.problem("sparsity=3x4, dimension=0 or stride=1")
    tokens.advance()
    return "{" + " ".join([f"{name}={value}" for name, value in found.items()]) + "}"


def sparsity_config(tokens: Tokens) -> str:
    """Parse which elements of a convolution's operands are not zero."""
    found = {}
    tokens.expect("{", "{rhs={sparsity=3x4 dimension=0 stride=1}}")
    while tokens.kind != "}":
        if tokens.kind != ATTRIBUTE or tokens.value not in ("lhs", "rhs"):
            raise tokens.problem("lhs= or rhs=")
        side = tokens.expect(ATTRIBUTE)
        found[side] = _sparsity(tokens)
    tokens.advance()
    return "{" + " ".join([f"{side}={found[side]}" for side in sorted(found)]) + "}"


def shape(tokens: Tokens) -> str:
    """Parse a shape, with its layout."""
    return shape_of(tokens).text
