"""Lowering strategies: the order of attempts, the refusals that are kept, and rows of opcodes."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu.cpu_compiler import CpuCompiler
from xla_explorer.backends.gpu.lowering_strategies import gpu_strategy
from xla_explorer.compiler.codegen.dispatch import LoweringKind, cpu_strategy
from xla_explorer.compiler.codegen.dispatch.kernel_rows import (
    KERNEL_ROWS,
    KernelRow,
    has_own_writer,
    kernel_row,
    table,
)
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import AMDGPU, NVPTX, cpu_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text.parser import parse_hlo

CPU = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512, libraries=True)
ALONE = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512)
TEXT = """HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[600,600] parameter(0)
  y = f32[600,600] parameter(1)
  add = f32[600,600] add(x, y)
  dot = f32[600,600] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  small = f16[600,600] convert(dot)
  half = f16[600,600] dot(small, small), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  factor = f32[600,600] cholesky(x), lower=true
  copied = f32[600,600] copy(add)
  reduced = f32[600,600] all-reduce(y), to_apply=sum
  number = u32[] partition-id()
  feed = token[] after-all()
  got = (f32[4], token[]) infeed(feed)
  wave = c64[600,600] complex(x, y)
  spectrum = c64[600,600] fft(wave), fft_type=FFT, fft_length={600}
  ROOT t = (f32[600,600], f16[600,600]) tuple(copied, half)
}
"""


def instructions() -> dict[str, HloInstruction]:
    return {i.name: i for i in parse_hlo(TEXT).entry.instructions.values()}


CHOSEN = {
    "add": ("kernel", ()),
    "half": ("kernel", ("blas: no-blas-routine",)),
    "factor": ("lapack", ()),
    "copied": ("copy", ()),
    "reduced": ("one-device", ()),
    "number": ("device-number", ()),
    "got": ("evaluator", ("kernel: opcode-not-emitted",)),
    "spectrum": ("kernel", ("fft-library: no-fft-library",)),
    "t": ("renames", ()),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_the_first_strategy_that_accepts_is_chosen_and_refusals_are_kept(name: str) -> None:
    found = cpu_strategy(instructions()[name], CPU)
    assert (
        found.name,
        tuple([f"{earlier}: {reason.code}" for earlier, reason in found.refused]),
    ) == CHOSEN[name]
    assert (
        (found.kind is LoweringKind.EVALUATOR)
        == (found.why_not_native is not None)
        == (CpuCompiler().supports(instructions()[name]) is not None)
    )


def test_without_libraries_what_only_they_compute_is_evaluated() -> None:
    found = cpu_strategy(instructions()["factor"], ALONE)
    assert (
        found.kind is LoweringKind.EVALUATOR
        and found.reason is not None
        and found.reason.code == "no-library"
    )
    dot = cpu_strategy(instructions()["dot"], ALONE)
    assert (
        dot.kind is LoweringKind.KERNEL
        and dot.reason is not None
        and dot.reason.code == "no-library"
    )


def test_a_forbidden_library_is_a_refusal_of_the_user() -> None:
    found = cpu_strategy(
        instructions()["dot"], CPU, PassControl(forbid={"native-code": [("dot",)]})
    )
    assert (
        found.kind is LoweringKind.KERNEL
        and found.reason is not None
        and found.reason.code == "forbidden-by-user"
    )


def test_gpus_have_their_own_strategies() -> None:
    i = instructions()
    assert [
        gpu_strategy(i[name], NVPTX).name for name in ("add", "spectrum", "number", "copied")
    ] == ["kernel", "operation", "one-device", "copy"]
    on_amd = gpu_strategy(i["spectrum"], AMDGPU)
    assert on_amd.reason is not None and on_amd.reason.code == "sequential-kernel"


def test_a_step_lists_the_refusals_before_it() -> None:
    row = xe.compile(
        "HloModule m\nENTRY e { x = c64[64] parameter(0) ROOT r = c64[64] fft(x), fft_type=FFT, fft_length={64} }"
    )
    (facts,) = row.decisions("native-code").facts
    assert facts == {
        "runs_on": "kernel",
        "refused": ["fft-library: no-fft-library"],
        "cycles": facts["cycles"],
    }


def test_two_rows_for_an_opcode_are_an_error() -> None:
    with pytest.raises(ValueError, match="add has two rows"):
        table([KernelRow("add"), KernelRow("add", is_complex=True)])


def test_what_stands_alone_or_runs_in_sequence_has_a_writer() -> None:
    alone = [row for row in KERNEL_ROWS.values() if row.standalone or row.sequential]
    assert [row.opcode for row in alone if row.write is None] == []
    assert (
        kernel_row("sort").sequential
        and has_own_writer("sort")
        and not has_own_writer("add")
        and kernel_row("add").is_complex
    )
    assert kernel_row("clamp") == KernelRow("clamp")


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        ("u8[16,5,3]{2,0,1:T(8,128)(2,1)}", "u8[16,5,16,32]{0,3,2,1:T(8,128)(2,1)}"),
        ("f8e4m3[4,2]{1,0:E(4)}", "s8[4]{0}"),
    ],
)
def test_a_bitcast_that_shows_the_padding_of_tiles_has_no_native_code(
    operand: str, result: str
) -> None:
    module = parse_hlo(
        f"ENTRY e {{\nx = {operand} parameter(0)\nc = {operand} copy(x)\n"
        f"b = {result} bitcast(c)\nROOT r = {result} copy(b)\n}}"
    )
    bitcast = next(i for i in module.entry.instructions.values() if i.opcode.name == "bitcast")
    reason = kernel_row("bitcast").check(bitcast)
    assert reason is not None and reason.code == "bitcast-changes-width"
    xe.compile(module, "cpu")
