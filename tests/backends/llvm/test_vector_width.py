"""The vector width is our decision: it reaches LLVM, whatever LLVM prefers, and is recorded."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import xla_explorer as xe
from xla_explorer.backends.llvm.llvm_compiler import emit_assembly, optimize_and_emit, optimized_ir
from xla_explorer.backends.llvm.target_machine import describe_target, host_target

LOOP = """
define void @scale(ptr noalias %a, ptr noalias %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %pa = getelementptr inbounds float, ptr %a, i64 %i
  %po = getelementptr inbounds float, ptr %out, i64 %i
  %x = load float, ptr %pa, align 4
  %y = fmul float %x, 3.0
  store float %y, ptr %po, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
"""
REGISTERS = {128: "xmm", 256: "ymm", 512: "zmm"}
TANH = "HloModule m\nENTRY e {\n  x = f32[5000] parameter(0)\n  y = f32[5000] parameter(1)\n  z = f32[5000] tanh(x)\n  ROOT r = f32[5000] add(z, y)\n}"


def _widest(assembly: str) -> int:
    """Bits of the widest vectors that the code multiplies or adds."""
    found = re.findall(r"\sv?(?:mul|add|fn?madd\w*)ps\s[^\n]*%([xyz])mm", assembly)
    return max({"x": 128, "y": 256, "z": 512}[letter] for letter in found)


@pytest.mark.parametrize(
    "cpu", ["skylake-avx512", "icelake-server", "sapphirerapids", "znver4", "znver5", "x86-64-v4"]
)
def test_loops_left_to_llvm_have_the_widest_registers(cpu: str) -> None:
    """LLVM tunes Intel's CPUs for 256 bits."""
    target = describe_target("x86_64-linux-gnu", cpu)
    assert target.vector_register_bits == target.widest_register_bits == 512 and target.has_fma
    assert "<16 x float>" in optimized_ir(LOOP, target)
    assert _widest(emit_assembly(LOOP, target)) == 512


@pytest.mark.parametrize(
    ("cpu", "bits"),
    [("nehalem", 128), ("sandybridge", 256), ("haswell", 256), ("znver3", 256), ("alderlake", 256)],
)
def test_other_cpus_by_name_have_theirs(cpu: str, bits: int) -> None:
    target = describe_target("x86_64-linux-gnu", cpu)
    assert target.vector_register_bits == bits
    assert target.has_fma is (cpu not in ("nehalem", "sandybridge"))
    assert _widest(emit_assembly(LOOP, target)) == bits


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_a_narrower_width_is_kept(bits: int) -> None:
    target = replace(
        describe_target("x86_64-linux-gnu", "icelake-server"), vector_register_bits=bits
    )
    assert _widest(emit_assembly(LOOP, target)) == bits
    assert target.vector_width_fact().facts["bits"] == bits


def test_the_width_is_part_of_the_key_of_the_cache() -> None:
    wide = describe_target("x86_64-linux-gnu", "icelake-server")
    narrow = replace(wide, vector_register_bits=256)
    assert wide.cache_key() != narrow.cache_key()
    assert (
        optimize_and_emit(LOOP, wide).object_bytes != optimize_and_emit(LOOP, narrow).object_bytes
    )


def test_the_text_that_is_shown_is_the_text_that_llvm_reads() -> None:
    """The width is given to LLVM with the target's features, not written into the program."""
    target = describe_target("x86_64-linux-gnu", "icelake-server")
    assert target.code_generator_features == "-prefer-128-bit,-prefer-256-bit"
    assert "prefer" not in optimized_ir(LOOP, target)


def test_other_architectures_are_left_alone() -> None:
    assert (
        describe_target("aarch64-linux-gnu", "neoverse-v1", "+sve").code_generator_features
        == "+sve"
    )


@pytest.mark.codegen
def test_a_compile_records_the_width_and_why() -> None:
    session = xe.compile(TANH, cache=False)
    (row,) = session.decisions("vector-width").to_dict("records")
    target = host_target()
    assert (
        row["facts"]["bits"] == target.vector_register_bits
        and row["facts"]["register_bits"] == target.widest_register_bits
    )
    assert str(target.vector_register_bits) in row["reason"] and target.cpu in row["reason"]
    if target.architecture == "x86_64":
        assert _widest(str(session.assembly())) == target.vector_register_bits


@pytest.mark.parametrize(
    "cpu", ["icelake-server", "sapphirerapids", "x86-64-v4", "x86-64-v3", "x86-64-v2"]
)
def test_programs_for_other_cpus_have_their_width(cpu: str) -> None:
    session = xe.compile(TANH, backend="x86-64", cpu=cpu, cache=False)
    bits = describe_target("x86_64-linux-gnu", cpu).vector_register_bits
    assert (
        _widest(str(session.assembly()))
        == bits
        == session.decisions("vector-width").facts[0]["bits"]
    )
    made = xe.aot(TANH, "x86_64-linux-gnu", cpu=cpu)
    assert _widest(made.program.compiled.assembly_text) == bits
