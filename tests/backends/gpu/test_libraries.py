"""Library calls end to end: matching, plans, C signatures on a fake, the evaluator's values."""

import numpy as np
import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_driver import FakeDriver
from tests.backends.gpu.fake_libraries import FakeLibraries
from xla_explorer.backends.gpu.device_executor import GpuExecutionError
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.gpu_executable import GpuExecutable
from xla_explorer.backends.gpu.libraries.library_runner import LibraryRunner
from xla_explorer.backends.gpu.libraries.prototypes import PROTOTYPES
from xla_explorer.backends.gpu.libraries.shared_objects import LIBRARIES, SharedObject, find_library
from xla_explorer.backends.gpu.runtime import code_loading
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo

EVERYTHING = {"dot", "fft", "cholesky", "triangular-solve", "convolution"}


def program(text, **options):
    """Compiled with library calls wherever one is possible, small or not."""
    module = parse_hlo(text)
    names = [(i.name,) for i in module.instructions() if i.opcode.name in EVERYTHING]
    compiler = GpuCompiler()
    backend = {"architecture": "sm_90", "device": "emulator", "libraries": "always", **options}
    chosen = CompileOptions(
        control=PassControl(force={"library-call": names}), backend_options=backend
    )
    return compiler.run_backend(compiler.run_hlo_passes(module, chosen), chosen), module


@pytest.fixture
def libraries(monkeypatch):
    monkeypatch.setattr(code_loading, "find_ptxas", lambda: None)
    monkeypatch.setattr(code_loading, "_by_nvjitlink", lambda program: "is not installed")
    return FakeLibraries(FakeDriver())


def run(libraries, result, arrays):
    executor = CudaExecutor(driver_of(libraries.driver))
    executor.libraries = LibraryRunner(executor, libraries.find)
    executable = GpuExecutable(
        result.buffers, result.program, result.stages["ptx"], "sm_90", executor
    )
    return executable, executable.execute(arrays)


def check(libraries, text, arrays, tolerance=1e-5, **options):
    """Run, compare with the evaluator, and return the library calls."""
    result, module = program(text, **options)
    executable, got = run(libraries, result, arrays)
    want = evaluate(module, *arrays)
    want = list(want) if isinstance(want, tuple) else [want]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(
            np.asarray(a, np.complex128),
            np.asarray(b, np.complex128),
            rtol=tolerance,
            atol=tolerance,
        )
    executable.executor.libraries.close()
    assert libraries.alive == {}, "every handle, plan and descriptor is given back"
    return [thunk.call for thunk in result.program.walk() if thunk.call is not None]


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


DOT = """HloModule d
ENTRY e {{
  a = {t}[{a}] parameter(0)
  b = {t}[{b}] parameter(1)
  ROOT c = {t}[{c}] dot(a, b), {how}
}}"""
PLAIN = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


@pytest.mark.parametrize(
    ("name", "dtype", "compute"),
    [("f32", np.float32, "f32"), ("f64", np.float64, "f64"), ("c64", np.complex64, "f32"), ("c128", np.complex128, "f64"),
     ("f16", np.float16, "f32"), ("bf16", "bfloat16", "f32")],
)  # fmt: skip
@pytest.mark.sampled(2)
def test_types(libraries, name, dtype, compute):
    import ml_dtypes

    dtype = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    text = DOT.format(t=name, a="5,7", b="7,6", c="5,6", how=PLAIN)
    (call,) = check(
        libraries,
        text,
        [values((5, 7), dtype), values((7, 6), dtype, 1)],
        2e-2 if "16" in name else 1e-5,
        tf32=False,
    )
    assert call.compute == compute and (call.m, call.n, call.k) == (6, 5, 7)


@pytest.mark.parametrize(
    ("a", "b", "c", "how"),
    [
        ((5, 7), (7, 6), (5, 6), PLAIN),
        ((7, 5), (7, 6), (5, 6), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((5, 7), (6, 7), (5, 6), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        ((7, 5), (6, 7), (5, 6), "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
        ((3, 5, 7), (3, 7, 6), (3, 5, 6), "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
        ((5, 3, 7), (6, 3, 7), (3, 5, 6), "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}"),
        ((2, 4, 5, 7), (2, 4, 7, 6), (2, 4, 5, 6),
         "lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}"),
        ((5, 2, 7), (2, 7, 6), (5, 6), "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"),
        ((2, 5, 7), (7, 6), (2, 5, 6), "lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
        ((1, 7), (7, 6), (1, 6), PLAIN),
        ((5, 7), (7,), (5,), PLAIN),
        ((5, 1), (1, 6), (5, 6), PLAIN),
    ],
)  # fmt: skip
@pytest.mark.sampled(6)
def test_dimensions(libraries, a, b, c, how):
    text = DOT.format(
        t="f32", a=",".join(map(str, a)), b=",".join(map(str, b)), c=",".join(map(str, c)), how=how
    )
    calls = check(libraries, text, [values(a, np.float32), values(b, np.float32, 1)])
    assert len(calls) == len(libraries.named("cublasLtMatmul"))


BIASED = """HloModule m
ENTRY e {{
  a = f32[8,16] parameter(0)
  b = f32[16,12] parameter(1)
  v = f32[12] parameter(2)
  d = f32[8,12] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  w = f32[8,12] broadcast(v), dimensions={{1}}
  h = f32[8,12] add({order})
{rest}
}}"""
RELU = "  z = f32[] constant(0)\n  zs = f32[8,12] broadcast(z), dimensions={}\n  ROOT r = f32[8,12] maximum(zs, h)"
GELU = """  c1 = f32[] constant(0.044715)
  k1 = f32[8,12] broadcast(c1), dimensions={}
  c2 = f32[] constant(0.7978845608)
  k2 = f32[8,12] broadcast(c2), dimensions={}
  c3 = f32[] constant(%s)
  k3 = f32[8,12] broadcast(c3), dimensions={}
  c4 = f32[] constant(1)
  k4 = f32[8,12] broadcast(c4), dimensions={}
  q = f32[8,12] multiply(h, h)
  p = f32[8,12] multiply(h, q)
  s = f32[8,12] multiply(p, k1)
  u = f32[8,12] add(s, h)
  t = f32[8,12] multiply(k2, u)
  th = f32[8,12] tanh(t)
  g = f32[8,12] add(k4, th)
  f = f32[8,12] multiply(k3, g)
  ROOT r = f32[8,12] multiply(f, h)"""


@pytest.mark.parametrize(
    ("rest", "epilogue"),
    [
        ("  ROOT r = f32[8,12] copy(h)", "bias"),
        (RELU, "relu_bias"),
        (GELU % 0.5, "gelu_bias"),
        (GELU % 0.25, "bias"),
    ],
)
@pytest.mark.parametrize("order", ["d, w", "w, d"])
def test_epilogues(libraries, rest, epilogue, order):
    arrays = [
        values((8, 16), np.float32),
        values((16, 12), np.float32, 1),
        values(12, np.float32, 2),
    ]
    (call,) = check(libraries, BIASED.format(order=order, rest=rest), arrays, 1e-4)
    assert call.epilogue == epilogue


def test_a_bias_that_others_read_too_stays_outside(libraries):
    rest = "  n = f32[8,12] negate(d)\n  ROOT r = (f32[8,12], f32[8,12]) tuple(h, n)"
    arrays = [
        values((8, 16), np.float32),
        values((16, 12), np.float32, 1),
        values(12, np.float32, 2),
    ]
    (call,) = check(libraries, BIASED.format(order="d, w", rest=rest), arrays, 1e-4)
    assert call.epilogue == "none"


def test_what_is_called(libraries):
    """Argument by argument, for one product of matrices and one bias."""
    arrays = [
        values((8, 16), np.float32),
        values((16, 12), np.float32, 1),
        values(12, np.float32, 2),
    ]
    check(libraries, BIASED.format(order="d, w", rest=RELU), arrays, 1e-4, tf32=False)
    names = [name for name, _ in libraries.calls]
    assert (
        names.index("cublasLtMatmulAlgoGetHeuristic") < names.index("cublasLtMatmul")
        and names[0] == "cublasLtCreate"
    )
    ((_, compute, scale),) = libraries.named("cublasLtMatmulDescCreate")
    assert (compute, scale) == (68, 0)  # CUBLAS_COMPUTE_32F, CUDA_R_32F
    layouts = [arguments[1:] for arguments in libraries.named("cublasLtMatrixLayoutCreate")]
    assert layouts == [[0, 12, 16, 12], [0, 16, 8, 16], [0, 12, 8, 12]]
    attributes = {a[1]: a[2].value for a in libraries.named("cublasLtMatmulDescSetAttribute")}
    assert (attributes[3], attributes[4], attributes[7], attributes[26]) == (0, 0, 6, 0)
    (product,) = libraries.named("cublasLtMatmul")
    assert len(product) == len(PROTOTYPES["cublasLtMatmul"]) == 16 and product[8] == product[10]


def test_tf32_only_where_it_saves_time(libraries):
    def compute(size, how=PLAIN, **options):
        result, _ = program(
            DOT.format(
                t="f32", a=f"{size},{size}", b=f"{size},{size}", c=f"{size},{size}", how=how
            ),
            **options,
        )
        (thunk,) = result.program.thunks
        return thunk.call.compute

    assert compute(4096) == "tf32" and compute(4096, tf32=False) == "f32"
    assert compute(4096, PLAIN + ", operand_precision={highest,highest}") == "f32"
    assert compute(64) == "f32", "bound by the launch: accuracy is not given away"


FFT = "HloModule f\nENTRY e {{ x = {a} parameter(0) ROOT r = {b} fft(x), fft_type={how}, fft_length={{{length}}} }}"


@pytest.mark.parametrize(
    ("a", "b", "how", "length", "dtype"),
    [
        ("c64[3,8]", "c64[3,8]", "FFT", "8", np.complex64),
        ("c64[3,8]", "c64[3,8]", "IFFT", "8", np.complex64),
        ("c128[2,6,5]", "c128[2,6,5]", "FFT", "6,5", np.complex128),
        ("f32[3,10]", "c64[3,6]", "RFFT", "10", np.float32),
        ("c64[3,6]", "f32[3,10]", "IRFFT", "10", np.complex64),
        ("f64[4,6]", "c128[4,4]", "RFFT", "4,6", np.float64),
    ],
)
def test_transforms(libraries, a, b, how, length, dtype):
    shape = [int(n) for n in a[a.index("[") + 1 : -1].split(",")]
    x = values(shape, dtype)
    if how == "IRFFT":
        x = np.fft.rfft(values((3, 10), np.float32), axis=1).astype(dtype)
    (call,) = check(libraries, FFT.format(a=a, b=b, how=how, length=length), [x], 1e-4)
    assert call.library == "cufft" and call.direction == how


SOLVE = """HloModule s
ENTRY e {{
  a = {t}[{a}] parameter(0)
  b = {t}[{b}] parameter(1)
  ROOT x = {t}[{b}] triangular-solve(a, b), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={how}
}}"""


@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize("how", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize(
    ("t", "dtype", "unit"), [("f32", np.float32, "false"), ("c128", np.complex128, "true")]
)
@pytest.mark.sampled(12)
def test_triangular_systems(libraries, left, lower, how, t, dtype, unit):
    order = 5 if left == "true" else 4
    a = values((2, order, order), dtype) + 4 * np.eye(order, dtype=dtype)
    text = SOLVE.format(
        t=t, a=f"2,{order},{order}", b="2,5,4", left=left, lower=lower, unit=unit, how=how
    )
    calls = check(libraries, text, [a.astype(dtype), values((2, 5, 4), dtype, 1)], 1e-3)
    assert (
        len(calls) == 1 and len([1 for name, _ in libraries.calls if name.endswith("trsm_v2")]) == 2
    )


@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize(
    ("t", "dtype"),
    [("f32", np.float32), ("f64", np.float64), ("c64", np.complex64), ("c128", np.complex128)],
)
def test_cholesky(libraries, lower, t, dtype):
    text = f"HloModule c\nENTRY e {{ a = {t}[3,4,4] parameter(0) ROOT l = {t}[3,4,4] cholesky(a), lower={lower} }}"
    m = values((3, 4, 4), dtype)
    a = m @ np.conj(np.swapaxes(m, 1, 2)) + 4 * np.eye(4, dtype=dtype)
    a[1] = -np.eye(4)  # no factor: NaN all over
    result, module = program(text)
    _, (got,) = run(libraries, result, [a.astype(dtype)])
    want = np.asarray(evaluate(module, a.astype(dtype)))
    triangle = np.tril(np.ones((4, 4), bool)) if lower == "true" else np.triu(np.ones((4, 4), bool))
    for number in (0, 2):
        np.testing.assert_allclose(
            got[number], np.where(triangle, want[number], 0), rtol=1e-4, atol=1e-4
        )
    assert np.isnan(got[1]).all()


def test_a_refusal_names_the_function_and_the_instruction(libraries):
    libraries.fail["cublasLtMatmul"] = 13
    result, _ = program(DOT.format(t="f32", a="4,4", b="4,4", c="4,4", how=PLAIN))
    with pytest.raises(
        GpuExecutionError, match=r"cublasLtMatmul: status 13 \(EXECUTION_FAILED\).*%c"
    ) as caught:
        run(libraries, result, [values((4, 4), np.float32)] * 2)
    assert "never" in caught.value.hint


def test_a_graph_holds_library_calls(libraries):
    result, _ = program(DOT.format(t="f32", a="4,4", b="4,4", c="4,4", how=PLAIN))
    arrays = [values((4, 4), np.float32), values((4, 4), np.float32, 1)]
    executable, _ = run(libraries, result, arrays)
    profile = executable.profile(arrays, repeats=2)
    assert libraries.driver.calls.count("cuGraphLaunch") == 5
    (timing,) = profile.kernels
    assert (
        timing.step.runs_on == "library"
        and timing.step.function == "cuBLASLt matmul"
        and timing.calls == 1
    )


def test_the_choice_is_recorded_with_both_costs():
    text = DOT.format(t="bf16", a="{n},{n}", b="{n},{n}", c="{n},{n}", how=PLAIN)

    def decision(size, **options):
        module = parse_hlo(text.replace("{n}", str(size)))
        compiler = GpuCompiler()
        chosen = CompileOptions(
            journal="decisions",
            backend_options={"architecture": "sm_90", "device": "emulator", **options},
        )
        trace = compiler.run_hlo_passes(module, chosen)
        (event,) = [e for e in trace.journal.events if e.by == "library-call"]
        return event

    there = decision(4096, libraries="always")
    assert (
        there.verdict == "accepted"
        and 0 < there.facts["library_us"] < there.facts["own_us"]
        and there.facts["m"] == 4096
    )
    assert decision(64, libraries="always").reason.code == "own-kernel-faster"
    missing = decision(4096)
    assert (
        missing.reason.code == "library-unavailable"
        and missing.reason.facts["own_us"] > missing.reason.facts["library_us"]
    )


@pytest.mark.parametrize(("kind", "architecture", "emitter"), [
    ("bf16", "sm_90a", "warpgroup-dot"), ("bf16", "sm_80", "tensor-core-dot"), ("f32", "sm_90", "simt-dot"),
])  # fmt: skip
def test_the_cost_of_our_kernel_is_that_of_the_plan_it_is_written_from(kind, architecture, emitter):
    text = DOT.format(t=kind, a="1024,1024", b="1024,1024", c="1024,1024", how=PLAIN)
    options = CompileOptions(
        journal="decisions", backend_options={"architecture": architecture, "device": "emulator"}
    )
    compiler = GpuCompiler()
    trace = compiler.run_hlo_passes(parse_hlo(text), options)
    program = compiler.run_backend(trace, options).program
    (choice,) = [e for e in trace.journal.events if e.by == "library-call"]
    launch = next(e for e in trace.journal.events if e.by == "launch" and e.verdict == "accepted")
    facts = choice.reason.facts
    assert (
        facts["own_emitter"] == launch.facts["emitter"] == emitter == program.emitted[0][1].emitter
    )
    assert (
        facts["own_arithmetic_us"] == launch.facts["own_arithmetic_us"] > 0
        and facts["own_us"] >= facts["own_arithmetic_us"] + 1
    )
    assert facts["library_us"] >= facts["library_arithmetic_us"] + 2 and facts["memory_us"] > 0


def test_libraries_that_are_not_installed_say_what_to_install():
    for name in LIBRARIES:
        found = find_library(name)
        assert isinstance(found, SharedObject) or (
            isinstance(found, Reason) and "pip install" in found.message
        )


def test_work_spaces_stay_where_recorded_graphs_have_them(libraries):
    runner = LibraryRunner(CudaExecutor(driver_of(libraries.driver)), libraries.find)
    first = runner._space(1, "cuFFT", 1000).address
    larger = runner._space(1, "cuFFT", 100_000)
    assert larger.size >= 100_000 and larger.address != first
    assert (
        runner._space(1, "cuFFT", 900).address == first
        and runner._space(2, "cuFFT", 900).address != first
    )
    runner.close()
    assert sum(map(len, runner.executor._free.values())) == 3
