"""Names of functions in generated code."""

from __future__ import annotations

# Functions that LLVM itself calls by name. An HLO instruction may have such a name (`pow`); LLVM
# would call its kernel instead. Source: llvm/include/llvm/IR/RuntimeLibcalls.td.
_MATHEMATICS = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmaximum",
    "fmin",
    "fminimum",
    "fmod",
    "frexp",
    "hypot",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "modf",
    "nearbyint",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "scalbn",
    "sin",
    "sincos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
)
_RUNTIME = frozenset(
    {
        "abort",
        "abs",
        "bcmp",
        "bzero",
        "calloc",
        "exit",
        "free",
        "labs",
        "llabs",
        "main",
        "malloc",
        "memccpy",
        "memchr",
        "memcmp",
        "memcpy",
        "memmove",
        "memset",
        "printf",
        "puts",
        "realloc",
        "strlen",
        *[f"{name}{ending}" for name in _MATHEMATICS for ending in ("", "f", "l")],
    }
)


def word_of(name: str) -> str:
    """Return a name with _ for each character that is no letter or digit of ASCII."""
    return "".join([c if c.isascii() and c.isalnum() else "_" for c in name])


def identifier(name: str) -> str:
    """Return an HLO name as an identifier of LLVM and PTX without a meaning to LLVM."""
    made = word_of(name)
    return (
        f"{made}_kernel"
        if made in _RUNTIME or made.startswith(("__", "xla_explorer_", "cblas_", "LAPACKE_"))
        else made
    )
