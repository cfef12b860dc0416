"""Contiguous loads and stores become one PTX access, also if LLVM would leave them narrow."""

import re

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check, ptx_of
from xla_explorer.hlo.primitive_type import primitive_type

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


@pytest.mark.long
def test_long_rows_are_read_by_sixteen_bytes():
    """Long rows are read 16 bytes at a time.

    LLVM turns sums in the second vector's addresses into `or`, and then reads single elements.
    """
    text = f"""HloModule m
{SUM}
ENTRY e {{ x = f32[4096,1024] parameter(0) z = f32[] constant(0) ROOT r = f32[4096] reduce(x, z), dimensions={{1}}, to_apply=sum }}"""
    ran = check(
        text, np.random.default_rng(3).normal(size=(4096, 1024)).astype(np.float32), relative=1e-4
    )
    assert ran.ptx.count("ld.global.nc.v4") == 2
    assert ran.ptx.count("ld.global") == 3  # and the initial value


def test_a_row_with_idle_threads_is_read_and_written_by_sixteen_bytes():
    """768 elements: half of the threads have nothing to do in the second step."""
    text = f"""HloModule m
{SUM}
f {{ x = f32[64,768] parameter(0) g = f32[768] parameter(1) z = f32[] constant(0) t = f32[64] reduce(x, z), dimensions={{1}}, to_apply=sum
  b = f32[64,768] broadcast(t), dimensions={{0}} d = f32[64,768] subtract(x, b) h = f32[64,768] broadcast(g), dimensions={{1}}
  ROOT r = f32[64,768] multiply(d, h) }}
ENTRY e {{ x = f32[64,768] parameter(0) g = f32[768] parameter(1) ROOT r = f32[64,768] fusion(x, g), kind=kInput, calls=f }}"""
    random = np.random.default_rng(4)
    ran = check(
        text,
        random.normal(size=(64, 768)).astype(np.float32),
        random.normal(size=768).astype(np.float32),
        relative=1e-3,
    )
    assert not re.search(r"(ld|st)\.global\.(nc\.)?(L\S+\.)?(b32|v2)", ran.ptx)


@pytest.mark.parametrize(
    ("kind", "count"), [("bf16", 8), ("f64", 2), ("s8", 16), ("pred", 16), ("c64", 2)]
)
def test_other_types(kind, count):
    name = "not" if kind == "pred" else "negate"
    text = f"""HloModule m
ENTRY e {{ x = {kind}[1024,{count * 64}] parameter(0) ROOT r = {kind}[1024,{count * 64}] {name}(x) }}"""
    values = np.random.default_rng(5).integers(0, 2, (1024, count * 64)) + (
        1j if kind == "c64" else 0
    )
    check(text, values.astype(primitive_type(kind).dtype), assemble=False)


def test_long_functions_do_not_keep_a_loop_from_reading_sixteen_bytes():
    """A long function does not prevent 16-byte reads in its loops.

    One element a thread gives too little memory-level parallelism for a large GPU's bandwidth.
    """
    text = """HloModule m
f { x = f32[1048576] parameter(0) a = f32[1048576] erf(x) b = f32[1048576] tanh(a) c = f32[1048576] exponential(b)
  d = f32[1048576] log(c) e = f32[1048576] logistic(d) ROOT r = f32[1048576] divide(e, x) }
ENTRY e { x = f32[1048576] parameter(0) ROOT r = f32[1048576] fusion(x), kind=kLoop, calls=f }"""
    _, emitted, _, ptx = ptx_of(text)
    assert emitted.emitter == "vector-loop"
    assert "ld.global.nc.v4.b32" in ptx


def test_the_components_of_a_row_of_indices_are_read_at_once():
    """Index components of a row are read at once.

    Their addresses differ by a separate constant; LLVM turns sums with even numbers into `or`.
    """
    text = """HloModule m
ENTRY e { x = s64[3,4,2] parameter(0) i = s64[2,3,2] parameter(1)
  ROOT g = s64[2,3,2,2] gather(x, i), offset_dims={2,3}, collapsed_slice_dims={0}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,2,2} }"""
    random = np.random.default_rng(6)
    ran = check(
        text, random.integers(-9, 9, (3, 4, 2)), random.integers(-1, 4, (2, 3, 2)), assemble=False
    )
    assert ran.ptx.count("ld.global") == 2 and "ld.global.nc.v2.b64" in ran.ptx


def test_the_best_of_a_few_is_straight_line_code():
    """A search of four elements has no loop, so that they are one access, as those of a sum are."""
    text = """HloModule m
best { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3) c = pred[] compare(a, b), direction=GE
  m = f32[] select(c, a, b) k = s32[] select(c, i, j) ROOT t = (f32[], s32[]) tuple(m, k) }
f { x = f32[6,4] parameter(0) n = s32[6,4] iota(), iota_dimension=1 z = f32[] constant(-inf) o = s32[] constant(0)
  ROOT r = (f32[6], s32[6]) reduce(x, n, z, o), dimensions={1}, to_apply=best }
ENTRY e { x = f32[6,4] parameter(0) ROOT r = (f32[6], s32[6]) fusion(x), kind=kInput, calls=f }"""
    ran = check(
        text, np.random.default_rng(7).integers(-9, 9, (6, 4)).astype(np.float32), assemble=False
    )
    assert "bra" not in ran.ptx and "ld.global.nc.v4.b32" in ran.ptx
