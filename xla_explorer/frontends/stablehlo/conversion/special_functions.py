"""Functions that HLO lacks, written with its operations on any float type.

Types narrower than f32 are computed in f32. Each function maps values of one shape to a value of
that shape. Each names its source; error bounds are tested against mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.primitive_type import F32
from xla_explorer.hlo.shape import Shape

Function = Callable[..., HloValue]

# Lanczos's series for g = 7. Source: C. Lanczos, A Precision Approximation of the Gamma Function
# (1964), in Godfrey's coefficients.
_LANCZOS_G = 7.0
_LANCZOS_FIRST = 0.99999999999980993227684700473478
_LANCZOS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)


def polynomial(x: HloValue, coefficients: Sequence[float]) -> HloValue:
    """Evaluate a polynomial by Horner's rule, highest power first."""
    result = x * 0.0 + coefficients[0]
    for c in coefficients[1:]:
        result = result * x + c
    return result


def lgamma(b: HloBuilder, x: HloValue) -> HloValue:
    """Return the logarithm of |gamma|.

    Below 1/2 it uses the reflection formula; the sine is taken of the distance to the nearest
    integer.
    """
    mirrored = x < 0.5
    z = b.select(mirrored, -x, x - 1.0)
    series = _LANCZOS_FIRST + z * 0.0
    for k, c in enumerate(_LANCZOS):
        series = series + c / (z + float(k + 1))
    log_t = (z / (_LANCZOS_G + 0.5)).log1p() + math.log(_LANCZOS_G + 0.5)
    plain = (
        (z + 0.5 - (z + _LANCZOS_G + 0.5) / log_t) * log_t
        + 0.5 * math.log(2 * math.pi)
        + series.log()
    )
    part = abs(x) - abs(x).floor()
    log_sine = (b.select(part > 0.5, 1.0 - part, part) * math.pi).sin().log()
    reflected = b.select(log_sine.isfinite(), math.log(math.pi) - log_sine - plain, -log_sine)
    return b.select(abs(x) == math.inf, abs(x), b.select(mirrored, reflected, plain))


def digamma(b: HloBuilder, x: HloValue) -> HloValue:
    """Return the derivative of lgamma, from the same series; NaN at the poles."""
    mirrored = x < 0.5
    z = b.select(mirrored, -x, x - 1.0)
    numerator, denominator = z * 0.0, z * 0.0 + _LANCZOS_FIRST
    for k, c in enumerate(_LANCZOS):
        shifted = z + float(k + 1)
        numerator = numerator - c / (shifted * shifted)
        denominator = denominator + c / shifted
    t = z + _LANCZOS_G + 0.5
    plain = (
        (z / (_LANCZOS_G + 0.5)).log1p()
        + math.log(_LANCZOS_G + 0.5)
        + numerator / denominator
        - _LANCZOS_G / t
    )
    reduced = x + abs((x + 0.5).floor())  # the tangent has period one
    reflected = plain - math.pi * (reduced * math.pi).cos() / (reduced * math.pi).sin()
    pole = (x <= 0.0) & (x == x.floor())
    value = b.select(pole, math.nan, b.select(mirrored, reflected, plain))
    return b.select(x == math.inf, math.inf, value)


# Source: S. L. Moshier, Cephes (ndtr.c): erfc(x) exp(x^2) as ratios of polynomials, for 1 <= x < 8
# and from 8 on.
_ERFC_P = (
    2.46196981473530512524e-10,
    5.64189564831068821977e-1,
    7.46321056442269912687,
    4.86371970985681366614e1,
    1.96520832956077098242e2,
    5.26445194995477358631e2,
    9.34528527171957607540e2,
    1.02755188689515710272e3,
    5.57535335369399327526e2,
)
_ERFC_Q = (
    1.0,
    1.32281951154744992508e1,
    8.67072140885989742329e1,
    3.54937778887819891062e2,
    9.75708501743205489753e2,
    1.82390916687909736289e3,
    2.24633760818710981792e3,
    1.65666309194161350182e3,
    5.57535340817727675546e2,
)
_ERFC_R = (
    5.64189583547755073984e-1,
    1.27536670759978104416,
    5.01905042251180477414,
    6.16021097993053585195,
    7.40974269950448939160,
    2.97886665372100240670,
)
_ERFC_S = (
    1.0,
    2.26052863220117276590,
    9.39603524938001434673,
    1.20489539808096656605e1,
    1.70814450747565897222e1,
    9.60896809063285878198,
    3.36907644100081516050,
)


def erfc(b: HloBuilder, x: HloValue) -> HloValue:
    """Return 1 - erf, without cancellation near one."""
    a = abs(x)
    near, far = a.minimum(8.0), a.maximum(8.0).minimum(30.0)
    ratio = b.select(
        a < 8.0,
        polynomial(near, _ERFC_P) / polynomial(near, _ERFC_Q),
        polynomial(far, _ERFC_R) / polynomial(far, _ERFC_S),
    )
    tail = (-(a * a)).exp() * ratio
    return b.select(a < 1.0, 1.0 - x.erf(), b.select(x < 0.0, 2.0 - tail, tail))


# Source: M. Giles, Approximating the erfinv function (GPU Computing Gems, 2011), single precision.
_ERFINV_CENTRE = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_ERFINV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


def erf_inv(b: HloBuilder, x: HloValue) -> HloValue:
    """Return the inverse of erf.

    In double precision it is refined by Halley's rule on erf, and on erfc towards the ends.
    """
    w = -(-(x * x)).log1p()
    centre, tail = (
        polynomial(w - 2.5, _ERFINV_CENTRE),
        polynomial(w.maximum(5.0).sqrt() - 3.0, _ERFINV_TAIL),
    )
    found = b.select(w < 5.0, centre, tail) * x
    if x.dtype.name == "f64":
        for _ in range(3):
            # 1 - |x| is exact where |x| is near one, and erfc keeps its digits there.
            error = b.select(
                abs(x) < 0.5, found.erf() - x, x.sign() * ((1.0 - abs(x)) - erfc(b, abs(found)))
            )
            slope = (-(found * found)).exp() * (2 / math.sqrt(math.pi))
            step = error / slope
            found = found - b.select(step.isfinite(), step / (1.0 + found * step), 0.0)
    edge = abs(x) == 1.0
    return b.select(edge, x * math.inf, found)


# B(2k) / (2k)!
_BERNOULLI = tuple(
    [
        value / math.factorial(2 * (k + 1))
        for k, value in enumerate(
            (
                1 / 6,
                -1 / 30,
                1 / 42,
                -1 / 30,
                5 / 66,
                -691 / 2730,
                7 / 6,
                -3617 / 510,
                43867 / 798,
                -174611 / 330,
            )
        )
    ]
)


def zeta(b: HloBuilder, x: HloValue, q: HloValue) -> HloValue:
    """Return Hurwitz's zeta function for x > 1, by the Euler-Maclaurin formula after twelve terms.

    Source: Cephes, zeta.c, for the edges.
    """
    count = 12
    total = q * 0.0
    for k in range(count):
        total = total + (q + float(k)) ** -x
    a = q + float(count)
    power = a**-x
    total = total + power * a / (x - 1.0) + power * 0.5
    inverse = 1.0 / a
    term = (
        x * inverse * power
        # x (x + 1) ... / a^(x + 2k + 1) as one product: otherwise one overflows and the other
        # underflows
    )
    for k, bernoulli in enumerate(_BERNOULLI):
        total = total + bernoulli * term
        term = term * ((x + float(2 * k + 1)) * inverse) * ((x + float(2 * k + 2)) * inverse)
    whole = q == q.floor()
    even = x == (x * 0.5).floor() * 2.0
    below = b.select(whole, math.inf, b.select(x == x.floor(), total, math.nan))
    below = b.select(whole & ~even & (q < 0.0), math.nan, below)
    total = b.select(q == math.inf, 0.0, total)
    total = b.select(q <= 0.0, below, total)
    return b.select(x == 1.0, math.inf, b.select(x < 1.0, math.nan, total))


def polygamma(b: HloBuilder, n: HloValue, x: HloValue) -> HloValue:
    """Return the derivative of digamma of order n."""
    sign = b.select(n == (n * 0.5).floor() * 2.0, -1.0 + n * 0.0, 1.0 + n * 0.0)
    general = sign * lgamma(b, n + 1.0).exp() * zeta(b, n + 1.0, x)
    value = b.select(n == 0.0, digamma(b, x), general)
    return b.select((n != n.floor()) | (n < 0.0), math.nan, value)


def bessel_i1e(b: HloBuilder, x: HloValue) -> HloValue:
    """Return exp(-|x|) I1(x): the power series up to 16, Hankel's expansion beyond.

    Source: Abramowitz and Stegun 9.6.10, 9.7.1.
    """
    a = abs(x)
    small = a.minimum(16.0)
    square = small * small * 0.25
    terms = [1.0 / (math.factorial(k) * math.factorial(k + 1)) for k in range(46, -1, -1)]
    series = polynomial(square, terms) * (small * 0.5) * (-small).exp()
    large = a.maximum(16.0).minimum(1e30)
    coefficients = [1.0]
    for k in range(1, 18):
        coefficients.append(coefficients[-1] * -(4.0 - (2 * k - 1) ** 2) / (8.0 * k))
    expansion = polynomial(1.0 / large, coefficients[::-1]) * (large * (2 * math.pi)).rsqrt()
    value = b.select(a < 16.0, series, expansion)
    return b.select(a == math.inf, 0.0, value) * x.sign()


def next_after(b: HloBuilder, x: HloValue, y: HloValue) -> HloValue:
    """Return the next number after x towards y, in the type itself. Source: C99 7.12.11.3."""
    kind = x.dtype
    bits = b.bitcast_convert(x, f"u{kind.bits}")
    top = 1 << (kind.bits - 1)
    magnitude = bits & (top - 1)
    moved = b.select((x > y) == (x > 0.0), bits - 1, bits + 1)
    from_zero = b.select(y > 0.0, magnitude * 0 + 1, magnitude * 0 + (top + 1))
    result = b.bitcast_convert(b.select(magnitude == 0, from_zero, moved), kind)
    result = b.select(x == y, y, result)
    return b.select((x != x) | (y != y), x + y, result)


SPECIAL_FUNCTIONS: dict[str, Function] = {
    "lgamma": lgamma,
    "digamma": digamma,
    "erfc": erfc,
    "erf_inv": erf_inv,
    "zeta": zeta,
    "polygamma": polygamma,
    "bessel_i1e": bessel_i1e,
    "next_after": next_after,
}


def write_function(builder: HloBuilder, name: str, shapes: Sequence[Shape]) -> HloComputation:
    """Add a computation of a special function for operands of these shapes."""
    inner = builder.nested(name)
    values = [inner.parameter(shape) for shape in shapes]
    narrow = shapes[0].element_type.bits < 32 and name != "next_after"
    result = SPECIAL_FUNCTIONS[name](inner, *[v.astype(F32) if narrow else v for v in values])
    inner.computation.set_root(
        (result.astype(shapes[0].element_type) if narrow else result).instruction
    )
    return inner.computation
