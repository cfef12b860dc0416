"""Programs that once fell back to the host run as kernels: values, no races."""

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

RANDOM = np.random.default_rng(23)
TYPES = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "s8": np.int8,
    "f64": np.float64,
    "pred": bool,
    "s32": np.int32,
}


def emulated(text, *inputs):
    """(program, values, PTX); no host step, no finding."""
    compiler, options = GpuCompiler(), CompileOptions(backend_options={"device": "emulator"})
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    assert result.program.evaluated == []
    done = result.executable.emulate(inputs, LaunchOptions(global_races=True))
    assert done.findings == []
    return result.program, done.values, result.stages["ptx"].text


def scatter(kind, computation, extra="", rows=40):
    return f"""HloModule m
s {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT r = {computation} }}
ENTRY e {{ t = {kind}[50,4] parameter(0) i = s32[{rows},1] parameter(1) u = {kind}[{rows},4] parameter(2)
  ROOT r = {kind}[50,4] scatter(t, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}},
    index_vector_dim=1{extra}, to_apply=s }}"""


@pytest.mark.parametrize(
    ("kind", "computation"),
    [("f32", "f32[] maximum(a, b)"), ("f32", "f32[] copy(b)"), ("bf16", "bf16[] add(a, b)"), ("bf16", "bf16[] copy(b)"), ("s8", "s8[] add(a, b)"),
     ("f64", "f64[] multiply(a, b)"), ("pred", "pred[] or(a, b)"), ("s32", "s32[] multiply(a, b)")],
)  # fmt: skip
def test_scatters_take_turns(kind, computation):
    # Many rows for one place, some of them outside.
    inputs = (RANDOM.integers(0, 2, (50, 4)).astype(TYPES[kind]), RANDOM.integers(-1, 12, (40, 1)).astype(np.int32),
              RANDOM.integers(1, 3, (40, 4)).astype(TYPES[kind]))  # fmt: skip
    text = scatter(kind, computation)
    _, (found,), ptx = emulated(text, *inputs)
    assert (found == np.asarray(evaluate(parse_hlo(text), *inputs))).all()
    assert ".cas." in ptx


def test_unique_indices_need_no_atomic_operation():
    inputs = (RANDOM.standard_normal((50, 4)).astype(np.float32), RANDOM.permutation(50)[:40].reshape(40, 1).astype(np.int32),
              RANDOM.standard_normal((40, 4)).astype(np.float32))  # fmt: skip
    text = scatter("f32", "f32[] copy(b)", ", unique_indices=true")
    _, (found,), ptx = emulated(text, *inputs)
    assert (found == np.asarray(evaluate(parse_hlo(text), *inputs))).all() and "atom" not in ptx


def test_few_rows_are_looked_at_by_every_element():
    text = scatter("f32", "f32[] maximum(a, b)", rows=8)
    inputs = (RANDOM.standard_normal((50, 4)).astype(np.float32), RANDOM.integers(0, 3, (8, 1)).astype(np.int32),
              RANDOM.standard_normal((8, 4)).astype(np.float32))  # fmt: skip
    _, (found,), ptx = emulated(text, *inputs)
    assert (found == np.asarray(evaluate(parse_hlo(text), *inputs))).all() and "atom" not in ptx


def test_rows_are_updated_in_place_by_vectors():
    text = """HloModule m
body { s = (s32[], f32[4,160,128]) parameter(0) i = s32[] get-tuple-element(s), index=0 t = f32[4,160,128] get-tuple-element(s), index=1
  one = s32[] constant(1) z = s32[] constant(0) n = s32[] add(i, one) x = f32[] convert(n) u = f32[1,160,128] broadcast(x), dimensions={}
  w = f32[4,160,128] dynamic-update-slice(t, u, i, z, z) ROOT r = (s32[], f32[4,160,128]) tuple(n, w) }
condition { s = (s32[], f32[4,160,128]) parameter(0) i = s32[] get-tuple-element(s), index=0 k = s32[] constant(3)
  ROOT r = pred[] compare(i, k), direction=LT }
ENTRY e { t = f32[4,160,128] parameter(0) i = s32[] parameter(1) s = (s32[], f32[4,160,128]) tuple(i, t)
  w = (s32[], f32[4,160,128]) while(s), condition=condition, body=body ROOT r = f32[4,160,128] get-tuple-element(w), index=1 }"""
    inputs = (RANDOM.standard_normal((4, 160, 128)).astype(np.float32), np.int32(0))
    program, (found,), ptx = emulated(text, *inputs)
    assert (found == np.asarray(evaluate(parse_hlo(text), *inputs))).all()
    assert (
        "vector-loop" in [kernel.emitter for kernel in program.kernels]
        and "st.global.v4.b32" in ptx
    )


def test_sorting_between_other_kernels():
    text = """HloModule m
order { a = f32[] parameter(0) b = f32[] parameter(1) ROOT lt = pred[] compare(a, b), direction=LT }
ENTRY e { x = f32[3,3000] parameter(0) y = f32[3,3000] negate(x) s = f32[3,3000] sort(y), dimensions={1}, to_apply=order
  ROOT r = f32[3,3000] add(s, x) }"""
    x = RANDOM.standard_normal((3, 3000)).astype(np.float32)
    program, (found,), _ = emulated(text, x)
    np.testing.assert_array_equal(found, np.sort(-x, axis=1) + x)
    assert [kernel.name for kernel in program.kernels if kernel.emitter == "sort"] == [
        "s",
        "s_merge2048",
    ]


@pytest.mark.parametrize("name", ["all-reduce", "collective-permute", "replica-id"])
def test_collectives_of_one_device(name):
    operation = {
        "all-reduce": "f32[6] all-reduce(x), replica_groups={}, to_apply=sum",
        "collective-permute": "f32[6] collective-permute(x), source_target_pairs={{0,0}}",
        "replica-id": "u32[] replica-id()",
    }[name]
    shape = operation.split(" ")[0]
    text = f"""HloModule m
sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY e {{ x = f32[6] parameter(0) y = {operation} z = {shape} add(y, y) ROOT r = ({shape}, f32[6]) tuple(z, x) }}"""
    x = np.arange(6, dtype=np.float32)
    _, (found, _), _ = emulated(text, x)
    np.testing.assert_array_equal(found, np.uint32(0) if name == "replica-id" else 2 * x)


def test_batch_normalisation_and_scans_are_expanded():
    text = """HloModule m
ENTRY e { x = f32[4,6,5] parameter(0) s = f32[6] parameter(1) o = f32[6] parameter(2)
  ROOT r = (f32[4,6,5], f32[6], f32[6]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1 }"""
    inputs = [RANDOM.standard_normal(d).astype(np.float32) for d in ((4, 6, 5), (6,), (6,))]
    _, values, _ = emulated(text, *inputs)
    for found, wanted in zip(values, evaluate(parse_hlo(text), *inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_products_of_several_kept_dimensions_are_tiled():
    text = """HloModule m
ENTRY e { a = f32[2,40,32] parameter(0) b = f32[32,48] parameter(1)
  ROOT r = f32[2,40,48] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0} }"""
    inputs = [RANDOM.integers(-3, 4, d).astype(np.float32) for d in ((2, 40, 32), (32, 48))]
    program, (found,), _ = emulated(text, *inputs)
    np.testing.assert_array_equal(found, inputs[0] @ inputs[1])
    assert [kernel.emitter for kernel in program.kernels] == ["simt-dot"]
