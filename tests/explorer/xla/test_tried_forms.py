"""Rewritten forms of programs: the values stay, what the form does not fit is left alone."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.advice.rules import Facts, KernelFact
from xla_explorer.explorer.xla.advice import advise
from xla_explorer.explorer.xla.tried_advice import TimedTrial
from xla_explorer.explorer.xla.tried_forms import rewritten

EXPERTS = """HloModule m
ENTRY e {
  x = f32[6,3] parameter(0)
  w = f32[4,3,5] parameter(1)
  e = s32[6] parameter(2)
  i = s32[6,1] reshape(e)
  zeros = s32[6,2] broadcast(z), dimensions={}
  c = s32[6,3] concatenate(i, zeros), dimensions={1}
  g = f32[6,1,3,5] gather(w, c), offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={0,1,2}, index_vector_dim=1, slice_sizes={1,3,5}
  s = f32[6,3,5] reshape(g)
  ROOT d = f32[6,5] dot(x, s), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
""".replace("  zeros =", "  z = s32[] constant(0)\n  zeros =")


def test_rows_are_multiplied_by_all_experts_and_selected() -> None:
    module = xe.parse_hlo(EXPERTS)
    made = rewritten("dense-experts", module)
    opcodes = [i.opcode.name for i in made.entry.instructions.values()]
    assert opcodes.count("dot") == 2 and "iota" in opcodes
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(6, 3)).astype("f"), rng.normal(size=(4, 3, 5)).astype("f")
    e = np.array([3, 0, 2, 1, 1, 3], np.int32)
    np.testing.assert_allclose(
        xe.evaluate(made, x, w, e), xe.evaluate(module, x, w, e), rtol=1e-5, atol=1e-6
    )


def test_the_gradient_by_the_rows_is_rewritten_too() -> None:
    text = EXPERTS.replace("x = f32[6,3]", "x = f32[6,5]").replace("d = f32[6,5]", "d = f32[6,3]")
    text = text.replace("rhs_contracting_dims={1}", "rhs_contracting_dims={2}")
    module = xe.parse_hlo(text)
    arguments = [*xe.random_arguments(module)[:2], np.array([3, 0, 2, 1, 1, 3], np.int32)]
    made = rewritten("dense-experts", module)
    np.testing.assert_allclose(
        xe.evaluate(made, *arguments), xe.evaluate(module, *arguments), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "text",
    [
        "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }",
        EXPERTS.replace("slice_sizes={1,3,5}", "slice_sizes={1,3,4}")
        .replace("f32[6,1,3,5]", "f32[6,1,3,4]")
        .replace("f32[6,3,5]", "f32[6,3,4]")
        .replace("d = f32[6,5]", "d = f32[6,4]"),
    ],
)
def test_other_programs_have_no_dense_form(text: str) -> None:
    assert rewritten("dense-experts", xe.parse_hlo(text)) is None


def test_64_bits_become_32() -> None:
    module = xe.parse_hlo(
        "ENTRY e { x = f64[3] parameter(0) c = f64[] constant(2) b = f64[3] broadcast(c), dimensions={} ROOT r = f64[3] multiply(x, b) }"
    )
    made = rewritten("in-32-bits", module)
    assert {i.shape.element_type.name for i in made.instructions()} == {"f32"}
    assert xe.evaluate(made, np.ones(3, np.float32)).tolist() == [2, 2, 2]
    assert rewritten("in-32-bits", made) is None


def test_a_stencil_as_a_gather_has_advice_and_a_lookup_has_none() -> None:
    gather = "gather(x, {}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}"
    roll = f"""ENTRY e {{ x = f32[4] parameter(0)
      k = s32[4,1] iota(), iota_dimension=0 one = s32[] constant(1) o = s32[4,1] broadcast(one), dimensions={{}}
      i = s32[4,1] add(k, o) ROOT r = f32[4] {gather.format("i")} }}"""
    lookup = f"ENTRY e {{ x = f32[4] parameter(0) i = s32[4,1] parameter(1) ROOT r = f32[4] {gather.format('i')} }}"
    for text, says in ((roll, ["jnp.roll"]), (lookup, [])):
        kernel = KernelFact(xe.parse_hlo(text).entry.root, 90.0, 1, "m.py:2")
        found = advise(Facts(100.0, 0.0, [kernel]))
        assert [word for one in found for word in ("jnp.roll",) if word in one.sentence] == says


@pytest.mark.jax
@pytest.mark.long
def test_a_weight_for_each_row_is_tried_in_the_dense_form() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")

    def moe(x, w, e):  # type: ignore[no-untyped-def]
        return jax.numpy.tanh(jax.vmap(lambda row, expert: row @ w[expert])(x, e))

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(256, 64)).astype("f"), rng.normal(size=(4, 64, 256)).astype("f")
    page = xe.xla.why_slow(moe, x, w, rng.integers(0, 4, 256).astype(np.int32), repeats=5)
    found = [one for one in (*page.advice, *page.without_gain) if one.form == "dense-experts"]
    assert found and found[0].tried_us is not None and found[0].difference < 1e-4
    assert page.advice and page.advice[0].form == "dense-experts" and " to " in str(page)


def test_one_disturbed_round_of_eleven_does_not_count() -> None:
    trial = TimedTrial([10.0] * 11, [*[5.0] * 9, 4.0, 40.0], 0.0)
    assert trial.interval == (0.5, 0.5)
    assert TimedTrial([10.0, 10.0], [5.0, 20.0], 0.0).interval == (0.5, 2.0)
