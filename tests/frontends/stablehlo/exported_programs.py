"""More than five hundred programs for JAX to export.

They are its primitives over shapes and types, their gradients and batched forms, and the programs
of `jax_programs.py`.

`all_programs()` gives (name, function, arguments); building one costs nothing before it is lowered.
Run as a script it writes the StableHLO text of each into a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.frontends.jax_programs import PROGRAMS

Program = tuple[str, Callable[..., Any], tuple[Any, ...]]
SHAPES: dict[str, tuple[int, ...]] = {"scalar": (), "vector": (5,), "matrix": (2, 3)}
FLOATS = ("float32", "bfloat16", "float16")
UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "exp": jnp.exp,
    "expm1": jnp.expm1,
    "log": lambda x: jnp.log(x * x + 1),
    "log1p": lambda x: jnp.log1p(x * x),
    "sqrt": lambda x: jnp.sqrt(x * x + 1),
    "rsqrt": lambda x: lax.rsqrt(x * x + 1),
    "cbrt": jnp.cbrt,
    "tanh": jnp.tanh,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "asin": lambda x: jnp.arcsin(jnp.tanh(x)),
    "acos": lambda x: jnp.arccos(jnp.tanh(x)),
    "atan": jnp.arctan,
    "asinh": jnp.arcsinh,
    "acosh": lambda x: jnp.arccosh(x * x + 2),
    "atanh": lambda x: jnp.arctanh(jnp.tanh(x) / 2),
    "logistic": jax.nn.sigmoid,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "erf_inv": lambda x: lax.erf_inv(jnp.tanh(x)),
    "lgamma": lambda x: lax.lgamma(x * x + 1),
    "digamma": lambda x: lax.digamma(x * x + 1),
    "abs": jnp.abs,
    "sign": jnp.sign,
    "square": jnp.square,
    "softplus": jax.nn.softplus,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "relu": jax.nn.relu,
    "elu": jax.nn.elu,
    "power": lambda x: jnp.abs(x) ** 1.5,
    "integer_power": lambda x: x**3,
    "clip": lambda x: jnp.clip(x, -0.5, 0.5),
    "where": lambda x: jnp.where(x > 0, x, -2 * x),
    "bessel_i1e": lax.bessel_i1e,
    "logsumexp": lambda x: jax.nn.logsumexp(x),
    "softmax": lambda x: jax.nn.softmax(jnp.atleast_1d(x)),
}
PLAIN_ONLY: dict[str, Callable[[Any], Any]] = {
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "rint": lambda x: lax.round(x),
    "isfinite": jnp.isfinite,
    "isnan": lambda x: jnp.isnan(x),
    "nextafter": lambda x: jnp.nextafter(x, x + 1),
    "to_int": lambda x: (x * 10).astype(jnp.int32),
    "reduce_precision": lambda x: lax.reduce_precision(x, 5, 4),
    "bits": lambda x: lax.bitcast_convert_type(
        x, jnp.uint32 if x.dtype.itemsize == 4 else jnp.uint16
    ),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": jnp.add,
    "subtract": jnp.subtract,
    "multiply": jnp.multiply,
    "divide": lambda x, y: x / (y * y + 1),
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "atan2": jnp.arctan2,
    "hypot": jnp.hypot,
    "logaddexp": jnp.logaddexp,
    "pow": lambda x, y: (x * x + 1) ** y,
    "outer": lambda x, y: jnp.outer(x, y),
    "inner": lambda x, y: jnp.vdot(x, y),
}
INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "add": jnp.add,
    "multiply": jnp.multiply,
    "floor_divide": lambda x, y: x // (y * y + 1),
    "mod": lambda x, y: x % (y * y + 1),
    "and": jnp.bitwise_and,
    "or": jnp.bitwise_or,
    "xor": jnp.bitwise_xor,
    "shift_left": lambda x, y: lax.shift_left(x, y % 4),
    "shift_right": lambda x, y: x >> (y % 4),
    "less": jnp.less,
    "equal": jnp.equal,
    "popcount": lambda x, y: lax.population_count(x),
    "clz": lambda x, y: lax.clz(x),
    "not": lambda x, y: ~x,
    "divide": lambda x, y: x / (y * y + 1),
    "pow": lambda x, y: x**3,
}
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": jnp.sum,
    "prod": jnp.prod,
    "max": jnp.max,
    "min": jnp.min,
    "mean": jnp.mean,
    "var": jnp.var,
    "cumsum": jnp.cumsum,
    "cumprod": jnp.cumprod,
    "argmax": jnp.argmax,
    "argmin": jnp.argmin,
    "sort": jnp.sort,
    "argsort": jnp.argsort,
    "cummax": lambda x, axis: lax.cummax(x, axis=axis),
    "median": jnp.median,
    "any": lambda x, axis: jnp.any(x > 1, axis),
    "all": lambda x, axis: jnp.all(x > -9, axis),
    "top": lambda x, axis: lax.top_k(x, 2),
    "norm": lambda x, axis: jnp.linalg.norm(x, axis=axis),
    "flip": jnp.flip,
    "roll": lambda x, axis: jnp.roll(x, 1, axis),
    "diff": lambda x, axis: jnp.diff(x, axis=axis),
    "ptp": jnp.ptp,
    "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax,
    "rfft": lambda x, axis: jnp.fft.rfft(x, axis=axis),
    "fft": lambda x, axis: jnp.fft.fft(x, axis=axis),
}
DIFFERENTIABLE_REDUCTIONS = (
    "sum",
    "prod",
    "max",
    "mean",
    "var",
    "cumsum",
    "cumprod",
    "sort",
    "norm",
    "flip",
    "roll",
    "softmax",
    "log_softmax",
)
PLACING: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: x.transpose(2, 0, 1),
    "reshape": lambda x: x.reshape(4, 6),
    "slice": lambda x: x[:, 1:, ::2],
    "take": lambda x: x[:, jnp.array([2, 0])],
    "pad": lambda x: jnp.pad(x, ((0, 1), (1, 0), (2, 2))),
    "concatenate": lambda x: jnp.concatenate([x, x * 2], 1),
    "stack": lambda x: jnp.stack([x, -x]),
    "tile": lambda x: jnp.tile(x, (1, 2, 1)),
    "repeat": lambda x: jnp.repeat(x, 2, 1),
    "at_set": lambda x: x.at[:, 1].set(7.0),
    "at_add": lambda x: x.at[jnp.array([0, 1, 0])].add(1.0),
    "at_max": lambda x: x.at[0].max(0.0),
    "diagonal": lambda x: jnp.diagonal(x, axis1=1, axis2=2),
    "triangle": lambda x: jnp.tril(x),
    "dynamic": lambda x: lax.dynamic_slice(x, (0, jnp.argmax(x[0, :, 0]), 1), (1, 2, 3)),
    "update": lambda x: lax.dynamic_update_slice(x, x[:1, :1] * 3, (1, 2, 0)),
    "broadcast": lambda x: x[:, None] + x[:, :, None],
    "gather_rows": lambda x: jnp.take_along_axis(x, jnp.argsort(x, 2), 2),
    "window_sum": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2), (1, 1, 2), "VALID"),
    "window_max": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2), (1, 1, 1), "SAME"),
    "scan": lambda x: lax.scan(lambda c, row: (c * 0.5 + row, c), x[0], x),
    "fori": lambda x: lax.fori_loop(0, 4, lambda i, c: c * 0.9 + i, x),
    "map": lambda x: lax.map(jnp.sin, x),
    "while": lambda x: lax.while_loop(lambda c: jnp.sum(c) > -40, lambda c: c - 1.0, x),
    "cond": lambda x: lax.cond(x[0, 0, 0] > 0, jnp.sin, lambda y: y * 2, x),
    "switch": lambda x: lax.switch(jnp.int32(x[0, 0, 0] * 3), [jnp.sin, jnp.cos, jnp.tanh], x),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.exp(y)))(x),
    "associative": lambda x: lax.associative_scan(jnp.add, x, axis=1),
    "one_hot": lambda x: jax.nn.one_hot(jnp.argmax(x, -1), 4),
    "histogram": lambda x: jnp.bincount((x.ravel() > 0).astype(jnp.int32), length=3),
}
NOT_DIFFERENTIABLE = ("while", "one_hot", "histogram")
CONTRACTIONS = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij,kj->ki",
    "bi,bj->bij",
    "ijk,kl->ijl",
    "bhqd,bhkd->bhqk",
    "ij,ij->i",
    "i,i->",
    "abc,cb->a",
    "ii,i->i",
)
SIZES = {"i": 3, "j": 4, "k": 5, "b": 2, "l": 3, "h": 2, "q": 3, "d": 4, "a": 2, "c": 3}


def _values(seed: int, sizes: tuple[int, ...], kind: str = "float32") -> Any:
    rng = np.random.default_rng(seed)
    if kind.startswith(("int", "uint")):
        return np.asarray(rng.integers(0 if kind[0] == "u" else -9, 10, sizes), kind)
    return (
        rng.standard_normal(sizes).astype(np.float32).astype(kind)
    )  # without JAX, which would compile a program for it


def _summed(function: Callable[..., Any]) -> Callable[..., Any]:
    def total(*arguments: Any) -> Any:
        return sum(
            jnp.sum(leaf * leaf.astype(jnp.float32))
            for leaf in jax.tree_util.tree_leaves(function(*arguments))
            if leaf.dtype.kind in "fV"
        )

    return jax.grad(total, argnums=0)


def _convolutions() -> Iterator[Program]:
    for stride in (1, 2):
        for padding in ("SAME", "VALID", ((1, 0), (2, 1))):
            for groups in (1, 2):
                for dilation in (1, 2):

                    def convolve(
                        x: Any,
                        w: Any,
                        stride: int = stride,
                        padding: Any = padding,
                        groups: int = groups,
                        dilation: int = dilation,
                    ) -> Any:
                        return lax.conv_general_dilated(
                            x,
                            w,
                            (stride, stride),
                            padding,
                            rhs_dilation=(dilation, dilation),
                            feature_group_count=groups,
                            dimension_numbers=("NHWC", "HWIO", "NHWC"),
                        )

                    arguments = (_values(1, (1, 6, 5, 4)), _values(2, (2, 2, 4 // groups, 4)))
                    name = f"conv_{stride}_{padding if isinstance(padding, str) else 'own'}_{groups}_{dilation}"
                    yield name, convolve, arguments
                    if dilation == 1:
                        yield f"grad_{name}", _summed(convolve), arguments


def all_programs() -> list[Program]:
    """Every program, in a fixed order."""
    found: list[Program] = [
        (name, function, arguments) for name, (function, arguments) in PROGRAMS.items()
    ]
    for number, (name, function) in enumerate((UNARY | PLAIN_ONLY).items()):
        for shape, sizes in SHAPES.items():
            found += [
                (f"{name}_{shape}_{kind}", function, (_values(number, sizes, kind),))
                for kind in (FLOATS if shape == "vector" else FLOATS[:1])
            ]
        if name in UNARY:
            found.append((f"grad_{name}", _summed(function), (_values(number, (4,)),)))
            found.append(
                (f"vmap_grad_{name}", jax.vmap(_summed(function)), (_values(number, (3, 2)),))
            )
    for number, (name, binary) in enumerate(BINARY.items()):
        for shape, sizes in SHAPES.items():
            found.append(
                (f"{name}_{shape}", binary, (_values(number, sizes), _values(number + 50, sizes)))
            )
        found.append(
            (f"grad_{name}", _summed(binary), (_values(number, (4,)), _values(number + 50, (4,))))
        )
    for number, (name, binary) in enumerate(INTEGER.items()):
        found += [
            (
                f"{name}_{kind}",
                binary,
                (_values(number, (6,), kind), _values(number + 50, (6,), kind)),
            )
            for kind in ("int32", "uint8")
        ]
    for number, (name, reduction) in enumerate(REDUCTIONS.items()):
        found += [
            (
                f"{name}_{axis}",
                lambda x, r=reduction, a=axis: r(x, axis=a),
                (_values(number, (4, 5)),),
            )
            for axis in (0, 1)
        ]
        if name in DIFFERENTIABLE_REDUCTIONS:
            found.append(
                (
                    f"grad_{name}",
                    _summed(lambda x, r=reduction: r(x, axis=1)),
                    (_values(number, (4, 5)),),
                )
            )
    for number, (name, function) in enumerate(PLACING.items()):
        found.append((f"{name}_placed", function, (_values(number, (2, 3, 4)),)))
        found.append((f"vmap_{name}", jax.vmap(function), (_values(number, (2, 2, 3, 4)),)))
        if name not in NOT_DIFFERENTIABLE:
            found.append((f"grad_{name}", _summed(function), (_values(number, (2, 3, 4)),)))
    for number, letters in enumerate(CONTRACTIONS):
        operands = tuple(
            [
                _values(number + k, tuple([SIZES[c] for c in side]))
                for k, side in enumerate(letters.partition("->")[0].split(","))
            ]
        )
        found.append((f"einsum_{number}", lambda *a, e=letters: jnp.einsum(e, *a), operands))
        found.append(
            (f"grad_einsum_{number}", _summed(lambda *a, e=letters: jnp.einsum(e, *a)), operands)
        )
        found.append(
            (
                f"einsum_bfloat16_{number}",
                lambda *a, e=letters: jnp.einsum(e, *a),
                tuple([o.astype("bfloat16") for o in operands]),
            )
        )
    return found + list(_convolutions())


def exported(program: Program, *, debug: bool = True) -> str:
    """Return the StableHLO text that JAX lowers a program to."""
    return jax.jit(program[1], keep_unused=True).lower(*program[2]).as_text(debug_info=debug)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for item in all_programs():
        (folder / f"{item[0]}.mlir").write_text(exported(item))
