"""rng in compiled programs: native, within its bounds, and the numbers that the evaluator draws."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

CASES = [
    ("f32", "-2", "3", "rng_uniform"),
    ("f64", "-2", "3", "rng_uniform"),
    ("f16", "0", "1", "rng_uniform"),
    ("bf16", "1", "2", "rng_uniform"),
    ("f32", "1", "2", "rng_normal"),
    ("f64", "1", "2", "rng_normal"),
    ("bf16", "0", "1", "rng_normal"),
    ("s32", "-5", "7", "rng_uniform"),
    ("u8", "3", "200", "rng_uniform"),
    ("s8", "-100", "100", "rng_uniform"),
    ("s64", "-3", "3", "rng_uniform"),
    ("pred", "0", "1", "rng_uniform"),
    ("s32", "-1000000", "1000000", "rng_uniform"),
]


@pytest.mark.parametrize(("kind", "low", "high", "distribution"), CASES)
@pytest.mark.sampled(5)
def test_compiled_programs_draw_what_the_evaluator_draws(kind, low, high, distribution):
    text = f"""HloModule m
ENTRY e {{
  a = {kind}[] constant({low})
  b = {kind}[] constant({high})
  ROOT r = {kind}[30,1001] rng(a, b), distribution={distribution}
}}"""
    session = xe.compile(text)
    assert {step.opcode for step in program_steps(session) if step.runs_on == "evaluator"} == set()
    found, wanted = (
        session().astype(np.float64),
        np.asarray(xe.evaluate(session.source)).astype(np.float64),
    )
    np.testing.assert_allclose(
        found, wanted, rtol=2e-2 if kind in ("f16", "bf16") else 1e-5, atol=1e-4
    )
    if distribution == "rng_uniform" and kind != "pred":
        assert float(low) <= found.min() and found.max() < float(high)
        assert abs(found.mean() - (float(low) + float(high) - (kind[0] in "su")) / 2) < 0.02 * (
            float(high) - float(low)
        )
    elif kind != "pred":
        assert abs(found.mean() - float(low)) < 0.05 and abs(found.std() - float(high)) < 0.05
    again = session()
    assert (np.asarray(again) != found.astype(again.dtype)).mean() > 0.4  # the state has moved on


def test_the_state_of_128_bits_moves_on_and_carries():
    session = xe.compile(
        "HloModule m\nENTRY e { ROOT r = u64[2] rng-get-and-update-state(), delta=9223372036854775807 }"
    )
    assert [step.runs_on for step in program_steps(session)] == ["kernel"]
    found = [sum(int(word) << 64 * k for k, word in enumerate(session())) for _ in range(5)]
    assert found == [1 + k * (2**63 - 1) for k in range(5)]


BITS = ["u1", "s2", "u4", "pred", "f4e2m1fn", "f8e5m2", "u8", "s16", "bf16", "u32", "f32", "f64"]


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.sampled(3)
def test_random_bits_of_every_width_with_and_without_the_state_are_the_evaluators(kind):
    for algorithm, state in (
        ("rng_philox", "u64[2]"),
        ("rng_default", "u64[3]"),
        ("rng_three_fry", "u32[4]"),
    ):
        for shape in (f"({state}, {kind}[5,3])", f"{kind}[5,3]"):
            text = f"HloModule m\nENTRY e {{ s = {state} parameter(0)\n ROOT r = {shape} rng-bit-generator(s), algorithm={algorithm} }}"
            session, (given,) = xe.compile(text), xe.random_arguments(text, seed=1)
            assert {step.runs_on for step in program_steps(session)} == {"kernel"}
            results = zip(
                *[
                    r if isinstance(r, tuple) else (r,)
                    for r in (session(given), xe.evaluate(text, given))
                ],
                strict=True,
            )
            for found, wanted in results:
                assert found.tobytes() == wanted.tobytes(), (algorithm, shape)
                assert (
                    kind != "pred"
                    or found.dtype != bool
                    or set(found.view(np.uint8).ravel()) == {0, 1}
                )


def test_random_bits_of_a_float_of_four_bits_are_bits_and_no_numbers():
    text = "HloModule m\nENTRY e { s = u64[2] constant({8, 0})\n ROOT r = f4e2m1fn[8] rng-bit-generator(s), algorithm=rng_philox }"
    assert np.asarray(xe.evaluate(text)).view(np.uint8).tolist() == [
        10,
        6,
        13,
        8,
        0,
        3,
        11,
        12,
    ]  # as XLA:CPU draws them
