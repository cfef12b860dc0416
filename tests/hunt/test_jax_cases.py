"""Public reports of JAX users: donated arguments, stage objects, shapes, keyword arguments."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax", reason="needs the extra `jax`")
CASES = Path(__file__).parents[1] / "data" / "hunt"
P = np.ones((16, 16), np.float32)
ALIASED = """HloModule step, input_output_alias={ {0}: (0, {}, must-alias), {1}: (1, {}, may-alias) }
ENTRY e { p = f32[64] parameter(0)
 g = f32[64] parameter(1)
 a = f32[64] add(p, g)
 b = f32[64] multiply(p, g)
 ROOT r = (f32[64], f32[64]) tuple(a, b) }"""


def donating(**which: Any) -> Any:
    return jax.jit(lambda state, g: ({k: v - g for k, v in state.items()}, g * 2), **which)


@pytest.mark.long
@pytest.mark.parametrize(
    "which",
    [{"donate_argnums": 0}, {"donate_argnums": (0, 1)}, {"donate_argnames": ("state",)}],
    ids=str,
)
@pytest.mark.parametrize("question", ["why_slow", "profile", "time", "why_memory"])
def test_donated_arguments_are_measured_on_real_xla(question: str, which: dict[str, Any]) -> None:
    found = getattr(xe.xla, question)(donating(**which), {"a": P, "b": P}, P)
    assert "jit" in repr(found)


@pytest.mark.long
def test_aliased_parameters_of_hlo_are_measured_on_real_xla() -> None:
    session = xe.compile(ALIASED, backend="xla")
    x = np.full(64, 3, np.float32)
    assert len(session.profile(x, x, repeats=4))
    for _ in range(6):  # the arrays that arrive there are aligned or not, as chance has it
        assert [np.asarray(leaf)[0] for leaf in session(x, x)] == [6, 9]


def stages() -> dict[str, Any]:
    def function(a: Any, b: Any) -> Any:
        return {"s": a @ b, "t": (a.sum(), b * 2)}

    jitted, spec = jax.jit(function), jax.ShapeDtypeStruct(P.shape, P.dtype)
    lowered = jitted.lower(P, P)
    return {
        "Traced": jitted.trace(P, P), "Lowered": lowered, "Compiled": lowered.compile(), "Exported": jax.export.export(jitted)(spec, spec),
        "ClosedJaxpr": jax.make_jaxpr(function)(P, P), "Module": lowered.compiler_ir(), "XlaComputation": lowered.compiler_ir("hlo"),
    }  # fmt: skip


NAMES = ("Traced", "Lowered", "Compiled", "Exported", "ClosedJaxpr", "Module", "XlaComputation")


@pytest.mark.parametrize("name", NAMES)
def test_an_object_of_jax_that_holds_a_program_is_a_module(name: str) -> None:
    stage = stages()[name]
    found = xe.from_jax(stage)
    x = np.arange(256, dtype=np.float32).reshape(16, 16) / 256
    for session in (xe.compile(stage), xe.compile(found)):
        product, total, twice = [np.asarray(leaf) for leaf in session.run_flat([x, P])]
        np.testing.assert_allclose(product, x @ P, rtol=1e-5)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-5)
        np.testing.assert_array_equal(twice, 2 * P)
    assert type(xe.explore(stage)).__name__ == "ExplorerWidget"


def test_what_jax_lowered_has_the_lines_of_the_user() -> None:
    assert Path(__file__).name in xe.from_jax(stages()["Lowered"]).to_text()


@pytest.mark.long
@pytest.mark.parametrize("question", ["why_slow", "profile", "time", "why_memory"])
def test_questions_take_shapes_keywords_and_stage_objects(question: str) -> None:
    ask = getattr(xe.xla, question)
    spec = jax.ShapeDtypeStruct((16, 16), np.float32)

    def scaled(a: Any, *, by: Any) -> Any:
        return a * by["k"]

    assert ask(scaled, spec, by={"k": P}) is not None
    assert ask(jax.jit(scaled), P, by={"k": spec}) is not None
    assert ask(jax.jit(lambda a: a + 1).lower(P), P) is not None
    assert ask(jax.jit(lambda a: a + 1).lower(P)) is not None


def test_keyword_arguments_of_a_module_are_refused_by_name() -> None:
    with pytest.raises(xe.XlaExplorerError, match=r"keyword arguments \(scale\)"):
        xe.xla.why_memory("ENTRY e { ROOT p = f32[4] parameter(0) }", scale=2)


@pytest.mark.long
@pytest.mark.parametrize("name", [
    "80_donated_step.py", "80c_aliased_hlo.py", "84b_committed_by_sharding.py", "86b_memory_counted_twice.py",
    "87b_nested_loops.py", "88_slow_compile.py", "90_lowered.py", "90c_exported.py",
    "92_specs.py",
])  # fmt: skip
def test_the_reported_script_ends_well(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(CASES / name)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not re.search(r"\bTraceback\b", done.stdout) and done.stdout.strip()


@pytest.mark.parametrize("place", ["device", "sharding"])
def test_a_compile_for_a_committed_argument_is_explained(place: str) -> None:
    device = jax.devices("cpu")[0]
    put = jax.device_put(
        P, device if place == "device" else jax.sharding.SingleDeviceSharding(device)
    )
    found = xe.xla.why_recompiled(
        lambda t: t["a"] + t["b"],
        ({"a": jax.numpy.ones(16), "b": P},),
        ({"a": jax.numpy.ones(16), "b": put},),
    )
    assert (
        found.compiles == 2
        and found.calls[1].reason == "args[0]['b']: device not committed became committed to cpu:0"
    )


@pytest.mark.long
def test_a_program_of_several_devices_is_refused_by_name() -> None:
    script = CASES / "91_shard_map.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=False
    )
    assert (
        "borders a manual region (shard_map) of 4 devices" in done.stderr
        and "NOT_FOUND" not in done.stderr
    )
