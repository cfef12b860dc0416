"""The smallest programs that random search found to be partitioned wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.sharded_runs import compare
from xla_explorer.hlo.text.parser import parse_hlo

PROGRAMS = {
    # A device without elements under its part of the kernel kept its own elements.
    "a part of a kernel beyond the array": (
        3,
        """ENTRY main {
  x = f32[2,3,1] parameter(0), sharding={devices=[1,3,1]<=[3]}
  k = f32[3,1,1] parameter(1), sharding={replicated}
  ROOT c = f32[2,2,1] convolution(x, k), window={size=3 pad=1_2 rhs_dilate=2}, dim_labels=b0f_0io->b0f
}""",
    ),
    # The operand kept an axis that the result of the reshape could not have.
    "axes that a reshape keeps in one direction only": (
        8,
        """ENTRY main {
  x = f32[8,6] parameter(0)
  ROOT r = f32[4,12] reshape(x), sharding={devices=[2,4]<=[2,4]T(1,0)}
}""",
    ),
    # Axes left a dimension with holes for another one whose holes then differed.
    "windows over two dimensions with holes": (
        8,
        """sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[3,4,4] parameter(0), sharding={devices=[2,2,2]<=[8]}
  zero = f32[] constant(0)
  ROOT w = f32[5,3,4] reduce-window(x, zero),
    window={size=2x2x4 stride=1x2x1 pad=1_0x2_1x0_0 lhs_dilate=2x1x2}, to_apply=sum,
    sharding={devices=[1,1,2,4]<=[8] last_tile_dim_replicate}
}""",
    ),
}


@pytest.mark.parametrize("policy", ["cost", "xla"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_device_has_its_part(name: str, policy: str) -> None:
    count, text = PROGRAMS[name]
    rng = np.random.default_rng(0)
    shapes = [p.shape.dimensions for p in parse_hlo(text).entry.parameters()]
    compare(text, count, [rng.integers(1, 5, n).astype(np.float32) for n in shapes], policy)
