"""Values of a module's attributes: aliases, buffer donors, entry layouts, recovered values."""

from __future__ import annotations

import re

from xla_explorer.hlo.text.attributes.original_values import original_array
from xla_explorer.hlo.text.attributes.pieces import entries, integer, shape, string, tuple_index
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.tokens import Tokens


def _module_alias(tokens: Tokens) -> str:
    output = tuple_index(tokens)
    tokens.expect(":", "':' between the index of the output and (parameter, {index}, may-alias)")
    tokens.expect("(", "(parameter, {index}, may-alias)")
    number = integer(tokens)
    tokens.expect(",", "',' and the index inside the parameter")
    inside, kind = tuple_index(tokens), "may-alias"
    if tokens.eat(","):
        at, kind = tokens.start, tokens.name("may-alias or must-alias")
        if kind not in ("may-alias", "must-alias"):
            raise TextError(
                f"Unexpected aliasing kind: {kind}", at, "write may-alias or must-alias", len(kind)
            )
    tokens.expect(")", "')'")
    return f"{output}: ({number}, {inside}, {kind})"


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]


def module_aliasing(tokens: Tokens) -> str:
    """Parse the aliases of a module and return the first of each output, in output order."""
    found: dict[str, str] = {}
    for entry in entries(
        tokens, _module_alias, "{ {output index}: (parameter, {parameter index}, may-alias) }"
    ):
        found.setdefault(entry.partition(":")[0], entry)
    return (
        f"{{ {', '.join([found[output] for output in sorted(found, key=_numbers)])} }}"
        if found
        else "{}"
    )


def _donor(tokens: Tokens) -> str:
    tokens.expect("(", "(parameter, {parameter index})")
    number = integer(tokens)
    tokens.expect(",", "',' and the index inside the parameter")
    inside = tuple_index(tokens)
    tokens.expect(")", "')'")
    return f"({number}, {inside})"


def donors(tokens: Tokens) -> str:
    """Parse the parameters whose buffers a module may overwrite, each once, in order."""
    found = sorted(set(entries(tokens, _donor, "{ (parameter, {parameter index}) }")), key=_numbers)
    return f"{{ {', '.join(found)} }}" if found else "{}"


def computation_layout(tokens: Tokens) -> str:
    """Parse the shapes of the entry with their layouts."""
    tokens.expect("{", "{(shapes)->shape}")
    tokens.expect("(", "'(' and the shapes of the parameters")
    found = []
    while tokens.kind != ")":
        found.append(shape(tokens))
        if not tokens.eat(","):
            break
    tokens.expect(")", "',' or ')' in the shapes of the parameters")
    tokens.expect("->", "'->' and the shape of the result")
    result = shape(tokens)
    tokens.expect("}", "'}'")
    return f"{{({', '.join(found)})->{result}}}"


def recovery_table(tokens: Tokens) -> str:
    """Parse the arrays of the original module and their replacements."""
    tokens.expect("{", "a table of original arrays")
    found = []
    while tokens.kind != "}":
        replaced = original_array(tokens)
        tokens.expect(":", "':' and the original array that replaces it")
        found.append(
            f"{replaced} : {original_array(tokens)}"
            + (f", {string(tokens)}" if tokens.eat(",") else "")
        )
    tokens.advance()
    return "{" + " ".join(found) + "}"
