"""logistic becomes exp, add and divide."""

from __future__ import annotations

import numpy as np

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo


def test_logistic_is_expanded_and_keeps_its_value() -> None:
    module = parse_hlo("ENTRY e {\n x = f32[7] parameter(0)\n ROOT r = f32[7] logistic(x)\n}\n")
    trace = optimize(module, "logistic-expander", verify=True)
    assert trace.module.entry.root.opcode.name == "divide"
    x = np.float32([-200, -3, -0.5, 0, 1, 90, np.nan])
    expected, actual = [flatten_value(evaluate(m, x))[0] for m in (module, trace.module)]
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-37)
