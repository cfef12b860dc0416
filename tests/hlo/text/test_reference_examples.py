"""Examples of the language's definition, with what jaxlib 0.10.2 makes of each.

103 are valid, 57 are not or surprise.

`reference_examples.json` has their texts, jaxlib's verdict and the line of the root as it prints
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe

EXAMPLES = json.loads(Path(__file__).with_name("reference_examples.json").read_text())
# Where we differ: the line of our root, or the words of our message.
OURS = {
    "12.27 literal (f32[],s32[2])": "ROOT %c = (f32[], s32[2]{0}) constant((1, {2, 3}))",  # XLA prints no constants of tuples
    "12.28 literal ((f32[]),pred[])": "ROOT %c = ((f32[]), pred[]) constant(((1), true))",
    "12.29 literal f32[4]": "ROOT %c = f32[4]{0} constant({...})",  # XLA fills a counter in
    "12.69 async-start": "ROOT %d = f32[4]{0} async-done(%s)",  # the long form, which XLA reads as the same
    "13.1 bad literal f32[2] 1": "ROOT %c = f32[2]{0} constant(1)",  # the one written element; the others are zero
    "13.26 bad layout perm": "must be a permutation of the dimensions",  # which XLA leaves to its verifier
    "13.28 layout dup": "must be a permutation of the dimensions",
}


def test_there_are_all() -> None:
    assert len(EXAMPLES) == 160 and OURS.keys() <= {row["name"] for row in EXAMPLES}
    assert all(row["xla"] == "accepted" for row in EXAMPLES if row["name"].startswith("12."))


@pytest.mark.parametrize("row", EXAMPLES, ids=[row["name"].replace(" ", "-") for row in EXAMPLES])
def test_an_example(row: dict[str, str]) -> None:
    ours = OURS.get(row["name"], "")
    if row["xla"] != "accepted" or (ours and not ours.startswith("ROOT")):
        with pytest.raises(xe.errors.HloParseError) as caught:
            xe.parse_hlo(row["text"])
        assert ours in caught.value.message and caught.value.hint
        return
    printed = xe.parse_hlo(row["text"]).to_text()
    root = [line.strip() for line in printed.split("\n") if line.strip().startswith("ROOT")][-1]
    assert root == (ours or row["root"])
    assert xe.parse_hlo(printed).to_text() == printed


def test_what_a_short_literal_leaves_out_is_zero() -> None:
    module = xe.parse_hlo("ENTRY e { ROOT c = f32[2] constant(1) }")
    np.testing.assert_array_equal(np.asarray(xe.evaluate(module)), np.array([1, 0], np.float32))
