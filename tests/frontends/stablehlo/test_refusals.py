"""Unreadable texts and programs without HLO: each error has place, cause and next step."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.stablehlo import StablehloError, StablehloUnsupportedError

HEAD = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
TAIL = "\n  return %0 : tensor<4xf32>\n}"

# name -> (line 2 of the program, the message, the caret's line and the text under it)
BROKEN: dict[str, tuple[str, str, int, str]] = {
    "undefined value": (
        "  %0 = stablehlo.add %a, %b : tensor<4xf32>",
        "%b is defined nowhere",
        2,
        "%b",
    ),
    "wrong operand type": (
        "  %0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<4xf32>",
        "states f32[3]",
        2,
        "%a",
    ),
    "wrong result type": (
        '  %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>',
        "states f32[5]",
        2,
        '"stablehlo.add"'[:13],
    ),
    "result of a branch": (
        '  %p = stablehlo.constant dense<true> : tensor<i1>\n  %0 = "stablehlo.if"(%p) ({ stablehlo.return %a : tensor<4xf32> }, { stablehlo.return %a : tensor<4xf32> }) : (tensor<i1>) -> tensor<f32>',
        "its type states f32[]",
        3,
        '"stablehlo.if"',
    ),
    "results of a reduction": (
        "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
        "its type states f32[4]",
        3,
        "stablehlo.reduce",
    ),
    "twice": (
        "  %0 = stablehlo.abs %a : tensor<4xf32>\n  %0 = stablehlo.abs %a : tensor<4xf32>",
        "%0 is defined twice",
        3,
        "stablehlo.abs",
    ),
    "no type": ("  %0 = stablehlo.abs %a", "expected operands, attributes", 3, "return"),
    "unclosed bracket": (
        "  %0 = stablehlo.abs %a {x = #foo<[> : tensor<4xf32>",
        "has no opening bracket",
        2,
        ">",
    ),
    "missing attribute": (
        '  %0 = "stablehlo.reverse"(%a) : (tensor<4xf32>) -> tensor<4xf32>',
        "needs the attribute dimensions",
        2,
        '"stablehlo.rev',
    ),
    "too few elements": (
        "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>",
        "has 2 elements",
        2,
        "[1.0, 2.0]",
    ),
    "wrong nesting": (
        "  %0 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<4xf32>",
        "do not nest",
        2,
        "[[1.0, 2.0], [3.0, 4.0]]",
    ),
    "no number": (
        "  %0 = stablehlo.constant dense<[1.0, two, 3.0, 4.0]> : tensor<4xf32>",
        "expected a number, got 'two'",
        2,
        "two",
    ),
    "too large": (
        "  %0 = stablehlo.constant dense<300> : tensor<4xi8>",
        "300 is outside",
        2,
        "300",
    ),
    "odd hexadecimal": (
        '  %0 = stablehlo.constant dense<"0x123"> : tensor<4xf32>',
        "even number",
        2,
        '"0x',
    ),
    "results miscounted": (
        "  %0:2 = stablehlo.abs %a : tensor<4xf32>",
        "2 results are named",
        2,
        "%0",
    ),
    "result number": (
        "  %1 = stablehlo.abs %a : tensor<4xf32>\n  %0 = stablehlo.abs %1#3 : tensor<4xf32>",
        "%1 has 1 result",
        3,
        "%1",
    ),
    "labels": (
        "  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, b]x[i, o]->[b, f], window = {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        "each once",
        2,
        "[",
    ),
    "call of nothing": (
        "  %0 = func.call @gone(%a) : (tensor<4xf32>) -> tensor<4xf32>",
        "no function is named @gone",
        2,
        "func.call",
    ),
    "no alias": (
        "  %0 = stablehlo.abs %a : tensor<4xf32> loc(#loc7)",
        "#loc7 is defined nowhere",
        2,
        "#loc7",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_caret_stands_under_the_cause(name: str) -> None:
    body, message, line, under = BROKEN[name]
    with pytest.raises(StablehloError) as caught:
        xe.parse_stablehlo(HEAD + body + TAIL, "broken.mlir")
    error = caught.value
    assert message in error.message and error.hint
    text = (HEAD + body + TAIL).splitlines()[line - 1]
    assert error.lineno == line and text[error.offset - 1 :].startswith(under)
    assert "broken.mlir" in str(error) and "^" in str(error) and "hint:" in str(error)


# name -> (program, code of the Reason)
REFUSED: dict[str, tuple[str, str]] = {
    "quantised": (
        HEAD
        + "  %0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-30>>"
        + TAIL,
        "quantized-type",
    ),
    "quantised argument": (
        "func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.1>>) { return }",
        "quantized-type",
    ),
    "dequantise": (
        HEAD
        + '  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<4xf32>) -> tensor<4xf32>'
        + TAIL,
        "quantized-type",
    ),
    "unranked": ("func.func @main(%a: tensor<*xf32>) { return }", "unranked"),
    "element type": ("func.func @main(%a: tensor<4xi128>) { return }", "element-type"),
    "other dialect": (HEAD + "  %0 = tosa.abs %a : tensor<4xf32>" + TAIL, "dialect"),
    "unknown operation": (
        HEAD + "  %0 = stablehlo.absolute %a : tensor<4xf32>" + TAIL,
        "operation",
    ),
    "capture": (
        HEAD
        + '  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({\n ^bb0(%x: tensor<f32>):\n %y = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> tensor<1xf32>\n'
        " stablehlo.return %x : tensor<f32> }) : (tensor<4xf32>) -> tensor<4xf32>" + TAIL,
        "captured-value",
    ),
    "recursion": (
        HEAD
        + "  %0 = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>"
        + TAIL
        + "\nfunc.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}",
        "recursion",
    ),
    "size at run time": (
        "func.func @main(%a: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {\n  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n"
        "  return %0 : tensor<?xf32>\n}",
        "dynamic-size",
    ),
    "blocks": (
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n^bb1:\n  return %a : tensor<f32>\n}",
        "control-flow-graph",
    ),
    "einsum": (
        HEAD
        + '  %0 = stablehlo.unary_einsum %a, config = "...i->i" : (tensor<4xf32>) -> tensor<4xf32>'
        + TAIL,
        "einsum",
    ),
    "Shardy's own lowering": (HEAD + "  %0 = sdy.all_gather [{}] %a" + TAIL, "sdy"),
    "outside functions": (
        "module { stablehlo.constant dense<1.0> : tensor<f32> }",
        "not-a-function",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_carries_its_reason(name: str) -> None:
    text, code = REFUSED[name]
    with pytest.raises(StablehloUnsupportedError) as caught:
        xe.parse_stablehlo(text)
    assert caught.value.reason.code == code
    assert caught.value.reason.message and caught.value.hint and "^" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "module",
        "module {",
        "hello",
        "func.func @main(",
        "%0 = stablehlo.add",
        "HloModule m\n",
        "module { func.func private @f() }",
        "#loc = loc(#loc)\nfunc.func @main(%a: tensor<f32> loc(#loc)) -> tensor<f32> { return %a : tensor<f32> }",
        "((((",
        "{" * 5000,
        "module " * 3000,
    ],
)
def test_any_other_text_is_an_error_of_ours(text: str) -> None:
    with pytest.raises(StablehloError):
        xe.parse_stablehlo(text)


def test_every_prefix_and_every_lost_line_of_a_program_is_an_error_of_ours_or_a_program() -> None:
    from tests.frontends.stablehlo.operation_examples import EXAMPLES

    rng = np.random.default_rng(3)
    for found in EXAMPLES.values():
        text = found[0].text
        lines = text.splitlines()
        tries = [text[: int(rng.integers(len(text)))], "\n".join(lines[:-3] + lines[-2:])]
        at = int(rng.integers(len(text)))
        tries += [
            text[:at] + text[at + 1 :],
            text[:at] + "%" + text[at:],
            text[:at] + "7" + text[at:],
        ]
        for broken in tries:
            with contextlib.suppress(StablehloError, xe.errors.HloVerifyError):
                xe.parse_stablehlo(broken)


_GENERIC = ('"builtin.module"() ({\n  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"%s}> ({\n'
            '  ^bb0(%s):\n    "func.return"(%%a) : (tensor<4xf32>) -> ()\n  }) : () -> ()\n}) : () -> ()')  # fmt: skip
_ONE = "%a: tensor<4xf32>"
WRONG = {
    **{f"list of {one}": HEAD + f'  %0 = "stablehlo.reverse"(%a) <{{dimensions = array<i64: {one}>}}> : (tensor<4xf32>) -> tensor<4xf32>' + TAIL
       for one in ("1e400", "nan", "0.5", '"x"', "[0]")},
    "two arguments, one input": _GENERIC % ("", _ONE + ", %b: tensor<4xf32>"),
    "attributes that are no list": _GENERIC % (", arg_attrs = 3", _ONE),
    "too few attributes": _GENERIC % (", arg_attrs = []", _ONE),
    "too many bits": HEAD + '  %0 = "stablehlo.iota"() <{iota_dimension = 0xFFFFFFFFFFFF : f32}> : () -> tensor<4xf32>' + TAIL,
    **{f"comparison {words}": HEAD + f"  %0 = stablehlo.compare {words} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>" + TAIL
       for words in ("f32, %a, %a", "EQ, %a, %a, WRONG", "eq, %a, %a")},
    "fft": HEAD + "  %0 = stablehlo.fft %a, type = XFFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>" + TAIL,
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_attribute_is_an_error_with_its_place(name: str) -> None:
    with pytest.raises(StablehloError, match=r"\^"):
        xe.parse_stablehlo(WRONG[name])


COMPARED = {
    "f32": ("FLOAT", "TOTALORDER"),
    "bf16": ("FLOAT", "TOTALORDER"),
    "f8E4M3FN": ("FLOAT", "TOTALORDER"),
    "complex<f32>": ("FLOAT",),
    "i32": ("SIGNED",),
    "ui8": ("UNSIGNED",),
    "i1": ("UNSIGNED",),
}


@pytest.mark.parametrize(
    "operation", ["stablehlo.compare", "chlo.broadcast_compare", "mhlo.compare"]
)
@pytest.mark.parametrize("stated", ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"])
@pytest.mark.parametrize("kind", COMPARED)
def test_types_of_comparisons_fit_the_element_type(operation: str, stated: str, kind: str) -> None:
    dialect = operation.partition(".")[0]
    text = f"""func.func @main(%a: tensor<4x{kind}>) -> tensor<4xi1> {{
  %0 = "{operation}"(%a, %a) {{comparison_direction = #{dialect}<comparison_direction EQ>, compare_type = #{dialect}<comparison_type {stated}>}} : (tensor<4x{kind}>, tensor<4x{kind}>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}}"""
    if stated in ("NOTYPE", *COMPARED[kind]):
        printed = xe.parse_stablehlo(text).to_text()
        assert ("type=" in printed) == (stated == "TOTALORDER")
    else:
        with pytest.raises(StablehloError, match=f"must be {' or '.join(COMPARED[kind])}, got"):
            xe.parse_stablehlo(text)
