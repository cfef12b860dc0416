"""select-and-scatter: values, the same each time, whatever the windows."""

import numpy as np
import pytest

from tests.backends.gpu.emitters.emitter_runner import check

RANDOM = np.random.default_rng(7)


def module(dimensions, source, window, kind="f32"):
    d, o = ",".join(map(str, dimensions)), ",".join(map(str, source))
    return f"""HloModule m
g {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }}
s {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT r = {kind}[] add(a, b) }}
ENTRY e {{ x = {kind}[{d}] parameter(0) y = {kind}[{o}] parameter(1) z = {kind}[] constant(2)
  ROOT r = {kind}[{d}] select-and-scatter(x, y, z), window={{{window}}}, select=g, scatter=s }}"""


@pytest.mark.parametrize(
    ("dimensions", "source", "window"),
    [
        ((9, 9), (4, 4), "size=3x3 stride=2x2"),
        ((8, 6), (4, 3), "size=2x2 stride=2x2"),
        ((9,), (9,), "size=3 pad=1_1"),
        ((7, 10), (3, 3), "size=2x3 stride=2x3"),
        ((2, 8, 8, 3), (2, 4, 4, 3), "size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x1_0x0_0"),
    ],
)
def test_values(dimensions, source, window):
    # Ties among the candidates, and windows that meet on one element.
    x, y = RANDOM.integers(0, 5, dimensions), RANDOM.standard_normal(source)
    ran = check(
        module(dimensions, source, window),
        x.astype(np.float32),
        y.astype(np.float32),
        assemble=len(source) == 4,
    )
    assert ran.emitted.emitter == "select-and-scatter" and len(ran.emitted.kernels) == 2
    assert "atom" not in ran.ptx and "red." not in ran.ptx


def test_integers():
    check(module((6, 6), (3, 3), "size=2x2 stride=2x2", "s32"), RANDOM.integers(0, 9, (6, 6)).astype(np.int32),
          RANDOM.integers(0, 9, (3, 3)).astype(np.int32), assemble=False)  # fmt: skip
