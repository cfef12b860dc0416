"""Thirty programs on which XLA differs from itself, written down before any answer.

A pair names the line (or instruction) at which the difference begins, and the pass of XLA that
makes it: `""` for code generation and libraries, None if no pass is known in advance.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

_RNG: Final = np.random.default_rng(47290)
_DATA: Final = Path(__file__).parents[2] / "data" / "hunt"
VERSION: Final = "another version"
NAN: Final = "first NaN"
_NO_SIMPLIFIER: Final = {"xla_disable_hlo_passes": "algsimp"}
_NO_FUSION: Final = {"xla_disable_hlo_passes": "fusion"}
_FAST: Final = {"xla_cpu_enable_fast_math": True}


class Pair(NamedTuple):
    """A program, the other way to compute it, and the cause.

    other: of `cause_of_difference`, VERSION, or NAN for `first_nan`. place: a fragment of the
    source line, or the name of an instruction of HLO text. passes: those that can be the cause;
    empty for code generation, None if they are not known.
    """

    program: Any
    arrays: tuple[Any, ...]
    other: Any
    place: str
    passes: tuple[str, ...] | None = None


def _n(*shape: int) -> Any:
    return _RNG.standard_normal(shape).astype(np.float32)


def _divided(x, y):
    z = x @ y
    return (z + 1) / 7


def _exponentials(x, y):
    import jax.numpy as jnp

    z = x * y
    return jnp.exp(z) * jnp.exp(y)


def _log_of_exp(x):
    import jax.numpy as jnp

    y = x * 2
    return jnp.log(jnp.exp(y))


def _cancelled(x, y):
    z = (x + y) - y
    return z * 2


def _root(x, y):
    import jax.numpy as jnp

    z = abs(y) + 1
    return x / jnp.sqrt(z)


def _contracted(x, y):
    import jax.numpy as jnp

    return x * y - jnp.sin(y) * x


def _decay(x, y):
    import jax.numpy as jnp

    z = x * 3
    return z / jnp.exp(y)


def _quotients(x, y):
    z = x * 2
    return (z / y) / (1 + y * y)


def _product(x, y):
    z = x @ y
    return z + 1


def _softmax(x):
    import jax

    y = x * 4
    return jax.nn.softmax(y)


def _variance(x):
    y = x + 1000
    return (y * y).mean() - y.mean() ** 2


def _logistic(x):
    for _ in range(30):
        x = 3.9 * x * (1 - x)
    return x


def _angle(x):
    import jax.numpy as jnp

    y = x * 1e6
    return jnp.sin(y)


def _difference_quotient(x):
    h = 1e-4
    return ((x + h) ** 3 - x**3) / h


def _harmonic(x):
    import jax.numpy as jnp

    y = 1 / (1 + jnp.arange(100_000, dtype=x.dtype))
    return jnp.cumsum(y * x[0])[-1]


def _solve(a, b):
    import jax.numpy as jnp

    return jnp.linalg.solve(a, b)


def _expm1(x):
    import jax.numpy as jnp

    y = x * 2
    return jnp.expm1(y)


def _sinh(x):
    import jax.numpy as jnp

    y = x + 1
    return jnp.sinh(y) * 2


def _arctan(x):
    import jax.numpy as jnp

    y = x * 3
    return jnp.arctan(y)


def _digamma(x):
    import jax

    y = abs(x) + 0.1
    return jax.scipy.special.digamma(y)


def _log_gamma(x):
    import jax

    y = abs(x) + 0.1
    return jax.scipy.special.gammaln(y)


def _log_loss(p, t):
    import jax.numpy as jnp

    q = p * p
    return -(t * jnp.log(q)).sum()


def _norm_gradient(x):
    import jax
    import jax.numpy as jnp

    return jax.grad(lambda v: jnp.sqrt((v * v).sum()))(x)


def _guarded(x):
    import jax
    import jax.numpy as jnp

    return jax.grad(lambda v: jnp.where(v > 0, jnp.log(v), 0.0).sum())(x)


def _half(x):
    import jax.numpy as jnp

    y = x * 300
    h = y.astype(jnp.float16)
    return h - h


def _naive_softmax(x):
    import jax.numpy as jnp

    e = jnp.exp(x * 100)
    return e / e.sum(-1, keepdims=True)


def _masked(x, mask):
    import jax.numpy as jnp

    score = jnp.where(mask, x, -jnp.inf)
    return score * mask


def _standardised(x):
    y = x - x.mean(0)
    return y / y.std(0)


def _scanned(x):
    import jax
    import jax.numpy as jnp

    def step(c, _):
        c = jnp.sqrt(c - 0.3)
        return c, c

    return jax.lax.scan(step, x, None, length=20)[1]


_FAR: Final = np.array([1.0, 89.0, 200.0], np.float32)
PAIRS: Final[dict[str, Callable[[], Pair]]] = {
    "slice_of_slice": lambda: Pair(
        (_DATA / "05_slice_of_slice.hlo").read_text(),
        (np.arange(10, dtype=np.float32), np.int32(9), np.int32(0)), _NO_SIMPLIFIER, "", ("algsimp",)),
    "crop_pad_window": lambda: Pair(
        (_DATA / "02_crop_pad_window.hlo").read_text(),
        (np.array([[669, -763]], np.int32),), _NO_SIMPLIFIER, "", ("algsimp",)),
    "divided": lambda: Pair(
        _divided, (_n(8, 16), _n(16, 8)), _NO_SIMPLIFIER, "(z + 1) / 7", ("algsimp",)),
    "exponentials": lambda: Pair(
        _exponentials, (_n(64), _n(64)), _NO_SIMPLIFIER, "jnp.exp(z) * jnp.exp(y)", ("algsimp",)),
    "log_of_exp": lambda: Pair(
        _log_of_exp, (_FAR,), _NO_SIMPLIFIER, "jnp.log(jnp.exp(y))", ("algsimp",)),
    "cancelled": lambda: Pair(_cancelled, (_n(64), _n(64) * 1e4), _FAST, "(x + y) - y", ("algsimp", "")),
    "root": lambda: Pair(
        _root, (_n(64), _n(64)), _NO_SIMPLIFIER, "x / jnp.sqrt(z)", ("algsimp",)),
    "contracted": lambda: Pair(
        _contracted, (_n(64), _n(64)), _NO_FUSION, "x * y - jnp.sin(y)", ("fusion", "")),
    "decay": lambda: Pair(
        _decay, (_n(64), _n(64)), _NO_SIMPLIFIER, "z / jnp.exp(y)", ("algsimp",)),
    "quotients": lambda: Pair(
        _quotients, (_n(64), _n(64)), _NO_SIMPLIFIER, "(z / y) / (1", ("algsimp",)),
    "softmax_64": lambda: Pair(_softmax, (_n(8, 32),), "float64", "jax.nn.softmax(y)", ()),
    "variance_64": lambda: Pair(_variance, (_n(256),), "float64", "(y * y).mean()", ()),
    "logistic_64": lambda: Pair(
        _logistic, (abs(np.tanh(_n(8))),), "float64", "3.9 * x * (1 - x)", ()),
    "angle_64": lambda: Pair(_angle, (_n(64),), "float64", "y = x * 1e6", ()),
    "quotient_64": lambda: Pair(
        _difference_quotient, (_n(64),), "float64", "(x + h) ** 3", ()),
    "harmonic_64": lambda: Pair(_harmonic, (_n(1),), "float64", "jnp.cumsum", ()),
    "expm1_version": lambda: Pair(_expm1, (_n(64),), VERSION, "jnp.expm1(y)"),
    "sinh_version": lambda: Pair(_sinh, (_n(64),), VERSION, "jnp.sinh(y)"),
    "arctan_version": lambda: Pair(_arctan, (_n(64),), VERSION, "jnp.arctan(y)"),
    "digamma_version": lambda: Pair(_digamma, (_n(64),), VERSION, "special.digamma"),
    "log_gamma_version": lambda: Pair(_log_gamma, (_n(64),), VERSION, "special.gammaln"),
    "product_version": lambda: Pair(_product, (_n(8, 128), _n(128, 8)), VERSION, "x @ y"),
    "log_loss": lambda: Pair(
        _log_loss, (np.array([0.5, 0.0], np.float32), np.array([1, 0], np.float32)), NAN,
        "jnp.log(q)"),
    "norm_gradient": lambda: Pair(_norm_gradient, (np.zeros(4, np.float32),), NAN, "jnp.sqrt"),
    "guarded": lambda: Pair(_guarded, (np.array([1.0, 0.0], np.float32),), NAN, "jnp.log(v)"),
    "half": lambda: Pair(_half, (_n(8) * 1000,), NAN, "astype(jnp.float16)"),
    "naive_softmax": lambda: Pair(_naive_softmax, (_n(4, 8),), NAN, "jnp.exp(x * 100)"),
    "masked": lambda: Pair(
        _masked, (_n(8), np.arange(8) % 2 == 0), NAN, "score * mask"),
    "standardised": lambda: Pair(_standardised, (np.ones((8, 3), np.float32),), NAN, "y / y.std(0)"),
    "scanned": lambda: Pair(_scanned, (np.float32(0.9),), NAN, "jnp.sqrt(c - 0.3)"),
}  # fmt: skip
