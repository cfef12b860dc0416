"""A process that runs JAX's primitive harnesses: names in, a row of JSON out for each.

    python child.py cpu,interpreter 42 < names        # 42: the seed of the arguments

Every harness runs through jax.jit on JAX's own CPU and through xe.jit on backends of ours, with the
same arguments; on `pjrt` it runs through jax.jit on our platform. The first line out says which
harnesses there are.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = (
    "cpu,xla_explorer" if "pjrt" in "".join(sys.argv[1:2]).split(",") else "cpu"
)
os.environ.setdefault(
    "JAX_ENABLE_X64", "1"
)  # before jax is imported: the harnesses of 64-bit types exist with it only

import numpy as np

PLUGIN = "pjrt"
KEEP = 50  # harnesses between two times that jax's caches are emptied


def load() -> dict[str, Any]:
    """All harnesses by name.

    The generator of numpy is set before, because jax's file draws one array while it is imported.
    """
    np.random.seed(0)
    from jax._src.internal_test_util import test_harnesses

    return {h.fullname: h for h in test_harnesses.all_harnesses}


def leaves(tree: Any) -> list[np.ndarray]:
    """Results as numpy arrays; random keys by their bits."""
    import jax

    found = jax.tree_util.tree_leaves(tree)
    return [
        np.asarray(
            jax.random.key_data(x) if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key) else x
        )
        for x in found
    ]


def run(harness: Any, backends: list[str], seed: int) -> dict[str, dict[str, Any]]:
    """Return a `status` per backend: agrees, differs, refused, failed, unsupported, ours alone.

    unsupported: JAX's CPU does not support it either.
    """
    import jax

    arguments = harness.dyn_args_maker(np.random.RandomState(seed))
    try:
        want, said = leaves(jax.jit(harness.dyn_fun)(*arguments)), ""
    except Exception as problem:
        want, said = None, f"{type(problem).__name__}: {problem}"[:500]
    return {backend: one(harness, arguments, backend, want, said) for backend in backends}


def one(
    harness: Any, arguments: list[Any], backend: str, want: list[np.ndarray] | None, said: str
) -> dict[str, Any]:
    """One backend against what JAX computed, or against its refusal."""
    import xla_explorer as xe
    from tests.jax_harnesses.agreement import compare

    try:
        got = leaves(compiled(harness.dyn_fun, backend)(*arguments))
    except Exception as problem:
        note = f"{type(problem).__name__}: {problem}"[:1500]
        if want is None:
            return {"status": "unsupported", "note": note, "jax": said}
        return {
            "status": "refused" if isinstance(problem, xe.XlaExplorerError) else "failed",
            "note": note,
        }
    return (
        compare(harness, arguments, got, want)
        if want is not None
        else {"status": "ours alone", "jax": said}
    )


def compiled(function: Any, backend: str) -> Any:
    """Return the function on one of our backends or on our platform."""
    import jax

    import xla_explorer as xe

    if backend != PLUGIN:
        return xe.jit(function, backend=backend)

    def on_the_platform(*arguments: Any) -> Any:
        with jax.default_device(jax.devices("xla_explorer")[0]):
            return jax.jit(function)(*arguments)

    return on_the_platform


def main() -> None:
    backends, seed = sys.argv[1].split(","), int(sys.argv[2])
    if PLUGIN in backends:
        from xla_explorer import pjrt

        pjrt.initialize()
    # Whatever a harness prints must not mix with the rows.
    rows = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    harnesses = load()
    # Imports on first use must not count as the time of the first harness.
    compiled(lambda x: x, backends[0])(np.float32(0))
    print(
        json.dumps({name: harness.group_name for name, harness in harnesses.items()}),
        file=rows,
        flush=True,
    )
    for count, line in enumerate(sys.stdin, start=1):
        harness = harnesses[line.strip()]
        row = {
            "name": harness.fullname,
            "primitive": harness.group_name,
            "seed": seed,
            **run(harness, backends, seed),
        }
        print(json.dumps(row), file=rows, flush=True)
        if count % KEEP == 0:
            import jax

            jax.clear_caches()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main()
