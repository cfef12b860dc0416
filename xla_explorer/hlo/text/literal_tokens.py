"""Literals in any legal spelling, read token by token.

`literal_text` uses this reader if its vectorised reader fails. XLA ignores extra and missing
commas, and accepts the first number alone for a whole array. Source: hlo_parser.cc
ParseDenseLiteral.
"""

from __future__ import annotations

from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.tokens import DECIMAL, INT, Tokens

_MOST_DIMENSIONS = 64


def literal_text(shape: Shape, tokens: Tokens) -> str:
    """Pass the literal of a shape; in braces and commas as XLA prints them.

    TextProblem for what is none.
    """
    if not shape.is_tuple:
        return _array(shape, tokens)
    tokens.expect("(", "'(' in front of tuple elements", "write a tuple literal as (1, {2, 3})")
    parts = []
    for number, part in enumerate(shape.tuple_shapes):
        if number:
            tokens.eat(",")  # XLA does not insist on it
        parts.append(literal_text(part, tokens))
    tokens.expect(")", f"')' behind {len(parts)} tuple elements", "close the tuple literal")
    return "(" + ", ".join(parts) + ")"


def _value(shape: Shape, tokens: Tokens) -> str:
    """Pass one number, truth value or complex pair."""
    element_type = shape.element_type
    if element_type.is_complex:
        tokens.expect("(", "a complex number such as (1, -2)")
        real = tokens.number()
        tokens.expect(",", "',' and the imaginary part")
        imaginary = tokens.number()
        tokens.expect(")", "')' after the complex number")
        return f"({real}, {imaginary})"
    if element_type.is_pred and tokens.kind in ("true", "false"):
        value = tokens.kind
        tokens.advance()
        return value
    if element_type.is_float:
        return tokens.number()
    if element_type.is_pred:
        return "1" if tokens.integer() else "0"
    return tokens.expect(INT, f"an integer for primitive type: {element_type.name.upper()}")


def _array(shape: Shape, tokens: Tokens) -> str:
    if not shape.is_array or shape.rank > _MOST_DIMENSIONS:
        raise TextProblem(
            f"a {shape.text_without_layout} has no literals",
            tokens.start,
            "constants are arrays, scalars or tuples of them",
        )
    rank = shape.rank
    seen = [0] * rank
    depth = 0
    parts: list[str] = []
    elided = False

    def wrong(message: str) -> TextProblem:
        hint = f"a literal of shape {shape.text_without_layout} nests {rank} deep"
        return TextProblem(message, tokens.start, hint, max(tokens.end - tokens.start, 1))

    while True:
        kind = tokens.kind
        if kind == "{":
            depth += 1
            if depth > rank:
                raise wrong(f"expects nested array in rank {rank}, but sees larger")
            if depth > 1:
                seen[depth - 2] += 1
            parts.append("{")
            tokens.advance()
        elif kind == "}":
            depth -= 1
            if depth < 0:
                raise wrong("unexpected '}'")
            if seen[depth] != shape.dimensions[depth]:
                raise wrong(f"expects {shape.dimensions[depth]} elements, but sees {seen[depth]}")
            seen[depth] = 0
            parts.append("}")
            tokens.advance()
        elif kind == "...":
            if depth != 1:
                raise wrong(f"expects `...` at nest level 1, but sees it at nest level {depth}")
            seen[0], elided = shape.dimensions[0], True
            tokens.advance()
        elif kind == ",":
            tokens.advance()
        elif kind in (INT, DECIMAL, "true", "false", "inf", "-inf", "("):
            if depth != rank and (depth or kind == "("):
                raise wrong(f"expects nested array in rank {rank}, but sees {depth}")
            if depth:
                seen[depth - 1] += 1
                if seen[depth - 1] > shape.dimensions[depth - 1]:
                    raise wrong(
                        f"expects {shape.dimensions[depth - 1]} elements on the minor-most dimension, but sees more"
                    )
            if not depth and not shape.element_count:
                raise wrong("the array has no elements")
            parts.append(_value(shape, tokens))
        else:
            raise tokens.problem("a number or a brace in a literal")
        if not depth:
            break
    if elided:
        return "{...}"
    if not parts:  # nothing but a comma: XLA leaves zeros
        if not shape.element_count:
            return "".join(["{" * rank, "}" * rank])
        parts.append("0" if not shape.element_type.is_complex else "(0, 0)")
    return "".join(
        [
            ("," if number and part != "}" and parts[number - 1] != "{" else "") + part
            for number, part in enumerate(parts)
        ]
    )
