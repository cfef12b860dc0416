"""Collectives over virtual devices: opcodes, group modes, divergence, missing devices."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from tests.support.pace import wall_seconds
from xla_explorer.hlo.evaluator import (
    EvaluationError,
    RendezvousError,
    UnsupportedOpcodeError,
    evaluate,
    evaluate_replicated,
)
from xla_explorer.hlo.text import parse_hlo

ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"


def devices(
    body: str, arguments: list[list[Any]], *, computations: str = ADD, **options: Any
) -> list[Any]:
    """Run the entry body on as many devices as there are argument lists."""
    text = "HloModule test\n" + computations + "ENTRY main {\n" + body + "\n}\n"
    return evaluate_replicated(parse_hlo(text), arguments, **options)


def ramp(count: int, *shape: int) -> list[list[np.ndarray[Any, Any]]]:
    """For device d: 100 d + 0, 1, 2 ... in the given shape."""
    size = int(np.prod(shape))
    return [[(100 * d + np.arange(size, dtype=np.float32)).reshape(shape)] for d in range(count)]


def collective(opcode: str, result: str, attributes: str, operand: str = "f32[4]") -> str:
    return f" p = {operand} parameter(0)\n ROOT r = {result} {opcode}(p), {attributes}"


def test_all_reduce_over_all_replicas_and_in_groups() -> None:
    inputs = ramp(4, 4)
    whole = devices(collective("all-reduce", "f32[4]", "to_apply=add, replica_groups={}"), inputs)
    for result in whole:
        np.testing.assert_array_equal(result, 600 + 4 * np.arange(4))
    grouped = devices(
        collective("all-reduce", "f32[4]", "to_apply=add, replica_groups={{0,2},{3,1}}"), inputs
    )
    assert [float(r[0]) for r in grouped] == [200, 400, 200, 400]
    strided = devices(
        collective("all-reduce", "f32[4]", "to_apply=add, replica_groups=[2,2]<=[2,2]T(1,0)"),
        inputs,
    )
    assert [float(r[0]) for r in strided] == [200, 400, 200, 400]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # device = 2 * replica + partition, its value 1, 10, 100, 1000
        ("replica_groups={{0,1}}", [101, 1010, 101, 1010]),
        ("replica_groups={}", [101, 1010, 101, 1010]),
        ("replica_groups={{0},{1}}, channel_id=1", [11, 11, 1100, 1100]),
        ("replica_groups={}, channel_id=1", [1111] * 4),
        (
            "replica_groups={{0,3},{1,2}}, channel_id=1, use_global_device_ids=true",
            [1001, 110, 110, 1001],
        ),
    ],
)
def test_group_modes(attributes: str, expected: list[float]) -> None:
    inputs = [[np.float32(10**d)] for d in range(4)]
    body = collective("all-reduce", "f32[]", "to_apply=add, " + attributes, "f32[]")
    assert [float(r) for r in devices(body, inputs, replicas=2, partitions=2)] == expected


def test_a_channel_makes_an_all_to_all_cross_partitions() -> None:
    inputs = ramp(4, 2)
    body = collective(
        "all-to-all", "f32[2]", "replica_groups={{0,1}}, channel_id=3, dimensions={0}", "f32[2]"
    )
    results = devices(body, inputs, replicas=2, partitions=2)
    assert [list(r) for r in results] == [[0, 100], [1, 101], [200, 300], [201, 301]]


def test_all_gather_reduce_scatter_and_their_inverse_order_of_ranks() -> None:
    inputs = ramp(2, 2, 2)
    gathered = devices(
        collective("all-gather", "f32[2,4]", "dimensions={1}, replica_groups={{1,0}}", "f32[2,2]"),
        inputs,
    )
    expected = np.concatenate([inputs[1][0], inputs[0][0]], axis=1)
    for result in gathered:
        np.testing.assert_array_equal(result, expected)
    scattered = devices(
        collective(
            "reduce-scatter",
            "f32[1,2]",
            "to_apply=add, dimensions={0}, replica_groups={{1,0}}",
            "f32[2,2]",
        ),
        inputs,
    )
    total = inputs[0][0] + inputs[1][0]
    np.testing.assert_array_equal(scattered[1], total[:1])
    np.testing.assert_array_equal(scattered[0], total[1:])


def test_all_to_all_as_tuple_and_broadcast() -> None:
    body = """ a = f32[2] parameter(0)
 b = f32[2] parameter(1)
 ROOT r = (f32[2], f32[2]) all-to-all(a, b), replica_groups={{0,1}}"""
    inputs = [[np.full(2, 10 * d + k, np.float32) for k in range(2)] for d in range(2)]
    results = devices(body, inputs)
    assert [[float(x[0]) for x in r] for r in results] == [[0, 10], [1, 11]]
    broadcast = devices(
        collective("collective-broadcast", "f32[4]", "replica_groups={{1,0},{2}}"), ramp(3, 4)
    )
    assert [float(r[0]) for r in broadcast] == [100, 100, 200]


def test_an_unknown_reducer_is_folded_in_rank_order() -> None:
    minus = "sub {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] subtract(a, b)\n}\n"
    body = collective("all-reduce", "f32[]", "to_apply=sub, replica_groups={{1,0,2}}", "f32[]")
    results = devices(body, [[np.float32(v)] for v in (1, 10, 100)], computations=minus)
    assert [float(r) for r in results] == [-91] * 3


def test_collective_permute_gives_zeros_to_who_is_no_target() -> None:
    body = collective("collective-permute", "f32[4]", "source_target_pairs={{0,1},{1,2}}")
    results = devices(body, ramp(3, 4))
    np.testing.assert_array_equal(results[0], np.zeros(4))
    np.testing.assert_array_equal(results[1], np.arange(4))
    np.testing.assert_array_equal(results[2], 100 + np.arange(4))


def test_collective_permute_of_slices_writes_into_the_output() -> None:
    body = """ input = f32[6] parameter(0)
 zero = f32[] constant(0)
 output = f32[6] broadcast(zero), dimensions={}
 one = s32[] constant(1)
 four = s32[] constant(4)
 from = (s32[]) tuple(one)
 to = (s32[]) tuple(four)
 ROOT r = f32[6] collective-permute(input, output, from, to), source_target_pairs={{0,1}}, slice_sizes={{2}}"""
    first, second = devices(body, ramp(2, 6))
    np.testing.assert_array_equal(first, np.zeros(6))
    np.testing.assert_array_equal(second, [0, 0, 0, 0, 1, 2])


def test_ragged_all_to_all() -> None:
    body = """ input = f32[4] parameter(0)
 output = f32[4] parameter(1)
 in = s32[2] parameter(2)
 sizes = s32[2] parameter(3)
 out = s32[2] parameter(4)
 received = s32[2] parameter(5)
 ROOT r = f32[4] ragged-all-to-all(input, output, in, sizes, out, received), replica_groups={{0,1}}"""
    filler = np.full(4, -1, np.float32)
    first = [
        np.arange(4, dtype=np.float32),
        filler,
        *[np.array(v, np.int32) for v in ([0, 1], [1, 3], [0, 0], [1, 1])],
    ]
    second = [
        10 + np.arange(4, dtype=np.float32),
        filler,
        *[np.array(v, np.int32) for v in ([0, 1], [1, 1], [1, 3], [3, 1])],
    ]
    results = devices(body, [first, second])
    np.testing.assert_array_equal(results[0], [0, 10, -1, -1])
    np.testing.assert_array_equal(results[1], [1, 2, 3, 11])


@pytest.mark.parametrize(
    "lines",
    [
        [
            "s = f32[4] all-reduce-start(p), to_apply=add, replica_groups={}",
            "ROOT r = f32[4] all-reduce-done(s)",
        ],
        [
            "s = ((f32[4]), f32[4]) async-start(p), calls=wrapped",
            "u = ((f32[4]), f32[4]) async-update(s)",
            "ROOT r = f32[4] async-done(u)",
        ],
    ],
)
def test_asynchronous_forms(lines: list[str]) -> None:
    wrapped = (
        ADD
        + "wrapped {\n q = f32[4] parameter(0)\n ROOT w = f32[4] all-reduce(q), to_apply=add, replica_groups={}\n}\n"
    )
    body = "\n ".join([" p = f32[4] parameter(0)", *lines])
    for result in devices(body, ramp(2, 4), computations=wrapped):
        np.testing.assert_array_equal(result, 100 + 2 * np.arange(4))


def test_gather_and_permute_start_hold_operand_and_result() -> None:
    body = """ p = f32[2] parameter(0)
 s = (f32[2], f32[4]) all-gather-start(p), dimensions={0}, replica_groups={}
 g = f32[4] all-gather-done(s)
 c = (f32[2], f32[2], u32[], u32[]) collective-permute-start(p), source_target_pairs={{0,1},{1,0}}
 d = f32[2] collective-permute-done(c)
 ROOT r = (f32[4], f32[2]) tuple(g, d)"""
    (gathered, first), (_, second) = devices(body, ramp(2, 2))
    np.testing.assert_array_equal(gathered, [0, 1, 100, 101])
    np.testing.assert_array_equal(first, [100, 101])
    np.testing.assert_array_equal(second, [0, 1])


def test_device_numbers() -> None:
    body = """ r = u32[] replica-id()
 p = u32[] partition-id()
 ROOT t = (u32[], u32[]) tuple(r, p)"""
    results = devices(body, [[]] * 6, replicas=2, partitions=3)
    assert [(int(r), int(p)) for r, p in results] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]


LOOP = """add {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b)
}
body {
 s = (s32[], s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] get-tuple-element(s), index=1
 x = f32[] get-tuple-element(s), index=2
 one = s32[] constant(1)
 next = s32[] add(i, one)
 y = f32[] all-reduce(x), to_apply=add, replica_groups={}
 ROOT t = (s32[], s32[], f32[]) tuple(next, n, y)
}
condition {
 s = (s32[], s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] get-tuple-element(s), index=1
 ROOT c = pred[] compare(i, n), direction=LT
}
"""
LOOP_ENTRY = """ n = s32[] parameter(0)
 x = f32[] parameter(1)
 zero = s32[] constant(0)
 t = (s32[], s32[], f32[]) tuple(zero, n, x)
 w = (s32[], s32[], f32[]) while(t), condition=condition, body=body
 ROOT r = f32[] get-tuple-element(w), index=2"""


def test_a_collective_in_a_loop_meets_once_an_iteration() -> None:
    results = devices(LOOP_ENTRY, [[5, 1.0], [5, 2.0]], computations=LOOP)
    assert [float(r) for r in results] == [3.0 * 2**4] * 2


def test_a_device_that_leaves_early_is_named_at_once() -> None:
    begin = time.monotonic()
    with pytest.raises(
        RendezvousError, match=r"device 1 .*waits forever at %y.*device 0 .*has finished"
    ) as caught:
        devices(LOOP_ENTRY, [[2, 1.0], [3, 2.0]], computations=LOOP)
    assert caught.value.missing == (0,)
    assert time.monotonic() - begin < wall_seconds(5)


BRANCHES = (
    ADD
    + """meet {
 a = f32[] parameter(0)
 ROOT m = f32[] all-reduce(a), to_apply=add, channel_id=1, replica_groups={}
}
meet_later {
 a = f32[] parameter(0)
 b = f32[] negate(a)
 ROOT m = f32[] all-reduce(b), to_apply=add, channel_id=1, replica_groups={}
}
alone {
 ROOT a = f32[] parameter(0)
}
"""
)


def branch(second: str) -> str:
    return f""" x = f32[] parameter(0)
 d = u32[] replica-id()
 zero = u32[] constant(0)
 first = pred[] compare(d, zero), direction=EQ
 ROOT r = f32[] conditional(first, x, x), true_computation=meet, false_computation={second}"""


def test_devices_in_different_branches_meet_through_a_channel() -> None:
    results = devices(branch("meet_later"), [[5.0], [3.0]], computations=BRANCHES)
    assert [float(r) for r in results] == [2.0, 2.0]


def test_devices_in_different_branches_that_do_not_meet() -> None:
    with pytest.raises(RendezvousError, match=r"device 0 .*missing: device 1 .*has finished"):
        devices(branch("alone"), [[5.0], [3.0]], computations=BRANCHES)


def test_the_timeout_names_who_still_runs() -> None:
    endless = BRANCHES + (
        "always {\n a = f32[] parameter(0)\n far = f32[] constant(inf)\n ROOT t = pred[] compare(a, far), direction=LT\n}\n"
        "loop {\n a = f32[] parameter(0)\n ROOT w = f32[] while(a), condition=always, body=alone\n}\n"
    )
    begin = time.monotonic()
    with pytest.raises(
        RendezvousError, match=r"device 0 .*waited 0.2 s.*missing: device 1 .*still runs"
    ):
        devices(branch("loop"), [[5.0], [3.0]], computations=endless, timeout=0.2)
    assert time.monotonic() - begin < wall_seconds(5)


def test_an_error_on_one_device_ends_the_others() -> None:
    body = """ p = f32[4] parameter(0)
 c = f32[4] custom-call(p), custom_call_target="nobody"
 ROOT r = f32[4] all-reduce(c), to_apply=add, replica_groups={}"""
    with pytest.raises(UnsupportedOpcodeError, match="nobody") as caught:
        devices(body, ramp(2, 4))
    assert any("on device" in note for note in caught.value.__notes__)


def test_wrong_numbers_of_devices_and_groups_are_errors() -> None:
    body = collective("all-reduce", "f32[4]", "to_apply=add, replica_groups={{0,1},{2,3}}")
    with pytest.raises(EvaluationError, match="needs arguments for 4"):
        devices(body, ramp(2, 4), replicas=4)
    with pytest.raises(EvaluationError, match=r"no replica group holds device 4"):
        devices(body, ramp(5, 4))
    with pytest.raises(EvaluationError, match=r"names device 2, but there are 2"):
        devices(
            collective("all-reduce", "f32[4]", "to_apply=add, replica_groups={{0,2},{1,3}}"),
            ramp(2, 4),
        )


def test_one_device_alone_refuses_larger_groups() -> None:
    text = (
        "HloModule m\n"
        + ADD
        + "ENTRY e {\n"
        + collective("all-reduce", "f32[4]", "to_apply=add, {}")
        + "\n}"
    )
    alone = parse_hlo(text.replace("{}", "replica_groups={}"))
    np.testing.assert_array_equal(evaluate(alone, *ramp(1, 4)[0]), np.arange(4))
    with pytest.raises(UnsupportedOpcodeError, match="evaluate_replicated"):
        evaluate(parse_hlo(text.replace("{}", "replica_groups={{0,1}}")), *ramp(1, 4)[0])


def test_counts_come_from_the_module() -> None:
    text = "HloModule m, replica_count=2, num_partitions=2\nENTRY e {\n ROOT r = u32[] partition-id()\n}"
    assert [int(r) for r in evaluate_replicated(parse_hlo(text), [[]] * 4)] == [0, 1, 0, 1]


def test_integers_and_bfloat16() -> None:
    sums = (
        "add {\n a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT r = bf16[] add(a, b)\n}\n"
    )
    body = collective("all-reduce", "bf16[]", "to_apply=add, replica_groups={}", "bf16[]")
    # Added one by one in bf16, as in the text and in XLA, 256 + 1 stays 256; summed in a wider type
    # and rounded once it would be 260.
    import ml_dtypes

    values = [[np.asarray(v, ml_dtypes.bfloat16)] for v in (256, 1, 1, 1, 1)]
    assert [float(r) for r in devices(body, values, computations=sums)] == [256.0] * 5


def test_collective_reduce_gives_the_sum_to_the_first_of_a_group() -> None:
    results = devices(
        collective(
            "collective-reduce", "f32[2]", "to_apply=add, replica_groups={{2,0},{1,3}}", "f32[2]"
        ),
        ramp(4, 2),
    )
    assert [list(r) for r in results] == [[0, 1], [400, 402], [200, 202], [300, 301]]


SYNCHRONOUS = {
    "all-reduce": ("f32[4]", "to_apply=add, replica_groups={}"),
    "all-gather": ("f32[8]", "dimensions={0}, replica_groups={}"),
    "reduce-scatter": ("f32[2]", "dimensions={0}, to_apply=add, replica_groups={}"),
    "all-to-all": ("f32[4]", "dimensions={0}, replica_groups={}"),
    "collective-broadcast": ("f32[4]", "replica_groups={{1,0}}"),
    "collective-permute": ("f32[4]", "source_target_pairs={{0,1},{1,0}}"),
    "collective-reduce": ("f32[4]", "to_apply=add, replica_groups={}"),
}


@pytest.mark.parametrize("opcode", SYNCHRONOUS)
def test_every_collective_wrapped_in_an_asynchronous_call(opcode: str) -> None:
    result, attributes = SYNCHRONOUS[opcode]
    inner = (
        f"wrapped {{\n q = f32[4] parameter(0)\n ROOT w = {result} {opcode}(q), {attributes}\n}}\n"
    )
    body = f""" p = f32[4] parameter(0)
 s = ((f32[4]), {result}) async-start(p), calls=wrapped
 twice = f32[4] add(p, p)
 u = ((f32[4]), {result}) async-update(s)
 d = {result} async-done(u)
 ROOT r = ({result}, f32[4]) tuple(d, twice)"""
    wanted = devices(collective(opcode, result, attributes), ramp(2, 4))
    for (got, _), want in zip(
        devices(body, ramp(2, 4), computations=ADD + inner), wanted, strict=True
    ):
        np.testing.assert_array_equal(got, want)
