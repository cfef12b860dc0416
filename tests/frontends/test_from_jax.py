"""JAX programs imported, run by our CPU backend, and held against what jax itself computes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.source_lines import SourceLines

jax = pytest.importorskip("jax", reason="needs the extra `jax`")
pytestmark = pytest.mark.jax

from tests.frontends.jax_programs import PROGRAMS  # noqa: E402


def leaves(tree: Any) -> list[np.ndarray]:
    found = jax.tree_util.tree_leaves(tree)
    return [
        np.asarray(
            jax.random.key_data(a)
            if jax.dtypes.issubdtype(getattr(a, "dtype", np.int32), jax.dtypes.prng_key)
            else a
        )
        for a in found
    ]


def test_there_are_forty() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(6)
def test_the_program_runs_as_in_jax(name: str) -> None:
    function, arguments = PROGRAMS[name]
    want = jax.jit(function)(*arguments)
    jitted = xe.jit(function)
    got = jitted(*arguments)
    assert jax.tree_util.tree_structure(got) == jax.tree_util.tree_structure(want)
    for a, b in zip(leaves(got), leaves(want), strict=True):
        assert a.dtype == b.dtype
        relative, absolute = (2e-2, 2e-2) if a.dtype.name == "bfloat16" else (2e-4, 2e-5)
        np.testing.assert_allclose(
            np.asarray(a, np.complex128), np.asarray(b, np.complex128), rtol=relative, atol=absolute
        )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(14)
def test_instructions_say_which_line_they_came_from(name: str) -> None:
    function, arguments = PROGRAMS[name]
    module = xe.from_jax(function, *arguments)
    xe.verify(module)
    lines = SourceLines(module)
    all_of_them = list(module.instructions())
    placed = [i for i in all_of_them if lines.metadata_place(i.metadata)]
    assert len(placed) >= 0.95 * len(all_of_them)
    file, first = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
    assert file is not None and any(
        lines.metadata_place(i.metadata).startswith(f"{file}:") for i in placed
    ), (file, first)


def test_arguments_of_any_pytree_static_ones_and_specifications() -> None:
    def scale(tree: Any, factor: int, *, power: int = 1) -> Any:
        return {name: (value * factor) ** power for name, value in tree.items()}

    module = xe.from_jax(
        scale,
        {"a": jax.ShapeDtypeStruct((3,), np.float32)},
        2,
        static_argnums=1,
        power=3,
        static_argnames="power",
    )
    assert [str(p.shape) for p in module.entry.parameters()] == ["f32[3]{0}"]
    found = xe.evaluate(module, np.float32([1, 2, 3]))
    np.testing.assert_allclose(found["a"], np.float32([8, 64, 216]))


def test_donated_buffers_and_shardings_are_kept() -> None:
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    donated = xe.from_jax(lambda x: x + 1, jnp.ones(4), donate_argnums=0)
    assert "input_output_alias" in donated.to_text()
    mesh = jax.make_mesh((1,), ("data",))
    sharding = NamedSharding(mesh, PartitionSpec("data"))
    sharded = xe.from_jax(
        jax.jit(lambda x: x * 2, in_shardings=sharding, out_shardings=sharding), jnp.ones((4, 2))
    )
    assert "sharding=" in sharded.to_text()
    np.testing.assert_array_equal(
        xe.compile(sharded)(np.ones((4, 2), np.float32)), np.full((4, 2), 2, np.float32)
    )


def test_one_compile_for_a_signature_and_the_session_behind_it() -> None:
    import jax.numpy as jnp

    @xe.jit(static_argnames="n")
    def power(x: Any, n: int) -> Any:
        return x**n

    assert power(jnp.ones(3), n=2).shape == (3,) and power(jnp.zeros(3), 2).shape == (3,)
    power(jnp.ones(3), n=3)
    assert len(power.sessions) == 3, "x of one shape with n=2 by name, by position, and n=3"
    assert power.session is not None and power.compiled(jnp.ones(3), n=3) is power.session


def test_inside_a_transformation_the_error_says_how_to_turn_it_round() -> None:
    import jax.numpy as jnp

    with pytest.raises(xe.XlaExplorerError, match=r"xe.jit\(jax.grad"):
        jax.grad(lambda x: xe.jit(jnp.sin)(x))(1.0)


def test_capture_sees_what_is_compiled() -> None:
    import jax.numpy as jnp

    from xla_explorer.frontends.jax_program import captured_programs

    def fresh(x: Any) -> Any:
        return jnp.tanh(x) * 3

    with captured_programs() as found:
        jax.jit(fresh)(jnp.ones(5))
    assert "fresh" in [m.name for m in found]
