"""HLO texts from the grammar and the table of opcodes: valid ones, and one edit away from these.

A valid text is the program of some opcode (`opcode_programs.py`) in one of the printer's forms. It
has attributes, layouts and a header that the grammar allows. Blanks, comments and ends of lines
stand between its tokens. A seed names a text: `valid_text(7)` is the same everywhere.
"""

from __future__ import annotations

import random
import re
from functools import cache

from tests.oracle.hlo_tokens import respaced, with_one_edit
from tests.support.opcode_programs import module_with
from xla_explorer.hlo.attributes import CODECS
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.text import PrintOptions

OPCODE_NAMES = sorted(
    {*OPCODES} - {"atan", "collective-reduce"}
)  # which jaxlib 0.10.2 does not have yet
_FORMS = (
    PrintOptions.default,
    PrintOptions.long,
    PrintOptions.default.but(percent=False, program_shape=False),
    PrintOptions.default.but(percent=False, index_comments=False),
)
# Values of the attributes that each instruction may carry.
_COMMON = (
    "sharding={replicated}", "sharding={manual}", "sharding={maximal device=1}", "sharding={replicated shard_as 2}", "sharding={unknown}",
    'sharding={replicated metadata={op_name="a"}}', "sharding={unreduced}", 'frontend_attributes={k="v"}', 'frontend_attributes={b={"n":1},a="x y"}',
    "frontend_attributes={}", 'metadata={op_name="jit(f)/add" source_file="f.py" source_line=3}', "metadata={op_type='T', op_name='n'}", "metadata={}",
    'metadata={stack_frame_id=1 op_name="a\\"b"}', "metadata={profile_type={1}}", 'backend_config="raw \\"s\\""', 'backend_config={"a":{"b":[1,"}"]}}',
    "backend_config=''", "statistics={visualizing_index=0,a=1.5}", 'origin={[synthetic_call]}', "backend_config={}", "statistics={visualizing_index=0}",
    "sharding={devices=[2,2]<=[4]}", "sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "sharding={devices=[2,2]0,1,2,3}",
    "sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", "sharding={mesh['x'=2,'y'=2], [{'x'}, {'y'}]}", 'origin={({"a" {0}}, {"b"})}',
)  # fmt: skip
_HEADERS = (
    "is_scheduled=true", "is_scheduled=false", "replica_count=2", "num_partitions=4", "replica_count=1", "alias_passthrough_params=true",
    "alias_passthrough_params=false", 'frontend_attributes={a="b",c={"k":1}}', "input_output_alias={}", "buffer_donor={}",
    "allow_spmd_sharding_propagation_to_parameters={true,false}", "allow_spmd_sharding_propagation_to_parameters=true",
    "allow_spmd_sharding_propagation_to_output={true}", "buffer_donor={ (0, {}) }", "buffer_donor={(0,{1,}),}", "buffer_donor={ (1, {}), (0, {}) }",
    "input_output_alias={ {}: (0, {}) }", "input_output_alias={ {}: (0, {}, must-alias), {}: (1, {}) }", "input_output_alias={ {1}: (1, {}), {0}: (0, {}) }",
    "allow_spmd_sharding_propagation_to_parameters={false,true}", "frontend_attributes={}",
)  # fmt: skip
_TABLES = (
    'FileNames\n1 "a.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
    "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
)
_LAYOUTS = (
    "{1,0}",
    "{0,1}",
    "{1,0:T(8,128)}",
    "{1,0:T(8,128)(2,1)S(5)}",
    "{0,1:S(1)}",
    "{1,0:E(4)}",
    "{1,0:L(16)}",
    "{1,0:T(*,2)}",
    "{1,0:SC(0:2,4)}",
    "",
)
# Programs of one constant.
_LITERALS = (
    "f32[2]{0} constant({1, -2.5})", "f32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })", "f32[2]{0} constant({inf, -inf})",
    "f32[3]{0} constant({nan, -nan, nan(0x7fc)})", "pred[3]{0} constant({1, 0, true})", "c64[2]{0} constant({(1, 2), (-1.5, inf)})",
    "c128[] constant((1, -2))", "s4[3]{0} constant({-8, 7, 0})", "u4[2]{0} constant({15, 0})", "s2[2]{0} constant({-2, 1})", "u2[2]{0} constant({3, 0})",
    "s8[2]{0} constant({-128, 127})", "u64[1]{0} constant({18446744073709551615})", "s64[1]{0} constant({-9223372036854775808})",
    "f8e4m3fn[2]{0} constant({1.5, 448})", "f8e5m2[2]{0} constant({inf, 2})", "f8e8m0fnu[1]{0} constant({2})", "f4e2m1fn[2]{0} constant({6, -0.5})",
    "bf16[2]{0} constant({1.0, 3.140625})", "f16[2]{0} constant({65504, 1e-3})", "f64[1]{0} constant({1e300})", "f32[0]{0} constant({})",
    "f32[2,0]{1,0} constant({ {}, {} })", "f32[] constant(1e2)", "(f32[], s32[2]{0}) constant((1, {2, 3}))", "((f32[]), pred[]) constant(((1), true))",
    "s32[2]{0} constant({ /*i0=0*/ 1, /*i0=1*/ 2 })", "pred[] constant(false)", "() constant(())",
)  # fmt: skip
_LINE = re.compile(
    r"^(\s+(?:ROOT )?%?[\w.\-]+ = .*? ?[a-z][a-z0-9\-]*\()(.*?)(\)(?:, .*)?)$", re.MULTILINE
)
_ATTRIBUTE = re.compile(
    r', ([a-z][\w\-]*)=("[^"]*"|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|%?[\w.\->]+)'
)


@cache
def _program(name: str, form: int) -> str:
    if name in _LITERALS:
        return f"HloModule m\n\nENTRY main {{\n  ROOT constant = {name}\n}}\n"
    return module_with(name).to_text(_FORMS[form])


def _any_program(generator: random.Random) -> str:
    """Of some opcode, one time in eight of a constant."""
    names = _LITERALS if generator.random() < 0.125 else OPCODE_NAMES
    return _program(generator.choice(names), generator.randrange(len(_FORMS)))


def _decorated(text: str, generator: random.Random) -> str:
    head, _, body = text.partition("\n")
    extra = generator.sample(_HEADERS, generator.choice((0, 0, 1, 2)))
    names = [one.partition("=")[0] for one in extra]
    extra = [one for number, one in enumerate(extra) if names.index(names[number]) == number]
    head = re.sub(r", entry_computation_layout=.*", "", head) if generator.random() < 0.6 else head
    if generator.random() < 0.3:
        body = _TABLES + body.lstrip("\n")
    layout = generator.choice(_LAYOUTS)
    if "entry_computation_layout" not in head:
        body = re.sub(r"(?<=\d\])\{1,0\}", layout, body)

    def more(found: re.Match[str]) -> str:
        line = found.group()
        for one in generator.sample(_COMMON, generator.choice((0, 0, 0, 1, 2))):
            if f"{one.partition('=')[0]}=" not in line:
                line += f", {one}"
        return line

    return ", ".join([head, *extra]) + "\n" + _LINE.sub(more, body)


def valid_text(seed: int) -> str:
    """Draw a text that XLA's parser accepts, except for its constructors' checks."""
    generator = random.Random(seed)
    text = _decorated(_any_program(generator), generator)
    return respaced(text, generator) if generator.random() < 0.7 else text


def _edited_line(text: str, generator: random.Random) -> tuple[str, str]:
    """One operand or one attribute less, more, twice, or of another opcode."""
    lines = list(_LINE.finditer(text))
    if not lines:
        return with_one_edit(text, generator)
    line = generator.choice(lines)
    before, operands, behind = line.groups()
    edit = generator.choice(
        (
            "operand less",
            "operand more",
            "attribute less",
            "attribute twice",
            "attribute of another",
            "attribute unknown",
            "swapped",
        )
    )
    parts = operands.split(", ") if operands else []
    attributes = list(_ATTRIBUTE.finditer(behind))
    if edit == "operand less" and parts:
        parts.pop(generator.randrange(len(parts)))
    elif edit == "operand more":
        parts.insert(generator.randrange(len(parts) + 1), generator.choice(parts) if parts else "x")
    elif edit == "swapped" and len(parts) > 1:
        generator.shuffle(parts)
    elif edit == "attribute less" and attributes:
        one = generator.choice(attributes)
        behind = behind[: one.start()] + behind[one.end() :]
    elif edit == "attribute twice" and attributes:
        behind += generator.choice(attributes).group()
    elif edit == "attribute of another":
        behind += f", {generator.choice(sorted(CODECS))}={generator.choice(('{0}', '1', 'true', '{}', '{{0,1}}', '%x', '{1,0}'))}"
    elif attributes:
        one = generator.choice(attributes)
        behind = behind[: one.start(1)] + one.group(1)[:-1] + behind[one.end(1) :]
    return text[: line.start()] + before + ", ".join(parts) + behind + text[line.end() :], edit


def edited_text(seed: int) -> tuple[str, str]:
    """Draw (a text one edit away from a valid one, the edit)."""
    generator = random.Random(seed)
    text = _decorated(_any_program(generator), generator)
    return (_edited_line if generator.random() < 0.5 else with_one_edit)(text, generator)
