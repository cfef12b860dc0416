"""Floats of eight bits and fewer, to and from f32 by integer arithmetic on their bits; no table, so that it vectorises everywhere.

Formats: OCP 8-bit Floating Point Specification 1.0, OCP Microscaling Formats 1.0, and "8-bit Numerical Formats for Deep Neural Networks"
(Noune et al., 2022) for those without negative zero. What has no value in a format (overflow, NaN) becomes what ml_dtypes makes of it.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.llvm_types import float_constant


class SmallFormat(NamedTuple):
    """exponent, mantissa: bits. kind: `ieee` (infinities and NaNs), `fn` (one NaN, no infinity), `fnuz` (NaN in place of -0),
    `finite` (neither), `power` (powers of two without a sign, one NaN)."""

    exponent: int
    mantissa: int
    bias: int
    kind: str

    @property
    def magnitude_bits(self) -> int:
        """Bits without the sign."""
        return self.exponent + self.mantissa

    @property
    def largest(self) -> int:
        """The code of the largest finite number."""
        everything = (1 << self.magnitude_bits) - 1
        if self.kind == "ieee":
            return (((1 << self.exponent) - 1) << self.mantissa) - 1
        return everything - 1 if self.kind in ("fn", "power") else everything

    @property
    def overflow(self) -> int:
        """The code of what is too large, without the sign."""
        return {"finite": self.largest, "fnuz": 1 << self.magnitude_bits}.get(self.kind, self.largest + 1)

    @property
    def nan(self) -> int:
        """The code of NaN, without the sign."""
        if self.kind == "ieee":
            return self.largest + 1 + (1 << (self.mantissa - 1))
        return {"fnuz": 1 << self.magnitude_bits, "finite": 1 << self.magnitude_bits}.get(self.kind, self.largest + 1)


SMALL_FLOATS = {
    "f8e5m2": SmallFormat(5, 2, 15, "ieee"),
    "f8e4m3": SmallFormat(4, 3, 7, "ieee"),
    "f8e3m4": SmallFormat(3, 4, 3, "ieee"),
    "f8e4m3fn": SmallFormat(4, 3, 7, "fn"),
    "f8e4m3fnuz": SmallFormat(4, 3, 8, "fnuz"),
    "f8e5m2fnuz": SmallFormat(5, 2, 16, "fnuz"),
    "f8e4m3b11fnuz": SmallFormat(4, 3, 11, "fnuz"),
    "f4e2m1fn": SmallFormat(2, 1, 1, "finite"),
    "f8e8m0fnu": SmallFormat(8, 0, 127, "power"),
}


def _bits_of(name: str) -> int:
    return 4 if name.startswith("f4") else 8


def widen_small(w: FunctionWriter, value: str, name: str) -> str:
    """The f32 with the value of a small float; exact."""
    form, t = SMALL_FLOATS[name], f"i{_bits_of(name)}"
    raw = w.value(f"zext {t} {value} to i32")
    not_a_number = float_constant(float("nan"), "float")
    if form.kind == "power":
        shifted = w.value(f"bitcast i32 {w.value(f'shl i32 {raw}, 23')} to float")
        smallest, none = w.value(f"icmp eq i32 {raw}, 0"), w.value(f"icmp eq i32 {raw}, {form.nan}")
        shifted = w.value(f"select i1 {smallest}, float {float_constant(2.0**-127, 'float')}, float {shifted}")
        return w.value(f"select i1 {none}, float {not_a_number}, float {shifted}")
    magnitude = w.value(f"and i32 {raw}, {(1 << form.magnitude_bits) - 1}")
    sign = w.value(f"shl i32 {w.value(f'lshr i32 {raw}, {form.magnitude_bits}')}, 31")
    moved = w.value(f"shl i32 {magnitude}, {23 - form.mantissa}")
    normal = w.value(f"add i32 {moved}, {(127 - form.bias) << 23}")
    unit = float_constant(2.0 ** (1 - form.bias - form.mantissa), "float")
    subnormal = w.value(f"fmul float {w.value(f'sitofp i32 {magnitude} to float')}, {unit}")
    is_subnormal = w.value(f"icmp ult i32 {magnitude}, {1 << form.mantissa}")
    chosen = w.value(f"select i1 {is_subnormal}, i32 {w.value(f'bitcast float {subnormal} to i32')}, i32 {normal}")
    if form.kind == "ieee":
        special = w.value(f"icmp ugt i32 {magnitude}, {form.largest}")
        chosen = w.value(f"select i1 {special}, i32 {w.value(f'or i32 {moved}, {0x7F800000}')}, i32 {chosen}")
    elif form.kind == "fn":
        special = w.value(f"icmp ugt i32 {magnitude}, {form.largest}")
        chosen = w.value(f"select i1 {special}, i32 {0x7FC00000}, i32 {chosen}")
    result = w.value(f"bitcast i32 {w.value(f'or i32 {chosen}, {sign}')} to float")
    if form.kind == "fnuz":
        none = w.value(f"icmp eq i32 {raw}, {form.nan}")
        result = w.value(f"select i1 {none}, float {not_a_number}, float {result}")
    return result


def narrow_small(w: FunctionWriter, value: str, name: str) -> str:
    """A float rounded to a small one: to nearest, ties to even (`power`: ties up)."""
    form, t = SMALL_FLOATS[name], f"i{_bits_of(name)}"
    raw = w.value(f"bitcast float {value} to i32")
    unordered = w.value(f"fcmp uno float {value}, {value}")
    if form.kind == "power":
        rounded = w.value(f"lshr i32 {w.value(f'add i32 {raw}, {1 << 22}')}, 23")
        tiny = w.value(f"icmp ult i32 {raw}, {1 << 23}")
        upper = w.value(f"zext i1 {w.value(f'icmp ugt i32 {raw}, {1 << 22}')} to i32")  # as the reference rounds f32's subnormals
        code = w.value(f"select i1 {tiny}, i32 {upper}, i32 {rounded}")
        code = w.call_intrinsic("llvm.umin.i32", "i32", ("i32", code), ("i32", str(form.nan)))
        none = w.value(f"fcmp ule float {value}, {float_constant(0.0, 'float')}")
        return w.value(f"trunc i32 {w.value(f'select i1 {none}, i32 {form.nan}, i32 {code}')} to {t}")
    magnitude = w.value(f"and i32 {raw}, {0x7FFFFFFF}")
    sign = w.value(f"lshr i32 {raw}, 31")
    dropped = 23 - form.mantissa
    odd = w.value(f"and i32 {w.value(f'lshr i32 {magnitude}, {dropped}')}, 1")
    rounded = w.value(f"add i32 {w.value(f'add i32 {magnitude}, {odd}')}, {(1 << (dropped - 1)) - 1}")
    normal = w.value(f"sub i32 {w.value(f'lshr i32 {rounded}, {dropped}')}, {(127 - form.bias) << form.mantissa}")
    # Added to this number, a float's last place is the smallest subnormal: the addition rounds.
    magic = 2.0 ** (1 - form.bias - form.mantissa + 23)
    total = w.value(f"fadd float {w.value(f'bitcast i32 {magnitude} to float')}, {float_constant(magic, 'float')}")
    base = w.value(f"bitcast float {float_constant(magic, 'float')} to i32")
    subnormal = w.value(f"sub i32 {w.value(f'bitcast float {total} to i32')}, {base}")
    tiny = w.value(f"icmp ult i32 {magnitude}, {(128 - form.bias) << 23}")
    code = w.value(f"select i1 {tiny}, i32 {subnormal}, i32 {normal}")
    large = w.value(f"icmp sgt i32 {code}, {form.largest}")
    code = w.value(f"select i1 {large}, i32 {form.overflow}, i32 {code}")
    code = w.value(f"select i1 {unordered}, i32 {form.nan & ((1 << form.magnitude_bits) - 1)}, i32 {code}")
    if form.kind == "fnuz":
        # The sign's place alone is NaN, so zero has no sign.
        none = w.value(f"or i1 {unordered}, {large}")
        signed = w.value(f"or i32 {code}, {w.value(f'shl i32 {sign}, {form.magnitude_bits}')}")
        signed = w.value(f"select i1 {w.value(f'icmp eq i32 {code}, 0')}, i32 0, i32 {signed}")
        code = w.value(f"select i1 {none}, i32 {form.nan}, i32 {signed}")
    else:
        if form.kind == "finite":  # a NaN becomes zero of the other sign
            sign = w.value(f"xor i32 {sign}, {w.value(f'zext i1 {unordered} to i32')}")
        code = w.value(f"or i32 {code}, {w.value(f'shl i32 {sign}, {form.magnitude_bits}')}")
    return w.value(f"trunc i32 {code} to {t}")
