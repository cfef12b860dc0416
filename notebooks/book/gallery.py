"""The gallery: saved explorer pages of real programs, and the page that lists them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import xla_explorer as xe


class Model(NamedTuple):
    """One program. title, text: shown. module: its constructor. needs: a required package."""

    title: str
    text: str
    module: Callable[[], xe.HloModule]
    needs: str = ""


def _attention() -> xe.HloModule:
    return xe.example("attention")


def _training_step() -> xe.HloModule:
    return xe.example("mlp_train")


def _convolution() -> xe.HloModule:
    import jax
    import jax.numpy as jnp

    def block(x: jax.Array, first: jax.Array, second: jax.Array, gain: jax.Array) -> jax.Array:
        y = jax.lax.conv_general_dilated(
            x, first, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        y = jax.nn.relu(gain * (y - y.mean((0, 1, 2))) / jnp.sqrt(y.var((0, 1, 2)) + 1e-5))
        return jax.nn.relu(
            x
            + jax.lax.conv_general_dilated(
                y, second, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )

    kernel = np.ones((3, 3, 16, 16), np.float32)
    return xe.from_jax(
        block, np.ones((4, 28, 28, 16), np.float32), kernel, kernel, np.ones(16, np.float32)
    )


def _recurrent() -> xe.HloModule:
    import jax
    import jax.numpy as jnp

    def network(w: jax.Array, u: jax.Array, xs: jax.Array) -> jax.Array:
        def step(state: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            state = jnp.tanh(state @ w + x @ u)
            return state, state

        return jax.lax.scan(step, jnp.zeros((8, 64)), xs)[1]

    return xe.from_jax(
        network,
        np.ones((64, 64), np.float32),
        np.ones((32, 64), np.float32),
        np.ones((20, 8, 32), np.float32),
    )


MODELS = {
    "attention": Model(
        "Softmax attention",
        "Eight heads, as JAX lowers them. Read the refused fusions around the softmax.",
        _attention,
    ),
    "training_step": Model(
        "A training step",
        "Three layers, their gradients and the update of the weights: 196 instructions.",
        _training_step,
    ),
    "residual_block": Model(
        "A residual block",
        "Two convolutions with a normalisation between them.",
        _convolution,
        "jax",
    ),
    "recurrent": Model(
        "A recurrent network",
        "A loop of 20 steps; loop-invariant instructions are hoisted.",
        _recurrent,
        "jax",
    ),
}


def write_gallery(folder: Path) -> str:
    """Write missing pages of models into `folder/gallery`, and return the page that lists them.

    Another process compiles the models: Sphinx forks, and a process that has run JAX must not fork.
    """
    lines = [
        "# Gallery",
        "",
        "Each page was written by `session.save`. It shows every pass, and needs neither a kernel nor a network.",
        "",
    ]
    folder = folder / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    known = {
        name: model
        for name, model in MODELS.items()
        if not model.needs or importlib.util.find_spec(model.needs) is not None
    }
    missing = [name for name in known if not (folder / f"{name}.html").is_file()]
    if missing:
        subprocess.run(
            [sys.executable, "-m", "notebooks.book.gallery", str(folder), *missing],
            cwd=Path(__file__).parents[2],
            check=True,
        )
    for name, model in known.items():
        link = f'<a href="../gallery/{name}.html">open the page</a>'
        lines += [
            f"## {model.title}",
            "",
            f"{model.text} {link} ({(folder / f'{name}.html').stat().st_size / 1e6:.1f} MB)",
            "",
        ]
    return "\n".join(lines)


def save_models(folder: Path, names: list[str]) -> None:
    """Write the pages of the models."""
    for name in names:
        session = xe.compile(MODELS[name].module(), journal="everything")
        session.profile(*xe.random_arguments(session.module), repeats=5)
        session.save(folder / f"{name}.html")


if __name__ == "__main__":
    save_models(Path(sys.argv[1]), sys.argv[2:])
