"""Control flow, calls, tokens, random numbers, linear algebra, collectives; API contracts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.hlo.evaluator.evaluator_programs import module_text, run, run_text, shape, tuple_of
from xla_explorer.hlo.evaluator import (
    EvaluationError,
    Evaluator,
    UnsupportedOpcodeError,
    evaluate,
    evaluates_custom_call,
    flatten_value,
)
from xla_explorer.hlo.text import parse_hlo

F = np.float32

LOOP = """HloModule loop
cond {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(LIMIT)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  y = f32[] multiply(x, half)
  f = f32[] convert(i)
  z = f32[] add(y, f)
  ROOT r = (s32[], f32[]) tuple(next, z)
}
ENTRY main {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[]) tuple(zero, x)
  ROOT w = (s32[], f32[]) while(s), condition=cond, body=body
}
"""


def test_while() -> None:
    count, x = run_text(LOOP.replace("LIMIT", "5"), F(1))
    expected = F(1)
    for k in range(5):
        expected = expected * F(0.5) + F(k)
    assert (int(count), float(x)) == (5, float(expected))
    assert isinstance(x, np.ndarray)


def test_while_can_be_limited() -> None:
    module = parse_hlo(LOOP.replace("LIMIT", "1000"))
    with pytest.raises(EvaluationError, match="did not end within 100 iterations"):
        evaluate(module, F(1), evaluator=Evaluator(max_iterations=100))


@pytest.mark.parametrize(("index", "branch"), [(0, 0), (1, 1), (2, 2), (-1, 2), (7, 2)])
def test_conditional_by_number(index: int, branch: int) -> None:
    branches = "".join(
        [
            f"b{k} {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] constant({k})\n}}\n"
            for k in range(3)
        ]
    )
    text = f"""HloModule m
{branches}ENTRY main {{
  i = s32[] parameter(0)
  x = f32[] constant(9)
  ROOT r = f32[] conditional(i, x, x, x), branch_computations={{b0, b1, b2}}
}}
"""
    assert run_text(text, np.int32(index)) == branch


def test_conditional_by_predicate() -> None:
    text = """HloModule m
t {
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p)
}
f {
  ROOT p = f32[] parameter(0)
}
ENTRY main {
  i = pred[] parameter(0)
  x = f32[] constant(9)
  y = f32[] constant(7)
  ROOT r = f32[] conditional(i, x, y), true_computation=t, false_computation=f
}
"""
    assert run_text(text, np.True_) == -9 and run_text(text, np.False_) == 7


def test_calls_fusions_maps_tokens_and_barriers() -> None:
    text = """HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] subtract(a, b)
}
g {
  a = f32[3] parameter(0)
  ROOT r = f32[3] negate(a)
}
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  m = f32[3] map(x, y), dimensions={0}, to_apply=f
  c = f32[3] call(m), to_apply=g
  d = f32[3] fusion(c), kind=kLoop, calls=g
  t = token[] after-all()
  e = f32[3] add-dependency(d, t)
  ROOT b = f32[3] opt-barrier(e)
}
"""
    x, y = np.array([3, 4, 5], F), np.array([1, 2, 4], F)
    np.testing.assert_array_equal(run_text(text, x, y), x - y)


def test_map_of_a_body_with_a_loop_runs_element_by_element() -> None:
    text = """HloModule m
cond {
  s = s32[] parameter(0)
  n = s32[] constant(10)
  ROOT r = pred[] compare(s, n), direction=LT
}
body {
  s = s32[] parameter(0)
  n = s32[] constant(3)
  ROOT r = s32[] add(s, n)
}
f {
  a = s32[] parameter(0)
  ROOT w = s32[] while(a), condition=cond, body=body
}
ENTRY main {
  x = s32[2,2] parameter(0)
  ROOT m = s32[2,2] map(x), dimensions={0,1}, to_apply=f
}
"""
    np.testing.assert_array_equal(
        run_text(text, np.array([[0, 1], [2, 20]], np.int32)), [[12, 10], [11, 20]]
    )


def test_asynchronous_calls() -> None:
    text = """HloModule m
f {
  a = f32[3] parameter(0)
  ROOT r = f32[3] negate(a)
}
ENTRY main {
  x = f32[3] parameter(0)
  s = ((f32[3]), f32[3], s32[]) async-start(x), calls=f
  u = ((f32[3]), f32[3], s32[]) async-update(s)
  d = f32[3] async-done(u)
  c = (f32[3], f32[3], u32[]) copy-start(d)
  ROOT e = f32[3] copy-done(c)
}
"""
    np.testing.assert_array_equal(run_text(text, np.ones(3, F)), -np.ones(3))


def test_scan_is_a_cumulative_sum() -> None:
    text = """HloModule m
f {
  x = f32[] parameter(0)
  c = f32[] parameter(1)
  s = f32[] add(x, c)
  ROOT r = (f32[], f32[]) tuple(s, s)
}
ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT r = (f32[4], f32[]) scan(x, zero), dimensions={0}, num_carries=1, to_apply=f
}
"""
    sums, last = run_text(text, np.arange(4, dtype=F))
    np.testing.assert_array_equal(sums, [0, 1, 3, 6])
    assert last == 6


# -- random numbers ----------------------------------------
def test_threefry_words_pair_along_the_largest_dimension_where_none_is_even() -> None:
    result = run(
        "rng-bit-generator",
        tuple_of(shape("u64", 2), shape("u32", 5, 3)),
        np.array([1, 2], np.uint64),
        algorithm="rng_three_fry",
    )
    assert [int(v) for v in result[0]] == [
        1,
        11,
    ]  # nine counters: 3 x 3 pairs, of which the last row gives one word
    expected = [
        [43444564, 3979645651, 1672743891],
        [2150618427, 3745730563, 4240503393],
        [2109414752, 2534981805, 2868795927],
    ]
    assert np.asarray(result[1])[:3].tolist() == expected  # real XLA's


@pytest.mark.parametrize(
    ("algorithm", "state", "element", "after", "bits"),
    [
        ("rng_philox", [1, 2], "u32", [1, 3], [2100602697, 2847456232, 2074354647, 800269529]),
        ("rng_default", [1, 2], "u64", [1, 3], [12229731395331991369, 3437131457114678231]),
        (
            "rng_philox",
            [1, 2, 3],
            "u32",
            [1, 3, 3],
            [4031113034, 1366700262, 495645701, 3051723414],
        ),
        ("rng_three_fry", [1, 2], "u32", [1, 4], [43444564, 2150618427, 3979645651, 3745730563]),
        ("rng_three_fry", [1, 2], "u64", [1, 4], [9236835810183407956, 16087790271692313299]),
    ],
)
def test_random_bits(
    algorithm: str, state: list[int], element: str, after: list[int], bits: list[int]
) -> None:
    given = np.array(state, np.uint64)
    result = run(
        "rng-bit-generator",
        tuple_of(shape("u64", len(state)), shape(element, len(bits))),
        given,
        algorithm=algorithm,
    )
    assert [int(v) for v in result[0]] == after
    assert [int(v) for v in result[1]] == bits


@pytest.mark.parametrize("algorithm", ["rng_philox", "rng_three_fry"])
def test_narrow_random_bits_are_the_low_bits(algorithm: str) -> None:
    state = np.array([7, 2**64 - 1], np.uint64)
    wide = run(
        "rng-bit-generator",
        tuple_of(shape("u64", 2), shape("u32", 3, 5)),
        state,
        algorithm=algorithm,
    )
    for element in ("u8", "u16", "s32"):
        result = run(
            "rng-bit-generator",
            tuple_of(shape("u64", 2), shape(element, 3, 5)),
            state,
            algorithm=algorithm,
        )
        np.testing.assert_array_equal(result[0], wide[0])
        np.testing.assert_array_equal(result[1], wide[1].astype(result[1].dtype))


def test_stateful_random_numbers() -> None:
    uniform = run("rng", shape("f32", 1000), F(-2), F(3), distribution="rng_uniform")
    assert uniform.dtype == F and (uniform >= -2).all() and (uniform < 3).all()
    integers = run("rng", shape("s32", 1000), np.int32(-2), np.int32(3), distribution="rng_uniform")
    assert set(integers.tolist()) == {-2, -1, 0, 1, 2}
    normal = run("rng", shape("f32", 10000), F(5), F(0.5), distribution="rng_normal")
    assert abs(normal.mean() - 5) < 0.05 and abs(normal.std() - 0.5) < 0.05
    np.testing.assert_array_equal(
        uniform, run("rng", shape("f32", 1000), F(-2), F(3), distribution="rng_uniform")
    )


def test_generator_state_moves() -> None:
    text = """a = u64[2] rng-get-and-update-state(), delta=5
              b = u64[2] rng-get-and-update-state(), delta=1, control-predecessors={a}
              ROOT r = u64[2] subtract(b, a)"""
    np.testing.assert_array_equal(run_text(module_text(text)), [5, 0])


# -- linear algebra ----------------------------------------
def test_fft() -> None:
    x = np.array([1, 2, 3, 4], F)
    spectrum = run("fft", shape("c64", 3), x, fft_type="RFFT", fft_length=(4,))
    np.testing.assert_allclose(spectrum, [10, -2 + 2j, -2])
    np.testing.assert_allclose(
        run("fft", shape("f32", 4), spectrum, fft_type="IRFFT", fft_length=(4,)), x
    )
    z = np.array([[1, 2j], [3, 4]], np.complex64)
    there = run("fft", None, z, fft_type="FFT", fft_length=(2, 2))
    np.testing.assert_allclose(
        run("fft", None, there, fft_type="IFFT", fft_length=(2, 2)), z, atol=1e-6
    )


def test_cholesky_reads_one_triangle() -> None:
    a = np.array([[4, 99], [2, 5]], F)
    np.testing.assert_array_equal(run("cholesky", None, a, lower=True), [[2, 0], [1, 2]])
    np.testing.assert_array_equal(
        run("cholesky", None, np.ascontiguousarray(a.T)), [[2, 1], [0, 2]]
    )
    assert np.isnan(run("cholesky", None, np.array([[1, 0], [0, -1]], F), lower=True)).all()


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("transposed", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_solve(lower: bool, left: bool, unit: bool, transposed: str) -> None:
    random = np.random.default_rng(0)
    a = (
        random.standard_normal((2, 3, 3)) + 1j * random.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    ).astype(np.complex64)
    b = random.standard_normal((2, 3, 3)).astype(np.complex64)
    x = run(
        "triangular-solve",
        shape("c64", 2, 3, 3),
        a,
        b,
        lower=lower,
        left_side=left,
        unit_diagonal=unit,
        transpose_a=transposed,
    )
    matrix = np.tril(a, -1) if lower else np.triu(a, 1)
    matrix = matrix + (np.eye(3) if unit else np.einsum("bii->bi", a)[:, None] * np.eye(3))
    matrix = {
        "NO_TRANSPOSE": matrix,
        "TRANSPOSE": matrix.swapaxes(1, 2),
        "ADJOINT": matrix.conj().swapaxes(1, 2),
    }[transposed]
    np.testing.assert_allclose(matrix @ x if left else x @ matrix, b, atol=1e-4)


def test_batch_normalisation() -> None:
    random = np.random.default_rng(0)
    x, scale, offset = (
        random.standard_normal((5, 4, 3)).astype(F),
        np.array([1, 2, 3], F),
        np.array([0, 1, 2], F),
    )
    parts = tuple_of(shape("f32", 5, 4, 3), shape("f32", 3), shape("f32", 3))
    y, mean, variance = run(
        "batch-norm-training", parts, x, scale, offset, epsilon=1e-3, feature_index=2
    )
    np.testing.assert_allclose(mean, x.mean((0, 1)), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(variance, x.var((0, 1)), rtol=1e-5)
    again = run(
        "batch-norm-inference",
        None,
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=1e-3,
        feature_index=2,
    )
    np.testing.assert_allclose(y, again, atol=1e-5)
    gradient = random.standard_normal((5, 4, 3)).astype(F)
    dx, dscale, doffset = run(
        "batch-norm-grad", parts, x, scale, mean, variance, gradient, epsilon=1e-3, feature_index=2
    )
    np.testing.assert_allclose(doffset, gradient.sum((0, 1)), rtol=1e-4)
    nudge = np.zeros_like(x)
    nudge[1, 2, 0] = 1e-2
    plus, minus = [
        run(
            "batch-norm-training",
            parts,
            x + s * nudge,
            scale,
            offset,
            epsilon=1e-3,
            feature_index=2,
        )[0]
        for s in (1, -1)
    ]
    assert abs(((plus - minus).astype(float) * gradient).sum() / 2e-2 - dx[1, 2, 0]) < 2e-3
    plus, minus = [
        run("batch-norm-training", parts, x, scale + F(s), offset, epsilon=1e-3, feature_index=2)[0]
        for s in (1, -1)
    ]
    np.testing.assert_allclose(
        ((plus - minus).astype(float) * gradient).sum((0, 1)) / 2, dscale, rtol=1e-3
    )


# -- collectives and custom calls ----------------------------------------
def test_collectives_on_one_device() -> None:
    text = module_text(
        """x = f32[4] parameter(0)
        a = f32[4] all-reduce(x), replica_groups={}, to_apply=add
        g = f32[4] all-gather(a), replica_groups={{0}}, dimensions={0}
        s = f32[4] reduce-scatter(g), replica_groups={}, dimensions={0}, to_apply=add
        p = f32[4] collective-permute(s), source_target_pairs={{0,0}}
        z = f32[4] collective-permute(s), source_target_pairs={}
        n = u32[] replica-id()
        ROOT r = (f32[4], f32[4], u32[]) tuple(p, z, n)""",
        "f32",
        "add",
    )
    x = np.arange(4, dtype=F)
    kept, zeros, number = run_text(text, x)
    np.testing.assert_array_equal(kept, x)
    assert not zeros.any() and number == 0


def test_collectives_of_several_devices_are_refused() -> None:
    text = module_text(
        "x = f32[4] parameter(0)\nROOT a = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add",
        "f32",
        "add",
    )
    with pytest.raises(UnsupportedOpcodeError, match="groups of 2 devices"):
        run_text(text, np.ones(4, F))


def test_custom_calls_by_target() -> None:
    text = module_text(
        'x = f32[4] parameter(0)\nROOT a = f32[4] custom-call(x), custom_call_target="test.twice"'
    )
    with pytest.raises(UnsupportedOpcodeError, match=r"test\.twice"):
        run_text(text, np.ones(4, F))

    @evaluates_custom_call("test.twice")
    def twice(i, operands, evaluator):  # type: ignore[no-untyped-def]
        return operands[0] * F(2)

    np.testing.assert_array_equal(run_text(text, np.ones(4, F)), [2, 2, 2, 2])


# -- arguments and limits ----------------------------------------
def test_arguments_are_checked() -> None:
    module = parse_hlo(module_text("x = f32[2,3] parameter(0)\nROOT r = f32[2,3] negate(x)"))
    with pytest.raises(EvaluationError, match=r"takes 1 argument \(x: f32\[2,3\]\), got 2"):
        evaluate(module, 1, 2)
    with pytest.raises(
        EvaluationError, match=r"parameter 0 \(%x\) is f32\[2,3\].*float32; got float64\[2, 3\]"
    ):
        evaluate(module, np.ones((2, 3)))
    with pytest.raises(EvaluationError, match=r"its dimensions must be \[2, 3\]; got \[3, 2\]"):
        evaluate(module, np.ones((3, 2), F))


def test_tuple_parameters_take_tuples_or_leaves() -> None:
    module = parse_hlo(
        module_text("""p = (f32[], (s32[2], f32[])) parameter(0)
        a = f32[] get-tuple-element(p), index=0
        q = (s32[2], f32[]) get-tuple-element(p), index=1
        ROOT r = ((s32[2], f32[]), f32[]) tuple(q, a)""")
    )
    for arguments in [
        ((F(1), (np.array([1, 2], np.int32), F(3))),),
        (F(1), np.array([1, 2], np.int32), F(3)),
    ]:
        result = evaluate(module, *arguments)
        assert isinstance(result, tuple) and isinstance(result[0], tuple)
        assert [np.asarray(v).tolist() for v in flatten_value(result)] == [[1, 2], 3.0, 1.0]
    with pytest.raises(EvaluationError, match="is a tuple of 2"):
        evaluate(module, F(1))


def test_huge_results_are_refused_before_they_exist() -> None:
    module = parse_hlo(
        module_text(
            "x = f32[] parameter(0)\nROOT b = f32[1000000,1000000] broadcast(x), dimensions={}"
        )
    )
    with pytest.raises(EvaluationError, match="1,000,000,000,000 elements"):
        evaluate(module, F(1))


def test_values_can_be_recorded() -> None:
    module = parse_hlo(
        module_text("x = f32[2] parameter(0)\ny = f32[2] negate(x)\nROOT z = f32[2] multiply(y, y)")
    )
    evaluator = Evaluator(record=True)
    evaluate(module, np.array([1, 2], F), evaluator=evaluator)
    named = {module.find(number).name: value.tolist() for number, value in evaluator.values.items()}
    assert named == {"x": [1, 2], "y": [-1, -2], "z": [1, 4]}


def test_plans_follow_mutations() -> None:
    module = parse_hlo(
        module_text("x = f32[2] parameter(0)\ny = f32[2] negate(x)\nROOT z = f32[2] multiply(y, y)")
    )
    evaluator = Evaluator()
    x = np.array([1, 2], F)
    np.testing.assert_array_equal(evaluate(module, x, evaluator=evaluator), [1, 4])
    module.entry.set_root(module.find("y"))
    np.testing.assert_array_equal(evaluate(module, x, evaluator=evaluator), [-1, -2])


def test_single_instructions() -> None:
    module = parse_hlo(
        module_text(
            "x = f32[2] parameter(0)\ny = f32[2] negate(x)\nc = f32[] constant(3)\nROOT z = f32[2] multiply(y, y)"
        )
    )
    evaluator = Evaluator()
    np.testing.assert_array_equal(
        evaluator.evaluate_instruction(module.find("y"), [np.array([1, 2], F)]), [-1, -2]
    )
    assert evaluator.evaluate_instruction(module.find("c"), []) == 3


def test_a_wrong_stated_shape_is_named() -> None:
    module = parse_hlo(module_text("x = f32[2] parameter(0)\nROOT y = f32[3] negate(x)"))
    with pytest.raises(EvaluationError, match=r"%y \(negate\) states the shape f32\[3\]"):
        evaluate(module, np.ones(2, F))


def test_operands_are_never_written() -> None:
    text = module_text(
        """x = f32[4] parameter(0)
        i = s32[1] constant({1})
        u = f32[1] constant({9})
        s = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
        ROOT r = f32[4] sort(s), dimensions={0}, to_apply=lt""",
        "f32",
        "add",
        "lt",
    )
    x = np.array([4, 3, 2, 1], F)
    x.setflags(write=False)
    np.testing.assert_array_equal(run_text(text, x), [1, 2, 4, 12])


COUNTER = """HloModule counter
body {
  i = TYPE[] parameter(0)
  step = TYPE[] constant(STEP)
  ROOT next = TYPE[] add(i, step)
}
condition {
  i = TYPE[] parameter(0)
  bound = TYPE[] constant(BOUND)
  ROOT go = pred[] compare(i, bound), direction=DIRECTION
}
ENTRY main {
  start = TYPE[] parameter(0)
  ROOT end = TYPE[] while(start), condition=condition, body=body
}
"""


@pytest.mark.parametrize(
    ("element", "start", "step", "direction", "bound"),
    [
        ("s8", 3, 7, "LT", 50),
        ("s8", 3, 7, "LT", 127),  # runs beyond 127 and comes back from -128 until it hits 127
        ("s8", 42, -1, "LT", 100),
        ("s8", 100, -9, "GE", -5),
        ("u8", 250, 10, "GT", 200),
        ("u8", 5, 0, "GT", 5),
    ],
)
def test_a_counting_loop_ends_where_a_loop_would(
    element: str, start: int, step: int, direction: str, bound: int
) -> None:
    text = COUNTER.replace("TYPE", element).replace("STEP", str(step)).replace("BOUND", str(bound))
    dtype = np.int8 if element == "s8" else np.uint8
    compare = {"LT": np.less, "GE": np.greater_equal, "GT": np.greater}[direction]
    value = np.array(start, dtype)
    while compare(value, dtype(bound)):
        value = (value + np.array(step).astype(dtype)).astype(dtype)
    assert int(run_text(text.replace("DIRECTION", direction), np.array(start, dtype))) == int(value)


def test_a_counter_that_wraps_once_is_not_walked_and_one_that_never_ends_is_refused() -> None:
    text = COUNTER.replace("TYPE", "s32").replace("DIRECTION", "LT").replace("BOUND", "100")
    assert int(run_text(text.replace("STEP", "-1"), np.int32(42))) == 2**31 - 1
    with pytest.raises(EvaluationError, match="never ends"):
        run_text(text.replace("STEP", "0"), np.int32(42))


COUNTER_IN_A_TUPLE = """HloModule counter
body {
  p = (f32[2], s32[], s32[]) parameter(0)
  kept = f32[2] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  bound = s32[] get-tuple-element(p), index=2
  step = s32[] constant(3)
  next = s32[] add(step, i)
  ROOT r = (f32[2], s32[], s32[]) tuple(KEPT, next, bound)
}
condition {
  p = (f32[2], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=1
  bound = s32[] get-tuple-element(p), index=2
  ROOT go = pred[] compare(bound, i), direction=GE
}
ENTRY main {
  x = f32[2] parameter(0)
  start = s32[] parameter(1)
  bound = s32[] parameter(2)
  init = (f32[2], s32[], s32[]) tuple(x, start, bound)
  ROOT end = (f32[2], s32[], s32[]) while(init), condition=condition, body=body
}
"""


@pytest.mark.parametrize("bound", [-5, 1, 2, 10, 1_000_000_000])
def test_a_counter_beside_values_that_stay_is_not_walked(bound: int) -> None:
    x = np.array([1.5, 2], F)
    kept, i, same = run_text(
        COUNTER_IN_A_TUPLE.replace("KEPT", "kept"), x, np.int32(2), np.int32(bound)
    )
    np.testing.assert_array_equal(kept, x)
    assert int(same) == bound
    assert int(i) == (2 if bound < 2 else 2 + 3 * ((bound - 2) // 3 + 1))


def test_a_counter_beside_values_that_change_is_walked() -> None:
    text = COUNTER_IN_A_TUPLE.replace("(KEPT,", "(twice,").replace(
        "  next =", "  twice = f32[2] add(kept, kept)\n  next ="
    )
    kept, i, _ = run_text(text, np.array([1.5, 2], F), np.int32(2), np.int32(10))
    assert int(i) == 11 and list(kept) == [12, 16]


def test_a_condition_that_the_body_does_not_change_never_ends() -> None:
    text = """HloModule endless
body {
  p = (f32[], pred[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  go = pred[] get-tuple-element(p), index=1
  n = f32[] negate(x)
  ROOT r = (f32[], pred[]) tuple(n, go)
}
condition {
  p = (f32[], pred[]) parameter(0)
  ROOT go = pred[] get-tuple-element(p), index=1
}
ENTRY main {
  x = f32[] parameter(0)
  go = pred[] parameter(1)
  t = (f32[], pred[]) tuple(x, go)
  w = (f32[], pred[]) while(t), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=0
}
"""
    assert float(run_text(text, F(3), np.bool_(False))) == 3
    with pytest.raises(
        EvaluationError, match="never ends: its condition reads only loop-invariant values"
    ):
        run_text(text, F(3), np.bool_(True))


def test_what_is_waited_for_is_run() -> None:
    text = """HloModule endless
    body { s = (s16[]) parameter(0)  n = s16[] get-tuple-element(s), index=0  one = s16[] constant(1)  m = s16[] and(n, one)  ROOT t = (s16[]) tuple(m) }
    condition { s = (s16[]) parameter(0)  n = s16[] get-tuple-element(s), index=0  k = s16[] constant(10)  ROOT l = pred[] compare(n, k), direction=LT }
    ENTRY e {
      z = s16[] constant(0)
      t = (s16[]) tuple(z)
      w = (s16[]) while(t), condition=condition, body=body
      ROOT c = s16[] copy(z), control-predecessors={w}
    }"""
    with pytest.raises(EvaluationError, match="iterations"):
        evaluate(parse_hlo(text), evaluator=Evaluator(max_iterations=100))
