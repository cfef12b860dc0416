"""Every operation of StableHLO's specification and of CHLO, read without jaxlib.

Values are compared with independently computed numbers.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.frontends.stablehlo.operation_examples import EXAMPLES, Example
from xla_explorer.frontends.stablehlo.conversion import CONVERSIONS

# The operations of the specification (docs/spec.md, section Ops) and those that the dialect keeps
# beside them.
SPECIFICATION = [
    "abs",
    "add",
    "after_all",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "and",
    "async_done",
    "async_start",
    "atan2",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "bitcast_convert",
    "broadcast_in_dim",
    "case",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "collective_broadcast",
    "collective_permute",
    "compare",
    "complex",
    "composite",
    "concatenate",
    "constant",
    "convert",
    "convolution",
    "cosine",
    "count_leading_zeros",
    "custom_call",
    "divide",
    "dot_general",
    "dynamic_broadcast_in_dim",
    "dynamic_conv",
    "dynamic_gather",
    "dynamic_iota",
    "dynamic_pad",
    "dynamic_reshape",
    "dynamic_slice",
    "dynamic_update_slice",
    "exponential",
    "exponential_minus_one",
    "fft",
    "floor",
    "gather",
    "get_dimension_size",
    "get_tuple_element",
    "if",
    "imag",
    "infeed",
    "iota",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "optimization_barrier",
    "or",
    "outfeed",
    "pad",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "recv",
    "reduce",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "remainder",
    "replica_id",
    "reshape",
    "reverse",
    "rng",
    "rng_bit_generator",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter",
    "select",
    "select_and_scatter",
    "send",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "slice",
    "sort",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "transpose",
    "triangular_solve",
    "tuple",
    "uniform_dequantize",
    "uniform_quantize",
    "while",
    "xor",
]
BESIDE = [
    "broadcast",
    "create_token",
    "cross-replica-sum",
    "dot",
    "einsum",
    "unary_einsum",
    "real_dynamic_slice",
    "set_dimension_size",
    "torch_index_select",
]
# Shown in test_devices_and_hosts.py, and quantised types in test_refusals.py.
ELSEWHERE = {
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "reduce_scatter",
    "replica_id",
    "partition_id",
    "infeed",
    "outfeed",
    "send",
    "recv",
    "async_start",
    "async_done",
    "cross-replica-sum",
    "uniform_quantize",
    "uniform_dequantize",
}
# CHLO's elementwise operations with implicit broadcasting differ in nothing but the opcode.
LIKE_BROADCAST_ADD = {name for name in CONVERSIONS if name.startswith("chlo.broadcast_")}


def same(got: Any, want: Any, tolerance: float) -> None:
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, tolerance)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.name == "bfloat16":
        got = got.astype(np.float32)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_nothing_of_the_specification_is_missing() -> None:
    shown = set(EXAMPLES) | ELSEWHERE
    assert sorted(set(SPECIFICATION + BESIDE) - shown) == []
    assert sorted(set(SPECIFICATION + BESIDE) - set(CONVERSIONS) - {"constant"}) == []
    own_of_mhlo = {"stochastic_convert", "copy", "add_dependency", "call"}
    others = {
        name for name in CONVERSIONS if not name.startswith("sdy.")
    }  # Shardy's: tests/compiler/transforms/spmd
    assert sorted(others - shown - LIKE_BROADCAST_ADD - own_of_mhlo) == []


@pytest.mark.parametrize(
    ("name", "number"), [(name, k) for name, found in EXAMPLES.items() for k in range(len(found))]
)
def test_the_example_gives_its_value(name: str, number: int) -> None:
    given: Example = EXAMPLES[name][number]
    module = xe.parse_stablehlo(given.text)
    got = xe.evaluate(module, *given.arguments)
    if given.expected is not None:
        same(got, given.expected, given.tolerance)
    again = xe.parse_hlo(module.to_text())
    assert again.to_text() == module.to_text()


@pytest.mark.parametrize(
    "name", [name for name in EXAMPLES if not name.startswith(("chlo.", "func."))]
)
def test_mhlo_reads_as_stablehlo_does(name: str) -> None:
    text = EXAMPLES[name][0].text
    assert (
        xe.parse_stablehlo(
            text.replace("stablehlo.", "mhlo.").replace("#stablehlo", "#mhlo")
        ).to_text()
        == xe.parse_stablehlo(text).to_text()
    )


def test_the_counter_of_bits_is_the_evaluators() -> None:
    given = EXAMPLES["rng_bit_generator"][0]
    state, bits = xe.evaluate(xe.parse_stablehlo(given.text), *given.arguments)
    own = xe.parse_hlo(
        "HloModule m\nENTRY e {\n  s = u64[2]{0} parameter(0)\n  ROOT r = (u64[2]{0}, u32[2]{0}) rng-bit-generator(s), algorithm=rng_three_fry\n}\n"
    )
    want_state, want_bits = xe.evaluate(own, *given.arguments)
    np.testing.assert_array_equal(state, want_state)
    np.testing.assert_array_equal(bits, want_bits)


def test_reading_loads_no_jax() -> None:
    import subprocess

    code = "import sys, xla_explorer as xe; from tests.frontends.stablehlo.operation_examples import EXAMPLES\n"
    code += "xe.parse_stablehlo(EXAMPLES['while'][0].text); print([m for m in ('jax', 'jaxlib', 'llvmlite', 'pandas') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        ).stdout.strip()
        == "[]"
    )
