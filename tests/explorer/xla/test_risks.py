"""`xe.xla.risks`: each kind of risk on a smallest program, and right programs without any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

PAIRS = """ENTRY e {
  x = f32[4,1] parameter(0)
  y = f32[4] parameter(1)
  flat = f32[4] reshape(x)
  a = f32[4,4] broadcast(flat), dimensions={0}
  b = f32[4,4] broadcast(y), dimensions={1}
  ROOT r = f32[4,4] subtract(a, b)
}"""
SCATTER = """HloModule m
set { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3] parameter(2)
  ROOT r = f32[4] scatter(x, i, u), to_apply=set, update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1
}"""
SLICE = """ENTRY e {
  x = f32[8] parameter(0)
  i = s32[] parameter(1)
  ROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
}"""
GATHER = """ENTRY e {
  x = f32[8,2] parameter(0)
  i = s32[3] parameter(1)
  ROOT r = f32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,2}
}"""
F = np.float32


def binary(opcode: str, kind: str = "f32") -> str:
    return (
        f"ENTRY e {{ x = {kind}[2] parameter(0) y = {kind}[2] parameter(1) "
        f"ROOT r = {kind}[2] {opcode}(x, y) }}"
    )


def indices(*values: int) -> Any:
    return np.array(values, np.int32)


CASES: list[tuple[str, list[Any], str, str]] = [
    (binary("divide"), [F([1, 1]), F([2, 0])], "infinity", "1 / 0"),
    (binary("divide"), [F([1, 0]), F([2, 0])], "NaN", "0 / 0"),
    (binary("subtract"), [F([1e6, 2e6]), F([1e6 + 0.5, 2e6 + 0.5])], "cancellation", "of 24 bits"),
    (binary("add"), [F([1, 1]), F([3e-8, 2e-8])], "absorption", "keeps 0 of 24"),
    (binary("multiply", "s32"), [indices(70000, 2), indices(70000, 2)], "integer-overflow", "1 of 2"),
    (SLICE, [np.zeros(8, F), np.int32(6)], "index-out-of-range", "start 6 of a dimension of 8"),
    (GATHER, [np.zeros((8, 2), F), indices(0, 7, 9)], "index-out-of-range", "1 of 3 indices"),
    (SCATTER, [np.zeros(4, F), indices(0, 1, 4)[:, None], np.ones(3, F)], "dropped-update", "[4]"),
    (SCATTER, [np.zeros(4, F), indices(0, 1, 1)[:, None], np.ones(3, F)], "overwritten-update", "1 of 3"),
    (PAIRS, [np.zeros((4, 1), F), np.zeros(4, F)], "all-pairs", "f32[4,4]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arrays", "kind", "words"), CASES)
def test_a_risk_is_named(text: str, arrays: list[Any], kind: str, words: str) -> None:
    found = xe.xla.risks(text, *arrays)
    assert [one.kind for one in found.risks] == [kind]
    assert words in found.risks[0].reason and found.risks[0].fix
    assert kind in found.headline() and found.records().rows[0][1].startswith("%")


@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        (binary("divide"), [F([1, 1]), F([2, 3])]),
        (binary("subtract"), [F([1, 2]), F([3, 5])]),
        (binary("subtract"), [F([5, 7]), F([5, 7])]),  # small integers: exact
        (binary("multiply", "s32"), [indices(7, 2), indices(7, 2)]),
        (binary("multiply", "u32"), [np.uint32([1 << 31, 2]), np.uint32([1 << 31, 2])]),
        (SLICE, [np.zeros(8, F), np.int32(4)]),
        (GATHER, [np.zeros((8, 2), F), indices(0, 7, 7)]),
        (SCATTER, [np.zeros(4, F), indices(0, 1, 3)[:, None], np.ones(3, F)]),
        (PAIRS.replace("flat, ", "").replace("4,4", "4,3").replace("f32[4] parameter(1)", "f32[3] parameter(1)"), [np.zeros((4, 1), F), np.zeros(3, F)]),
    ],
)  # fmt: skip
def test_a_right_program_has_none(text: str, arrays: list[Any]) -> None:
    found = xe.xla.risks(text, *arrays)
    assert not found.risks and "no operation" in found.headline()


def test_a_sum_in_16_bits() -> None:
    text = """HloModule m
add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) }
ENTRY e { x = bf16[4096] parameter(0) z = bf16[] constant(0)
  ROOT r = bf16[] reduce(x, z), dimensions={0}, to_apply=add }"""
    import ml_dtypes

    kinds = [one.kind for one in xe.xla.risks(text, np.ones(4096, ml_dtypes.bfloat16)).risks]
    assert kinds in ([], ["narrow-sum"])  # the evaluator may sum in f32, as XLA:CPU does


def test_without_arguments_larger_ones_and_zeros_are_tried() -> None:
    text = "ENTRY e { x = f32[64] parameter(0) ROOT r = f32[64] log(x) }"
    assert xe.xla.risks(text).risks[0].argument == "random arguments"
    text = "ENTRY e { x = f32[64] parameter(0) a = f32[64] abs(x) ROOT r = f32[64] log(a) }"
    (one,) = xe.xla.risks(text).risks
    assert (one.kind, one.argument) == ("infinity", "zeros")


def test_integers_are_indices() -> None:
    """Random integers of arguments lie in the range of what they index."""
    assert not xe.xla.risks(GATHER).risks
    shifted = GATHER.replace(
        "i = s32[3] parameter(1)",
        "j = s32[3] parameter(1) k = s32[3] constant({5, 5, 5}) i = s32[3] add(j, k)",
    )
    assert [one.kind for one in xe.xla.risks(shifted).risks] == ["index-out-of-range"]


def test_a_session_is_searched_as_written() -> None:
    session = xe.compile(
        "ENTRY e { x = f32[64] parameter(0) z = f32[64] subtract(x, x) ROOT r = f32[64] divide(z, z) }"
    )
    (one,) = xe.xla.risks(session).risks
    assert (one.kind, one.instruction, one.opcode) == ("NaN", "r", "divide")


def test_an_endless_loop_is_a_note() -> None:
    text = """HloModule m
body { s = f32[2] parameter(0) one = f32[2] constant({1, 1}) ROOT n = f32[2] add(s, one) }
condition { s = f32[2] parameter(0) ROOT p = pred[] constant(true) }
ENTRY e { x = f32[2] parameter(0) ROOT w = f32[2] while(x), condition=condition, body=body }"""
    found = xe.xla.risks(text, np.zeros(2, F))
    assert "never ends" in found.note and not found.risks


@pytest.mark.parametrize("side", [1 << 15, 20_000])
def test_too_large_a_program_is_refused(side: int) -> None:
    text = f"ENTRY e {{ x = f32[] parameter(0) ROOT b = f32[{side},{side}] broadcast(x), dimensions={{}} }}"
    with pytest.raises(xe.XlaExplorerError, match="too many for the evaluator") as refused:
        xe.xla.risks(text)
    assert "smaller arguments" in refused.value.hint


CONVERGING = """body { s = (f32[4], f32[4], s32[]) parameter(0)
    x = f32[4] get-tuple-element(s), index=0
    k = s32[] get-tuple-element(s), index=2
    h = f32[] constant(0.5) hs = f32[4] broadcast(h), dimensions={}
    f = f32[] constant(0.05) fs = f32[4] broadcast(f), dimensions={}
    a = f32[4] multiply(x, hs) n = f32[4] STEP
    d = f32[4] subtract(n, x)
    i = s32[] constant(1) next = s32[] add(k, i)
    ROOT t = (f32[4], f32[4], s32[]) tuple(n, d, next) }
  until { s = (f32[4], f32[4], s32[]) parameter(0) k = s32[] get-tuple-element(s), index=2
    most = s32[] constant(9) ROOT l = pred[] compare(k, most), direction=LT }
  ENTRY e { x = f32[4] parameter(0) z = s32[] constant(0)
    t = (f32[4], f32[4], s32[]) tuple(x, x, z)
    ROOT w = (f32[4], f32[4], s32[]) while(t), condition=until, body=body }"""


def test_a_loop_that_converges_in_its_last_steps_loses_no_digits() -> None:
    """max(x / 2, 0.05) differs from x until the fifth step, x / 2 + x / 2 in none."""
    for step, loses in (("maximum(a, fs)", False), ("add(a, a)", True)):
        found = xe.xla.risks(CONVERGING.replace("STEP", step), np.full(4, 0.9, F))
        assert ("cancellation" in [one.kind for one in found.risks]) is loses


def test_a_small_part_of_a_gradient_is_no_risk() -> None:
    text = """ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1)
      ROOT s = f32[4] add(x, y), metadata={op_name="jit(f)/jvp/NAME"} }"""
    values = np.full(4, 1e-11, F), np.full(4, 4e-3, F)
    kinds = [
        [one.kind for one in xe.xla.risks(text.replace("NAME", name), *values).risks]
        for name in ("add_any", "add")
    ]
    assert kinds == [[], ["absorption"]]
