"""Rewritten forms of programs: the values stay, what the form does not fit is left alone."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.advice.array_forms import keep_the_order
from xla_explorer.explorer.advice.rules import Facts, KernelFact
from xla_explorer.explorer.xla.advice import advise
from xla_explorer.explorer.xla.forms import rewritten
from xla_explorer.explorer.xla.host_calls import _dynamic_leaves
from xla_explorer.explorer.xla.median_interval import interval_rank
from xla_explorer.explorer.xla.tried_advice import TimedTrial

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
    assert [interval_rank(n) for n in (2, 5, 11, 25)] == [0, 0, 1, 7]


def test_a_trial_goes_on_while_its_gain_is_not_certain() -> None:
    noisy = TimedTrial([10.0] * 11, [9.0] * 6 + [12.0] * 5, 0.0)
    assert noisy.is_open
    assert not TimedTrial([10.0] * 11, [9.0] * 11, 0.0).is_open
    assert not TimedTrial([10.0] * 11, [12.0] * 11, 0.0).is_open


def _same(form: str, text: str, *arguments: np.ndarray) -> xe.HloModule:
    """Return the rewritten program, whose values agree with the program's."""
    module = xe.parse_hlo(text)
    made = rewritten(form, module)
    assert made is not None
    given = arguments or xe.random_arguments(module)
    one, two = xe.evaluate(made, *given), xe.evaluate(module, *given)
    np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    return made


ONE_HOT = """HloModule m
store { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
ENTRY e {
  zero = f32[] constant(0)
  into = f32[4,3] broadcast(zero), dimensions={}
  n = s32[4] iota(), iota_dimension=0
  column = s32[4,1] reshape(n)
  chosen = s32[4,1] parameter(0)
  both = s32[4,2] concatenate(column, chosen), dimensions={1}
  one = f32[] constant(2)
  ones = f32[4] broadcast(one), dimensions={}
  ROOT s = f32[4,3] scatter(into, both, ones), update_window_dims={}, inserted_window_dims={0,1},
    scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=store
}"""


def test_a_scatter_of_ones_is_a_comparison() -> None:
    made = _same("compared-one-hot", ONE_HOT, np.array([[2], [0], [3], [1]], np.int32))
    names = [i.opcode.name for i in made.entry.instructions.values()]
    assert "scatter" not in names and "compare" in names


@pytest.mark.parametrize(
    "change",
    [
        ("column, chosen", "chosen, column"),
        ("parameter(1)", "subtract(a, a)"),
        ("iota()", "iota()"),
    ],
)
def test_other_scatters_are_left_alone(change: tuple[str, str]) -> None:
    text = ONE_HOT.replace(*change)
    if change[0] == change[1]:
        text = text.replace("n = s32[4] iota(), iota_dimension=0", "n = s32[4] parameter(1)")
    assert rewritten("compared-one-hot", xe.parse_hlo(text)) is None


ROWS = (
    ONE_HOT[: ONE_HOT.index("  n =")]
    + """  chosen = s32[4,1] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  ROOT s = f32[4,3] scatter(into, chosen, ones), update_window_dims={}, inserted_window_dims={1},
    scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0},
    index_vector_dim=1, to_apply=store
}"""
)


@pytest.mark.parametrize(
    "text",
    [
        ROWS,  # jax.vmap(lambda row, k: row.at[k].set(1.0))
        ONE_HOT.replace("column, chosen", "chosen, column").replace("f32[4,3]", "f32[3,4]"),
        ONE_HOT.replace("{0,1},\n    scatter_dims_to_operand_dims={0,1}", "{0,1},\n    scatter_dims_to_operand_dims={1,0}").replace("f32[4,3]", "f32[3,4]"),
    ],
    ids=["batch", "first", "turned"],
)  # fmt: skip
def test_rows_of_any_place_are_compared(text: str) -> None:
    made = _same("compared-one-hot", text, np.array([[2], [0], [3], [-1]], np.int32))
    assert "scatter" not in [i.opcode.name for i in made.entry.instructions.values()]


def test_only_chosen_instructions_take_a_form() -> None:
    text = """ENTRY e { x = f32[4,5] parameter(0) a = f32[5,4] transpose(x), dimensions={1,0}
      b = f32[5,4] transpose(x), dimensions={1,0} ROOT s = f32[5,4] subtract(a, b) }"""
    made = rewritten("without-transposes", xe.parse_hlo(text), {"a"})
    kinds = {i.name: i.opcode.name for i in made.entry.instructions.values()}
    assert "a" not in kinds and kinds["b"] == "transpose"


@pytest.mark.parametrize(
    "shapes",
    [
        ("[64,3,4]", "[64,4,2]", "[64,3,2]"),
        ("[64,4,3]", "[64,2,4]", "[64,3,2]"),
        ("[64,3,4]", "[64,4]", "[64,3]"),
    ],
)
def test_small_products_are_multiplied_and_summed(shapes: tuple[str, str, str]) -> None:
    a, b, c = shapes
    lhs = 2 if a.endswith("4]") else 1
    rhs = 1 if b in ("[64,4,2]", "[64,4]") else 2
    text = f"""ENTRY e {{ a = f32{a} parameter(0) b = f32{b} parameter(1)
      ROOT d = f32{c} dot(a, b), lhs_batch_dims={{0}}, lhs_contracting_dims={{{lhs}}},
        rhs_batch_dims={{0}}, rhs_contracting_dims={{{rhs}}} }}"""
    made = _same("multiplied-and-summed", text)
    assert "dot" not in [i.opcode.name for i in made.entry.instructions.values()]
    large = text.replace("64", "8")
    assert rewritten("multiplied-and-summed", xe.parse_hlo(large)) is None


def test_results_take_the_memory_of_arguments() -> None:
    text = """ENTRY e { a = f32[8] parameter(0) b = f32[4] parameter(1) c = f32[8] parameter(2)
      s = f32[8] add(a, c) n = f32[4] negate(b) ROOT t = (f32[8], f32[4]) tuple(s, n) }"""
    made = rewritten("donated", xe.parse_hlo(text))
    assert made is not None
    aliases = str(made.attributes["input_output_alias"])
    assert "{0}: (0, {}, may-alias)" in aliases and "{1}: (1, {}, may-alias)" in aliases
    assert rewritten("donated", made) is None


def test_half_precision_is_computed_in_32_bits() -> None:
    text = """ENTRY e { a = f32[8] parameter(0) h = bf16[8] convert(a) m = bf16[8] multiply(h, h)
      ROOT r = f32[8] convert(m) }"""
    made = rewritten("halves-in-32-bits", xe.parse_hlo(text))
    assert made is not None and "bf16" not in made.to_text()


def test_data_in_the_order_in_which_they_are_read() -> None:
    """The elements are the same in another order, and the movement is gone."""
    text = """ENTRY e { t = f32[3,8] parameter(0) i = s32[5,1] parameter(1)
      g = f32[3,5] gather(t, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1},
        index_vector_dim=1, slice_sizes={3,1}
      ROOT r = f32[5,3] transpose(g), dimensions={1,0} }"""
    module = xe.parse_hlo(text)
    made = rewritten("rows-first", module)
    assert made is not None
    table, index = (
        np.arange(24, dtype=np.float32).reshape(3, 8),
        np.array([[7], [0], [3], [3], [1]]),
    )
    rows = xe.evaluate(made, table.T.reshape(3, 8).copy(), index.astype(np.int32))
    np.testing.assert_array_equal(rows, table.T[index[:, 0]])
    assert "transpose" not in [i.opcode.name for i in made.entry.instructions.values()]
    still = rewritten("without-transposes", module)
    assert still is not None and xe.evaluate(still, table, index.astype(np.int32)).shape == (5, 3)


def test_a_transpose_behind_a_fill_value_is_left_out() -> None:
    """`jnp.take` chooses NaN for indices out of range, between the gather and the transpose."""
    text = """ENTRY e { t = f32[3,8] parameter(0) i = s32[5,1] parameter(1) m = pred[3,5] parameter(2)
      g = f32[3,5] gather(t, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1},
        index_vector_dim=1, slice_sizes={3,1}
      s = f32[3,5] select(m, g, g) ROOT r = f32[5,3] transpose(s), dimensions={1,0} }"""
    made = rewritten("rows-first", xe.parse_hlo(text))
    assert made is not None
    assert "transpose" not in [i.opcode.name for i in made.entry.instructions.values()]


def test_a_program_whose_values_decide_its_work_is_not_reordered() -> None:
    text = """body { s = f32[] parameter(0) ROOT n = f32[] multiply(s, s) }
      until { s = f32[] parameter(0) c = f32[] constant(1) ROOT l = pred[] compare(s, c), direction=GT }
      ENTRY e { x = f32[3,8] parameter(0) y = f32[] parameter(1)
        w = f32[] while(y), condition=until, body=body
        t = f32[8,3] transpose(x), dimensions={1,0} ROOT r = (f32[8,3], f32[]) tuple(t, w) }"""
    assert rewritten("without-transposes", xe.parse_hlo(text)) is None


def test_columns_are_moved_to_rows_inside() -> None:
    """The values stay in their places, other than with `rows-first`."""
    text = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[3,5] parameter(0) i = s32[6,1] parameter(1)
      g = f32[3,6] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1},
        index_vector_dim=1, slice_sizes={3,1}
      n = f32[3,6] negate(g)
      ROOT s = f32[3,5] scatter(x, i, n), update_window_dims={0}, inserted_window_dims={1},
        scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add }"""
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    made = _same("moved-rows-first", text, x, np.array([[3], [1], [3], [0], [4], [1]], np.int32))
    few = text.replace("[6,1]", "[2,1]").replace("[3,6]", "[3,2]")
    assert rewritten("moved-rows-first", xe.parse_hlo(few)) is None
    assert [i.opcode.name for i in made.entry.instructions.values()].count("transpose") == 5


_PICKED = """ENTRY e {
  i = s32[6] parameter(0)
  w = f32[5,3] parameter(1)
  a = s32[6,5] broadcast(i), dimensions={0}
  b = s32[6,5] iota(), iota_dimension=1
  c = pred[6,5] compare(a, b), direction=EQ
  h = f32[6,5] convert(c)
  ROOT d = f32[6,3] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""


@pytest.mark.parametrize("sides", ["a, b", "b, a"])
def test_a_product_with_a_one_hot_matrix_takes_rows(sides: str) -> None:
    text = _PICKED.replace("compare(a, b)", f"compare({sides})")
    made, module = rewritten("taken-rows", xe.parse_hlo(text)), xe.parse_hlo(text)
    assert made is not None
    index = np.array([0, 4, -1, 5, 2, 99], np.int32)  # -1, 5, 99 have no row: zeros
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype("f")
    np.testing.assert_array_equal(xe.evaluate(made, index, rows), xe.evaluate(module, index, rows))
    assert "dot" not in [i.opcode.name for i in made.entry.instructions.values()]


@pytest.mark.parametrize(
    "change",
    [
        ("direction=EQ", "direction=LE"),
        ("iota_dimension=1", "iota_dimension=0"),
        ("broadcast(i), dimensions={0}", "broadcast(i2), dimensions={1}"),
    ],
)
def test_other_products_keep_their_matrix(change: tuple[str, str]) -> None:
    text = _PICKED.replace(*change).replace("  a =", "  i2 = s32[5] parameter(2)\n  a =")
    assert rewritten("taken-rows", xe.parse_hlo(text)) is None


_SORTED = """less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = pred[] compare(x, y), direction=LT
}
ENTRY e {
  a = f32[3,64] parameter(0)
  s = f32[3,64] sort(a), dimensions={1}, to_apply=less
  ROOT r = f32[3,4] slice(s), slice={[0:3], [60:64]}
}"""


def test_the_last_of_sorted_rows_are_selected() -> None:
    made = rewritten("largest-by-top-k", xe.parse_hlo(_SORTED))
    assert made is not None
    rows = np.random.default_rng(0).integers(0, 20, (3, 64)).astype("f")
    np.testing.assert_array_equal(xe.evaluate(made, rows), np.sort(rows, 1)[:, -4:])


@pytest.mark.parametrize(
    "change",
    [
        ("direction=LT", "direction=GT"),
        ("[60:64]", "[0:4]"),
        ("[60:64]", "[59:63]"),
        ("[60:64]", "[60:64:1]", "another reader"),
    ],
)
def test_other_slices_of_sorted_rows_are_left_alone(change: tuple[str, ...]) -> None:
    text = _SORTED.replace(*change[:2])
    if len(change) > 2:  # the whole sort has another reader
        text = text.replace("ROOT r = f32[3,4]", "n = f32[3,64] negate(s)\n  q = f32[3,4]")
        text = text.replace(
            "[60:64:1]}\n}", "[60:64]}\n  ROOT t = (f32[3,64], f32[3,4]) tuple(n, q)\n}"
        )
    assert rewritten("largest-by-top-k", xe.parse_hlo(text)) is None


@pytest.mark.jax
def test_static_arguments_are_left_out_of_the_timed_calls() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    x = np.ones(3, np.float32)
    arrays = ({"w": x}, 0.5, x[:2])
    jitted = jax.jit(lambda p, rate, y: (p["w"] * rate, y), static_argnums=1)
    found = _dynamic_leaves(jax, jitted.lower(*arrays), arrays, {})
    assert [one.shape for one in found] == [(3,), (2,)]


def test_a_reshape_hides_the_order_of_a_transpose() -> None:
    """The order of `x.T` is what a caller sees; that of `x.T.reshape(-1)` can be chosen."""
    text = """f {{ p = f32[256,512] parameter(0) e = f32[256,512] exponential(p)
        ROOT t = f32[512,256] transpose(e), dimensions={{1,0}} }}
      ENTRY e {{ x = f32[256,512] parameter(0)
        k = f32[512,256] fusion(x), kind=kLoop, calls=f
        ROOT r = {0} bitcast(k) }}"""
    for shape, count in (("f32[131072]", 1), ("f32[512,1,256]", 0)):
        module = xe.parse_hlo(text.format(shape))
        kernel = KernelFact(module.entry.root.operands[0], 90.0, 1, "m.py:2")
        found = keep_the_order(Facts(100.0, 0.0, [kernel]))
        assert (found is not None) == bool(count)
