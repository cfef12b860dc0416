"""spmd-prepare: scatters of joined indices become one for each part."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

TEXT = """HloModule m, num_partitions=2
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4,6] parameter(0), sharding={devices=[2,1]<=[2]}
  y = f32[4,6] parameter(1), sharding={devices=[2,1]<=[2]}
  p = s32[4,3,1] parameter(2), sharding={devices=[2,1,1]<=[2]}
  q = s32[4,3,1] parameter(3), sharding={devices=[2,1,1]<=[2]}
  u = f32[4,3] parameter(4), sharding={devices=[2,1]<=[2]}
  v = f32[4,3] parameter(5), sharding={devices=[2,1]<=[2]}
  rows = s32[4,3,1] iota(), iota_dimension=0, sharding={devices=[2,1,1]<=[2]}
  left = s32[4,3,2] concatenate(rows, p), dimensions={2}, sharding={devices=[2,1,1]<=[2]}
  right = s32[4,3,2] concatenate(rows, q), dimensions={2}, sharding={devices=[2,1,1]<=[2]}
  indices = s32[8,3,2] concatenate(left, right), dimensions={0}, sharding={devices=[2,1,1]<=[2]}
  updates = f32[8,3] concatenate(u, v), dimensions={0}, sharding={devices=[2,1]<=[2]}
  both = f32[4,6] add(x, y), sharding={devices=[2,1]<=[2]}
  ROOT s = f32[4,6] scatter(both, indices, updates), update_window_dims={},
    inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=2,
    to_apply=sum, sharding={devices=[2,1]<=[2]}
}"""


def test_two_scatters_add_the_same_updates() -> None:
    module = parse_hlo(TEXT)
    assert make_pass("spmd-prepare").run(module, PassContext())
    verify(module)
    scatters = [i for i in module.entry.instructions.values() if i.opcode.name == "scatter"]
    assert len(scatters) == 2 and all("sharding" in i.attributes for i in scatters)
    rng = np.random.default_rng(0)
    given = [rng.integers(0, 6, p.shape.dimensions) for p in parse_hlo(TEXT).entry.parameters()]
    given = [a.astype("i4" if k in (2, 3) else "f4") for k, a in enumerate(given)]
    np.testing.assert_array_equal(evaluate(module, *given), evaluate(parse_hlo(TEXT), *given))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add(a, b)", "maximum(a, b)"),
        ("iota(), iota_dimension=0", "iota(), iota_dimension=2"),
        ("f32[4,6] add(x", "f32[4,6] multiply(x"),
        ("parameter(1), sharding={devices=[2,1]<=[2]}", "parameter(1)"),
        ("parameter(0), sharding={devices=[2,1]<=[2]}", "parameter(0), sharding={replicated}"),
    ],
    ids=["a maximum", "no counted rows", "a product", "no sharding", "rows not split"],
)
def test_scatters_that_stay(old: str, new: str) -> None:
    module = parse_hlo(TEXT.replace(old, new))
    assert not make_pass("spmd-prepare").run(module, PassContext())
