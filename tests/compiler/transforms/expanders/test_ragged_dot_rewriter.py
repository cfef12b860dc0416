"""Infinities stay in their group; group sizes of each batch are refused with a reason."""

import numpy as np

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text import parse_hlo

ROWS = """HloModule m
ENTRY e {
  x = f32[9,4] parameter(0)
  w = f32[3,4,5] parameter(1)
  g = s32[3] parameter(2)
  ROOT r = f32[9,5] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}"""
CONTRACTED = """HloModule m
ENTRY e {
  x = f32[6,9] parameter(0)
  w = f32[9,5] parameter(1)
  g = s64[3] parameter(2)
  ROOT r = f32[3,6,5] ragged-dot(x, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}
}"""


def test_an_infinity_stays_in_its_group():
    for text, at in ((ROWS, (1, 0, 0)), (CONTRACTED, (4, 0))):
        module = parse_hlo(text)
        shapes = [p.shape for p in module.entry.parameters()]
        random = np.random.default_rng(2)
        x, w = [random.normal(size=s.dimensions).astype(np.float32) for s in shapes[:2]]
        w[at] = np.inf
        for sizes in ([2, 4, 1], [0, 9, 0], [5, 6, 7]):
            g = np.array(sizes, shapes[2].element_type.dtype)
            rewritten = optimize(module, "ragged-dot-rewriter").module
            np.testing.assert_allclose(
                evaluate(rewritten, x, w, g), evaluate(module, x, w, g), rtol=1e-5, atol=1e-6
            )


def test_group_sizes_of_each_batch_are_refused():
    text = """HloModule m
ENTRY e {
  x = f32[2,9,4] parameter(0)
  w = f32[3,2,4,5] parameter(1)
  g = s32[2,3] parameter(2)
  ROOT r = f32[2,9,5] ragged-dot(x, w, g), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2},
    lhs_ragged_dims={1}, rhs_group_dims={0}
}"""
    trace = optimize(parse_hlo(text), "ragged-dot-rewriter")
    assert "ragged-dot(" in trace.module.to_text()
    assert [event.reason.code for event in trace.journal.events if event.reason is not None] == [
        "group-sizes-by-batch"
    ]
