"""Real XLA as a backend: passes as steps, values, and failures as errors, not crashes."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import xla_explorer as xe

pytest.importorskip("jax", reason="needs the extra `jax`")
pytestmark = pytest.mark.jax

SOFTMAX = """HloModule softmax
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[64,128] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  top = f32[64] reduce(x, low), dimensions={1}, to_apply=max
  tops = f32[64,128] broadcast(top), dimensions={0}
  d = f32[64,128] subtract(x, tops)
  e = f32[64,128] exponential(d)
  total = f32[64] reduce(e, zero), dimensions={1}, to_apply=sum
  totals = f32[64,128] broadcast(total), dimensions={0}
  ROOT r = f32[64,128] divide(e, totals)
}"""


LOOP = """HloModule loop
body { s = (s32[], f32[128,128]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = f32[128,128] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(k, one)
  d = f32[128,128] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[128,128]) tuple(next, d) }
condition { s = (s32[], f32[128,128]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT p = pred[] compare(k, n), direction=LT }
ENTRY e { x = f32[128,128] parameter(0)
  small = f32[] constant(0.001)
  smalls = f32[128,128] broadcast(small), dimensions={}
  scaled = f32[128,128] multiply(x, smalls)
  zero = s32[] constant(0)
  s = (s32[], f32[128,128]) tuple(zero, scaled)
  w = (s32[], f32[128,128]) while(s), condition=condition, body=body
  ROOT r = f32[128,128] get-tuple-element(w), index=1 }"""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    """Share one child among read-only tests: its start takes a second of processor time."""
    return xe.compile(SOFTMAX, backend="xla")


def test_values_and_times(session: xe.Session) -> None:
    (x,) = xe.random_arguments(SOFTMAX)
    np.testing.assert_allclose(session(x), xe.evaluate(xe.parse_hlo(SOFTMAX), x), rtol=1e-5)
    frame = session.profile(x, repeats=3)
    assert frame["median_us"].iloc[0] > 0


def test_kernels_have_the_times_that_xla_records() -> None:
    frame = xe.compile(LOOP, backend="xla").profile(repeats=4)
    kernels = frame[frame["kernel"] != "(whole program)"].set_index("kernel")
    assert (kernels["median_us"] > 0).all() and set(kernels["n"]) == {4}
    product = kernels.loc[kernels["flops"].idxmax()]
    assert product["flops"] >= 5 * 2 * 128**3, (
        "what runs inside of the loop is counted as often as it runs"
    )
    assert product["median_us"] > kernels.loc["%w", "median_us"], (
        "the loop's own time is without what it runs"
    )


def test_its_passes_are_steps_with_identities(session: xe.Session) -> None:
    assert "fusion" in [s.name for s in session.passes.record.steps]
    source = {i.name: i.id for i in session.source.instructions()}
    fused = {i.name: i.id for i in session.module.instructions()}
    kept = [n for n in fused if n in source and fused[n] == source[n]]
    assert {"x", "r"} & set(kept)
    assert "define" in session.stage("llvm-ir-optimized").text


@pytest.mark.long
def test_what_xla_refuses_is_its_own_sentence() -> None:
    with pytest.raises(xe.XlaExplorerError, match="nowhere"):
        xe.compile(
            'HloModule m\nENTRY e { x = f32[4] parameter(0)\n ROOT r = f32[4] custom-call(x), custom_call_target="nowhere" }',
            backend="xla",
        )


@pytest.mark.long
def test_the_death_of_the_child_is_an_error_here() -> None:
    victim = xe.compile(SOFTMAX, backend="xla")
    os.kill(victim.executable.child._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    with pytest.raises(xe.XlaExplorerError, match="SIGKILL"):
        victim(*xe.random_arguments(SOFTMAX))
    assert victim.passes.record.steps, "what is known stays known"


@pytest.mark.long
def test_one_table_with_ours() -> None:
    frame = xe.compare(SOFTMAX, backends=["cpu", "xla"])
    assert list(dict.fromkeys(frame["backend"])) == ["cpu", "xla"] and set(
        frame["status"].dropna()
    ) == {"ok"}


@pytest.mark.long
@pytest.mark.parametrize("header", ["replica_count=2", "num_partitions=2"])
@pytest.mark.parametrize("groups", ["{}", "{{0,1}}"])
@pytest.mark.sampled(2)
def test_one_devices_value_is_no_answer_of_several(header: str, groups: str) -> None:
    channel = (
        "channel_id=1, use_global_device_ids=true, "
        if header.startswith("num") and groups != "{}"
        else "channel_id=1, "
        if header.startswith("num")
        else ""
    )
    text = f"""HloModule m, {header}
sum {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}
ENTRY e {{ x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), {channel}replica_groups={groups}, to_apply=sum }}"""
    session = xe.compile(text, backend="xla")
    for run in (session, session.profile):
        with pytest.raises(
            xe.XlaExplorerError, match="%r works between devices; real XLA runs here on one"
        ) as caught:
            run(np.ones(4, np.float32))
        assert "evaluate_replicated" in str(caught.value)


@pytest.mark.long
def test_a_group_of_one_device_runs() -> None:
    text = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), replica_groups={{0}}, to_apply=sum }"""
    np.testing.assert_array_equal(
        xe.compile(text, backend="xla")(np.ones(4, np.float32)), np.ones(4, np.float32)
    )


@pytest.mark.long
def test_linear_algebra_of_jax_runs_in_the_child() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[1,1] constant({{4}})
  c = (f32[1,1], s32[]) custom-call(x), custom_call_target="lapack_spotrf_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  ROOT r = f32[1,1] get-tuple-element(c), index=0
}"""
    assert xe.compile(text, backend="xla")().tolist() == [[2.0]]


@pytest.mark.long
def test_a_composite_of_several_results_reaches_the_child() -> None:
    text = """HloModule m
f {
  x = f32[5] parameter(0)
  ROOT t = (f32[2], s32[2]) topk(x), k=2, largest=true
}
ENTRY e {
  x = f32[5] constant({3, 1, 4, 1, 5})
  c = (f32[2], s32[2]) call(x), to_apply=f, is_composite=true, frontend_attributes={composite.attributes={k = 2 : i64},composite.name="chlo.top_k",composite.version="1"}
  ROOT r = f32[2] get-tuple-element(c), index=0
}"""
    assert xe.compile(text, backend="xla")().tolist() == [5.0, 4.0]
