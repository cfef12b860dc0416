"""Answers about programs of public reports: which pass of real XLA is wrong, and what to try where a program is slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = pytest.mark.jax
CASES = Path(__file__).parents[1] / "data" / "hunt"
WRONG = {
    "05_slice_of_slice.hlo": ([np.arange(10, dtype=np.float32), np.int32(9), np.int32(0)], "algsimp", "dynamic-slice(%a", "clamp("),
    "02_crop_pad_window.hlo": ([np.array([[669, -763]], np.int32)], "algsimp", "reduce-window(", "reduce("),
}
"""Miscompiles of jaxlib 0.10: arguments, the pass to blame, what the text before and the text after it holds."""


@pytest.mark.parametrize("name", WRONG)
def test_bisect_names_the_pass_of_real_xla_with_its_texts(name: str) -> None:
    arguments, blamed, before, after = WRONG[name]
    pytest.importorskip("jax", reason="needs the extra `jax`")
    session = xe.compile(xe.load(CASES / name), backend="xla")
    if session.passes.errors(*arguments)["agrees"].all():
        pytest.skip("the installed XLA computes this program correctly")
    found = session.bisect(*arguments)
    assert (found.step, found.pass_name) == (1, blamed) and found.rewrite is None
    assert before in found.before and before not in found.after and after in found.after
    assert f"pass 1, {blamed}, is the first" in str(found) and f"what {blamed} changed" in str(found)


SEVERAL_PASSES = """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  d = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[64,64] sine(d)
  t = f32[64,64] transpose(s), dimensions={1,0}
  u = f32[64,64] abs(t)
  w = f32[64,64] multiply(u, s)
  ROOT r = (f32[64,64], f32[64,64]) tuple(w, u)
}"""


@pytest.fixture(scope="module")
def by_xla() -> Any:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    return xe.compile(SEVERAL_PASSES, backend="xla")


def test_why_not_gives_the_reason_of_the_replay(by_xla: Any) -> None:
    """Also for an instruction that an earlier pass has put into a fusion."""
    for row in xe.xla.replay(by_xla, "fusion").rows:
        answer = by_xla.why_not("fusion", row.subject, row.consumer)
        assert answer.refused is (row.xla == "memory") and answer.message == row.why and "replayed" in answer.source
    answer = by_xla.why_not("fusion", "d", "s")
    assert answer.refused and answer.code in ("fused-before", "producer-is-library-call")


@pytest.mark.parametrize("subjects", [("x", "d"), ("d", "w"), ("d", "s"), ("s",), ("u", "w")])
def test_no_question_runs_a_pass_of_real_xla(by_xla: Any, subjects: tuple[str, ...]) -> None:
    """Every kind that a session of real XLA accepts has an answer."""
    kinds = {"fusion", "layout", "dot-library", "multi-output-fusion", "cse", "rule", "parallel", *[step.name for step in by_xla.passes[1:]]}
    for kind in kinds:
        assert str(by_xla.why_not(kind, *subjects))
