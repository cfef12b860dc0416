"""A donated argument that is part of another argument: it is read while the result is written."""

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
    np.testing.assert_array_equal(
        xe.compile(ONE, backend="cpu", donate=True, cache=False)(x, y), wanted
    )
    memory = np.arange(2002, dtype=np.float32)
    x, y = memory[:1001], memory[distance : distance + 1001]
    wanted = x + y, x - y
    found = xe.compile(BOTH, backend="cpu", donate=True, cache=False)(x, y)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])


def test_memory_that_no_other_argument_has_becomes_that_of_the_result():
    x, y = np.ones(1001, np.float32), np.ones(1001, np.float32)
    assert np.shares_memory(xe.compile(ONE, backend="cpu", donate=True, cache=False)(x, y), x)


WRITTEN_ON_THE_WAY = """HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[1000] parameter(0)
 u = f32[10] parameter(1)
 i = s32[] constant(5)
 d = f32[1000] dynamic-update-slice(x, u, i)
 r = f32[1000] reverse(d), dimensions={0}
 s = f32[1000] add(r, d)
 ROOT t = f32[1000] reverse(s), dimensions={0} }"""


def test_read_only_memory_is_copied_even_where_no_result_comes_to_lie_there():
    session = xe.compile(WRITTEN_ON_THE_WAY, backend="cpu", donate=True, cache=False)
    [alias] = session.buffers().aliases().to_dict("records")
    assert not alias["shared"] and alias["code"] == "live-ranges-overlap"
    x = np.arange(1000, dtype=np.float32)
    before = x.copy()
    x.flags.writeable = False
    d = before.copy()
    d[5:15] = 0
    np.testing.assert_array_equal(session(x, np.zeros(10, np.float32)), (d[::-1] + d)[::-1])
    np.testing.assert_array_equal(x, before)
    memory = np.arange(1000, dtype=np.float32)
    d[5:15] = before[500:510]
    np.testing.assert_array_equal(session(memory, memory[500:510]), (d[::-1] + d)[::-1])


DONOR = """HloModule m, buffer_donor={ (0, {}), (1, {}) }
ENTRY e { x = f32[1001] parameter(0)
 y = f32[7] parameter(1)
 s = f32[1001] exponential(x)
 c = f32[] constant(1)
 ROOT t = (f32[], f32[1001]) tuple(c, s) }"""


def test_a_donor_becomes_the_result_of_its_shape():
    session = xe.compile(DONOR, backend="cpu", donate=True, cache=False)
    x = np.ones(1001, np.float32)
    _, found = session(x, np.ones(7, np.float32))
    assert np.shares_memory(found, x)
    np.testing.assert_allclose(found, np.full(1001, np.e), rtol=1e-6)
    rows = session.buffers().aliases().to_dict("records")
    assert [(row["parameter"], row["output"], row["shared"], row["code"]) for row in rows] == [
        (0, (1,), True, ""),
        (1, None, False, "no-result-of-its-shape"),
    ]
    kept = xe.compile(DONOR, backend="cpu", cache=False)
    x = np.ones(1001, np.float32)
    assert not np.shares_memory(kept(x, np.ones(7, np.float32))[1], x) and (x == 1).all()
    assert [row["code"] for row in kept.buffers().aliases().to_dict("records")] == [
        "parameters-are-kept",
        "no-result-of-its-shape",
    ]
