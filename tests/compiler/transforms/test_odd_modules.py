"""Well-formed modules that no front end writes: the passes and code generation accept them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.verifier import HloVerifyError, verify

REDUCER = (
    "add {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] add(a, b){1}\n}}\n"
)
SCATTER = """ENTRY e {{
  x = {0}[5] parameter(0)
  i = s32[{1},1] parameter(1)
  u = {0}[{1}] parameter(2)
  ROOT r = {0}[5] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add{2}
}}"""


def agrees(text: str, *arguments: np.ndarray) -> None:
    module = xe.parse_hlo(text)
    verify(module)
    for passes in ("default", "none"):
        found = xe.compile(module, passes=passes, cache=False, check_passes=True)(*arguments)
        np.testing.assert_array_equal(
            np.asarray(found, np.float64), np.asarray(xe.evaluate(module, *arguments), np.float64)
        )


@pytest.mark.parametrize("unique", ["", ", unique_indices=true"])
def test_an_attribute_for_viewers_is_not_in_the_way_of_a_pass(unique: str) -> None:
    # Every instruction may have it, and no operation takes it: passes that write an operation anew
    # leave it out.
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", ", statistics={visualizing_index=0,a=7}")
        + SCATTER.format("f32", 2, unique)
    )
    agrees(
        text, np.ones(5, np.float32), np.array([[1], [3]], np.int32), np.array([2, 4], np.float32)
    )
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", ", statistics={visualizing_index=0,a=7}")
        + "ENTRY e {\n x = f32[4] parameter(0)\n ROOT r = f32[4] map(x, x), dimensions={0}, to_apply=add\n}"
    )
    agrees(text, np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("rows", [2, 40])
@pytest.mark.parametrize("unique", ["", ", unique_indices=true"])
def test_a_scatter_combines_in_the_precision_of_its_computation(rows: int, unique: str) -> None:
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", "")
        + SCATTER.format("bf16", rows, unique if rows == 2 else "")
    )
    bf16 = ml_dtypes.bfloat16
    agrees(
        text,
        (np.arange(5) * 100.0).astype(bf16),
        (np.arange(rows)[:, None] % 5).astype(np.int32),
        np.full(rows, 0.5, bf16),
    )


def test_a_select_and_scatter_does_too() -> None:
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", "")
        + "ge {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE\n}\n"
        + "ENTRY e {\n x = bf16[6] parameter(0)\n u = bf16[3] parameter(1)\n z = bf16[] constant(0)\n"
        + " ROOT r = bf16[6] select-and-scatter(x, u, z), window={size=2 stride=2}, select=ge, scatter=add\n}"
    )
    agrees(
        text,
        np.array([1, 2, 4, 3, 0, 7], ml_dtypes.bfloat16),
        np.array([0.5, 0.25, 3], ml_dtypes.bfloat16),
    )


@pytest.mark.parametrize(
    "body",
    ["f32[2] reduce(x, z), dimensions={1}", "f32[2,4] reduce-window(x, z), window={size=1x1}"],
)
def test_a_reduction_in_another_precision_is_refused_as_xla_refuses_it(body: str) -> None:
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", "")
        + f"ENTRY e {{\n x = bf16[2,4] parameter(0)\n z = bf16[] constant(0)\n ROOT r = {body}, to_apply=add\n}}"
    )
    with pytest.raises(HloVerifyError, match="mixed precision"):
        verify(xe.parse_hlo(text.replace("f32[2]", "bf16[2]").replace("f32[2,4]", "bf16[2,4]")))


@pytest.mark.parametrize("kind", ["s8", "s16", "u32", "s64"])
def test_a_dynamic_size_may_be_any_integer(kind: str) -> None:
    text = (
        "HloModule m\n"
        + REDUCER.format("s32", "")
        + f"ENTRY e {{\n x = s32[4] parameter(0)\n n = {kind}[] parameter(1)\n y = s32[<=4] set-dimension-size(x, n), dimensions={{0}}\n"
        + " z = s32[] constant(0)\n g = s32[] get-dimension-size(y), dimensions={0}\n s = s32[] reduce(y, z), dimensions={0}, to_apply=add\n ROOT r = s32[] add(g, s)\n}"
    )
    dtype = {"s8": np.int8, "s16": np.int16, "u32": np.uint32, "s64": np.int64}[kind]
    agrees(text, np.arange(1, 5, dtype=np.int32), np.asarray(2, dtype))
    sums = text.replace(" g = s32[] get-dimension-size(y), dimensions={0}\n", "").replace(
        "add(g, s)", "negate(s)"
    )
    for beyond in (np.iinfo(dtype).max, np.iinfo(dtype).min):
        agrees(sums, np.arange(1, 5, dtype=np.int32), np.asarray(beyond, dtype))


def test_a_root_with_control_edges_goes_when_another_takes_its_place() -> None:
    # Two elements of the state do nothing: the body gets another root, and the old one must not
    # keep them.
    text = """HloModule m
cond { p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  u = s32[] get-tuple-element(p), index=1
  v = s32[] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = s32[] add(u, v)
  f = s32[] multiply(v, v)
  ROOT t = (s32[], s32[], s32[]) tuple(j, f, w), control-predecessors={w} }
ENTRY e { z = s32[] constant(0)
  x = s32[] parameter(0)
  t = (s32[], s32[], s32[]) tuple(z, x, x)
  l = (s32[], s32[], s32[]) while(t), condition=cond, body=body
  ROOT r = s32[] get-tuple-element(l), index=0 }"""
    agrees(text, np.int32(2))
    dead = xe.optimize(text, "while-loop-simplifier", verify=True).module
    assert all(
        i.users or i.is_root
        for c in dead.computations.values()
        for i in c.instructions.values()
        if i.opcode.name == "tuple"
    )


@pytest.mark.parametrize("result", ["s32", "u8", "f32", "s64"])
@pytest.mark.parametrize(
    "kinds", [("f32", "f32"), ("f16", "s32"), ("u64", "f16"), ("pred", "pred")]
)
def test_a_dot_rounds_its_sum_and_not_its_operands(kinds: tuple[str, str], result: str) -> None:
    dtypes = {
        "f32": np.float32,
        "f16": np.float16,
        "s32": np.int32,
        "u64": np.uint64,
        "pred": np.bool_,
    }
    text = (
        f"HloModule m\nENTRY e {{\n x = {kinds[0]}[2,12] parameter(0)\n y = {kinds[1]}[2,12] parameter(1)\n"
        f" ROOT r = {result}[2,2] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n}}"
    )
    x, y = (
        np.full((2, 12), 0.5 if dtypes[k] in (np.float32, np.float16) else 1).astype(dtypes[k])
        for k in kinds
    )
    agrees(text, x, y)
    assert (
        xe.evaluate(xe.parse_hlo(text), x, y)[0, 0]
        == {("f32", "f32"): 3, ("f16", "s32"): 6, ("u64", "f16"): 6, ("pred", "pred"): 12}[kinds]
    )


def test_a_fused_sum_of_small_floats_does_not_stand_still() -> None:
    text = (
        "HloModule m\n"
        + REDUCER.format("bf16", "")
        + "inside {\n p = bf16[] parameter(0)\n b = bf16[3,1000] broadcast(p), dimensions={}\n z = bf16[] constant(0)\n"
        + " s = bf16[3] reduce(b, z), dimensions={1}, to_apply=add\n ROOT w = bf16[3,4] broadcast(s), dimensions={0}\n}\n"
        + "ENTRY e {\n p = bf16[] parameter(0)\n ROOT f = bf16[3,4] fusion(p), kind=kLoop, calls=inside\n}"
    )
    agrees(text, np.asarray(1, ml_dtypes.bfloat16))


def test_tuples_of_constants_are_constants() -> None:
    head = "HloModule m\nENTRY e {\n"
    agrees(
        head
        + " c = (f32[], (s32[2], f32[])) constant((7, ({1, 2}, 42)))\n t = (s32[2], f32[]) get-tuple-element(c), index=1\n ROOT r = s32[2] get-tuple-element(t), index=0\n}"
    )
    text = head + " ROOT c = (f32[], s32[2]) constant((7, {1, 2}))\n}"
    for passes in ("default", "none"):
        one, two = xe.compile(text, passes=passes, cache=False)()
        assert one == 7 and two.tolist() == [1, 2]


def test_the_imaginary_part_of_a_real_number_is_a_zero_of_its_type() -> None:
    for kind, dtype in (
        ("f4e2m1fn", ml_dtypes.float4_e2m1fn),
        ("bf16", ml_dtypes.bfloat16),
        ("f64", np.float64),
    ):
        agrees(
            f"HloModule m\nENTRY e {{\n x = {kind}[3] parameter(0)\n ROOT r = {kind}[3] imag(x)\n}}",
            np.ones(3, dtype),
        )


def test_a_collective_of_constants_is_no_constant() -> None:
    text = "HloModule m, replica_count=2\nENTRY e {\n a = s64[2] constant({1, 2})\n ROOT g = s64[4] all-gather(a), dimensions={0}\n}"
    assert [i.opcode.name for i in xe.optimize(text).module.entry.instructions.values()] == [
        "constant",
        "all-gather",
    ]


def test_a_random_state_of_another_size_is_refused_by_name() -> None:
    for state in ("u64[5]", "u64[0]", "u64[1]"):
        text = f"HloModule m\nENTRY e {{\n p = {state} parameter(0)\n ROOT r = ({state}, u32[4]) rng-bit-generator(p), algorithm=rng_three_fry\n}}"
        module = xe.parse_hlo(text)
        for run in (
            lambda *a, m=module: xe.evaluate(m, *a),
            lambda *a, t=text: xe.compile(t, cache=False)(*a),
        ):
            with pytest.raises(xe.XlaExplorerError, match="has a state of u64"):
                run(*xe.random_arguments(module))
    alone = "HloModule m\nENTRY e {\n p = u64[2] parameter(0)\n ROOT r = u32[5] rng-bit-generator(p), algorithm=rng_default\n}"
    agrees(alone, np.ones(2, np.uint64))


def nested(count: int, called: str) -> str:
    """Return a module of calls, or of loops that never run, each nested in the next."""
    lines = [
        "HloModule m",
        "never { p = s32[] parameter(0)\n ROOT r = pred[] constant(false) }",
        "step0 { p = s32[] parameter(0)\n ROOT r = s32[] add(p, p) }",
    ]
    lines += [
        f"step{k} {{ p = s32[] parameter(0)\n ROOT r = s32[] {called.format(k - 1)} }}"
        for k in range(1, count)
    ]
    return "\n".join(
        [
            *lines,
            f"ENTRY e {{ p = s32[] parameter(0)\n ROOT r = s32[] {called.format(count - 1)} }}",
        ]
    )


def test_what_is_nested_too_deeply_is_said_so() -> None:
    loops = nested(500, "while(p), condition=never, body=step{}")
    calls = nested(500, "call(p), to_apply=step{}")
    for text in (loops, calls):
        with pytest.raises(xe.XlaExplorerError, match="too deeply"):
            xe.evaluate(xe.parse_hlo(text), np.int32(1))
    with pytest.raises(xe.errors.CompileFailedError, match="too deeply"):
        xe.compile(loops, passes="none", cache=False)


def test_a_concatenate_doubled_many_times_is_not_written_out() -> None:
    lines = [
        f" c{k + 1} = f32[{2 ** (k + 1)}] concatenate(c{k}, c{k}), dimensions={{0}}"
        for k in range(14)
    ]
    text = "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            " c0 = f32[1] parameter(0)",
            *lines,
            " ROOT r = f32[16384] negate(c14)",
            "}",
        ]
    )
    session = xe.compile(text, cache=False)
    assert (
        max(
            len(i.operands)
            for c in session.module.computations.values()
            for i in c.instructions.values()
        )
        <= 256
    )
    assert len(session.executable.program.text.splitlines()) < 20_000
    assert (session(np.ones(1, np.float32)) == -1).all()


def test_a_fusion_that_sums_per_element_is_taken_apart() -> None:
    # As another device fuses a softmax: taken as it is, each of its elements would sum its row
    # anew.
    text = (
        "HloModule m\n"
        + REDUCER.format("f32", "")
        + "inside {\n p = f32[4,512] parameter(0)\n z = f32[] constant(0)\n s = f32[4] reduce(p, z), dimensions={1}, to_apply=add\n"
        + " b = f32[4,512] broadcast(s), dimensions={0}\n ROOT q = f32[4,512] subtract(p, b)\n}\n"
        + "ENTRY e {\n p = f32[4,512] parameter(0)\n ROOT f = f32[4,512] fusion(p), kind=kCustom, calls=inside\n}"
    )
    agrees(text, np.ones((4, 512), np.float32))
    optimised = xe.compile(text, cache=False).module
    bodies = [i.called[0] for i in optimised.instructions() if i.opcode.name == "fusion"]
    assert not any(
        {"reduce", "subtract"} <= {i.opcode.name for i in body.instructions.values()}
        for body in bodies
    )
