"""An argument that is given away and is part of another argument, too: its memory is read while the result is written."""

import numpy as np
import pytest

import xla_explorer as xe

ONE = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[1001] parameter(0)
 y = f32[1001] parameter(1)
 r = f32[1001] reverse(y), dimensions={0}
 ROOT s = f32[1001] add(x, r) }"""
BOTH = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY e { x = f32[1001] parameter(0)
 y = f32[1001] parameter(1)
 s = f32[1001] add(x, y)
 d = f32[1001] subtract(x, y)
 ROOT t = (f32[1001], f32[1001]) tuple(s, d) }"""


@pytest.mark.parametrize("distance", [0, 1, 5, 1000, 1001])
def test_arguments_that_overlap(distance):
    memory = np.arange(2002, dtype=np.float32)
    x, y = memory[:1001], memory[distance : distance + 1001]
    wanted = x + y[::-1]
    np.testing.assert_array_equal(xe.compile(ONE, backend="cpu", donate=True, cache=False)(x, y), wanted)
    memory = np.arange(2002, dtype=np.float32)
    x, y = memory[:1001], memory[distance : distance + 1001]
    wanted = x + y, x - y
    found = xe.compile(BOTH, backend="cpu", donate=True, cache=False)(x, y)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])


def test_memory_that_no_other_argument_has_becomes_that_of_the_result():
    x, y = np.ones(1001, np.float32), np.ones(1001, np.float32)
    assert np.shares_memory(xe.compile(ONE, backend="cpu", donate=True, cache=False)(x, y), x)
