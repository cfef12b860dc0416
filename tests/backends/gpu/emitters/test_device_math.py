"""The special function unit's sequences against the true functions.

The emulator's unit rounds correctly, so the measured error is that of the sequences.
"""

import mpmath
import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import assemble_everywhere
from xla_explorer.backends.gpu.device_math import (
    LEVELS,
    TABLE,
    KernelMath,
    device_math_functions,
    write_device_math,
)
from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.llvm_text import function_text
from xla_explorer.compiler.codegen.ir.types import F32, F64
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.text.parser import parse_hlo

TRUE = {
    "exponential": mpmath.exp,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sqrt": mpmath.sqrt,
    "log": mpmath.log,
}
SPECIAL = {  # at NaN, +inf, -inf, +0, -0
    "exponential": (np.nan, np.inf, 0.0, 1.0, 1.0),
    "logistic": (np.nan, 1.0, 0.0, 0.5, 0.5),
    "tanh": (np.nan, 1.0, -1.0, 0.0, -0.0),
    "erf": (np.nan, 1.0, -1.0, 0.0, -0.0),
    "rsqrt": (np.nan, 0.0, np.nan, np.inf, -np.inf),
    "sqrt": (np.nan, np.inf, np.nan, 0.0, -0.0),
    "log": (np.nan, np.inf, np.nan, -np.inf, -np.inf),
}
ROWS = [(level, opcode) for level in LEVELS for opcode in TABLE[level] if opcode != "divide"]


def points(opcode, count=600):
    """Return points of many magnitudes, around thresholds, subnormals, and negative ones.

    Negative points are left out if the function has none.
    """
    random = np.random.default_rng(len(opcode))
    wide = np.exp2(random.uniform(-149, 128, count)).astype(np.float32)
    narrow = random.uniform(0, 104, count).astype(np.float32)
    near = (1 + random.uniform(-0.5, 0.5, count)).astype(np.float32)
    all_of_them = np.concatenate(
        [
            wide,
            narrow,
            near,
            np.float32([0.6, 0.75, 1.0, 1.25, 9.0, 88.7, 87.4, 103.9, 1e-45, 1e-39]),
        ]
    )
    return (
        all_of_them
        if opcode in ("rsqrt", "sqrt", "log")
        else np.concatenate([all_of_them, -all_of_them])
    )


def run(text, *inputs, math="xla"):
    """Results on the emulator; no passes, which expand logistic."""
    compiler, options = (
        GpuCompiler(),
        CompileOptions(passes="none", backend_options={"device": "emulator", "math": math}),
    )
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    (found,) = result.executable.execute(inputs)
    return np.asarray(found), result


def ulps(found, true):
    """Distances in units in the last place of the true results, denormal ones included."""
    worst = 0.0
    for value, exact in zip(found.tolist(), true, strict=True):
        if abs(exact) >= 3.4028236e38:  # rounds to infinity, or is near to it
            assert value == np.inf or abs(value) > 3.4e38, (value, exact)
            continue
        unit = mpmath.ldexp(
            1, max(int(mpmath.floor(mpmath.log(abs(exact), 2))) if exact else -126, -126) - 23
        )
        worst = max(worst, float(abs(mpmath.mpf(value) - exact) / unit))
    return worst


@pytest.mark.parametrize(("level", "opcode"), ROWS)
@pytest.mark.sampled(6)
def test_own_error_is_within_the_stated_ulps(level, opcode):
    row, x = TABLE[level][opcode], points(opcode)
    found, _ = run(
        f"HloModule m\nENTRY e {{ x = f32[{len(x)}] parameter(0) ROOT r = f32[{len(x)}] {opcode}(x) }}",
        x,
        math=level,
    )
    with mpmath.workprec(120):
        seen = ulps(found, [TRUE[opcode](mpmath.mpf(float(v))) for v in x])
    assert seen <= row.own_ulps, f"{seen:.3f} ulps"


@pytest.mark.parametrize(("level", "opcode"), ROWS)
def test_special_values(level, opcode):
    x = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0])
    found, _ = run(
        f"HloModule m\nENTRY e {{ x = f32[5] parameter(0) ROOT r = f32[5] {opcode}(x) }}",
        x,
        math=level,
    )
    wanted = np.float32(SPECIAL[opcode])
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)
    assert (np.signbit(found) == np.signbit(wanted))[numbers].all()


@pytest.mark.parametrize(
    ("level", "instruction"),
    [("precise", "div.rn.f32"), ("xla", "div.full.f32"), ("fast", "div.approx.f32")],
)
def test_division_is_the_levels(level, instruction):
    text = "HloModule m\nENTRY e { x = f32[64] parameter(0) y = f32[64] parameter(1) ROOT r = f32[64] divide(x, y) }"
    x, y = np.float32(np.linspace(-3, 5, 64)), np.float32(np.linspace(0.5, 2, 64))
    found, result = run(text, x, y, math=level)
    assert instruction in result.stages["ptx"].text
    np.testing.assert_allclose(found, x / y, rtol=2e-7)


def test_division_inside_functions_follows():
    def text(name, level):
        return "".join(map(function_text, device_math_functions([name], level)))

    assert "@llvm.nvvm.div.full(" in text("xe_sinh_f32", "xla")
    assert "fdiv" in text("xe_sinh_f32", "precise")
    assert "fdiv double" in text("xe_sinh_f64", "fast")


def test_a_power_of_two_stays_a_product_for_llvm():
    w = FunctionWriter()
    x, y = w.named("%x", F32), w.named("%y", F64)
    for divided in (x / 4.0, x / 3.0, y / y):
        assert divided.name
    assert write_device_math(w, KernelMath("xla")) == (("divide", "xla"),)
    assert [line.strip() for line in w.lines()] == [
        "%v1 = fdiv float %x, 0x4010000000000000",
        "%v2 = call float @llvm.nvvm.div.full(float %x, float 0x4008000000000000)",
        "%v3 = fdiv double %y, %y",
    ]


def test_one_over_x_is_a_reciprocal():
    """A reciprocal equals div.full by the PTX ISA, in half as many instructions; denormals too."""
    text = """HloModule m
f { x = f32[64] parameter(0) c = f32[] constant(1) o = f32[64] broadcast(c), dimensions={} ROOT r = f32[64] divide(o, x) }
ENTRY e { x = f32[64] parameter(0) ROOT r = f32[64] fusion(x), kind=kLoop, calls=f }"""
    x = np.float32(np.exp2(np.linspace(-127, 127.9, 64)))
    found, result = run(text, x)
    assert "rcp.approx.f32" in result.stages["ptx"].text
    assert "div" not in result.stages["ptx"].text
    np.testing.assert_allclose(found, 1 / x, rtol=2e-7)


def test_the_decision_is_recorded_with_its_bound():
    compiler, journal = GpuCompiler(), Journal("decisions")
    options = CompileOptions(journal=journal, backend_options={"device": "emulator"})
    text = "HloModule m\nENTRY e { x = f32[64] parameter(0) t = f32[64] tanh(x) ROOT r = f32[64] divide(t, x) }"
    compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    found = {event.facts["function"]: event.facts for event in journal.events if event.by == "math"}
    assert found["divide"]["instructions"] == ["div.full.f32"]
    assert found["tanh"]["max_ulps"] == TABLE["xla"]["tanh"].max_ulps


def test_an_unknown_level_is_refused():
    with pytest.raises(XlaExplorerError, match="precise, xla, fast"):
        run(
            "HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] tanh(x) }",
            np.zeros(4, np.float32),
            math="sloppy",
        )


def test_ptxas_takes_every_function():
    body = " ".join([f"r{n} = f32[128] {opcode}(x)" for n, opcode in enumerate(SPECIAL)])
    names = ", ".join([f"r{n}" for n in range(len(SPECIAL))])
    fused = f"f {{ x = f32[128] parameter(0) {body} ROOT t = ({', '.join(['f32[128]'] * len(SPECIAL))}) tuple({names}) }}"
    shape = f"({', '.join(['f32[128]'] * len(SPECIAL))})"
    assemble_everywhere(
        f"HloModule m\n{fused}\nENTRY e {{ x = f32[128] parameter(0) ROOT r = {shape} fusion(x), kind=kLoop, calls=f }}"
    )
