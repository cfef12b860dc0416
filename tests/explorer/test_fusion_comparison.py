"""Fusions of two compiles beside each other."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.comparisons.fusion_comparison import (
    compare_fusions_of,
    fusion_edges,
    original_name,
)

CHAIN = """HloModule chain
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] exponential(x)
  b = f32[64,64] negate(a)
  ROOT c = f32[64,64] multiply(b, x)
}"""


def test_edges_of_a_fused_module() -> None:
    module = xe.parse_hlo("""HloModule m
f { p = f32[8] parameter(0)  a.clone.1 = f32[8] exponential(p)  ROOT b = f32[8] negate(a.clone.1) }
g { q = f32[8] parameter(0)  ROOT c = f32[8] tanh(q) }
ENTRY e { x = f32[8] parameter(0)  y = f32[8] fusion(x), kind=kLoop, calls=f  ROOT z = f32[8] fusion(y), kind=kLoop, calls=g }""")
    assert fusion_edges(module) == {("a", "b"): ("fused", 32), ("b", "c"): ("memory", 32)}
    assert original_name("%sub.7.clone.clone.2") == "sub.7" and original_name("sub.7") == "sub.7"


def test_a_forbidden_fusion_is_the_difference_and_says_why() -> None:
    session = xe.compile(CHAIN)
    without = session.override(forbid=[("fusion", "%a", "%b")])
    found = compare_fusions_of(without, session)
    (row,) = [e for e in found.edges if e.left != e.right]
    assert (row.producer, row.consumer, row.left, row.right) == ("a", "b", "memory", "fused")
    assert row.code and row.reason and row.bytes == 64 * 64 * 4
    assert "1 by right only" in str(found)


@pytest.mark.jax
def test_beside_real_xla() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    found = xe.compare.fusions(CHAIN)
    assert {(e.producer, e.consumer): e.right for e in found.edges}["a", "b"] == "fused"
