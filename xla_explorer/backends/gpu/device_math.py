"""f32 functions with the special function unit (`ex2.approx`, `div.full` ...) within stated ulps.

Three levels. `precise`: division rounds correctly, functions are those of `vector_math`. `xla` (the
default) is as exact as XLA's GPU code: `div.full`, `rsqrt.approx`, e^x by `ex2.approx` after an
exact reduction. `fast` has the fewest instructions. f64 and functions without a row are the same at
every level, except for divisions inside. 16-bit floats compute in f32.

A bound is the sum of the sequence's own error with correctly rounded unit results, and the unit's
maximum error. Source: PTX ISA, "Floating Point Instructions" (maximum errors); CUDA C++ Programming
Guide, "Mathematical Functions"; XLA's choice of div.full:
xla/service/gpu/llvm_gpu_backend/nvptx_backend.cc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from xla_explorer.compiler.codegen.ir.builder import literal
from xla_explorer.compiler.codegen.ir.definitions import Declaration
from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction
from xla_explorer.compiler.codegen.ir.records import Instruction, Line
from xla_explorer.compiler.codegen.ir.types import F32
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.body import KernelBody
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.vector_math import (
    element_type_of,
    opcode_of,
    vector_math_function,
    vector_math_opcodes,
)
from xla_explorer.compiler.codegen.vector_math.constants import LOG2_E
from xla_explorer.compiler.codegen.vector_math.error_function import FAR, NEAR, SATURATION
from xla_explorer.compiler.codegen.vector_math.function import function_name, written_function
from xla_explorer.compiler.codegen.vector_math.hyperbolic import (
    TANH,
    TANH_NEAR_LIMIT,
    odd_polynomial,
)
from xla_explorer.compiler.codegen.vector_math.math_builder import FORMATS, MathBuilder

LEVELS: Final = ("precise", "xla", "fast")
DEFAULT_LEVEL: Final = "xla"
_DIVISION: Final = {"precise": "", "xla": "llvm.nvvm.div.full", "fast": "llvm.nvvm.div.approx.f"}
_ONE: Final = literal(F32, 1.0)


class DeviceFunction(NamedTuple):
    """A row of the table.

    emit: writes the function. own_ulps, unit_ulps: see the module; their sum bounds the error of a
    normal result, in units in the last place. instructions: of the special function unit, in PTX's
    spelling.
    """

    emit: Callable[[SpecialFunctionBuilder], Value] | None
    own_ulps: float
    unit_ulps: float
    instructions: tuple[str, ...]

    @property
    def max_ulps(self) -> float:
        """Error bound in ulps."""
        return self.own_ulps + self.unit_ulps


class SpecialFunctionBuilder(MathBuilder):
    """A builder for f32 with NVIDIA-specific intrinsics."""

    __slots__ = ()

    def unit(self, intrinsic: str, *operands: Value) -> Value:
        """Call an intrinsic on floats."""
        return self.intrinsic(f"llvm.nvvm.{intrinsic}", F32, *operands)


def exponential(b: SpecialFunctionBuilder) -> Value:
    """Return e^x = 2^k 2^f, with k the floor of x log2(e) clamped to normal exponents.

    f takes the rest, so that the last product gives overflow, denormals, infinities and NaN.
    """
    x = b.argument()
    # k + 126 as a fraction of 252, clamped to 0 ... 1. Added to 2^23 + 2^22 + 1 and rounded down,
    # its low bits are the exponent field of 2^k.
    share = b.unit("saturate.f", b.fma(x, LOG2_E.high("f32") / 252.0, 0.5))
    magic = FORMATS["f32"].integer_magic + 1.0
    field = b.unit("fma.rm.f", share, b.constant(252.0), b.constant(magic))
    k = field - (magic + 126.0)
    f = b.fma(x, LOG2_E.low("f32"), b.fma(x, LOG2_E.high("f32"), -k))
    return b.unit("ex2.approx.ftz.f", f) * b.from_bits(b.to_bits(field) << 23)


def logistic(b: SpecialFunctionBuilder) -> Value:
    """Return 1 / (1 + e^-x) from e^-|x|, which cannot overflow; the denominator is in 1 ... 2."""
    x = b.argument()
    decay = b.call(function_name("exponential", "f32"), -b.absolute(x))
    return b.select(x < 0.0, decay, b.constant(1.0)) * b.unit("rcp.approx.ftz.f", decay + 1.0)


def hyperbolic_tangent(b: SpecialFunctionBuilder) -> Value:
    """Return tanh x, away from 0 as 1 - 2 / (e^2x + 1).

    There an error of the exponential is less than a third in the result.
    """
    x = b.argument()
    magnitude = b.absolute(x)
    power = b.unit("ex2.approx.ftz.f", magnitude * (2.0 * LOG2_E.high("f32")))
    far = b.fma(b.unit("rcp.approx.ftz.f", power + 1.0), -2.0, 1.0)
    near = odd_polynomial(b, magnitude, TANH["f32"])
    return b.copy_sign(b.select(magnitude < TANH_NEAR_LIMIT, near, far), x)


def error_function(b: SpecialFunctionBuilder) -> Value:
    """Return erf x, beyond 1 as 1 - e^Q(|x|).

    There e^Q is less than a fifth of the result.
    """
    x = b.argument()
    magnitude = b.at_most(b.absolute(x), SATURATION["f32"])
    near = b.fma(magnitude, b.polynomial(magnitude * magnitude, NEAR["f32"]), magnitude)
    logarithm = b.polynomial(magnitude - 2.0, FAR["f32"])
    far = 1.0 - b.unit("ex2.approx.ftz.f", logarithm * LOG2_E.high("f32"))
    return b.copy_sign(b.select(magnitude > 1.0, far, near), x)


def fast_hyperbolic_tangent(b: SpecialFunctionBuilder) -> Value:
    """Return tanh by the special function unit."""
    return b.unit("tanh.approx.f32", b.argument())


def reciprocal_square_root(b: SpecialFunctionBuilder) -> Value:
    """Return 1 / sqrt(x) by the special function unit."""
    return b.unit("rsqrt.approx.f", b.argument())


def fast_square_root(b: SpecialFunctionBuilder) -> Value:
    """Return sqrt(x) by the special function unit."""
    return b.unit("sqrt.approx.f", b.argument())


def fast_logarithm(b: SpecialFunctionBuilder) -> Value:
    """Return ln x as ln 2 times `lg2.approx`, near 1 by the series of 2 atanh(f / (2 + f)).

    The error of `lg2.approx` is absolute near 1.
    """
    x = b.argument()
    f = x - 1.0
    s = f * b.unit("rcp.approx.ftz.f", f + 2.0)
    z = s * s
    near = b.fma(s * z, b.polynomial(z, (2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9)), s + s)
    far = b.unit("lg2.approx.f", x) * math.log(2.0)
    return b.select(b.absolute(f) < 0.25, near, far)


_SHARED: Final = {
    "exponential": DeviceFunction(exponential, 1.5, 2.0, ("ex2.approx.ftz.f32",)),
    "logistic": DeviceFunction(logistic, 2.5, 3.0, ("ex2.approx.ftz.f32", "rcp.approx.ftz.f32")),
    "tanh": DeviceFunction(
        hyperbolic_tangent, 1.5, 1.5, ("ex2.approx.ftz.f32", "rcp.approx.ftz.f32")
    ),
    "erf": DeviceFunction(error_function, 1.5, 0.5, ("ex2.approx.ftz.f32",)),
    "rsqrt": DeviceFunction(reciprocal_square_root, 0.5, 1.5, ("rsqrt.approx.f32",)),
}
# By level and opcode. `divide` is not a function: kernels and functions use the named instruction.
TABLE: Final[dict[str, dict[str, DeviceFunction]]] = {
    "precise": {"divide": DeviceFunction(None, 0.5, 0.0, ("div.rn.f32",))},
    "xla": {**_SHARED, "divide": DeviceFunction(None, 0.5, 1.5, ("div.full.f32",))},
    "fast": {
        **_SHARED,
        "tanh": DeviceFunction(fast_hyperbolic_tangent, 0.5, 8192.0, ("tanh.approx.f32",)),
        "sqrt": DeviceFunction(fast_square_root, 0.5, 1.5, ("sqrt.approx.f32",)),
        "log": DeviceFunction(fast_logarithm, 2.5, 14.0, ("lg2.approx.f32", "rcp.approx.ftz.f32")),
        "divide": DeviceFunction(
            None, 0.5, 1.5, ("div.approx.f32",)
        ),  # for divisors up to 2^126; 0 beyond
    },
}
_OPCODES: Final = {function_name(opcode, "f32"): opcode for opcode in vector_math_opcodes()}


class KernelMath(NamedTuple):
    """The levels of a kernel.

    level: of the module, whose functions have plain names. others: of single opcodes, from the
    user's overrides; "" is the default.
    """

    level: str = DEFAULT_LEVEL
    others: Mapping[str, str] = MappingProxyType({})

    def of(self, opcode: str) -> str:
        """Return the level of an opcode."""
        return self.others.get(opcode) or self.others.get("") or self.level


UsedFunctions = tuple[tuple[str, str], ...]
"""Opcodes of the table that a kernel uses, each with its level."""


class RecordHolder(Protocol):
    """A holder of the records of a function: a builder or a body."""

    @property
    def records(self) -> list[Line]:
        """The records, in order."""

    @property
    def declarations(self) -> dict[Declaration, None]:
        """Declarations of called intrinsics."""


class DeviceMathStep:
    """The step `device-math` of the lowering. used: functions of the table in the last body."""

    name = "device-math"
    sentence = "Call the functions and divisions of the special function unit."

    def __init__(self, kernel: KernelMath) -> None:
        self.kernel = kernel
        self.used: UsedFunctions = ()

    def run(self, body: KernelBody, features: CodeFeatures) -> KernelBody:
        """Return the body with the functions of the kernel's levels."""
        changed = KernelBody(list(body.records), dict(body.declarations))
        self.used = write_device_math(changed, self.kernel)
        return changed


def write_device_math(w: RecordHolder, kernel: KernelMath) -> UsedFunctions:
    """Add the f32 functions and divisions of the kernel's levels; return those of the table."""
    used: dict[tuple[str, str], None] = {}
    if write_divisions(w, kernel.of("divide")):
        used["divide", kernel.of("divide")] = None
    for number, record in enumerate(w.records):
        if not isinstance(record, Instruction) or record.op != "math":
            continue
        function = str(record.detail)
        opcode = _OPCODES.get(function, "")
        level = kernel.of(opcode)
        if opcode in TABLE[level]:
            used[opcode, level] = None
        if level != kernel.level and opcode:
            w.records[number] = record._replace(detail=f"{function}_{level}")
    return tuple(sorted(used))


def write_divisions(b: RecordHolder, level: str) -> bool:
    """Replace f32 divisions by the level's; return whether there was any.

    Division by a power of two stays, because LLVM turns it into a product. For a dividend of one,
    `rcp.approx` equals `div.full` (PTX ISA). It is inline assembly, because LLVM's intrinsic
    flushes denormals.
    """
    intrinsic, found = _DIVISION[level], False
    for number, record in enumerate(b.records):
        if (
            not isinstance(record, Instruction)
            or record.op != "fdiv"
            or record.operands[0].type is not F32
        ):
            continue
        dividend, divisor = record.operands
        if _is_power_of_two(divisor):
            continue
        found = True
        if not intrinsic:
            continue
        if dividend.name == _ONE:
            changed = record._replace(
                op="call", operands=(divisor,), detail=f'{F32} asm "rcp.approx.f32 $0, $1;", "=f,f"'
            )
        else:
            changed = record._replace(op="call", detail=f"{F32} @{intrinsic}")
            b.declarations[Declaration(intrinsic, F32.text, (F32.text, F32.text))] = None
        b.records[number] = changed
    return found


@cache
def _divided(level: str) -> Callable[[InOrderBuilder], None]:
    """Return a rewriter of f32 divisions inside functions, at most at level `xla`.

    `fast` does not support all divisors, and the operands are unknown.
    """

    def change(b: InOrderBuilder) -> None:
        write_divisions(b, "xla" if level == "fast" else level)

    return change


@cache
def _written(function: str, level: str, suffix: str) -> LlvmFunction:
    """Return a function of a level."""
    row = TABLE[level].get(_OPCODES.get(function, ""))
    if row is not None and row.emit is not None:
        return written_function(
            function + suffix, row.emit, "f32", kind=SpecialFunctionBuilder, suffix=suffix
        )
    return vector_math_function(
        opcode_of(function), element_type_of(function), True, suffix, _divided(level)
    ).definition


def device_math_functions(
    names: Iterable[str], level: str = DEFAULT_LEVEL
) -> tuple[LlvmFunction, ...]:
    """Return the named functions of a level and their callees, each once, callees first.

    Functions of other levels have the level as a suffix.
    """
    found: dict[str, LlvmFunction] = {}
    suffixed = {f"_{other}": other for other in LEVELS}

    def visit(name: str) -> None:
        if name in found:
            return
        suffix = next((suffix for suffix in suffixed if name.endswith(suffix)), "")
        function = _written(name.removesuffix(suffix), suffixed.get(suffix, level), suffix)
        for callee in function.callees:
            visit(callee)
        found[name] = function

    for name in names:
        visit(name)
    return tuple(found.values())


def _is_power_of_two(value: Value) -> bool:
    """Return whether a value is a constant power of two, by the bits of a double."""
    if not value.is_constant:
        return False
    bits = int(value.name, 16)
    return bits & ((1 << 52) - 1) == 0 and 0 < (bits >> 52) & 0x7FF < 0x7FF
