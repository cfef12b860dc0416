"""Mutated texts, above all with other types: clear refusals or the evaluator's values.

Accepted texts are printed to a fixed point.

A few hundred fixed ones here, a minute of others in continuous integration, hours by `python
tests/properties/ledger.py`. Each runs in a child process, with guard pages beside arguments,
results and the arena. `python tests/properties/text_checks.py show SEED --own` shows one.
"""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import xla_explorer as xe
from tests.properties import ledger, text_checks, value_classes
from tests.properties.hostile_arguments import arguments
from tests.properties.seed_texts import corpus, plain
from tests.properties.text_mutations import mutated, swap_type
from xla_explorer.hlo.verifier import verify

MATRIX = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[6,5] parameter(1)
  d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  ROOT r = f32[4] reduce(d, z), dimensions={1}, to_apply=add
}"""


def assert_nothing_found(row: dict) -> None:
    assert not row["findings"], "\n".join(
        f"seed {seed}: {kind}: {detail}" for seed, kind, detail in row["findings"]
    )


def test_fixed_texts_print_to_a_fixed_point() -> None:
    texts = corpus(shared=False).texts
    outcomes = [text_checks.check(seed, texts, "text", lambda _: None) for seed in range(200)]
    assert not [(seed, outcome) for seed, (outcome, _) in enumerate(outcomes) if outcome.is_finding]
    assert sum(outcome.kind == "printed" for outcome, _ in outcomes) > 60


def test_fixed_texts_compute_what_the_evaluator_computes() -> None:
    row = ledger.check_range("run", 0, 12, shared=False)
    assert_nothing_found(row)
    assert row["texts"] == 12 and row["compared"] > 2, row


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_minute_of_other_texts() -> None:
    # Other texts every day, the same all day; a finding has its seed.
    first = 10_000_000 + int(time.time() // 86400) % 10_000 * 100_000
    row = ledger.check_range(
        "run", first, first + 100_000, shared=False, until=time.monotonic() + 60
    )
    assert_nothing_found(row)
    assert row["texts"] > 50, row


# -- the instruments -------------------------------------------------------------------------------
def test_the_same_seed_is_the_same_text_and_most_are_modules() -> None:
    texts = corpus(shared=False).texts
    assert [mutated(seed, texts) for seed in range(50)] == [
        mutated(seed, texts) for seed in range(50)
    ]
    assert "f32[2]{0}" in plain(
        "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}"
    )


def test_a_swapped_type_is_swapped_everywhere() -> None:
    import random

    found = {}
    for seed in range(200):
        text = swap_type(MATRIX, random.Random(seed), [MATRIX])
        module = xe.parse_hlo(text)
        verify(module)
        kinds = {
            leaf.element_type.name for i in module.instructions() for _, leaf in i.shape.leaves()
        }
        assert len(kinds) == 1, text
        found[kinds.pop()] = module
    assert {"s2", "u4", "f4e2m1fn", "pred", "bf16", "c64", "f64", "s8"} <= set(found)


def test_a_rounding_explains_a_rounding_and_nothing_else() -> None:
    module = xe.parse_hlo(MATRIX)
    given = arguments(module, "ordinary", 1)
    (want,) = value_classes.reference(module, given)
    for got, answer in (
        (np.nextafter(want, np.float32(9)), ["rounding"]),
        (want * np.float32(1.001), None),
        (np.where(np.arange(4) == 2, np.nan, want).astype(np.float32), None),
    ):
        if answer is None and np.isnan(got).any():
            answer = ["range-inside-an-accumulation"]
        assert (
            value_classes.explain(
                module, given, [want], [got], hostile=False, loose=False, seconds=9
            )
            == answer
        )
    # A product inside a map may be contracted, and a function's last digit may be another one where
    # it is subnormal.
    fused = xe.parse_hlo(
        "f {\n a = f64[] parameter(0)\n b = f64[] parameter(1)\n m = f64[] multiply(a, b)\n ROOT r = f64[] add(m, a)\n}\n"
        "ENTRY e {\n x = f64[4] parameter(0)\n y = f64[4] parameter(1)\n ROOT r = f64[4] map(x, y), dimensions={0}, to_apply=f\n}"
    )
    tiny = xe.parse_hlo(
        "ENTRY e {\n x = f16[64] parameter(0)\n y = f16[64] parameter(1)\n ROOT r = f16[64] atan2(x, y)\n}"
    )
    small = [np.arange(1, 65).astype(np.float16) * np.float16(6e-8), np.full(64, 2, np.float16)]
    for module, given, far in (
        (fused, arguments(fused, "ordinary", 1), np.float64(9)),
        (tiny, small, np.float16(9)),
    ):
        (want,) = value_classes.reference(module, given)
        off = np.where(want == 0, want, np.nextafter(want, far))
        assert value_classes.explain(
            module, given, [want], [off], hostile=False, loose=False, seconds=9
        ) == ["rounding"]
        assert (
            value_classes.explain(
                module, given, [want], [want * far], hostile=False, loose=False, seconds=9
            )
            is None
        )
    # Data movement rounds nothing.
    module = xe.parse_hlo(
        "ENTRY e {\n x = f32[4] parameter(0)\n ROOT r = f32[4] reverse(x), dimensions={0}\n}"
    )
    given = arguments(module, "ordinary", 1)
    (want,) = value_classes.reference(module, given)
    assert (
        value_classes.explain(
            module,
            given,
            [want],
            [np.nextafter(want, np.float32(9))],
            hostile=False,
            loose=False,
            seconds=9,
        )
        is None
    )


def test_a_contracted_product_keeps_its_sign() -> None:
    """-5e-324 * 0.06 + -5e-324 * -0.47 is -0 by one rounding, +0 by three (ledger 823808)."""
    module = xe.parse_hlo(
        "ENTRY e {\n a = f64[1] parameter(0)\n b = f64[1] parameter(1)\n c = f64[1] parameter(2)\n"
        " x = f64[1] multiply(a, c)\n y = f64[1] multiply(b, c)\n ROOT r = f64[1] add(x, y)\n}"
    )
    given = [np.array([0.0605]), np.array([-0.47]), np.array([-5e-324])]
    (want,) = value_classes.reference(module, given)
    assert want[0] == 0 and not np.signbit(want[0])

    def explained(got: float, hostile: bool = True) -> list[str] | None:
        return value_classes.explain(
            module, given, [want], [np.array([got])], hostile=hostile, loose=False, seconds=9
        )

    assert explained(-0.0) == ["contracted-product"]
    assert explained(1e-300) is None and explained(-0.0, hostile=False) is None


def test_every_stated_class_has_a_reason() -> None:
    assert all(len(reason) > 40 for reason in value_classes.REASONS.values())


# -- the ledger ------------------------------------------------------------------------------------
ROW = {"mode": "run", "first": 0, "last": 500, "corpus": "c", "commit": "a", "hours": 0.5, "texts": 500, "verified": 300, "compared": 200,
       "outcomes": {"equal": 200}, "classes": {"rounding": 3}, "findings": []}  # fmt: skip


def test_a_line_that_was_cut_off_is_done_again(tmp_path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger.append(path, ROW)
    with path.open("a") as file:
        file.write(json.dumps({**ROW, "first": 500, "last": 1000})[:70])
    assert ledger.next_seed(ledger.read(path), "run", "c") == 500
    ledger.append(path, {**ROW, "first": 500, "last": 1000})
    assert ledger.next_seed(ledger.read(path), "run", "c") == 1000
    assert (
        ledger.next_seed(ledger.read(path), "text", "c")
        == ledger.next_seed(ledger.read(path), "run", "another")
        == 0
    )


def test_rows_that_follow_each_other_become_one() -> None:
    (one,) = ledger.merged([{**ROW, "first": 500, "last": 1000}, dict(ROW)])
    assert (one["first"], one["last"], one["texts"], one["outcomes"], one["hours"]) == (
        0,
        1000,
        1000,
        {"equal": 400},
        1.0,
    )
    assert len(ledger.merged([{**ROW, "first": 500, "last": 1000, "commit": "b"}, dict(ROW)])) == 2
    assert "400 compared" in ledger.report([one])
