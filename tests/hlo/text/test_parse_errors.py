"""Each malformed text gives one caret diagnostic, at the right place, with a next step."""

from __future__ import annotations

import pickle

import pytest

from xla_explorer.hlo.text import HloParseError, parse_hlo

# (what, text, part of the message, line, column, part of the hint)
MALFORMED = [
    (
        "bad shape",
        "ENTRY e {\n  ROOT p = f32[2,x] parameter(0)\n}",
        "expected the size of a dimension, got x",
        2,
        18,
        "a number",
    ),
    (
        "bad type",
        "ENTRY e {\n  ROOT p = f23[2] parameter(0)\n}",
        "unknown element type f23",
        2,
        12,
        "f32",
    ),
    (
        "unknown opcode",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negatte(p)\n}",
        "unknown opcode negatte",
        3,
        19,
        "negate",
    ),
    (
        "operand count",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] add(p)\n}",
        "add expects 2 operands, but has 1",
        3,
        19,
        "2 operands",
    ),
    ("no computation", "HloModule m\n", "without computations", 2, 1, "ENTRY"),
    (
        "use before definition",
        "ENTRY e {\n  ROOT r = f32[2] negate(later)\n  later = f32[2] parameter(0)\n}",
        "instruction does not exist: later",
        2,
        26,
        "above its use",
    ),
    (
        "duplicate name",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  p = f32[2] parameter(1)\n}",
        "already exists: p",
        3,
        3,
        "line 2",
    ),
    (
        "bad literal",
        "ENTRY e {\n  ROOT c = s32[2] constant({1, 2.5})\n}",
        "expects integer",
        2,
        32,
        "whole number",
    ),
    (
        "literal too long",
        "ENTRY e {\n  ROOT c = f32[2] constant({1, 2, 3})\n}",
        "sees more",
        2,
        35,
        "2 elements",
    ),
    (
        "literal range",
        "ENTRY e {\n  ROOT c = s8[1] constant({128})\n}",
        "out of range",
        2,
        28,
        "128",
    ),
    (
        "unclosed brace",
        "ENTRY e {\n  ROOT p = f32[] parameter(0)\n",
        "expects the name of an instruction",
        3,
        1,
        "add the missing '}'",
    ),
    (
        "layout rank",
        "ENTRY e {\n  ROOT p = f32[2]{1,0} parameter(0)\n}",
        "minor to major size is 2",
        2,
        18,
        "fastest",
    ),
    (
        "layout permutation",
        "ENTRY e {\n  ROOT p = f32[2,2]{0,0} parameter(0)\n}",
        "must be a permutation",
        2,
        20,
        "once",
    ),
    (
        "two roots",
        "ENTRY e {\n  ROOT p = f32[] parameter(0)\n  ROOT q = f32[] negate(p)\n}",
        "only one ROOT",
        3,
        3,
        "line 2",
    ),
    (
        "two entries",
        "ENTRY a { ROOT p = f32[] parameter(0) }\nENTRY b { ROOT p = f32[] parameter(0) }",
        "only one ENTRY",
        2,
        1,
        "a",
    ),
    (
        "parameter gap",
        "ENTRY e {\n  ROOT p = f32[] parameter(1)\n}",
        "parameter 0 is missing",
        2,
        28,
        "count 0, 1",
    ),
    (
        "parameter twice",
        "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(0)\n}",
        "Duplicate parameter",
        3,
        28,
        "line 2",
    ),
    (
        "signature",
        "ENTRY e (p: f32[2]) -> f32[3] {\n  ROOT p = f32[2] parameter(0)\n}",
        "not compatible",
        1,
        24,
        "f32[2]",
    ),
    (
        "missing attribute",
        "ENTRY e {\n  ROOT r = s32[4] iota()\n}",
        "iota_dimension is expected",
        2,
        19,
        "iota_dimension=",
    ),
    (
        "misspelt attribute",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] reverse(p), dimension={0}\n}",
        'unexpected attribute "dimension"',
        3,
        31,
        "dimensions",
    ),
    (
        "unknown attribute",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] reverse(p), dimensions={0}, foo=1\n}",
        'unexpected attribute "foo"',
        3,
        47,
        "reverse takes dimensions",
    ),
    (
        "computation with the name of a type",
        "f16 { ROOT p = f32[] parameter(0) }\nENTRY e { ROOT p = f32[] parameter(0) }",
        "sees the element type f16",
        1,
        1,
        "f16_",
    ),
    (
        "attribute twice",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] reverse(p), dimensions={0}, dimensions={0}\n}",
        "already exists",
        3,
        47,
        "keep one",
    ),
    (
        "attribute value",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = pred[2] compare(p, p), direction=XX\n}",
        "sees: XX",
        3,
        45,
        "comparison",
    ),
    (
        "no callee",
        "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] call(p), to_apply=f\n}",
        "does not exist: f",
        3,
        37,
        "above",
    ),
    (
        "space before =",
        "ENTRY e {\n  p=f32[2] parameter(0)\n}",
        "expects a name",
        2,
        3,
        "put a space",
    ),
    ("reserved", "ENTRY e {\n  ROOT f32 = f32[] parameter(0)\n}", "reserved word", 2, 8, "rename"),
    (
        "operand shape",
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(s32[4] p)\n}",
        "not compatible",
        3,
        26,
        "leave",
    ),
    (
        "no inference",
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = reshape(p)\n}",
        "cannot infer shape",
        3,
        12,
        "result shape",
    ),
    (
        "header",
        "HloModule m, is_sheduled=true\nENTRY e { ROOT p = f32[] parameter(0) }",
        "is_sheduled",
        1,
        14,
        "is_scheduled",
    ),
    (
        "alias kind",
        "HloModule m, input_output_alias={ {}: (0, {}, some-alias) }\nENTRY e { ROOT p = f32[] parameter(0) }",
        "some-alias",
        1,
        47,
        "may-alias",
    ),
    (
        "entry layout",
        "HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}\nENTRY e { ROOT p = f32[2] parameter(0) }",
        "does not fit",
        1,
        39,
        "leave it out",
    ),
    (
        "unclosed string",
        'ENTRY e {\n  ROOT p = f32[] parameter(0), sharding="x\n}',
        "unterminated string",
        2,
        41,
        "close",
    ),
    (
        "other computation",
        "f {\n  x = f32[] parameter(0)\n}\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] add(p, x)\n}",
        "does not exist: x",
        6,
        25,
        "belongs to computation f",
    ),
    ("empty", "", "without computations", 1, 1, "ENTRY"),
    ("empty body", "ENTRY e {\n}", "without instructions", 2, 1, "ROOT"),
]


@pytest.mark.parametrize(
    ("text", "message", "line", "column", "hint"),
    [row[1:] for row in MALFORMED],
    ids=[row[0] for row in MALFORMED],
)
def test_one_caret_at_the_place(text: str, message: str, line: int, column: int, hint: str) -> None:
    with pytest.raises(HloParseError) as caught:
        parse_hlo(text, "model.hlo")
    error = caught.value
    assert message in error.message
    assert (error.span.line, error.span.column) == (line, column)
    assert hint in error.hint
    shown = str(error)
    carets = [row for row in shown.splitlines() if row.strip() and not row.strip().strip("^")]
    assert len(carets) == 1
    assert shown.count("hint: ") == 1
    assert isinstance(error, SyntaxError)
    assert (error.filename, error.lineno, error.offset) == ("model.hlo", line, column)
    assert error.text == text.split("\n")[line - 1]


def test_bytes_that_are_no_utf8() -> None:
    with pytest.raises(HloParseError, match="0xff") as caught:
        parse_hlo(b"HloModule m\nENTRY e { \xff }")
    assert (caught.value.lineno, caught.value.offset) == (2, 11)
    assert "UTF-8" in caught.value.hint
    assert str(caught.value).count("^") == 1


def test_errors_can_be_pickled() -> None:
    with pytest.raises(HloParseError) as caught:
        parse_hlo("ENTRY e { }", "f.hlo")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_a_small_text_cannot_ask_for_much_memory() -> None:
    huge = "f32[1099511627776]"
    assert (
        parse_hlo(f"ENTRY e {{ ROOT p = {huge} parameter(0) }}").entry.root.shape.element_count
        == 1 << 40
    )
    for literal in ("{...}", "{1, 2}", "1", "{" + "1," * 3000 + "1}"):
        with pytest.raises(HloParseError):
            parse_hlo(f"ENTRY e {{ ROOT c = {huge} constant({literal}) }}")
    with pytest.raises(HloParseError, match="64 bits"):
        parse_hlo("ENTRY e { ROOT p = f32[4294967296,4294967296] parameter(0) }")


@pytest.mark.parametrize("nested", ["(" * 5000 + ")" * 5000, "(" * 5000], ids=["closed", "open"])
def test_deep_nesting_is_refused(nested: str) -> None:
    with pytest.raises(HloParseError, match="nest"):
        parse_hlo(f"ENTRY e {{ ROOT p = {nested} parameter(0) }}")
    with pytest.raises(HloParseError, match=r"nest|closed"):
        parse_hlo(
            "ENTRY e { p = f32[] parameter(0)\n ROOT r = f32[] "
            + "negate(" * 3000
            + "p"
            + ")" * 3000
            + " }"
        )


# Found by comparing with jaxlib what single changes make of the texts of XLA's tests: XLA refuses
# each.
LOOSE = [
    "{P}\n  ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{2,scatter3}}",
    "{P}\n  ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1}}{}",
    "{P}\n  ROOT r = f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3},{4*/,5,6,7}}",
    "{P}\n  ROOT r = f32[2] slice(p), slice={[0:2], 32[0:9]}",
    "{P}\\n  ROOT r = f32[4] custom-call(p), custom_call_target='f', output_to_operand_aliasing={{0 0}: (0, {})}",
    "{P}\\n  ROOT r = f32[4] custom-call(p), custom_call_target='f', output_to_operand_aliasing={{}: (0)}",
    "{P}\\n  ROOT r = f32[4] custom-call(p), custom_call_target='f', output_to_operand_aliasing={{0}: (0, {}) {1}: (0, {})}",
    "{P}\\n  ROOT r = f32[4] custom-call(p), custom_call_target='f', output_to_operand_aliasing={{}: (0, {}, must-alias)}",
    "{P}\n  ROOT r = f32[4] transpose(p), dimensions={10000000000000000000000}",
    "{P}\n  ROOT r = f32[4] transpose(p), dimensions={0,,}",
    "{P}\n  ROOT r = s32[4] iota(), iota_dimension=10000000000000000000000",
    "{P}\n  ROOT r = f32[4] negate(p), sharding={devices=[2]<=[=]}",
    "{P}\n  ROOT r = f32[4] negate(p), sharding={devices=[2]0,,1}",
    "{P}\n  ROOT r = f32[4] negate(p), sharding={devices=2]<=[2]}",
    "{P}\n  ROOT r = f32[4] add(%%%p, p)",
    "{P}\n  ROOT r = f32[4] abs(p//)",
    "{P}\n  s = ((f32[4]), f32[4], s32[]) negate-start(p)\n  u = ((f32[4]), f32[4]{0:S(1)}, s32[]) negate-update(s)\n  ROOT d = f32[4] negate-done(u)",
]
LOOSE_HEADERS = [
    "add (lhs: f32[],, rhs: f32[]) -> f32[] {", "add (lhs: f34[]) -> f32[] {", "add (lhs: f32[1,=,2]) -> f32[] {", "add (lhs (lhs: f32[]) -> f32[] {",
    "HloModule ENTRY add {", "HloModule\n\nENTRY add {", "ENTRY HloModule {", "add (lhs: f32[],) -> f32[] {",
]  # fmt: skip


@pytest.mark.parametrize("body", LOOSE)
def test_attributes_are_read_to_the_last_character(body: str) -> None:
    with pytest.raises(HloParseError):
        parse_hlo(
            "HloModule m\n\nENTRY e {\n"
            + body.replace("{P}", "  p = f32[4] parameter(0)")
            + "\n}\n"
        )


@pytest.mark.parametrize("header", LOOSE_HEADERS)
def test_headers_are_read_to_the_last_character(header: str) -> None:
    with pytest.raises(HloParseError):
        parse_hlo(
            header
            + "\n  lhs = f32[] parameter(0)\n  rhs = f32[] parameter(1)\n  ROOT s = f32[] add(lhs, rhs)\n}\n"
        )
