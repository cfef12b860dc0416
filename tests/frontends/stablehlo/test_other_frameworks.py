"""Programs that PyTorch and TensorFlow print, read by `xe.load`, run, and compared with numpy.

PyTorch, torch_xla:

    exported = torch.export.export(model, (x,))
    text = torch_xla.stablehlo.exported_program_to_stablehlo(exported).get_stablehlo_text()
    module = xe.parse_stablehlo(text)

PyTorch, torchax:

    exported = torch.export.export(model, (x,))
    weights, program = torchax.export.exported_program_to_stablehlo(exported)
    module = xe.parse_stablehlo(program.mlir_module())

TensorFlow, HLO text:

    text = tf.function(f, jit_compile=True).experimental_get_compiler_ir(x, w)(stage="hlo")
    module = xe.parse_hlo(text)
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe

DATA = Path(__file__).resolve().parents[2] / "data"
RNG = np.random.default_rng(11)


def normal(*sizes: int) -> np.ndarray:
    return RNG.standard_normal(sizes).astype(np.float32)


@pytest.mark.parametrize("backend", ["interpreter", "cpu"])
def test_torch_xla(backend: str) -> None:
    module = xe.load(DATA / "torch_xla_mlp.mlir")
    b2, w2, b1, w1, x = normal(3), normal(3, 5), normal(5), normal(5, 4), normal(2, 4)
    hidden = x @ w1.T + b1
    hidden = hidden * 0.5 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2)))
    logits = hidden @ w2.T + b2
    want = np.exp(logits - logits.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    np.testing.assert_allclose(
        xe.compile(module, backend=backend)(b2, w2, b1, w1, x), want, rtol=2e-5
    )
    assert 'composite.name="aten.gelu.default"' in module.to_text()


def test_torch_through_jax_export() -> None:
    module = xe.load(DATA / "torch_export_convolution.mlir")
    w, b, x = normal(4, 2, 3, 3), normal(4), normal(1, 2, 6, 6)
    padded = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    full = np.stack(
        [
            [
                [(padded[:, i : i + 3, j : j + 3] * w[o]).sum() + b[o] for j in range(6)]
                for i in range(6)
            ]
            for o in range(4)
        ]
    )
    want = np.maximum(full, 0).reshape(4, 3, 2, 3, 2).max((2, 4))[None]
    np.testing.assert_allclose(xe.evaluate(module, w, b, x), want, rtol=2e-5, atol=1e-5)
    places = {
        i.op_metadata.source_line
        for i in module.instructions()
        if i.opcode.name in ("convolution", "reduce-window")
    }
    assert places == {14, 15}
    assert [p.name for p in module.entry.parameters()] == [
        "weights__conv.weight",
        "weights__conv.bias",
        "inputs_0",
    ]


def test_a_saved_model() -> None:
    module = xe.load(DATA / "tensorflow_saved_model_dense.mlir")
    x = normal(2, 4)
    w = np.float32([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-0.75, 1.0, 0.125], [0.0, -2.0, 1.0]])
    want = 1 / (1 + np.exp(-(x @ w + np.float32([0.1, 0.2, -0.3]))))
    probabilities, label = xe.evaluate(module, x)
    np.testing.assert_allclose(probabilities, want, rtol=1e-5)
    np.testing.assert_array_equal(label, want.argmax(1))


def test_tensorflows_compiler_ir() -> None:
    module = xe.load(DATA / "tensorflow_compiler_ir_dense.hlo")
    x, w, b = normal(2, 4), normal(4, 3), normal(3)
    np.testing.assert_allclose(xe.compile(module)(x, w, b), np.maximum(x @ w + b, 0), rtol=1e-5)
    assert {i.op_metadata.op_type for i in module.instructions()} >= {"MatMul", "AddV2", "Relu"}
    assert {i.op_metadata.source_line for i in module.instructions()} >= {11, 12}
