"""XLA's multi-output fusion for GPUs: kernels of one loop are merged, and values stay."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import PassTrace, optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

BEFORE = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
negated {
  x = f32[64,64] parameter(0)
  ROOT n = f32[64,64] negate(x)
}
doubled {
  x = f32[64,64] parameter(0)
  ROOT d = f32[64,64] add(x, x)
}
rows {
  x = f32[64,64] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[64] reduce(x, z), dimensions={1}, to_apply=add
}
columns {
  x = f32[64,64] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[64] reduce(x, z), dimensions={0}, to_apply=add
}
"""


def merged(body: str) -> PassTrace:
    """Run the pass; the values must stay."""
    module = parse_hlo(f"{BEFORE}ENTRY e {{\n x = f32[64,64] parameter(0)\n{body}}}\n")
    trace = optimize(module, "multi_output_fusion", verify=True)
    given = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7
    pairs = zip(
        flatten_value(evaluate(module, given)),
        flatten_value(evaluate(trace.module, given)),
        strict=True,
    )
    for wanted, got in pairs:
        np.testing.assert_array_equal(wanted, got)
    return trace


def fusions(trace: PassTrace) -> int:
    return sum(i.opcode.name == "fusion" for i in trace.module.entry.instructions.values())


@pytest.mark.parametrize(
    "body",
    [
        " a = f32[64,64] fusion(x), kind=kLoop, calls=negated\n"
        " b = f32[64,64] fusion(x), kind=kLoop, calls=doubled\n"
        " ROOT t = (f32[64,64], f32[64,64]) tuple(a, b)\n",
        " a = f32[64,64] fusion(x), kind=kLoop, calls=negated\n"
        " b = f32[64] fusion(a), kind=kInput, calls=rows\n"
        " ROOT t = (f32[64,64], f32[64]) tuple(a, b)\n",
    ],
    ids=["siblings", "producer-and-reader"],
)
def test_two_kernels_become_one(body: str) -> None:
    trace = merged(body)
    assert trace.changed and fusions(trace) == 1


@pytest.mark.parametrize(
    "body",
    [
        " a = f32[64] fusion(x), kind=kInput, calls=rows\n"
        " b = f32[64] fusion(x), kind=kInput, calls=columns\n"
        " ROOT t = (f32[64], f32[64]) tuple(a, b)\n",
        " a = f32[64,64] fusion(x), kind=kLoop, calls=negated\n"
        " b = f32[64] fusion(x), kind=kInput, calls=rows\n"
        " ROOT t = (f32[64,64], f32[64]) tuple(a, b)\n",
        " a = f32[64,64] fusion(x), kind=kLoop, calls=negated\n"
        " ROOT b = f32[64] fusion(a), kind=kInput, calls=rows\n",
    ],
    ids=["other-dimensions", "loop-beside-reduction", "one-reader"],
)
def test_other_kernels_stay_apart(body: str) -> None:
    assert not merged(body).changed
