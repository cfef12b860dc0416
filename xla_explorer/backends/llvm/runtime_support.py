"""LLVM IR of functions that code generators call and some runtimes lack.

Conversions of half precision for CPUs without such instructions (names and meaning: compiler-rt and
libgcc), rounding to even (C23), and the C library functions that wasm32 lacks. They are weak and
hidden: several objects may bring them into one program.
"""

from __future__ import annotations

_HALF_TO_FLOAT = """float @__extendhfsf2({half} %x) nounwind {{
  {bits}
  %h = zext i16 %b to i32
  %s = and i32 %h, 32768
  %sign = shl i32 %s, 16
  %m = and i32 %h, 32767
  %wide = shl i32 %m, 13
  %normal = add i32 %wide, 939524096
  %infinite = or i32 %wide, 2139095040
  %nan = or i32 %wide, 2143289344
  %tiny = uitofp i32 %m to float
  %scaled = fmul float %tiny, 0x3E70000000000000
  %small = bitcast float %scaled to i32
  %is_small = icmp ult i32 %m, 1024
  %is_infinite = icmp eq i32 %m, 31744
  %is_nan = icmp ugt i32 %m, 31744
  %r1 = select i1 %is_small, i32 %small, i32 %normal
  %r2 = select i1 %is_infinite, i32 %infinite, i32 %r1
  %r3 = select i1 %is_nan, i32 %nan, i32 %r2
  %r = or i32 %r3, %sign
  %f = bitcast i32 %r to float
  ret float %f
}}"""

# For both source types: the magnitude's bits a; below 2^-14 an addition rounds at 2^-24, the last
# place of a subnormal half; else half of the last place is added, less one unless the kept part is
# odd.
_TO_HALF = """{half} @{name}({float} %x) nounwind {{
  %b = bitcast {float} %x to {integer}
  %a = and {integer} %b, {magnitude}
  %shifted_sign = lshr {integer} %b, {sign_shift}
  %wide_sign = and {integer} %shifted_sign, 32768
  %y = bitcast {integer} %a to {float}
  %sum = fadd {float} %y, {magic}
  %sum_bits = bitcast {float} %sum to {integer}
  %small = sub {integer} %sum_bits, {magic_bits}
  %kept = lshr {integer} %a, {cut}
  %odd = and {integer} %kept, 1
  %half_up = add {integer} %a, {half_place}
  %rounded = add {integer} %half_up, %odd
  %exponent_moved = lshr {integer} %rounded, {cut}
  %normal = sub {integer} %exponent_moved, {bias}
  %payload = and {integer} %kept, 511
  %nan = or {integer} %payload, 32256
  %is_small = icmp ult {integer} %a, {smallest_normal}
  %is_large = icmp uge {integer} %a, {too_large}
  %is_nan = icmp ugt {integer} %a, {infinity}
  %r1 = select i1 %is_small, {integer} %small, {integer} %normal
  %r2 = select i1 %is_large, {integer} 31744, {integer} %r1
  %r3 = select i1 %is_nan, {integer} %nan, {integer} %r2
  %r4 = or {integer} %r3, %wide_sign
  %r5 = trunc {integer} %r4 to i16
  {result}
}}"""

# Adding and subtracting 2^(bits of the mantissa) rounds to even; this turns back the ties that went
# towards zero.
_TIES_AWAY = """  %rest = fsub {float} %y, %down
  %tie = fcmp oeq {float} %rest, 0x3FE0000000000000
  %next = fadd {float} %down, 0x3FF0000000000000
  %away = select i1 %tie, {float} %next, {float} %down"""
_ROUND = """{float} @{name}({float} %x) nounwind {{
  %b = bitcast {float} %x to {integer}
  %a = and {integer} %b, {magnitude}
  %sign = and {integer} %b, {sign}
  %y = bitcast {integer} %a to {float}
  %up = fadd {float} %y, {magic}
  %down = fsub {float} %up, {magic}
{ties}
  %rounded_bits = bitcast {float} {chosen} to {integer}
  %signed_bits = or {integer} %rounded_bits, %sign
  %signed = bitcast {integer} %signed_bits to {float}
  %small = fcmp olt {float} %y, {magic}
  %r = select i1 %small, {float} %signed, {float} %x
  ret {float} %r
}}"""

# Long division bit by bit, as exact as it is slow: only double-precision remainders without a fused
# multiply-add come here.
_FLOAT_MODULO = """double @fmod(double %x, double %y) nounwind {
entry:
  %xb = bitcast double %x to i64
  %yb = bitcast double %y to i64
  %sign = and i64 %xb, -9223372036854775808
  %xa = and i64 %xb, 9223372036854775807
  %ya = and i64 %yb, 9223372036854775807
  %x_bad = icmp uge i64 %xa, 9218868437227405312
  %y_zero = icmp eq i64 %ya, 0
  %y_nan = icmp ugt i64 %ya, 9218868437227405312
  %bad1 = or i1 %x_bad, %y_zero
  %bad = or i1 %bad1, %y_nan
  br i1 %bad, label %invalid, label %compare
invalid:
  ret double 0x7FF8000000000000
compare:
  %below = icmp ult i64 %xa, %ya
  br i1 %below, label %itself, label %divide
itself:
  ret double %x
divide:
  %xe0 = lshr i64 %xa, 52
  %ye0 = lshr i64 %ya, 52
  %x_sub = icmp eq i64 %xe0, 0
  %y_sub = icmp eq i64 %ye0, 0
  %xe = select i1 %x_sub, i64 1, i64 %xe0
  %ye = select i1 %y_sub, i64 1, i64 %ye0
  %xf = and i64 %xa, 4503599627370495
  %yf = and i64 %ya, 4503599627370495
  %xn = or i64 %xf, 4503599627370496
  %yn = or i64 %yf, 4503599627370496
  %xm = select i1 %x_sub, i64 %xf, i64 %xn
  %ym = select i1 %y_sub, i64 %yf, i64 %yn
  %first = urem i64 %xm, %ym
  br label %loop
loop:
  %e = phi i64 [ %xe, %divide ], [ %e1, %step ]
  %r = phi i64 [ %first, %divide ], [ %r1, %step ]
  %more = icmp ugt i64 %e, %ye
  br i1 %more, label %step, label %pack
step:
  %doubled = shl i64 %r, 1
  %r1 = urem i64 %doubled, %ym
  %e1 = sub i64 %e, 1
  br label %loop
pack:
  %zero = icmp eq i64 %r, 0
  br i1 %zero, label %nothing, label %normalise
nothing:
  %z = bitcast i64 %sign to double
  ret double %z
normalise:
  %q = phi i64 [ %r, %pack ], [ %q1, %shift ]
  %qe = phi i64 [ %ye, %pack ], [ %qe1, %shift ]
  %short = icmp ult i64 %q, 4503599627370496
  %can = icmp ugt i64 %qe, 1
  %again = and i1 %short, %can
  br i1 %again, label %shift, label %finish
shift:
  %q1 = shl i64 %q, 1
  %qe1 = sub i64 %qe, 1
  br label %normalise
finish:
  %field = sub i64 %qe, 1
  %exponent = shl i64 %field, 52
  %value = add i64 %q, %exponent
  %signed = or i64 %value, %sign
  %d = bitcast i64 %signed to double
  ret double %d
}"""


def _round(name: str, words: dict[str, object], away: bool = False) -> str:
    magic = "0x4160000000000000" if words["float"] == "float" else "0x4330000000000000"
    ties = _TIES_AWAY.format(**words) if away else ""
    return _ROUND.format(
        **words, name=name, magic=magic, ties=ties, chosen="%away" if away else "%down"
    )


# Not optimised: LLVM would recognise the product of two 64-bit numbers and call this very function
# for it.
_LONG_PRODUCT = """i128 @__multi3(i128 %a, i128 %b) nounwind noinline optnone {
  %a_low = trunc i128 %a to i64
  %b_low = trunc i128 %b to i64
  %a_shifted = lshr i128 %a, 64
  %b_shifted = lshr i128 %b, 64
  %a_high = trunc i128 %a_shifted to i64
  %b_high = trunc i128 %b_shifted to i64
  %a0 = and i64 %a_low, 4294967295
  %a1 = lshr i64 %a_low, 32
  %b0 = and i64 %b_low, 4294967295
  %b1 = lshr i64 %b_low, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carry = lshr i64 %p00, 32
  %m1 = add i64 %p10, %carry
  %m1_low = and i64 %m1, 4294967295
  %m1_high = lshr i64 %m1, 32
  %m2 = add i64 %p01, %m1_low
  %m2_high = lshr i64 %m2, 32
  %h1 = add i64 %p11, %m1_high
  %h2 = add i64 %h1, %m2_high
  %c1 = mul i64 %a_low, %b_high
  %c2 = mul i64 %a_high, %b_low
  %h3 = add i64 %h2, %c1
  %high = add i64 %h3, %c2
  %l1 = shl i64 %m2, 32
  %l2 = and i64 %p00, 4294967295
  %low = or i64 %l1, %l2
  %wide_high = zext i64 %high to i128
  %wide_low = zext i64 %low to i128
  %top = shl i128 %wide_high, 64
  %product = or i128 %top, %wide_low
  ret i128 %product
}"""


def support_functions(
    symbols: list[str],
    *,
    half_is_integer: bool,
    has_c_library: bool,
    linkage: str = "weak hidden ",
) -> tuple[str, ...]:
    """Return the definitions of the known symbols among these.

    half_is_integer: the target passes half precision to these functions as a 16-bit integer (wasm),
    not as a float. has_c_library: omit functions that every C library has (`fmod`, `round`).
    """
    half = "i16" if half_is_integer else "half"
    bits = "%b = add i16 %x, 0" if half_is_integer else "%b = bitcast half %x to i16"
    result = "ret i16 %r5" if half_is_integer else "%h = bitcast i16 %r5 to half\n  ret half %h"
    single: dict[str, object] = {"half": half, "result": result}
    single |= {"float": "float", "integer": "i32", "magnitude": (1 << 31) - 1, "sign": -1 << 31}
    double = single | {
        "float": "double",
        "integer": "i64",
        "magnitude": (1 << 63) - 1,
        "sign": -1 << 63,
    }
    known = {
        "__extendhfsf2": _HALF_TO_FLOAT.format(half=half, bits=bits),
        "__truncsfhf2": _TO_HALF.format(
            **single, name="__truncsfhf2", sign_shift=16, magic="0x3FE0000000000000", magic_bits=0x3F000000, cut=13, half_place=4095,
            bias=112 << 10, smallest_normal=0x38800000, too_large=0x477FF000, infinity=0x7F800000,
        ),
        "__truncdfhf2": _TO_HALF.format(
            **double, name="__truncdfhf2", sign_shift=48, magic="0x41B0000000000000", magic_bits=0x41B0000000000000, cut=42,
            half_place=(1 << 41) - 1, bias=1008 << 10, smallest_normal=0x3F10000000000000, too_large=0x40EFFE0000000000,
            infinity=0x7FF0000000000000,
        ),
        "roundevenf": _round("roundevenf", single),
        "roundeven": _round("roundeven", double),
    }  # fmt: skip
    if not has_c_library:
        known |= {"fmod": _FLOAT_MODULO, "__multi3": _LONG_PRODUCT}
        known |= {
            "roundf": _round("roundf", single, away=True),
            "round": _round("round", double, away=True),
        }
    return tuple([f"define {linkage}{known[name]}" for name in symbols if name in known])
