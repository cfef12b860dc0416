"""Concatenations, gathers of rows and updates in place move 16 bytes a thread."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(19)


def numbers(*dimensions):
    return RANDOM.standard_normal(dimensions).astype(np.float32)


@pytest.mark.parametrize(
    ("dimension", "left", "right"), [(1, (300, 128), (300, 64)), (0, (300, 128), (100, 128))]
)
def test_concatenate(dimension, left, right):
    result = tuple(
        [a + b if d == dimension else a for d, (a, b) in enumerate(zip(left, right, strict=True))]
    )
    a, b, c = [",".join(map(str, d)) for d in (left, right, result)]
    text = f"""HloModule m
f {{ x = f32[{a}] parameter(0) y = f32[{b}] parameter(1) n = f32[{a}] negate(x)
  ROOT r = f32[{c}] concatenate(n, y), dimensions={{{dimension}}} }}
ENTRY e {{ x = f32[{a}] parameter(0) y = f32[{b}] parameter(1) ROOT r = f32[{c}] fusion(x, y), kind=kLoop, calls=f }}"""
    ran = check(text, numbers(*left), numbers(*right))
    assert ran.emitted.emitter == "vector-loop" and ran.sector_use() == 1
    assert "ld.global.nc.v4.b32" in ran.ptx and "st.global.v4.b32" in ran.ptx


def test_gather_of_rows():
    text = """HloModule m
ENTRY e { t = f32[500,128] parameter(0) i = s32[400,1] parameter(1)
  ROOT r = f32[400,128] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,128} }"""
    ran = check(text, numbers(500, 128), RANDOM.integers(-5, 510, (400, 1)).astype(np.int32))
    assert (
        ran.emitted.emitter == "vector-loop"
        and "ld.global.nc.v4.b32" in ran.ptx
        and "st.global.v4.b32" in ran.ptx
    )


def test_narrow_elements():
    text = """HloModule m
ENTRY e { x = bf16[400,64] parameter(0) y = bf16[400,192] parameter(1) ROOT r = bf16[400,256] concatenate(x, y), dimensions={1} }"""
    x, y = [numbers(400, n).astype(ml_dtypes.bfloat16) for n in (64, 192)]
    ran = check(text, x, y)
    assert ran.emitted.emitter == "vector-loop" and "ld.global.nc.v4.b32" in ran.ptx


@pytest.mark.parametrize("minor", [63, 2])
def test_odd_extents_are_moved_one_by_one(minor):
    text = f"""HloModule m
ENTRY e {{ x = f32[900,{minor}] parameter(0) y = f32[900,1] parameter(1) ROOT r = f32[900,{minor + 1}] concatenate(x, y), dimensions={{1}} }}"""
    ran = check(text, numbers(900, minor), numbers(900, 1), assemble=False)
    assert ran.emitted.emitter == "loop" and "cut{j," in str(ran.emitted.nest)


def test_an_update_in_place_stores_its_rows_alone():
    text = """HloModule m
ENTRY e { x = f32[4000,64] parameter(0) u = f32[3000,64] parameter(1) i = s32[] parameter(2) z = s32[] constant(0)
  ROOT r = f32[4000,64] dynamic-update-slice(x, u, i, z) }"""
    root = parse_hlo(text).entry.root
    nest = nest_of(root, in_place=True)
    x, u = numbers(4000, 64), numbers(3000, 64)
    for start in (-3, 7, 5000):
        at = min(max(start, 0), 1000)
        (found,) = evaluate_nest(nest, [x, u, np.int32(start), np.int32(0)])
        assert (found[at : at + 3000] == u).all() and (
            np.delete(found, np.s_[at : at + 3000], 0) == np.delete(x, np.s_[at : at + 3000], 0)
        ).all()
    assert nest_text(parse_nest(nest_text(nest))) == nest_text(nest) and "aliasing %x" in nest_text(
        nest
    )
    emitted = write_gpu_kernels(root, gpu_architecture("sm_80"), (0, 1, 2, 3, 0))
    assert emitted.emitter == "vector-loop" and "store <4 x float>" in text_of_body(
        emitted.kernels[0].kernel.body
    )
