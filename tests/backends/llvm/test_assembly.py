"""Assembly with source lines."""

import pytest

from xla_explorer.backends.llvm.assembly import assembly_with_lines, parse_assembly, readable
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly
from xla_explorer.backends.llvm.target_machine import describe_target

TARGETS = {
    "x86_64": describe_target("x86_64-linux-gnu", "x86-64-v4"),
    "aarch64": describe_target("aarch64-linux-gnu", "neoverse-n1"),
    "riscv64": describe_target("riscv64-linux-gnu", "", "+m,+a,+f,+d,+c,+v"),
    "nvptx64": describe_target("nvptx64-nvidia-cuda", "sm_80", "+ptx80"),
}
DIVISIONS = {"x86_64": "vdivps", "aarch64": "fdiv", "riscv64": "vfdiv", "nvptx64": "div.rn"}


@pytest.mark.parametrize("name", TARGETS)
def test_the_division_comes_from_line_four(name, ir_with_lines):
    ir = ir_with_lines.replace("fusion.1", "fusion_1")
    lines = parse_assembly(emit_assembly(ir, TARGETS[name]), "module.hlo")
    divisions = [
        line for line in lines if line.kind == "instruction" and DIVISIONS[name] in line.text
    ]
    assert divisions and {line.hlo_line for line in divisions} == {4}
    assert {line.function for line in divisions} == {"fusion_1"}
    assert parse_assembly(emit_assembly(ir, TARGETS[name]), "other.hlo") != lines


def test_readable_has_no_directives_and_no_debug_tables(ir_with_lines):
    text = emit_assembly(ir_with_lines, TARGETS["x86_64"])
    pairs = assembly_with_lines(text, "module.hlo")
    assert 10 < len(pairs) < len(text.splitlines()) / 2
    assert pairs[0][0].startswith("fusion.1:")
    assert not [
        line
        for line, _ in pairs
        if line.lstrip().startswith((".loc", ".file", ".Ltmp", ".section", ".long"))
    ]
    assert any(line.startswith(".LBB0_") for line, _ in pairs)
    assert {number for _, number in pairs} >= {2, 4, 5}
    everything = assembly_with_lines(text, "module.hlo", filter_directives=False)
    assert [line for line, _ in everything] == text.splitlines()


def test_constants_can_stay(ir_with_lines):
    ir = ir_with_lines.replace("fdiv float %x, %y", "fdiv float 3.5, %y")
    lines = parse_assembly(emit_assembly(ir, TARGETS["x86_64"]))
    assert any(
        ".LCPI" in line.text and line.kind == "label" for line in readable(lines, constants=True)
    )
    assert not any(line.kind in ("data", "directive") for line in readable(lines))


def test_quoted_names_and_no_locations():
    text = emit_assembly('define i32 @"a b"() {\n  ret i32 7\n}\n', TARGETS["x86_64"])
    instructions = [line for line in parse_assembly(text) if line.kind == "instruction"]
    assert {line.function for line in instructions} == {"a b"} and {
        line.hlo_line for line in instructions
    } == {None}
