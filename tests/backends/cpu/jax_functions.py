"""Public functions of jax.random, jax.scipy and jax.numpy.linalg with arguments.

They are those of jax.random, jax.scipy.special, jax.scipy.stats and jax.numpy.linalg.

A length of 13 leaves lanes over on every vector width: that is where a CPU description showed what
the others did not.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.special
import jax.scipy.stats
import numpy as np

LENGTH = 13
KEY = np.array([3, 7], np.uint32)  # of threefry: a key as data, so that it is an argument
UP = np.linspace(0.3, 2.5, LENGTH, dtype=np.float32)
UNIT = np.linspace(0.05, 0.95, LENGTH, dtype=np.float32)
WHOLE = (np.arange(LENGTH) % 5).astype(np.int32)
MATRIX = (3 * np.eye(LENGTH) + 0.1 * np.outer(UP, UP)).astype(np.float32)
SKEW = (MATRIX + np.triu(np.outer(UP, UNIT), 1)).astype(np.float32)  # no symmetry
THREE = np.stack([UP, UNIT, UP * UNIT], axis=-1)
TENSOR = (np.eye(12) * 2 + 0.05).reshape(3, 4, 12).astype(np.float32)

Arguments = tuple[Any, ...]


class Case(NamedTuple):
    """A public function, as it is called, with the arrays that it is called with."""

    name: str
    function: Callable[..., Any]
    arguments: Arguments


# Functions with a key and the parameters of their distribution; each draws LENGTH numbers.
PARAMETERS_OF_SAMPLERS: dict[str, Arguments] = {
    "bernoulli": (0.4,),
    "beta": (0.5, 0.7),
    "binomial": (10.0, 0.3),
    "chisquare": (2.5,),
    "double_sided_maxwell": (0.0, 1.0),
    "f": (2.0, 3.0),
    "gamma": (0.5,),
    "generalized_normal": (1.5,),
    "geometric": (0.3,),
    "loggamma": (0.5,),
    "lognormal": (1.0,),
    "pareto": (2.0,),
    "poisson": (3.0,),
    "rayleigh": (1.0,),
    "t": (3.0,),
    "triangular": (0.0, 0.5, 1.0),
    "truncated_normal": (-1.0, 1.0),
    "wald": (1.0,),
    "weibull_min": (1.0, 2.0),
    **dict.fromkeys(
        [
            "bits",
            "cauchy",
            "exponential",
            "gumbel",
            "laplace",
            "logistic",
            "maxwell",
            "normal",
            "rademacher",
            "uniform",
        ],
        (),
    ),
}
OTHER_SAMPLERS: dict[str, Callable[..., Any]] = {
    "ball": lambda k: jax.random.ball(k, 3, shape=(LENGTH,)),
    "categorical": lambda k: jax.random.categorical(k, jnp.log(UNIT), shape=(LENGTH,)),
    "choice": lambda k: jax.random.choice(k, LENGTH, (3,), replace=False),
    "clone": lambda k: jax.random.bits(jax.random.clone(k), (LENGTH,)),
    "dirichlet": lambda k: jax.random.dirichlet(k, jnp.full(3, 0.7), (LENGTH,)),
    "fold_in": lambda k: jax.random.bits(jax.random.fold_in(k, 5), (LENGTH,)),
    "key_data": jax.random.key_data,
    "multinomial": lambda k: jax.random.multinomial(k, 20.0, UNIT / UNIT.sum()),
    "multivariate_normal": lambda k: jax.random.multivariate_normal(k, UP, MATRIX),
    "orthogonal": lambda k: jax.random.orthogonal(k, 4),
    "permutation": lambda k: jax.random.permutation(k, LENGTH),
    "randint": lambda k: jax.random.randint(k, (LENGTH,), 0, 77),
    "split": lambda k: jax.random.key_data(jax.random.split(k, 5)),
}
SPECIAL: dict[str, Arguments] = {
    "bessel_jn": (UP,),
    "beta": (UP, UP + 1),
    "betainc": (UP, UP + 1, UNIT),
    "betaln": (UP, UP + 1),
    "boxcox": (UP, UNIT),
    "boxcox1p": (UP, UNIT),
    "comb": (UP + 4, UNIT),
    "erfcinv": (UNIT,),
    "erfinv": (UNIT,),
    "expn": (WHOLE + 1, UP),
    "gammainc": (UP, UP + 0.5),
    "gammaincc": (UP, UP + 0.5),
    "hyp1f1": (UP, UP + 1, UNIT),
    "hyp2f1": (UP, UP, UP + 1, UNIT * 0.8),
    "kl_div": (UP, UNIT),
    "logit": (UNIT,),
    "multigammaln": (UP + 3,),
    "ndtri": (UNIT,),
    "owens_t": (UP, UNIT),
    "poch": (UP, UNIT),
    "polygamma": (WHOLE + 1, UP),
    "rel_entr": (UP, UNIT),
    "wofz": (UP + 1j * UNIT,),
    "xlog1py": (UP, UNIT),
    "xlogy": (UP, UNIT),
    "zeta": (UP + 1.2, UP),
}
SPECIAL_AS_CALLED: dict[str, Callable[..., Any]] = {
    "bernoulli": lambda x: jax.scipy.special.bernoulli(LENGTH) * x[0],
    "bessel_jn": lambda x: jax.scipy.special.bessel_jn(x, v=3),
    "multigammaln": lambda x: jax.scipy.special.multigammaln(x, 3),
    "sph_harm_y": lambda x: jax.scipy.special.sph_harm_y(
        jnp.arange(3), jnp.arange(3), x[:3], x[:3] * 2, n_max=2
    ),
}
DISTRIBUTIONS: dict[str, Arguments] = {
    "bernoulli": (0.3,),
    "beta": (1.5, 2.5),
    "betabinom": (10, 1.5, 2.5),
    "binom": (10, 0.3),
    "chi2": (3.0,),
    "gamma": (1.5,),
    "gennorm": (1.5,),
    "geom": (0.3,),
    "nbinom": (5, 0.4),
    "pareto": (2.0,),
    "poisson": (3.0,),
    "t": (3.0,),
    "truncnorm": (-1.0, 2.0),
    "vonmises": (2.0,),
    "wrapcauchy": (0.5,),
    **dict.fromkeys(
        ["cauchy", "expon", "gumbel_l", "gumbel_r", "laplace", "logistic", "norm", "uniform"], ()
    ),
}
WHOLE_NUMBERS = {"bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson"}
PROBABILITIES = (THREE / THREE.sum(-1, keepdims=True)).T
OTHER_DISTRIBUTIONS: dict[str, tuple[Callable[[Any], Callable[..., Any]], Arguments]] = {
    "dirichlet": (lambda f: lambda x: f(x, jnp.array([0.5, 1.5, 2.0])), (PROBABILITIES,)),
    "multinomial": (
        lambda f: lambda x, p: f(x, x.sum(), p),
        (WHOLE[:3], PROBABILITIES[:, 0]),
    ),
    "multivariate_normal": (lambda f: f, (UNIT, UP, MATRIX)),
}
STATISTICS: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "mode": (lambda x: tuple(jax.scipy.stats.mode(x)), (WHOLE,)),
    "rankdata": (jax.scipy.stats.rankdata, (WHOLE,)),
    "sem": (jax.scipy.stats.sem, (UP,)),
}
LINEAR_ALGEBRA: dict[str, Arguments] = {
    "cross": (THREE, THREE[::-1].copy()),
    "lstsq": (SKEW, UP),
    "matmul": (MATRIX, SKEW),
    "outer": (UP, UNIT),
    "solve": (SKEW, UP),
    "tensordot": (MATRIX, SKEW),
    "tensorinv": (TENSOR,),
    "tensorsolve": (TENSOR, THREE[:4].T.copy()),
    "vecdot": (UP, UNIT),
    "vector_norm": (UP,),
}
# Open choices of a decomposition (signs, phases, eigenvalue order) are not compared.
LINEAR_ALGEBRA_AS_CALLED: dict[str, Callable[..., Any]] = {
    "eig": lambda m: (lambda found: (found[1] * found[0]) @ jnp.linalg.inv(found[1]))(
        jnp.linalg.eig(m)
    ),
    "eigh": lambda m: (lambda found: (found[1] * found[0]) @ found[1].T)(jnp.linalg.eigh(m)),
    "eigvals": lambda m: jnp.sort(jnp.linalg.eigvals(m)),
    "lstsq": lambda m, b: jnp.linalg.lstsq(m, b)[0],
    "matrix_power": lambda m: jnp.linalg.matrix_power(m / 3, 3),
    "multi_dot": lambda m: jnp.linalg.multi_dot([m, m, m]),
    "qr": lambda m: (lambda found: found[0] @ found[1])(jnp.linalg.qr(m)),
    "svd": lambda m: (lambda found: (found[0] * found[1]) @ found[2])(jnp.linalg.svd(m)),
    "tensorinv": lambda t: jnp.linalg.tensorinv(t, ind=2),
}
NOT_OF_ARRAYS = {
    "random.Key",
    "random.PRNGKey",
    "random.key",
    "random.key_dtype",
    "random.key_impl",
    "random.wrap_key_data",
}  # they make a key or return its kind: no program computes


def public_functions(module: types.ModuleType) -> list[str]:
    """Names of the functions that a module offers, without classes."""
    return [
        name
        for name in sorted(dir(module))
        if not name.startswith("_")
        and callable(getattr(module, name))
        and not isinstance(getattr(module, name), type)
    ]


def all_cases() -> list[Case]:
    """Return the public functions that this JAX has, in the order of their names."""
    return sorted([*_random(), *_special(), *_stats(), *_linalg()], key=lambda case: case.name)


def _sampler(draw: Callable[..., Any], parameters: Arguments) -> Callable[..., Any]:
    return lambda k: draw(k, *parameters, shape=(LENGTH,))


def _random() -> Iterator[Case]:
    for name in public_functions(jax.random):
        if name in PARAMETERS_OF_SAMPLERS:
            parameters = PARAMETERS_OF_SAMPLERS[name]
            drawn = _sampler(getattr(jax.random, name), parameters)
        elif name in OTHER_SAMPLERS:
            drawn = OTHER_SAMPLERS[name]
        else:
            continue

        def of_data(data: Any, drawn: Any = drawn) -> Any:
            return drawn(jax.random.wrap_key_data(data))

        yield Case(f"random.{name}", of_data, (KEY,))


def _special() -> Iterator[Case]:
    for name in public_functions(jax.scipy.special):
        function = SPECIAL_AS_CALLED.get(name, getattr(jax.scipy.special, name))
        yield Case(f"special.{name}", function, SPECIAL.get(name, (UP,)))


def _stats() -> Iterator[Case]:
    for name, (function, arguments) in STATISTICS.items():
        yield Case(f"stats.{name}", function, arguments)
    for name in sorted(dir(jax.scipy.stats)):
        distribution = getattr(jax.scipy.stats, name)
        if not isinstance(distribution, types.ModuleType) or name.startswith("_"):
            continue
        for method in public_functions(distribution):
            function = getattr(distribution, method)
            if name in OTHER_DISTRIBUTIONS:
                as_called, arguments = OTHER_DISTRIBUTIONS[name]
                yield Case(f"stats.{name}.{method}", as_called(function), arguments)
                continue
            if name not in DISTRIBUTIONS:
                continue
            parameters = DISTRIBUTIONS[name]
            if method == "entropy":
                yield Case(f"stats.{name}.{method}", function, (UP,))
                continue
            share = method in ("ppf", "isf") or name == "beta"
            x = UNIT if share else WHOLE if name in WHOLE_NUMBERS else UP

            def of_x(x: Any, function: Any = function, parameters: Any = parameters) -> Any:
                return function(x, *parameters)

            yield Case(f"stats.{name}.{method}", of_x, (x,))


def _linalg() -> Iterator[Case]:
    for name in public_functions(jnp.linalg):
        function = LINEAR_ALGEBRA_AS_CALLED.get(name, getattr(jnp.linalg, name))
        yield Case(f"linalg.{name}", function, LINEAR_ALGEBRA.get(name, (MATRIX,)))
