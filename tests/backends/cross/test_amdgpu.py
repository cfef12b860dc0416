"""AMD GPUs: kernels for gfx90a and gfx942 with their registers; nothing runs."""

from __future__ import annotations

import re

import pytest

import xla_explorer as xe
from xla_explorer.backends.amdgpu.amdgpu_kernels import ARCHITECTURES, kernel_registers
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I64
from xla_explorer.compiler.target import AMDGPU

SOFTMAX = """HloModule softmax
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,200] parameter(0)
  low = f32[] constant(-inf)
  m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[64,200] broadcast(m), dimensions={0}
  d = f32[64,200] subtract(x, mb)
  e = f32[64,200] exponential(d)
  n = s32[64,200] convert(x)
  s = s32[64,200] sort(n), dimensions={1}, to_apply=less
  ROOT r = (f32[64,200], s32[64,200]) tuple(e, s)
}
"""


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_every_kernel_has_assembly_an_object_and_registers(architecture: str) -> None:
    session = xe.compile(SOFTMAX, backend="amdgpu", architecture=architecture)
    names = {kernel.name for kernel in session.result.program.kernels}
    registers = session.stages()["registers"]
    assert {line.split(":")[0] for line in registers.text.splitlines()} == names
    assert all(int(count) > 0 for count in re.findall(r"(\d+) vector", registers.text))
    assert None not in registers.origins
    assert session.stages()["object"].data[:4] == b"\x7fELF"
    assembly = str(session.assembly())
    assert all(f"{name}:" in assembly for name in names) and re.search(
        r"s_load_dword|v_\w+_f32", assembly
    )
    assert any(origin is not None for origin in session.stages()["assembly"].origins)


def test_products_windows_and_reductions_are_made_from_loop_nests() -> None:
    program = xe.compile(
        """HloModule sums
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[8,8,8,4] parameter(0)
  k = f32[3,3,4,5] parameter(1)
  zero = f32[] constant(0)
  c = f32[8,6,6,5] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  w = f32[8,3,3,5] reduce-window(c, zero), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=add
  d = f32[8,3,3,8,3,3] dot(w, w), lhs_contracting_dims={3}, rhs_contracting_dims={3}
  ROOT r = f32[8,3,3] reduce(d, zero), dimensions={3,4,5}, to_apply=add
}""",
        backend="amdgpu",
    ).result.program
    assert len(program.emitted) == 4
    assert all(
        emitted.emitter == "loop" and "thread{" in str(emitted.nest)
        for _, emitted in program.emitted
    )


def test_nothing_runs_and_a_reason_says_why() -> None:
    why = platform("amdgpu").availability()
    assert why is not None and why.code == "inspect-only"
    session = xe.compile(SOFTMAX, backend="amdgpu")
    with pytest.raises(xe.XlaExplorerError, match="runtime for AMD"):
        session()
    with pytest.raises(xe.XlaExplorerError, match="runtime for AMD"):
        platform("amdgpu").stream_executor()


def test_an_unknown_architecture_names_the_known_ones() -> None:
    with pytest.raises(xe.XlaExplorerError, match="gfx90a, gfx942"):
        xe.compile(SOFTMAX, backend="amdgpu", architecture="sm_90")


def test_the_stack_is_private_memory() -> None:
    w = FunctionWriter(stack_space=AMDGPU.stack_space)
    slot = w.stack_slot(I64, 4)
    assert w.lines() == [
        f"  {slot}.private = alloca i64, i64 4, align 64, addrspace(5)",
        f"  {slot} = addrspacecast ptr addrspace(5) {slot}.private to ptr",
    ]


def test_registers_are_read_from_metadata() -> None:
    text = """	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .name:           a0
    .name:           one
    .private_segment_fixed_size: 16
    .sgpr_count:     14
    .sgpr_spill_count: 1
    .vgpr_count:     35
    .vgpr_spill_count: 2
"""
    (row,) = kernel_registers(text)
    assert (row.name, row.vector_registers, row.scalar_registers, row.spilled, row.stack_bytes) == (
        "one",
        35,
        14,
        3,
        16,
    )
    assert kernel_registers("") == []
