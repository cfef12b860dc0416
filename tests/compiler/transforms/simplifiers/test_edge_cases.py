"""Small modules on which simplifiers once failed: the passes keep them well formed and keep their value."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

NUMBERS = np.arange(8, dtype=np.float32)

MODULES = {
    # The empty slice starts behind what the strided one reads of x: 3 + 2 * 3 > 8.
    "empty-slice-of-a-strided-slice": (
        """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  a = f32[2]{0} slice(x), slice={[3:7:3]}
  ROOT r = f32[0]{0} slice(a), slice={[2:2]}
}""",
        [NUMBERS],
    ),
    "empty-slice-of-the-end-of-a-pad": (
        """HloModule m
ENTRY e {
  x = f32[8]{0} parameter(0)
  z = f32[] constant(0)
  a = f32[12]{0} pad(x, z), padding=2_2
  ROOT r = f32[0]{0} slice(a), slice={[12:12:3]}
}""",
        [NUMBERS],
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_default_passes_keep_the_value(name):
    text, inputs = MODULES[name]
    module = parse_hlo(text)
    trace = optimize(module, "default", "passes", verify=True)
    expected, actual = (flatten_value(evaluate(m, *inputs)) for m in (module, trace.module))
    for want, got in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(got, want)
