"""Fits the minimax polynomials of `vector_math.polynomials` (needs mpmath).

Run as a script, it prints that module's text; nothing imports it. The Remez exchange algorithm runs
in 60-digit arithmetic for the error function `weight(t) * (polynomial(t) - target(t))`. It takes
the lowest degree that meets the error bound. The coefficients are then rounded one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy
from mpmath import mp, mpf

mp.dps = 60
Function = Callable[[mpf], mpf]
F32_ERROR = mpf(2) ** -27
F64_ERROR = mpf(2) ** -57


@dataclass(frozen=True)
class Target:
    name: str
    meaning: str
    target: Function
    weight: Function
    low: mpf
    high: mpf
    first_degree: int
    element_types: tuple[str, ...] = ("f32", "f64")


def chebyshev_nodes(low: mpf, high: mpf, count: int) -> list[mpf]:
    return [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * index / (count - 1))
        for index in range(count)
    ]


def evaluate(coefficients: list[mpf], t: mpf) -> mpf:
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * t + coefficient
    return value


def remez(fit: Target, degree: int, iterations: int = 6) -> tuple[list[mpf], mpf]:
    """Return the minimax coefficients, lowest power first, and the largest weighted error."""
    count = degree + 2
    nodes = chebyshev_nodes(fit.low, fit.high, count)
    grid = chebyshev_nodes(fit.low, fit.high, 12 * count + 1)
    targets = [fit.target(t) for t in grid]
    weights = [fit.weight(t) for t in grid]
    coefficients: list[mpf] = []
    largest = mpf(0)
    for _ in range(iterations):
        system = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for row, t in enumerate(nodes):
            for column in range(degree + 1):
                system[row, column] = t**column
            # A weight of 0 (at t = 0) would leave the row empty.
            weight = max(fit.weight(t), mpf(10) ** -10)
            system[row, degree + 1] = (-1) ** row / weight
            right[row] = fit.target(t)
        solution = mp.lu_solve(system, right)
        coefficients = [solution[index] for index in range(degree + 1)]
        errors = [
            w * (evaluate(coefficients, t) - f)
            for t, f, w in zip(grid, targets, weights, strict=True)
        ]
        largest = max(abs(error) for error in errors)
        extrema: list[int] = []
        for index, error in enumerate(errors):
            if extrema and (errors[extrema[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extrema[-1]]):
                    extrema[-1] = index
            else:
                extrema.append(index)
        while len(extrema) > count:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < count:
            break
        nodes = [grid[index] for index in extrema]
    return coefficients, largest


def series_safe(function: Function, at_zero: mpf) -> Function:
    """Return `function` with its limit at 0, evaluated with enough digits near it."""

    def safe(t: mpf) -> mpf:
        if t == 0:
            return at_zero
        with mp.workdps(150):
            return function(t)

    return safe


def targets() -> list[Target]:
    half_ln2 = mp.log(2) / 2 * mpf("1.0001")
    root_half = mp.sqrt(mpf(1) / 2)
    low_log, high_log = root_half - 1, mp.sqrt(2) - 1
    s_limit = high_log / (2 + high_log) * mpf("1.0001")
    quarter_pi = mp.pi / 4 * mpf("1.0001")
    eighth = mp.tan(mp.pi / 8) * mpf("1.0001")

    def of_root(function: Function) -> Function:
        return lambda z: function(mp.sqrt(z))

    zero, one = mpf(0), mpf(1)
    return [
        Target(
            "EXPONENTIAL",
            "(exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2",
            series_safe(lambda r: (mp.exp(r) - 1 - r) / r**2, mpf(1) / 2),
            lambda r: abs(r),
            -half_ln2,
            half_ln2,
            3,
        ),
        Target(
            "LOGARITHM",
            "(log(1 + f) - f + f^2/2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1",
            series_safe(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, mpf(1) / 3),
            lambda f: f * f,
            low_log,
            high_log,
            6,
            ("f32",),
        ),
        Target(
            "LOGARITHM_ATANH",
            "(2 atanh(s) - 2 s) / s^3 in z = s^2, for |s| <= (sqrt(2)-1)/(sqrt(2)+1)",
            series_safe(of_root(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), mpf(2) / 3),
            lambda z: z / 2,
            zero,
            s_limit**2,
            2,
            ("f64",),
        ),
        Target(
            "POWER_ATANH",
            "(2 atanh(s) - 2 s - 2/3 s^3) / s^5 in z = s^2, for |s| <= (sqrt(2)-1)/(sqrt(2)+1)",
            series_safe(
                of_root(lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5), mpf(2) / 5
            ),
            lambda z: z * z * 2048,
            zero,
            s_limit**2,
            2,
        ),
        Target(
            "SINE",
            "(sin(r) - r) / r^3 in z = r^2, for |r| <= pi/4",
            series_safe(of_root(lambda r: (mp.sin(r) - r) / r**3), -mpf(1) / 6),
            lambda z: z,
            zero,
            quarter_pi**2,
            2,
        ),
        Target(
            "COSINE",
            "(cos(r) - 1 + r^2/2) / r^4 in z = r^2, for |r| <= pi/4",
            series_safe(of_root(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4), mpf(1) / 24),
            lambda z: z * z,
            zero,
            quarter_pi**2,
            1,
        ),
        Target(
            "TANGENT",
            "(tan(r) - r) / r^3 in z = r^2, for |r| <= pi/4",
            series_safe(of_root(lambda r: (mp.tan(r) - r) / r**3), mpf(1) / 3),
            lambda z: z,
            zero,
            quarter_pi**2,
            4,
        ),
        Target(
            "HYPERBOLIC_TANGENT",
            "(tanh(x) - x) / x^3 in z = x^2, for |x| <= 0.6",
            series_safe(of_root(lambda x: (mp.tanh(x) - x) / x**3), -mpf(1) / 3),
            lambda z: z,
            zero,
            mpf("0.3602"),
            3,
        ),
        Target(
            "HYPERBOLIC_SINE",
            "(sinh(x) - x) / x^3 in z = x^2, for |x| <= 1",
            series_safe(of_root(lambda x: (mp.sinh(x) - x) / x**3), mpf(1) / 6),
            lambda z: z,
            zero,
            mpf("1.0001"),
            2,
        ),
        Target(
            "ARC_HYPERBOLIC_SINE",
            "(asinh(x) - x) / x^3 in z = x^2, for |x| <= 1/2",
            series_safe(of_root(lambda x: (mp.asinh(x) - x) / x**3), -mpf(1) / 6),
            lambda z: z,
            zero,
            mpf("0.2501"),
            3,
        ),
        Target(
            "ARC_HYPERBOLIC_TANGENT",
            "(atanh(x) - x) / x^3 in z = x^2, for |x| <= 1/2",
            series_safe(of_root(lambda x: (mp.atanh(x) - x) / x**3), mpf(1) / 3),
            lambda z: z,
            zero,
            mpf("0.2501"),
            4,
        ),
        Target(
            "ARC_TANGENT",
            "(atan(t) - t) / t^3 in z = t^2, for |t| <= tan(pi/8)",
            series_safe(of_root(lambda t: (mp.atan(t) - t) / t**3), -mpf(1) / 3),
            lambda z: z,
            zero,
            eighth**2,
            3,
        ),
        Target(
            "ARC_SINE",
            "(asin(t) - t) / t^3 in z = t^2, for |t| <= 1/2",
            series_safe(of_root(lambda t: (mp.asin(t) - t) / t**3), mpf(1) / 6),
            lambda z: z,
            zero,
            mpf("0.2501"),
            3,
        ),
        Target(
            "ERROR_FUNCTION",
            "erf(x) / x - 1 in z = x^2, for |x| <= 1",
            series_safe(of_root(lambda x: mp.erf(x) / x - 1), 2 / mp.sqrt(mp.pi) - 1),
            lambda z: one,
            zero,
            mpf("1.0001"),
            5,
        ),
    ]


def complementary_target(limit: str) -> Target:
    # 1 - exp(log(erfc(a))) needs log(erfc(a)) only as exactly as erfc(a) counts in the result. The
    # polynomial is in t = a - 2, which halves the growth of its terms.
    return Target(
        "COMPLEMENTARY_ERROR_FUNCTION",
        f"log(erfc(t + 2)) for 1 <= t + 2 <= {limit}",
        lambda t: mp.log(mp.erfc(t + 2)),
        lambda t: mp.erfc(t + 2),
        mpf("0.9999") - 2,
        mpf(limit) - 2,
        5,
    )


def round_to(value: mpf, element_type: str) -> float:
    return float(numpy.float32(float(value))) if element_type == "f32" else float(value)


def emit(fit: Target, element_type: str) -> str:
    bound = F32_ERROR if element_type == "f32" else F64_ERROR
    degree = fit.first_degree
    while True:
        coefficients, error = remez(fit, degree)
        if error <= bound or degree > 30:
            break
        degree += 1
    lines = [
        f"# {fit.meaning}; weighted error 2^{float(mp.log(error, 2)):.1f}",
        f"{fit.name}_{element_type.upper()}: Final = (",
    ]
    lines += [f"    {round_to(coefficient, element_type)!r}," for coefficient in coefficients]
    return "\n".join([*lines, ")"])


HEADER = '''"""Minimax polynomial coefficients, lowest power first, per element type.

Generated by `tests/compiler/codegen/vector_math/fit_polynomials.py` (Remez exchange in 60-digit arithmetic); the
comment above each tuple names the approximated function and the largest weighted error before rounding.
"""

from typing import Final
'''


def main() -> None:
    print(HEADER)
    for element_type, limit in (("f32", "4.0"), ("f64", "6.0")):
        for fit in [*targets(), complementary_target(limit)]:
            if element_type in fit.element_types:
                print(emit(fit, element_type), flush=True)


if __name__ == "__main__":
    main()
