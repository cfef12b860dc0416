"""Programs of public reports and random ones: every backend gives the right value.

It is the evaluator's, or the one that the report calls right.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import flatten_value

FOLDER = Path(__file__).parents[1] / "data" / "hunt"
FUZZED = (
    "evaluator_gather_0", "hand_written_fusion_0", "window_stopiteration_0", "window_stopiteration_1", "fusion_521", "fusion_10657",
    "fusion_13107", "fusion_13248", "scatter_31059", "fusion_22725", "fusion_55756", "fusion_124718", "fusion_1002355",
)  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize("name", FUZZED)
def test_a_random_program_has_the_value_of_the_evaluator(name: str, backend: str) -> None:
    module = xe.parse_hlo((FOLDER / f"{name}.hlo").read_text())
    arguments = xe.random_arguments(module)
    expected = flatten_value(xe.evaluate(module, *arguments))
    found = flatten_value(xe.compile(module, backend=backend, cache=False)(*arguments))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


REPORTED = [
    ("02_crop_pad_window", (np.array([[669, -763]], np.int32),), [[-763]]),
    ("05_slice_of_slice", (np.arange(10, dtype=np.float32), np.int32(9), np.int32(0)), [6.0]),
]


@pytest.mark.parametrize("backend", ["cpu", "gpu", "interpreter"])
@pytest.mark.parametrize(
    ("name", "arguments", "expected"), REPORTED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_program_that_xla_gets_wrong(
    name: str, arguments: tuple[object, ...], expected: list[object], backend: str
) -> None:
    session = xe.compile((FOLDER / f"{name}.hlo").read_text(), backend=backend, cache=False)
    np.testing.assert_array_equal(np.asarray(session(*arguments)), np.asarray(expected))
