"""Constants in the constant bank if a warp reads one address: values, counters, ptxas."""

import numpy as np
import pytest

from xla_explorer.backends.gpu.emitters.constant_memory import BANK_BYTES
from xla_explorer.backends.gpu.emitters.uniformity import UniformityAnalysis
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.types import I32, I64, Type
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

GLOBAL = Type("ptr", space=1)
ARCHITECTURES = ("sm_80", "sm_90", "sm_90a")


def constant(values, shape=""):
    shape = shape or f"f32[{len(values)}]"
    return f"{shape} constant({{{', '.join(map(str, values))}}})"


def by_row(rows, columns):
    """Return a table with a number for each row."""
    values = [k * k % 61 for k in range(rows)]
    return f"""HloModule m
ENTRY e {{ x = f32[{rows},{columns}] parameter(0) c = {constant(values)} b = f32[{rows},{columns}] broadcast(c), dimensions={{0}}
  ROOT r = f32[{rows},{columns}] add(x, b) }}"""


BY_COLUMN = f"""HloModule m
ENTRY e {{ x = f32[64,256] parameter(0) c = {constant([k * k % 251 for k in range(256)])} b = f32[64,256] broadcast(c), dimensions={{1}}
  ROOT r = f32[64,256] add(x, b) }}"""
LOOKED_UP = f"""HloModule m
ENTRY e {{ i = s32[512,1] parameter(0) c = {constant([k * k % 61 for k in range(64)])}
  ROOT r = f32[512] gather(c, i), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}} }}"""


def compiled(text, architecture="sm_90"):
    compiler = GpuCompiler()
    options = CompileOptions(backend_options={"device": "emulator", "architecture": architecture})
    return compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)


def decisions(result):
    return [event for event in result.trace.journal.events if event.by == "constant-memory"]


def test_a_table_that_warps_read_uniformly_goes_to_the_bank():
    text = by_row(64, 512)
    result = compiled(text)
    assert ".const .align" in result.stages["ptx"].text
    assert "ld.const.b32" in result.stages["ptx"].text
    (event,) = decisions(result)
    assert event.verdict == "accepted"
    assert event.facts == {"bytes": 256, "loads": 1, "addresses_per_warp": 1.0, "bank_bytes": 256}
    x = np.random.default_rng(1).normal(size=(64, 512)).astype(np.float32)
    (found,) = result.executable.execute([x])
    np.testing.assert_array_equal(found, evaluate(parse_hlo(text), x))


@pytest.mark.parametrize(
    ("text", "code"), [(BY_COLUMN, "divergent-constant"), (LOOKED_UP, "divergent-constant")]
)
def test_what_lanes_read_apart_stays_in_global_memory(text, code):
    result = compiled(text)
    assert ".const" not in result.stages["ptx"].text
    assert "ld.global.nc" in result.stages["ptx"].text
    (event,) = decisions(result)
    assert (event.verdict, event.reason.code) == ("refused", code)


def test_the_bank_has_an_end():
    """The second table of 40 KiB finds no room."""
    rows = 10240
    tables = [constant([k + 0.25 * (j % 977) for j in range(rows)]) for k in range(2)]
    text = f"""HloModule m
ENTRY e {{ x = f32[{rows},512] parameter(0) c = {tables[0]} d = {tables[1]} b = f32[{rows},512] broadcast(c), dimensions={{0}}
  f = f32[{rows},512] broadcast(d), dimensions={{0}} s = f32[{rows},512] add(x, b) ROOT r = f32[{rows},512] multiply(s, f) }}"""
    first, second = decisions(compiled(text))
    assert first.facts["bank_bytes"] <= BANK_BYTES
    assert (second.verdict, second.reason.code) == ("refused", "constant-bank-full")


def test_one_table_is_there_once_for_all_its_readers():
    values = [k * k % 89 for k in range(96)]
    text = f"""HloModule m
sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
ENTRY e {{ x = f32[96,512] parameter(0) c = {constant(values)} b = f32[96,512] broadcast(c), dimensions={{0}}
  y = f32[96,512] add(x, b) z = f32[] constant(0) t = f32[512] reduce(y, z), dimensions={{0}}, to_apply=sum
  u = f32[96,512] broadcast(t), dimensions={{1}} v = f32[96,512] multiply(u, b) ROOT r = (f32[96,512], f32[96,512]) tuple(y, v) }}"""
    result = compiled(text)
    assert result.stages["ptx"].text.count(".const .align") <= 1
    x = np.random.default_rng(2).normal(size=(96, 512)).astype(np.float32)
    for found, wanted in zip(
        result.executable.execute([x]), evaluate(parse_hlo(text), x), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not here")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_ptxas_takes_the_bank(architecture):
    assert assemble_ptx(
        compiled(by_row(64, 512), architecture).stages["ptx"].text, architecture
    ).resources


@pytest.mark.parametrize(("divisor", "passes"), [(32, 1.0), (8, 4.0), (1, 32.0)])
def test_the_emulator_counts_the_turns_of_the_bank(divisor, passes):
    """A warp that reads n different words takes n turns."""
    shift = {1: 0, 8: 3, 32: 5}[divisor]
    values = ", ".join(map(str, range(256)))
    ptx = f""".version 8.3
.target sm_90
.address_size 64
.const .align 16 .b32 table[256] = {{{values}}};
.visible .entry k(.param .u64 k_param_0)
.maxntid 256
{{
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, {shift};
  mul.wide.u32 %rd1, %r2, 4;
  mov.u64 %rd2, table;
  add.s64 %rd3, %rd2, %rd1;
  ld.const.b32 %r3, [%rd3];
  ld.param.b64 %rd4, [k_param_0];
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd4, %rd4, %rd5;
  st.global.b32 [%rd4], %r3;
  ret;
}}
"""
    parsed, device = parse_ptx(ptx), GlobalMemory()
    out = device.allocate(1024, "out")
    kernel = EmulatedKernel(parsed, parsed.kernels["k"], device)
    assert kernel.launch(1, 256, [out], LaunchOptions(counters=True)).findings == []
    np.testing.assert_array_equal(device.read(out, 1024).view(np.int32), np.arange(256) // divisor)
    (row,) = [row for row in kernel.counters.rows() if row["opcode"].startswith("ld.const")]
    assert (row["bank_conflict"], row["requests"], row["sectors"]) == (passes, 8, None)


def test_indices_by_warp():
    w = FunctionWriter()
    thread, block = [
        w.convert("zext", w.intrinsic(f"llvm.nvvm.read.ptx.sreg.{name}.x", I32), "i64")
        for name in ("tid", "ctaid")
    ]
    n = w.add(w.mul(block, 128), thread)
    row, column = w.div(n, 48), w.mod(n, 48)
    clamped = w.intrinsic("llvm.smin.i64", I64, w.named(column, I64), w.number(3, I64))
    with w.loop(7) as i:
        loaded, same = [
            w.load(w.address(w.named("%a0", GLOBAL), I32, at), I32, 4) for at in (row, block)
        ]
        index, unknown = w.convert("sext", same, "i64"), w.named("%unknown", I64)
    values = UniformityAnalysis(w.records, 30, 128)
    assert values.distinct(n) == 32
    assert values.distinct(block) == values.distinct(i) == values.distinct(index) == 1
    assert 1 < values.distinct(row) < 2
    assert values.distinct(clamped) <= 4
    assert values.distinct(loaded) is values.distinct(unknown) is None
