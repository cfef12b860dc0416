"""Many programs on two compilers in one table."""

from __future__ import annotations

import pytest

import xla_explorer as xe

CHAIN = """HloModule chain
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] exponential(x)
  b = f32[64,64] negate(a)
  ROOT c = f32[64,64] multiply(b, x)
}"""


def test_a_row_a_program_and_one_that_says_why_not() -> None:
    table = xe.compare.programs(
        {"chain": CHAIN, "dump only": CHAIN}, ("cpu", "interpreter"), repeats=5
    )
    row = table.rows[0]
    assert (
        row.left_kernels == 1 and row.right_kernels == 3 and row.fused_left_only == 2 and row.agree
    )
    assert row.left_us and row.right_us and row.ratio == pytest.approx(row.left_us / row.right_us)
    assert "| chain | 1 | 3 |" in table.to_markdown() and len(table.to_frame()) == 2
    (refused,) = xe.compare.programs([CHAIN], ("cpu", "hexagon"), repeats=1).rows
    assert refused.agree is None and "hexagon" in refused.status


@pytest.mark.long
@pytest.mark.jax
def test_beside_real_xla() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    (row,) = xe.compare.programs([CHAIN], repeats=5).rows
    assert row.agree and row.right_kernels == 1 and row.fused_both == 2
