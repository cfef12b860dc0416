"""Recipes written inline for vectors give what the scalar functions give, bit for bit."""

import ctypes

import numpy as np
import pytest

from tests.compiler.codegen.vector_math.math_module import vector_math_module
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import F32, F64, PTR
from xla_explorer.compiler.codegen.vector_math import (
    vector_math_function,
    write_math,
)

LANES, COUNT = 8, 64
OPCODES = ("exponential", "tanh", "power", "sine", "logistic", "remainder")

pytestmark = pytest.mark.skipif(
    not host_target().has_fma, reason="recipes are written inline with fused multiply-adds"
)


def _function(name, opcode, t, lanes):
    b = StructuredBuilder()
    arrays = [b.named(f"%a{k}", PTR) for k in range(3)]
    with b.loop(b.index(0), b.index(COUNT), step=lanes) as loop:
        places = [b.address(array, t, loop.index) for array in arrays]
        count = 2 if opcode in ("power", "remainder") else 1
        operands = [b.load(place, t.of_lanes(lanes), t.bits // 8) for place in places[:count]]
        if lanes == 1:
            result = b.emit(
                "call", t, tuple(operands), f"{t} @{vector_math_function(opcode, t.suffix).name}"
            )
        else:
            result = write_math(b, opcode, *operands)
        b.store(result, places[2], t.bits // 8)
    return "\n".join(
        [
            f"define void @{name}(ptr %a0, ptr %a1, ptr %a2) {{",
            "entry:",
            *b.lines(),
            "  ret void",
            "}",
            "",
        ]
    ), b.declarations


@pytest.mark.parametrize("t", [F32, F64], ids=str)
def test_lanes_equal_scalars(t):
    texts, declarations, names = [], {}, []
    for opcode in OPCODES:
        for lanes in (1, LANES):
            names.append(f"{opcode}_{lanes}".replace("-", "_"))
            text, declared = _function(names[-1], opcode, t, lanes)
            texts.append(text)
            declarations |= declared
    library_text = vector_math_module(
        [vector_math_function(opcode, t.suffix).name for opcode in OPCODES]
    )
    declared = [d.text for d in declarations if d.text not in library_text]
    compiled = optimize_and_emit("\n".join([*texts, library_text, *declared, ""]), preset="none")
    library = NativeLibrary(compiled.objects, exports=names)
    rng = np.random.default_rng(0)
    kind = np.float32 if t == F32 else np.float64
    x, y = (rng.standard_normal((2, COUNT)) * 20).astype(kind)
    x[:5] = (0.0, -0.0, np.inf, -np.inf, np.nan)
    for opcode, scalar, vector in zip(OPCODES, names[::2], names[1::2], strict=True):
        results = np.zeros((2, COUNT), kind)
        for name, result in zip((scalar, vector), results, strict=True):
            library.bind(name, None, [ctypes.c_void_p] * 3)(
                *[a.ctypes.data for a in (x, y, result)]
            )
        np.testing.assert_array_equal(*results, err_msg=opcode)
        assert np.isfinite(results).any() and (results != 0).any()
