"""Arrays of sizes known at run time: masked in native code, else run by the evaluator."""

import numpy as np
import pytest

import xla_explorer as xe

TEXT = """HloModule m
add { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
ENTRY e { x = s32[5] parameter(0)
 n = s32[] parameter(1)
 d = s32[<=5] set-dimension-size(x, n), dimensions={0}
 z = s32[] constant(0)
 ROOT r = s32[] reduce(d, z), dimensions={0}, to_apply=add }"""


REVERSED = TEXT.replace(
    "ROOT r = s32[] reduce(d, z)",
    "v = s32[<=5] reverse(d), dimensions={0}\n ROOT r = s32[] reduce(v, z)",
)


@pytest.mark.parametrize("size", [0, 1, 3, 5])
def test_a_reduction_of_a_part_is_native(size):
    session = xe.compile(TEXT, cache=False)
    assert session(np.arange(1, 6, dtype=np.int32), np.int32(size)) == size * (size + 1) // 2
    assert all(step.runs_on == "kernel" for step in session.executable.steps)


def test_the_whole_module_runs_on_the_evaluator_and_the_reason_is_told():
    session = xe.compile(REVERSED, cache=False)
    assert session(np.arange(5, dtype=np.int32), np.int32(3)) == 3
    rows = session.decisions(kind="native-code").to_dict("records")
    assert {row["code"] for row in rows} == {"dynamic-dimension"} and "s32[<=5]" in rows[0][
        "reason"
    ]
    assert all(step.runs_on == "evaluator" for step in session.executable.steps)


PARAMETER = """HloModule m
add { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
ENTRY e { x = s32[<=5,2] parameter(0)
 y = s32[<=5,2] multiply(x, x)
 z = s32[] constant(0)
 ROOT r = s32[2] reduce(y, z), dimensions={0}, to_apply=add }"""


@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
@pytest.mark.parametrize("size", [0, 3, 5])
def test_a_dynamic_parameter_takes_arrays_up_to_its_bound(backend, size):
    x = np.arange(2 * size, dtype=np.int32).reshape(size, 2)
    session = xe.compile(PARAMETER, backend)
    np.testing.assert_array_equal(session(x), (x * x).sum(axis=0))
    assert {step.runs_on for step in session.executable.steps} == (
        {"copy", "kernel"} if backend == "cpu" else {"evaluator"}
    )


def test_dynamic_parameters_of_several_kinds_are_native():
    """Two dynamic dimensions are contracted, reduced and measured; the next run has other sizes."""
    session = xe.compile(
        """HloModule m
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) }
ENTRY e { x = f32[<=4,<=6] parameter(0)
 w = f32[<=6,3] parameter(1)
 p = pred[<=4] parameter(2)
 k = f32[3] parameter(3)
 d = f32[<=4,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 low = f32[] constant(-inf)
 q = f32[<=4] convert(p)
 m = f32[3] reduce(d, low), dimensions={0}, to_apply=max
 t = f32[] reduce(q, low), dimensions={0}, to_apply=max
 n = s32[] get-dimension-size(x), dimensions={1}
 ROOT r = (f32[3], f32[], s32[]) tuple(m, t, n) }""",
        cache=False,
    )
    assert {step.runs_on for step in session.executable.steps} <= {"copy", "kernel", "library"}
    random = np.random.default_rng(0)
    for rows, inner in ((4, 6), (1, 2), (3, 5), (2, 0)):
        x, w = -random.random((rows, inner), np.float32), random.random((inner, 3), np.float32)
        m, t, n = session(x, w, np.arange(rows) % 2 == 1, np.zeros(3, np.float32))
        np.testing.assert_allclose(m, (x @ w).max(axis=0), rtol=1e-6)
        assert (t, n) == (float(rows > 1), inner)


def test_a_dynamic_result_of_a_dynamic_parameter_is_right_on_the_evaluator():
    session = xe.compile("ENTRY e { x = f32[<=5] parameter(0)\n ROOT y = f32[<=5] add(x, x) }")
    for size in (2, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(session(x), x + x)
    assert {row["code"] for row in session.decisions(kind="native-code").to_dict("records")} == {
        "dynamic-dimension"
    }


@pytest.mark.parametrize("shape", [(6, 2), (3, 1), (3,)])
def test_a_dynamic_parameter_refuses_other_arrays(shape):
    with pytest.raises(
        xe.XlaExplorerError, match=r"s32\[<=5,2\], so its dimensions must be \[5, 2\]"
    ):
        xe.compile(PARAMETER)(np.zeros(shape, np.int32))
