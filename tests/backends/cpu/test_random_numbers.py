"""rng in compiled programs: native, within its bounds, and the numbers that the evaluator draws."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

CASES = [
    ("f32", "-2", "3", "rng_uniform"), ("f64", "-2", "3", "rng_uniform"), ("f16", "0", "1", "rng_uniform"), ("bf16", "1", "2", "rng_uniform"),
    ("f32", "1", "2", "rng_normal"), ("f64", "1", "2", "rng_normal"), ("bf16", "0", "1", "rng_normal"), ("s32", "-5", "7", "rng_uniform"),
    ("u8", "3", "200", "rng_uniform"), ("s8", "-100", "100", "rng_uniform"), ("s64", "-3", "3", "rng_uniform"), ("pred", "0", "1", "rng_uniform"),
    ("s32", "-1000000", "1000000", "rng_uniform"),
]


@pytest.mark.parametrize(("kind", "low", "high", "distribution"), CASES)
def test_compiled_programs_draw_what_the_evaluator_draws(kind, low, high, distribution):
    text = f"""HloModule m
ENTRY e {{
  a = {kind}[] constant({low})
  b = {kind}[] constant({high})
  ROOT r = {kind}[30,1001] rng(a, b), distribution={distribution}
}}"""
    session = xe.compile(text)
    assert {step.opcode for step in program_steps(session) if step.runs_on == "evaluator"} == {"rng-get-and-update-state"}
    found, wanted = session().astype(np.float64), np.asarray(xe.evaluate(session.source)).astype(np.float64)
    np.testing.assert_allclose(found, wanted, rtol=2e-2 if kind in ("f16", "bf16") else 1e-5, atol=1e-4)
    if distribution == "rng_uniform" and kind != "pred":
        assert float(low) <= found.min() and found.max() < float(high)
        assert abs(found.mean() - (float(low) + float(high) - (kind[0] in "su")) / 2) < 0.02 * (float(high) - float(low))
    elif kind != "pred":
        assert abs(found.mean() - float(low)) < 0.05 and abs(found.std() - float(high)) < 0.05
    again = session()
    assert (np.asarray(again) != found.astype(again.dtype)).mean() > 0.4  # the state has moved on
