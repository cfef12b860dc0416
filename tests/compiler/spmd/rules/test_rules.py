"""Sharding rules as text, in Shardy's spelling."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.compiler.spmd.rules import rule_of
from xla_explorer.compiler.spmd.rules.custom_calls import read_rule
from xla_explorer.compiler.spmd.rules.factor_rule import letter

ADD = "add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }\n"

RULES = [
    ("r = f32[4,6] add(a, a)", "([i, j], [i, j])->([i, j]) {i=4, j=6}"),
    ("r = f32[4,6] select(k, a, a)", "([], [i, j], [i, j])->([i, j]) {i=4, j=6}"),
    ("r = f32[6,4] transpose(a), dimensions={1,0}", "([j, i])->([i, j]) {i=6, j=4}"),
    ("r = f32[4,9,6] broadcast(a), dimensions={0,2}", "([i, k])->([i, j, k]) {i=4, j=9, k=6}"),
    ("r = f32[4,5] broadcast(o), dimensions={0,1}", "([i, j])->([i, k]) {i=4, j=1, k=5}"),
    ("r = f32[24] reshape(a)", "([i, j])->([ij]) {i=4, j=6}"),
    ("r = f32[2,12] reshape(a)", "([ij, k])->([i, jk]) {i=2, j=2, k=6}"),
    ("r = f32[6,4] reshape(a)", "([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=2}"),
    ("r = f32[4,1,6] reshape(a)", "([i, k])->([i, j, k]) {i=4, j=1, k=6}"),
    ("r = f32[4,6] reverse(a), dimensions={1}", "([i, j])->([i, j]) {i=4, j=6} permutation={j}"),
    ("r = f32[2,6] slice(a), slice={[1:3], [0:6]}",
     "([i, j])->([i, j]) {i=4, j=6} permutation={i}"),
    ("r = f32[1,6] dynamic-slice(a, n, n), dynamic_slice_sizes={1,6}",
     "([i, j], [], [])->([i, j]) {i=4, j=6} need_replication={i} blocked_propagation={i}"),
    ("r = f32[4,6] dynamic-update-slice(a, u, n, n)",
     "([i, k], [j, k], [], [])->([i, k]) {i=4, j=1, k=6} need_replication={j}"),
    ("r = f32[8,6] concatenate(a, a), dimensions={0}",
     "([i, j], [i, j])->([i, j]) {i=8, j=6} need_replication={i}"),
    ("r = f32[5,6] pad(a, f), padding=0_1x0_0",
     "([i, j], [])->([i, j]) {i=4, j=6} permutation={i}"),
    ("r = f32[4] reduce(a, f), dimensions={1}, to_apply=add",
     "([i, j], [])->([i]) {i=4, j=6} reduction={j}"),
    ("r = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
     "([i, k], [j, k])->([i, j]) {i=4, j=4, k=6} reduction={k}"),
    ("r = f32[4,6] sort(a), dimensions={1}, to_apply=less",
     "([i, j])->([i, j]) {i=4, j=6} need_replication={j}"),
    ("r = f32[3,6] gather(a, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1, slice_sizes={1,6}",
     "([k, j], [i, l])->([i, j]) {i=3, j=6, k=4, l=1} reduction={k} need_replication={l}"),
    ("r = f32[4,6] scatter(a, w, v), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
     "([k, j], [i, l], [i, j])->([k, j]) {i=3, j=6, k=4, l=1} reduction={i} need_replication={l}"),
    ("r = f32[4,6] custom-call(a), custom_call_target=\"mine\", "
     "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i, j]) "
     "{i=4, j=6} permutation={j}>\"}", "([i, j])->([i, j]) {i=4, j=6} permutation={j}, custom"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "rule"), RULES)
def test_a_rule_in_shardys_words(line: str, rule: str) -> None:
    text = (
        ADD
        + "less { p = f32[] parameter(0) q = f32[] parameter(1)"
        + " ROOT s = pred[] compare(p, q), direction=LT }\n"
        + "ENTRY main { a = f32[4,6] parameter(0) n = s32[] parameter(1)"
        + " u = f32[1,6] parameter(2) f = f32[] parameter(3) k = pred[] parameter(4)"
        + " o = f32[4,1] parameter(5) w = s32[3,1] parameter(6) v = f32[3,6] parameter(7)"
        + f" ROOT {line} }}"
    )
    assert str(rule_of(xe.parse_hlo(text.replace("=f32", "= f32")).entry.root)) == rule


def test_operations_without_a_rule_have_none() -> None:
    text = "ENTRY m { a = f32[4] parameter(0) ROOT r = f32[4] custom-call(a), custom_call_target=\"x\" }"  # fmt: skip
    root = xe.parse_hlo(text).entry.root
    assert rule_of(root) is None and rule_of(root.operands[0]) is None


def test_letters_go_on_after_z() -> None:
    assert [letter(k) for k in (0, 17, 18, 19)] == ["i", "z", "z_1", "z_2"]


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="expects a sharding rule"):
        read_rule("i -> j")
