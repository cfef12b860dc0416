"""cuDNN convolutions: forms, preparation, C signatures on a fake, the evaluator's values."""

import ctypes
import os
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.driver_library import driver_of
from tests.backends.gpu.fake_cudnn import WORKSPACE, FakeCudnn
from tests.backends.gpu.test_libraries import check, libraries, program, values  # noqa: F401
from xla_explorer.backends.gpu import gpu_compiler
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.libraries import convolution as convolution_calls
from xla_explorer.backends.gpu.libraries import shared_objects
from xla_explorer.backends.gpu.libraries.library_runner import LibraryRunner
from xla_explorer.backends.gpu.libraries.prototypes import PROTOTYPES
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.transforms.library_calls.convolution_matching import convolution_of
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo


def test_prototypes_and_numbers_of_the_headers():
    names = ("cudnn_graph_v9.h", "cudnn_ops_v9.h", "cudnn_cnn_v9.h")
    folders = [
        os.environ.get("XLA_EXPLORER_CUDNN_INCLUDE", ""),
        "/usr/include",
        *[f"{path}/nvidia/cudnn/include" for path in sys.path],
    ]
    folder = next(
        (Path(f) for f in folders if f and all((Path(f) / n).exists() for n in names)), None
    )
    if folder is None:
        pytest.skip("cuDNN's headers not found (nvidia-cudnn-cu13): prototypes are not checked")
    text = re.sub(
        r"/\*.*?\*/",
        " ",
        "\n".join([(folder / n).read_text(errors="replace") for n in names]),
        flags=re.DOTALL,
    )
    numbers = ("int", "cudnnDataType_t", "cudnnTensorFormat_t", "cudnnConvolutionMode_t", "cudnnMathType_t", "cudnnConvolutionFwdAlgo_t",
               "cudnnConvolutionBwdDataAlgo_t", "cudnnConvolutionBwdFilterAlgo_t")  # fmt: skip
    plain = {**dict.fromkeys(numbers, ctypes.c_int), "size_t": ctypes.c_size_t}
    for function in [f for f in PROTOTYPES if f.startswith("cudnn")]:
        (declared,) = set(re.findall(rf"\b{function}\s*\(([^)]*)\)\s*;", text))
        arguments = [" ".join(a.split()).removeprefix("const ") for a in declared.split(",")]
        wanted = [
            ctypes.c_void_p if "*" in a or "[" in a else plain.get(a.split(" ")[0], ctypes.c_void_p)
            for a in arguments
        ]
        assert wanted == list(PROTOTYPES[function]), function
    c = convolution_calls
    values_of = {"CUDNN_DATA_FLOAT": c.DATA_TYPES["f32"], "CUDNN_DATA_DOUBLE": c.DATA_TYPES["f64"], "CUDNN_DATA_HALF": c.DATA_TYPES["f16"],
               "CUDNN_DATA_BFLOAT16": c.DATA_TYPES["bf16"], "CUDNN_TENSOR_NCHW": c.NCHW, "CUDNN_TENSOR_NHWC": c.NHWC,
               "CUDNN_CROSS_CORRELATION": c.CROSS_CORRELATION, "CUDNN_DEFAULT_MATH": c.DEFAULT_MATH,
               "CUDNN_TENSOR_OP_MATH": c.TENSOR_OP_MATH, "CUDNN_FMA_MATH": c.FMA_MATH,
               "CUDNN_CONVOLUTION_FWD_ALGO_COUNT": c.ALGORITHMS}  # fmt: skip
    values_of |= {
        f"CUDNN_STATUS_{name}": value for value, name in shared_objects._CUDNN_STATUS.items()
    }
    for name, value in values_of.items():
        assert re.search(rf"\b{name}\s*=\s*{value}\b", text), name
    fields = re.search(
        r"typedef struct cudnnConvolutionFwdAlgoPerfStruct \{(.*?)\}", text, flags=re.DOTALL
    )[1]
    kinds = [ctypes.c_int * 3 if "[3]" in f else {"float": ctypes.c_float, "size_t": ctypes.c_size_t}.get(f.split()[0], ctypes.c_int)
             for f in fields.split(";") if f.strip()]  # fmt: skip
    assert kinds == [kind for _, kind in c.AlgorithmPerformance._fields_]


def convolution(x, k, result, how, kind="f32"):
    shapes = [",".join(map(str, s)) for s in (x, k, result)]
    return f"""HloModule c
ENTRY e {{ x = {kind}[{shapes[0]}] parameter(0) k = {kind}[{shapes[1]}] parameter(1)
  ROOT r = {kind}[{shapes[2]}] convolution(x, k), {how} }}"""


NHWC = "dim_labels=b01f_01io->b01f"
FORMS = {
    "same": ((2, 8, 9, 4), (3, 3, 4, 6), (2, 8, 9, 6), f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}", "forward"),
    "uneven padding": ((2, 8, 8, 3), (7, 7, 3, 6), (2, 4, 4, 6), f"window={{size=7x7 stride=2x2 pad=2_3x2_3}}, {NHWC}", "forward"),
    "channels first": ((2, 4, 8, 9), (6, 4, 3, 3), (2, 6, 8, 9), "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01", "forward"),
    "dilated window": ((2, 8, 8, 4), (3, 3, 4, 6), (2, 4, 4, 6), f"window={{size=3x3 rhs_dilate=2x2}}, {NHWC}", "forward"),
    "groups": ((2, 6, 6, 8), (3, 3, 2, 12), (2, 6, 6, 12), f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}, feature_group_count=4", "forward"),
    "depthwise": ((2, 6, 6, 8), (3, 3, 1, 8), (2, 6, 6, 8), f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}, feature_group_count=8", "forward"),
    "reversed": ((2, 6, 6, 8), (3, 3, 8, 4), (2, 6, 6, 4), f"window={{size=3x3 pad=1_1x1_1 rhs_reversal=1x1}}, {NHWC}", "forward"),
    "one dimension": ((2, 20, 4), (5, 4, 6), (2, 20, 6), "window={size=5 pad=2_2}, dim_labels=b0f_0io->b0f", "forward"),
    "three": ((1, 4, 5, 6, 2), (3, 3, 3, 2, 4), (1, 4, 5, 6, 4), "window={size=3x3x3 pad=1_1x1_1x1_1}, dim_labels=b012f_012io->b012f", "forward"),
    "input of strided": ((2, 4, 4, 6), (3, 3, 4, 6), (2, 8, 8, 4), "window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2 rhs_reversal=1x1}, "
                         "dim_labels=b01f_01oi->b01f", "backward-input"),
    "transposed": ((2, 5, 5, 6), (3, 3, 6, 4), (2, 9, 9, 4), f"window={{size=3x3 pad=1_1x1_1 lhs_dilate=2x2}}, {NHWC}", "backward-input"),
    "filter": ((4, 8, 8, 3), (4, 8, 8, 6), (3, 3, 3, 6), "window={size=8x8 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf", "backward-filter"),
    "filter of strided": ((4, 9, 9, 3), (4, 4, 4, 6), (3, 3, 3, 6), "window={size=4x4 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf",
                          "backward-filter"),
    "filter channels first": ((4, 3, 8, 8), (4, 6, 8, 8), (6, 3, 3, 3), "window={size=8x8 pad=1_1x1_1}, dim_labels=fb01_io01->fb01",
                              "backward-filter"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(libraries, name):  # noqa: F811
    x, k, result, how, form = FORMS[name]
    arrays = [values(x, np.float32), values(k, np.float32, 1)]
    (call,) = check(libraries, convolution(x, k, result, how), arrays, 1e-4)
    assert call.form == form and call.library == "cudnn"


@pytest.mark.parametrize(
    ("kind", "dtype"), [("f64", np.float64), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)]
)
def test_types(libraries, kind, dtype):  # noqa: F811
    x, k, result, how, _ = FORMS["same"]
    arrays = [values(x, dtype), values(k, dtype, 1)]
    (call,) = check(
        libraries, convolution(x, k, result, how, kind), arrays, 1e-5 if kind == "f64" else 5e-2
    )
    assert call.compute == ("f64" if kind == "f64" else "f32") and call.type == kind
    (kind_of_sums,) = {
        arguments[6] for arguments in libraries.named("cudnnSetConvolutionNdDescriptor")
    }
    assert kind_of_sums == (1 if kind == "f64" else 0)


def test_the_arguments_of_a_forward_call(libraries):  # noqa: F811
    x, k, result, how, _ = FORMS["same"]
    check(
        libraries,
        convolution(x, k, result, how),
        [values(x, np.float32), values(k, np.float32, 1)],
        1e-4,
        tf32=False,
    )
    tensors = [
        (a[1], a[2], list(a[3]), list(a[4])) for a in libraries.named("cudnnSetTensorNdDescriptor")
    ]
    assert tensors == [(0, 4, [2, 4, 8, 9], [288, 1, 36, 4]), (0, 4, [2, 6, 8, 9], [432, 1, 54, 6])]
    (filter_,) = libraries.named("cudnnSetFilterNdDescriptor")
    assert (*filter_[1:4], list(filter_[4])) == (
        0,
        1,
        4,
        [6, 4, 3, 3],
    )  # f32, NHWC, as the transposed filter lies
    (window,) = libraries.named("cudnnSetConvolutionNdDescriptor")
    assert [list(a) for a in window[2:5]] == [[1, 1]] * 3 and window[5:] == [1, 0]
    assert [a[1] for a in libraries.named("cudnnSetConvolutionMathType")] == [3]  # f32 means f32
    (run,) = libraries.named("cudnnConvolutionForward")
    assert run[7] == 1 and run[9] == WORKSPACE


def test_tf32_only_where_it_may(libraries):  # noqa: F811
    big = convolution(
        (8, 64, 64, 256),
        (3, 3, 256, 256),
        (8, 64, 64, 256),
        f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}",
    )
    for text, tf32, compute in ((big, True, "tf32"), (big, False, "f32"),
                                (big.replace(NHWC, f"{NHWC}, operand_precision={{highest,highest}}"), True, "f32")):  # fmt: skip
        (call,) = [
            thunk.call
            for thunk in program(text, tf32=tf32)[0].program.walk()
            if thunk.call is not None
        ]
        assert call.compute == compute


def test_a_reversed_filter_is_taken_as_it_was():
    text = """HloModule c
ENTRY e { x = f32[2,5,5,6] parameter(0) k = f32[3,3,4,6] parameter(1)
  v = f32[3,3,4,6] reverse(k), dimensions={0,1}
  ROOT r = f32[2,9,9,4] convolution(x, v), window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f }"""
    found, _ = program(text)
    assert "reverse" not in {i.opcode.name for i in found.trace.module.instructions()}


REFUSED = {
    "batch-groups": (
        (8, 6, 6, 4),
        (6, 6, 4, 8),
        (2, 1, 1, 8),
        f"window={{size=6x6}}, {NHWC}, batch_group_count=4",
    ),
    "negative-padding": (
        (2, 8, 8, 4),
        (3, 3, 4, 6),
        (2, 4, 4, 6),
        f"window={{size=3x3 pad=-1_-1x-1_-1}}, {NHWC}",
    ),
    "partly-reversed": (
        (2, 8, 8, 4),
        (3, 3, 4, 6),
        (2, 6, 6, 6),
        f"window={{size=3x3 rhs_reversal=1x0}}, {NHWC}",
    ),
    "no-derivative": (
        (2, 5, 5, 6),
        (3, 3, 6, 4),
        (2, 5, 5, 4),
        f"window={{size=3x3 pad=1_1x1_1 stride=2x2 lhs_dilate=2x2}}, {NHWC}",
    ),
    "type-not-served": None,
}


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(code):
    text = (
        convolution((2, 8, 9, 4), (3, 3, 4, 6), (2, 6, 7, 6), f"window={{size=3x3}}, {NHWC}", "s32")
        if REFUSED[code] is None
        else None
    )
    refused = convolution_of(parse_hlo(text or convolution(*REFUSED[code])).entry.root)
    assert refused.code == code


def test_the_choice_is_recorded_with_both_costs():
    text = convolution(
        (8, 32, 32, 64), (3, 3, 64, 64), (8, 32, 32, 64), f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}"
    )
    for which, verdict in (("always", "accepted"), ("never", "refused")):
        backend = {"architecture": "sm_90", "device": "emulator", "libraries": which}
        options = CompileOptions(journal="decisions", backend_options=backend)
        compiler = GpuCompiler()
        trace = compiler.run_hlo_passes(parse_hlo(text), options)
        (event,) = [e for e in trace.journal.events if e.by == "library-call"]
        facts = event.facts if verdict == "accepted" else event.reason.facts
        assert (
            event.verdict == verdict
            and facts["own_us"] > facts["library_us"] > 0
            and facts["own_emitter"] == "simt-convolution"
        )


def test_what_cudnn_has_no_algorithm_for_gets_our_kernel(libraries, monkeypatch):  # noqa: F811
    x, k, result, how, _ = FORMS["filter"]
    text, arrays = (
        convolution(x, k, result, how, "f64"),
        [values(x, np.float64), values(k, np.float64, 1)],
    )
    executor = CudaExecutor(driver_of(libraries.driver))
    executor.libraries = LibraryRunner(executor, libraries.find)
    monkeypatch.setattr(gpu_compiler, "device_executor", lambda requested: (executor, None))
    monkeypatch.setattr(
        FakeCudnn,
        "_answer",
        lambda self, algorithm, handle, wanted, found, results: setattr(found, "value", 0),
    )
    module, compiler = parse_hlo(text), GpuCompiler()
    control = PassControl(force={"library-call": [(module.entry.root.name,)]})
    options = CompileOptions(
        journal="decisions", control=control, backend_options={"libraries": "always"}
    )
    trace = compiler.run_hlo_passes(module, options)
    (event,) = [e for e in trace.journal.events if e.by == "library-call"]
    assert (
        event.verdict == "refused"
        and event.reason.code == "no-algorithm"
        and "backward-filter form in f64" in event.reason.message
    )
    made = compiler.run_backend(trace, options)
    assert [s.runs_on for s in made.executable.steps] == [
        "kernel"
    ] and made.executable.executor is executor
    (why,) = [thunk.reason for thunk in made.program.walk()]
    assert why.code == "library-not-called" and why.facts["because"] == "no-algorithm"
    np.testing.assert_allclose(
        made.executable.execute(arrays)[0], evaluate(module, *arrays), rtol=1e-12, atol=1e-12
    )
    executor.libraries.close()
    assert libraries.alive == {}, "descriptors of what came to nothing are given back, too"


def test_groups_of_few_features_are_not_cudnns():
    """Each group is a product of its own there, and fills a tile with its few features."""
    how = f"window={{size=3x3 pad=1_1x1_1}}, {NHWC}, feature_group_count="
    for groups, emitters in ((64, ["depthwise-convolution"]), (1, ["library"])):
        text = convolution(
            (8, 64, 64, 64), (3, 3, 64 // groups, 64), (8, 64, 64, 64), f"{how}{groups}"
        )
        options = CompileOptions(
            backend_options={"architecture": "sm_90", "device": "emulator", "libraries": "always"}
        )
        compiler = GpuCompiler()
        made = compiler.run_backend(
            compiler.run_hlo_passes(parse_hlo(text), options), options
        ).program
        assert [t.kernel.emitter if t.kernel else t.kind for t in made.walk()][-1:] == emitters
