"""Options and passes beside XLA's definition of them: the rewrite, its refusals, kept values."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import PassTrace, optimize
from xla_explorer.hlo.evaluator import evaluate, evaluate_replicated, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

LOOP = """
condition {
  p = (s32[], f32[2,3], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[2,3], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2,3] get-tuple-element(p), index=1
  m = f32[2,3] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2,3] add(x, m)
  ROOT t = (s32[], f32[2,3], f32[2,3]) tuple(j, y, m)
}
ENTRY e {
  v = f32[3] parameter(0)
  z = s32[] constant(0)
  h = f32[] constant(0.5)
  b = f32[2,3] broadcast(h), dimensions={}
  w = f32[2,3] broadcast(v), dimensions={1}
  m = f32[2,3] multiply(w, w)
  t = (s32[], f32[2,3], f32[2,3]) tuple(z, b, m)
  l = (s32[], f32[2,3], f32[2,3]) while(t), condition=condition, body=body
  ROOT r = f32[2,3] get-tuple-element(l), index=1
}
"""


def arguments(module: HloModule, seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [
        random.integers(-3, 4, p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in module.entry.parameters()
    ]


def rewritten(text: str, passes: str) -> PassTrace:
    """Run passes; the result must be well formed and have the values of the input."""
    module = parse_hlo("HloModule m\n" + text)
    trace = optimize(module, passes, verify=True)
    given = arguments(module)
    wanted, got = evaluate(module, *given), evaluate(trace.module, *given)
    for x, y in zip(flatten_value(wanted), flatten_value(got), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    return trace


def opcodes(trace: PassTrace) -> list[str]:
    return [i.opcode.name for i in trace.module.instructions()]


CHAIN = (
    "ENTRY e {\n a = f32[4,8] parameter(0)\n b = f32[8,2] parameter(1)\n c = f32[2,16] parameter(2)\n"
    " i = f32[8,16] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    " ROOT r = f32[4,16] dot(a, i), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
)


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ("fast_math=true,use_associative_reordering=true", True),
        (
            "fast_math=true,use_associative_reordering=true,associative_reordering_threshold=9",
            False,
        ),
        ("use_associative_reordering=true", False),  # overflow may differ
        ("fast_math=true", False),
    ],
)
def test_products_are_reordered_above_the_threshold_only(options: str, changed: bool) -> None:
    assert rewritten(CHAIN, f"algsimp{{{options}}}").changed == changed


def test_a_batch_dimension_that_the_outer_dot_contracts_keeps_the_order() -> None:
    text = (
        "ENTRY e {\n a = f32[8,3,16] parameter(0)\n b = f32[8,3,4] parameter(1)\n"
        " c = f32[8,4,16] parameter(2)\n"
        " i = f32[8,3,16] dot(b, c), lhs_batch_dims={0}, rhs_batch_dims={0},"
        " lhs_contracting_dims={2}, rhs_contracting_dims={1}\n"
        " ROOT r = f32[16,16] dot(a, i), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}\n}\n"
    )
    assert not rewritten(text, "algsimp{fast_math=true,use_associative_reordering=true}").changed


def test_a_pad_with_another_value_than_zero_stays_in_a_product() -> None:
    text = (
        "ENTRY e {\n a = f32[16,4] parameter(0)\n b = f32[12,2] parameter(1)\n"
        " z = f32[] constant(1)\n p = f32[16,12] pad(a, z), padding=0_0x4_4\n"
        " ROOT r = f32[16,2] dot(p, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    )
    passes = "algsimp{fast_math=true,use_associative_reordering=true}"
    assert not rewritten(text, passes).changed
    assert "slice" in opcodes(rewritten(text.replace("constant(1)", "constant(0)"), passes))


def test_invariant_state_is_computed_in_the_body_from_the_operands_of_broadcasts() -> None:
    trace = rewritten(LOOP, "while-loop-fusible-sinking{sink_broadcast_of_constant=false}")
    [loop] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert [str(s) for s in loop.shape.tuple_shapes][3:] == ["f32[3]{0}"]
    assert "multiply" in [i.opcode.name for i in loop.called[1].instructions.values()]


def test_a_broadcast_constant_is_written_in_the_first_iteration() -> None:
    module = parse_hlo("HloModule m\n" + LOOP)
    trace = optimize(module, "while-loop-fusible-sinking", verify=True)
    [buffer] = [i for i in trace.module.instructions() if i.opcode.name == "custom-call"]
    assert buffer.attributes["custom_call_target"] == '"AllocateBuffer"'
    # any buffer gives the values of the constant
    text = trace.module.to_text().replace(
        'custom-call(), custom_call_target="AllocateBuffer"', "constant({{7, 7, 7}, {7, 7, 7}})"
    )
    given = arguments(module)
    np.testing.assert_allclose(
        evaluate(parse_hlo(text), *given), evaluate(module, *given), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n = s32[] constant(3)", "n = s32[] constant(0)"),  # the loop may not run
        ("y = f32[2,3] add(x, m)", "y = f32[2,3] reverse(x), dimensions={0}"),
    ],
)
def test_a_constant_that_the_loop_may_not_overwrite_stays(old: str, new: str) -> None:
    text = LOOP.replace(old, new)
    trace = rewritten(text, "while-loop-fusible-sinking")
    assert "custom-call" not in opcodes(trace)


WINDOWS = (
    "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
    "f {\n x = f32[5,4] parameter(0)\n z = f32[] constant(0)\n"
    " ROOT w = f32[5,4] reduce-window(x, z), window={size=1x7 pad=0_0x3_3}, to_apply=add\n}\n"
    "ENTRY e {\n x = f32[5,4] parameter(0)\n y = f32[5,4] negate(x)\n"
    " ROOT r = f32[5,4] fusion(x), kind=kLoop, calls=f, control-predecessors={y}\n}\n"
)


def test_a_module_is_despecialized() -> None:
    trace = rewritten(WINDOWS, "despecializer{deconstruct_reduce_window=true}")
    assert {"fusion", "reduce-window"}.isdisjoint(opcodes(trace))
    assert {"reduce", "broadcast"} <= set(opcodes(trace))
    assert not any(i.control_predecessors for i in trace.module.instructions())
    other = WINDOWS.replace("size=1x7 pad=0_0x3_3", "size=1x4 pad=0_0x0_3")
    kept = rewritten(other, "despecializer{deconstruct_reduce_window=true}")
    assert "reduce-window" in opcodes(kept)


GATHERS = (
    "ENTRY e {\n a = f32[2,3] parameter(0)\n b = f32[4,2] parameter(1)\n c = s32[2,5] parameter(2)\n"
    " d = f32[4,3] all-gather(a), replica_groups={{0,1}}, dimensions={0}\n"
    " f = f32[4,4] all-gather(b), replica_groups={{0,1}}, dimensions={1}\n"
    " g = s32[4,5] all-gather(c), replica_groups={{0,1}}, dimensions={0}\n"
    " ROOT t = (f32[4,3], f32[4,4], s32[4,5]) tuple(d, f, g)\n}\n"
)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("combine_by_dim=false", 1),
        ("combine_by_dim=true", 2),
        ("combine_by_dim=false,combine_different_dtypes=false", 2),
        ("combine_by_dim=false,combine_threshold_count=1", 3),
    ],
)
def test_all_gathers_of_several_dimensions_are_combined(options: str, count: int) -> None:
    module = parse_hlo("HloModule m, replica_count=2\n" + GATHERS)
    trace = optimize(module, f"all-gather-combiner{{{options}}}", verify=True)
    assert opcodes(trace).count("all-gather") == count
    given = [arguments(module, 1), arguments(module, 2)]
    for one, other in zip(
        evaluate_replicated(module, given), evaluate_replicated(trace.module, given), strict=True
    ):
        for x, y in zip(flatten_value(one), flatten_value(other), strict=True):
            np.testing.assert_array_equal(x, y)


def test_a_gpu_combines_what_nothing_hides_beyond_the_threshold() -> None:
    text = (
        "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT s = f32[] add(a, b)\n}\nENTRY e {\n"
        + "".join(
            [
                f" p{k} = f32[5000000] parameter({k})\n a{k} = f32[5000000] all-reduce(p{k}), "
                f'to_apply=add, frontend_attributes={{sync_collective="true"}}\n'
                for k in range(2)
            ]
        )
        + " ROOT t = (f32[5000000], f32[5000000]) tuple(a0, a1)\n}\n"
    )
    plain = text.replace('frontend_attributes={sync_collective="true"}', "replica_groups={}")
    found = {
        (name, kind): optimize(parse_hlo(module), name).changed
        for name in ("all-reduce-combiner", "gpu-all-reduce-combiner")
        for kind, module in (("synchronous", text), ("plain", plain))
    }
    assert found == {
        ("all-reduce-combiner", "synchronous"): False,
        ("all-reduce-combiner", "plain"): False,
        ("gpu-all-reduce-combiner", "synchronous"): True,
        ("gpu-all-reduce-combiner", "plain"): False,
    }


def ragged_arguments(groups: list[list[int]], updates: int, seed: int) -> list[list[np.ndarray]]:
    """Random rows to send, and places for them that do not overlap, for each device."""
    random = np.random.default_rng(seed)
    given: dict[int, list[np.ndarray]] = {}
    for group in groups:
        n = len(group)
        sizes = random.integers(0, 3, (n, n, updates))
        begins = random.integers(0, 5, (n, n, updates))
        # receiver, sender, update: rows one after another
        ends = np.cumsum(sizes.transpose(1, 0, 2).reshape(n, -1), axis=1)
        targets = (ends - sizes.transpose(1, 0, 2).reshape(n, -1)).reshape(n, n, updates)
        for k, device in enumerate(group):
            given[device] = [
                random.normal(size=(7, 2)).astype(np.float32),
                random.normal(size=(40, 2)).astype(np.float32),
                begins[k].reshape(-1),
                sizes[k].reshape(-1),
                targets[:, k].reshape(-1),
                sizes[:, k].reshape(-1),
            ]
    return [given[device] for device in sorted(given)]


@pytest.mark.parametrize(
    ("passes", "groups", "updates"),
    [
        ("ragged-all-to-all-decomposer", [[0, 1]], 2),
        ("ragged-all-to-all-decomposer", [[0, 2], [1, 3]], 3),
        ("ragged-all-to-all-multi-host-decomposer{devices_of_host=2}", [[0, 1, 2, 3]], 2),
        ("ragged-all-to-all-multi-host-decomposer{devices_of_host=2}", [[0, 2, 1, 3]], 2),
        (
            "ragged-all-to-all-multi-host-decomposer{devices_of_host=4}",
            [[0, 2, 4, 6], [1, 3, 5, 7]],
            1,
        ),
    ],
)
def test_ragged_exchanges_arrive_at_the_same_rows(
    passes: str, groups: list[list[int]], updates: int
) -> None:
    n = len(groups[0]) * updates
    text = ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups])
    numbers = "\n".join(
        [f"  {name} = s64[{n}] parameter({k + 2})" for k, name in enumerate("abcd")]
    )
    module = parse_hlo(
        f"HloModule m, replica_count={sum(map(len, groups))}\nENTRY e {{\n"
        f"  x = f32[7,2] parameter(0)\n  y = f32[40,2] parameter(1)\n{numbers}\n"
        f"  ROOT r = f32[40,2] ragged-all-to-all(x, y, a, b, c, d), replica_groups={{{text}}}\n}}\n"
    )
    trace = optimize(module, passes, verify=True)
    assert trace.changed
    given = ragged_arguments(groups, updates, 5)
    for one, other in zip(
        evaluate_replicated(module, given), evaluate_replicated(trace.module, given), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_ragged_exchange_inside_of_a_host_stays() -> None:
    module = parse_hlo(
        "HloModule m, replica_count=4\nENTRY e {\n  x = f32[7,2] parameter(0)\n"
        "  y = f32[40,2] parameter(1)\n  a = s64[2] parameter(2)\n"
        "  ROOT r = f32[40,2] ragged-all-to-all(x, y, a, a, a, a), replica_groups={{0,1},{2,3}}\n}\n"
    )
    passes = "ragged-all-to-all-multi-host-decomposer{devices_of_host=2}"
    assert not optimize(module, passes).changed


def test_a_gpu_wraps_asynchronous_bodies_and_keeps_control_edges() -> None:
    text = (
        "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT s = f32[] add(a, b)\n}\n"
        "square {\n a = f32[5] parameter(0)\n ROOT b = f32[5] multiply(a, a)\n}\n"
        "ENTRY e {\n x = f32[5] parameter(0)\n"
        ' s = ((f32[5]), f32[5], s32[]) call-start(x), async_execution_thread="t", to_apply=square\n'
        " z = f32[] constant(0)\n r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
        " n = f32[] negate(r), control-predecessors={s}\n d = f32[5] call-done(s)\n"
        " ROOT t = (f32[], f32[5]) tuple(n, d)\n}\n"
    )
    module = optimize(parse_hlo(text), "fusion-wrapper{policy=gpu}", verify=True).module
    fusions = {
        i.called[0].root.opcode.name: i for i in module.instructions() if i.opcode.name == "fusion"
    }
    assert set(fusions) == {"multiply", "reduce", "negate"}
    assert fusions["reduce"].attributes["kind"] == "kInput"
    assert [p.opcode.name for p in fusions["negate"].control_predecessors] == ["async-start"]
