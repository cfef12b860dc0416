"""`xe.same`: every trick refused, every right rewrite accepted, and what the verdict says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from tests.explorer.sameness.rewrites import REWRITES
from tests.explorer.sameness.tricks import TRICKS, add, vectors
from xla_explorer.explorer.sameness.measures import ulps_apart
from xla_explorer.explorer.sameness.sides import SameArgumentError
from xla_explorer.plugin import Exactness

GELU = """ENTRY gelu {
  x = f32[6,8] parameter(0)
  h = f32[] constant(0.5)
  b = f32[6,8] broadcast(h), dimensions={}
  t = f32[6,8] tanh(x)
  m = f32[6,8] multiply(t, b)
  ROOT r = f32[6,8] add(m, x)
}"""


def test_there_are_twenty_tricks_and_twenty_right_rewrites() -> None:
    assert len(TRICKS) >= 20 and len(REWRITES) >= 20


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_is_refused(name: str) -> None:
    trick = TRICKS[name]
    reference, candidate, examples = trick.make()
    verdict = xe.same(reference, candidate, *examples, **trick.options)
    assert not verdict and verdict.kind
    assert trick.word in verdict.headline()


@pytest.mark.parametrize("name", REWRITES)
def test_a_right_rewrite_is_accepted(name: str) -> None:
    rewrite = REWRITES[name]
    reference, candidate, examples = rewrite.make()
    verdict = xe.same(reference, candidate, *examples, claim=rewrite.claim, **rewrite.options)
    assert verdict, verdict.headline()
    assert not verdict.arguments and not verdict.kind


def test_the_arguments_of_a_verdict_show_the_difference() -> None:
    reference, candidate, examples = TRICKS["one byte wrong"].make()
    verdict = xe.same(reference, candidate, *examples)
    (x,) = verdict.arguments
    assert (x == 181).all()
    assert (reference(x) != candidate(x)).all()
    assert verdict.expected[0][0] + 1 == verdict.actual[0][0]


def test_a_session_keeps_the_values_of_its_text() -> None:
    session = xe.compile(GELU, "cpu")
    verdict = xe.same(GELU, session, claim=4)
    assert verdict, verdict.headline()
    assert verdict.tier in ("bitwise", "numeric") or verdict.tier.startswith("within")
    assert xe.same(GELU, GELU, backend="cpu").tier == "bitwise"


def test_a_session_against_a_wrong_text() -> None:
    wrong = GELU.replace("add(m, x)", "subtract(m, x)")
    verdict = xe.same(GELU, xe.compile(wrong, "cpu"))
    assert not verdict and verdict.kind == "value"


def test_a_text_against_a_function() -> None:
    def right(x: Any) -> Any:
        return np.tanh(x) * np.float32(0.5) + x

    assert xe.same(GELU, right, claim="real")
    assert not xe.same(GELU, lambda x: x, claim="real")


def test_pytrees_of_arguments_and_results() -> None:
    x, y = vectors()
    tree = {"a": x, "b": (y, None)}
    assert xe.same(
        lambda t: {"s": t["a"] + t["b"][0]}, lambda t: [t["b"][0] + t["a"]], tree, claim="bitwise"
    )


def test_values_within_a_range() -> None:
    table = np.arange(10, dtype=np.float32)

    def reference(place: Any) -> Any:
        return table[place]

    def candidate(place: Any) -> Any:
        return place.astype(np.float32)

    verdict = xe.same(reference, candidate, np.int32([1, 2]), within={0: (0, 9)})
    assert verdict and "refuses" not in verdict.tried
    # Without a range the reference itself refuses places that are not in the table.
    assert "refuses" in xe.same(reference, lambda p: table[p], np.int32([1, 2])).tried


def test_a_candidate_that_raises() -> None:
    def candidate(x: Any) -> Any:
        if np.isnan(x).any():
            raise ValueError("no numbers")
        return np.abs(x)

    verdict = xe.same(np.abs, candidate, *vectors(1))
    assert not verdict and verdict.kind == "raises" and "no numbers" in verdict.sentence


def test_a_reference_with_state_is_named() -> None:
    state: list[int] = []

    def reference(x: Any) -> Any:
        state.append(1)
        return x + np.float32(len(state))

    verdict = xe.same(reference, lambda x: x + np.float32(1), *vectors(1))
    assert verdict.kind == "reference"


def test_tiers_from_bits_to_reals() -> None:
    x, y = vectors()
    assert xe.same(add, lambda x, y: y + x, x, y).tier == "bitwise"
    assert xe.same(lambda x: -(0 - x), lambda x: x.copy(), x, claim="numeric").tier == "numeric"
    third = xe.same(lambda x: x / np.float32(3), lambda x: x * np.float32(1 / 3), x)
    assert third and third.tier == "within 1 ulp" and third.worst_ulps == 1
    assert not xe.same(
        lambda x: x / np.float32(3), lambda x: x * np.float32(1 / 3), x, claim=Exactness.NUMERIC
    )


def test_small_results_are_not_lost_in_an_absolute_tolerance() -> None:
    """A result below 1e-6 everywhere is not the same as zero."""

    def reference(x: Any) -> Any:
        return np.float32(1e-9) / (np.float32(1) + np.exp(-np.abs(x)))

    verdict = xe.same(reference, lambda x: reference(x) * np.float32(0.5), *vectors(1))
    assert not verdict


def test_roundings_of_large_sums_inside_a_program() -> None:
    """Logits of some thousands: their roundings exceed those of the arguments."""
    (x,) = vectors(1, 64 * 12)
    x = x.reshape(12, 64) * np.float32(30)

    def reference(x: Any) -> Any:
        scores = x @ x.T * np.float32(0.125)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True)) @ x

    def candidate(x: Any) -> Any:
        scores = sum(np.outer(x[:, k], x[:, k]) for k in range(64)) * np.float32(0.125)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("ij,jk->ik", e, x) / e.sum(-1, keepdims=True)

    assert xe.same(reference, candidate, x, claim="fast")
    assert not xe.same(reference, lambda x: candidate(x) * np.float32(1.001), x, claim="fast")


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_narrow_types(dtype: Any) -> None:
    (x,) = vectors(1, 32, dtype)
    assert xe.same(lambda x: x + x, lambda x: x * dtype(2), x, claim="bitwise")
    assert not xe.same(lambda x: x + x, lambda x: x * dtype(1.5), x)


def test_the_report_has_every_form() -> None:
    verdict = xe.same(add, lambda x, y: x, *vectors())
    assert verdict.headline().startswith("not the same")
    assert verdict.to_json()["same"] is False
    assert list(verdict.to_frame().columns)[:3] == ["same", "claim", "tier"]
    assert "calls" in str(verdict) and "<p>" in verdict.to_html()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: xe.same(add, add), "example arguments"),
        (lambda: xe.same(GELU, GELU, claim="close"), "claim must be"),
        (lambda: xe.same(GELU, GELU, claim=True), "claim must be"),
        (lambda: xe.same(GELU, GELU.replace("6,8", "8,6")), "takes float32[6,8]"),
        (lambda: xe.same(add, add, np.array(["a"]), np.array(["b"])), "no element type"),
    ],
)
def test_what_cannot_be_compared(call: Any, words: str) -> None:
    with pytest.raises(SameArgumentError) as problem:
        call()
    assert words in str(problem.value)


def test_units_in_the_last_place() -> None:
    one = np.float32([1, 1, 0, np.nan, np.inf, np.inf])
    other = np.float32([1, 1 + 2**-23, 1e-45, np.nan, np.inf, 1])
    assert ulps_apart(one, other).tolist() == [0, 1, 1, 0, 0, np.inf]


@pytest.mark.jax
def test_jax_functions() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")

    def softmax(x: Any) -> Any:
        return jax.nn.softmax(x)

    (x,) = vectors(1)
    verdict = xe.same(jax.jit(softmax), softmax, x)
    assert verdict, verdict.headline()
    assert "subnormal" in verdict.tried
    wrong = jax.jit(lambda x: jax.numpy.exp(x) / jax.numpy.exp(x).sum())
    assert not xe.same(softmax, wrong, x)
    traced = xe.from_jax(lambda x: jax.numpy.maximum(x, 0), x)
    assert xe.same(traced, jax.jit(lambda x: jax.numpy.where(x < 0, 0, x)), claim="numeric")
