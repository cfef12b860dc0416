"""DCE, CSE, tuples, constant folding, zero-sized arrays, reshape mover, whole pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import PassTrace, optimize
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo


def run(passes: str, body: str, before: str = "") -> PassTrace:
    """Run passes on one entry computation; the result is verified."""
    return optimize(
        parse_hlo(f"HloModule m\n{before}\nENTRY e {{\n{body}\n}}\n"), passes, verify=True
    )


def opcodes(trace: PassTrace) -> list[str]:
    """Of the entry, in post order, parameters left out."""
    return [i.opcode.name for i in trace.module.entry.post_order() if i.opcode.name != "parameter"]


SUM = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}"


def test_dead_code_goes_with_what_only_it_called() -> None:
    trace = run(
        "dce",
        "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\nz = f32[] constant(0)\n"
        "r = f32[] reduce(x, z), dimensions={0}, to_apply=sum\nROOT n = f32[4] negate(x)",
        SUM,
    )
    assert opcodes(trace) == ["negate"] and list(trace.module.computations) == ["e"]
    assert len(trace.module.entry.parameters()) == 2


def test_side_effects_stay() -> None:
    trace = run(
        "dce",
        'x = f32[4] parameter(0)\nc = f32[4] custom-call(x), custom_call_target="t", custom_call_has_side_effect=true\n'
        'd = f32[4] custom-call(x), custom_call_target="t"\nROOT n = f32[4] negate(x)',
    )
    assert opcodes(trace).count("custom-call") == 1


def test_dead_fusion_operands_and_results_go() -> None:
    body = (
        "f {\n a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n n = f32[4] negate(a)\n m = f32[4] abs(b)\n"
        " ROOT t = (f32[4], f32[4]) tuple(n, m)\n}"
    )
    trace = run(
        "dce",
        "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\nu = (f32[4], f32[4]) fusion(x, y), kind=kLoop, calls=f\n"
        "ROOT g = f32[4] get-tuple-element(u), index=1",
        body,
    )
    fusion = trace.module.entry.root
    assert fusion.opcode.name == "fusion" and [o.name for o in fusion.operands] == ["y"]


def test_equal_instructions_become_one() -> None:
    trace = run(
        "cse",
        "x = f32[4] parameter(0)\ny = f32[4] parameter(1)\na = f32[4] add(x, y)\nb = f32[4] add(y, x)\n"
        "c = f32[4] subtract(x, y)\nd = f32[4] subtract(y, x)\n"
        "ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)",
    )
    assert opcodes(trace) == ["add", "subtract", "subtract", "tuple"]


def test_constants_are_merged_by_bits() -> None:
    trace = run(
        "cse",
        "a = f32[] constant(0)\nb = f32[] constant(0.0)\nc = f32[] constant(-0)\nd = f32[2] constant({1, 2})\n"
        "e = f32[2] constant({1, 2})\nROOT t = (f32[], f32[], f32[], f32[2], f32[2]) tuple(a, b, c, d, e)",
    )
    assert opcodes(trace).count("constant") == 3


def test_equal_computations_do_not_keep_calls_apart() -> None:
    other = (
        SUM
        + "\nsum2 {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT s = f32[] add(p, q)\n}"
    )
    trace = run(
        "cse",
        "x = f32[4] parameter(0)\nz = f32[] constant(0)\na = f32[] reduce(x, z), dimensions={0}, to_apply=sum\n"
        "b = f32[] reduce(x, z), dimensions={0}, to_apply=sum2\nROOT t = (f32[], f32[]) tuple(a, b)",
        other,
    )
    assert opcodes(trace).count("reduce") == 1


def test_random_numbers_are_not_merged() -> None:
    trace = run(
        "cse",
        "a = f32[] constant(0)\nb = f32[] constant(1)\nr = f32[4] rng(a, b), distribution=rng_uniform\n"
        "s = f32[4] rng(a, b), distribution=rng_uniform\nROOT t = (f32[4], f32[4]) tuple(r, s)",
    )
    assert not trace.changed


def test_tuples_taken_apart_and_put_together() -> None:
    trace = run(
        "tuple-simplifier",
        "t = (f32[], f32[2]) parameter(0)\na = f32[] get-tuple-element(t), index=0\n"
        "b = f32[2] get-tuple-element(t), index=1\nu = (f32[], f32[2]) tuple(a, b)\n"
        "ROOT c = f32[2] get-tuple-element(u), index=1",
    )
    assert [i.name for i in trace.module.entry.post_order()] == ["t", "b"] or opcodes(trace) == [
        "get-tuple-element"
    ]


def test_constants_fold_but_broadcasts_stay() -> None:
    trace = run(
        "constant_folding",
        "a = f32[2] constant({1, 2})\nb = f32[2] constant({3, 4})\ns = f32[2] add(a, b)\n"
        "ROOT w = f32[100,2] broadcast(s), dimensions={1}",
    )
    assert opcodes(trace) == ["constant", "broadcast"]
    assert np.array_equal(trace.module.entry.root.operands[0].literal.array, [4, 6])


def test_a_constant_that_would_grow_is_refused_with_the_numbers() -> None:
    trace = run(
        "constant_folding",
        "a = f32[1] constant({1})\nz = f32[] constant(0)\nROOT p = f32[10000000] pad(a, z), padding=0_9999999",
    )
    assert trace.journal is not None and not trace.changed
    [denied] = [e for e in trace.journal.events if e.verdict == "refused"]
    assert (
        denied.reason is not None
        and denied.reason.code == "constant-would-grow"
        and denied.reason.facts["bytes"] == 40000000
    )


def test_what_the_evaluator_has_no_meaning_for_is_left_alone() -> None:
    trace = run(
        "constant_folding",
        """
        state = u64[6] constant({1, 2, 3, 4, 5, 6})
        ROOT bits = (u64[6], u32[8]) rng-bit-generator(state), algorithm=rng_philox""",
    )
    assert opcodes(trace) == ["constant", "rng-bit-generator"]
    assert trace.journal is not None
    assert [
        e.reason.code
        for e in trace.journal.events
        if e.verdict == "refused" and e.reason is not None
    ] == ["not-evaluated"]


def test_empty_arrays_become_constants() -> None:
    trace = run(
        "zero_sized_hlo_elimination",
        "x = f32[0,3] parameter(0)\nn = f32[0,3] negate(x)\nROOT e = f32[0,3] exponential(n)",
    )
    assert trace.module.entry.root.opcode.name == "constant"


def test_reshapes_move_below_elementwise_operations() -> None:
    trace = run(
        "simplification{reshape-mover,algsimp}*",
        "x = f32[8] parameter(0)\ny = f32[8] parameter(1)\na = f32[2,4] reshape(x)\nb = f32[2,4] reshape(y)\n"
        "k = f32[] constant(2)\nkk = f32[2,4] broadcast(k), dimensions={}\ns = f32[2,4] add(a, b)\n"
        "ROOT m = f32[2,4] multiply(s, kk)",
    )
    assert trace.module.entry.root.opcode.name == "reshape" and opcodes(trace).count("reshape") == 1


def test_a_reshape_that_must_stay_holds_the_move_back() -> None:
    trace = run(
        "reshape-mover",
        "x = f32[8] parameter(0)\na = f32[2,4] reshape(x)\nb = f32[2,4] exponential(a)\n"
        "ROOT t = (f32[2,4], f32[2,4]) tuple(a, b)",
    )
    assert trace.journal is not None and not trace.changed
    assert (
        trace.journal.events[-1].reason is not None
        and trace.journal.events[-1].reason.code == "rearrangement-stays"
    )


def test_softmax_keeps_its_value_through_the_default_pipeline() -> None:
    text = """HloModule m
most {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
softmax {
  x = f32[3,8] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[3] reduce(x, low), dimensions={1}, to_apply=most
  m1 = f32[3,1] reshape(m)
  mb = f32[3,1] broadcast(m1), dimensions={0,1}
  mr = f32[3] reshape(mb)
  mw = f32[3,8] broadcast(mr), dimensions={0}
  d = f32[3,8] subtract(x, mw)
  e = f32[3,8] exponential(d)
  s = f32[3] reduce(e, zero), dimensions={1}, to_apply=sum
  sw = f32[3,8] broadcast(s), dimensions={0}
  ROOT r = f32[3,8] divide(e, sw)
}
ENTRY e {
  x = f32[3,8] parameter(0)
  two = f32[] constant(2)
  four = f32[] constant(4)
  q = f32[] divide(two, four)
  w = f32[3,8] broadcast(q), dimensions={}
  h = f32[3,8] multiply(x, w)
  s = f32[3,8] call(h), to_apply=softmax
  ROOT l = f32[3,8] logistic(s)
}
"""
    module = parse_hlo(text)
    trace = optimize(module, "default", verify=True)
    x = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    expected, actual = [flatten_value(evaluate(m, x))[0] for m in (module, trace.module)]
    np.testing.assert_allclose(actual, expected, rtol=1e-5)
    left = [i.opcode.name for i in trace.module.entry.post_order()]
    assert "call" not in left and "reshape" not in left and "logistic" not in left
    assert left.count("divide") == 2 and left.count("broadcast") <= 5


@pytest.mark.parametrize("count", [300])
def test_passes_are_linear_in_practice(count: int) -> None:
    lines = [
        "x = f32[4] parameter(0)",
        "z = f32[] constant(0)",
        "b = f32[4] broadcast(z), dimensions={}",
        "v0 = f32[4] negate(x)",
        *[f"v{k} = f32[4] add(v{k - 1}, b)" for k in range(1, count)],
    ]
    lines[-1] = "ROOT " + lines[-1]
    trace = run("default", "\n".join(lines))
    assert opcodes(trace) == ["negate"]
    assert trace.step("algsimp").rewrites == count - 1


def test_a_dot_reads_its_transposed_operand_in_place() -> None:
    trace = run(
        "transpose-folding",
        "a = f32[5,3] parameter(0)\nb = f32[4,5] parameter(1)\nat = f32[3,5] transpose(a), dimensions={1,0}\n"
        "bt = f32[5,4] transpose(b), dimensions={1,0}\n"
        "ROOT d = f32[3,4] dot(at, bt), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )
    assert opcodes(trace) == ["dot"]
    a, b = [
        np.random.default_rng(k).normal(size=s).astype(np.float32)
        for k, s in ((0, (5, 3)), (1, (4, 5)))
    ]
    np.testing.assert_allclose(np.asarray(evaluate(trace.module, a, b)), a.T @ b.T, rtol=1e-5)


def test_heads_of_attention_are_read_in_place() -> None:
    trace = run(
        "transpose-folding",
        "q = f32[2,7,3,4] parameter(0)\nk = f32[2,7,3,4] parameter(1)\n"
        "qt = f32[2,3,7,4] transpose(q), dimensions={0,2,1,3}\n"
        "kt = f32[2,3,4,7] transpose(k), dimensions={0,2,3,1}\n"
        "ROOT d = f32[2,3,7,7] dot(qt, kt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
        "rhs_batch_dims={0,1}, rhs_contracting_dims={2}",
    )
    assert opcodes(trace) == ["dot"]
    q, k = [np.random.default_rng(n).normal(size=(2, 7, 3, 4)).astype(np.float32) for n in (0, 1)]
    np.testing.assert_allclose(
        np.asarray(evaluate(trace.module, q, k)),
        np.einsum("bqhd,bkhd->bhqk", q, k),
        rtol=1e-4,
        atol=1e-5,
    )


def test_a_transpose_that_the_result_shows_stays() -> None:
    trace = run(
        "transpose-folding",
        "a = f32[5,3,2] parameter(0)\nb = f32[5] parameter(1)\nat = f32[2,3,5] transpose(a), dimensions={2,1,0}\n"
        "ROOT d = f32[2,3] dot(at, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    )
    assert trace.journal is not None and not trace.changed
    assert (
        trace.journal.events[-1].reason is not None
        and trace.journal.events[-1].reason.code == "free-dimensions-reordered"
    )
