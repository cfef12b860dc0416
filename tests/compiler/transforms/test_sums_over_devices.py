"""Programs for several devices on which passes once failed or changed values."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate_replicated, flatten_value
from xla_explorer.hlo.text import parse_hlo

PARTS = "r = u32[] replica-id()\nq = u32[] partition-id()\nz = s32[] constant(0)\nt = s32[2] constant({2, 0})\n"
GATHERED = (
    "x = s32[2,3] parameter(0)\n"
    + PARTS
    + "a = s32[4,3] all-gather(x), replica_groups={{0,1}}, dimensions={0}\n"
)
# In partition 0 the replicas take each other's part, in partition 1 their own.
ONE_WAY = (
    "d = s32[1] dynamic-slice(t, q), dynamic_slice_sizes={1}\ni = s32[] reshape(d)\nu = s32[] convert(r)\ntwo = s32[] constant(2)\n"
    "i2 = s32[] multiply(i, two)\nm = s32[] subtract(two, i2)\nn = s32[] multiply(m, u)\nk = s32[] add(i, n)\n"
)
SUMMED = "x = {0}[8] parameter(0)\ny = {0}[8] parameter(1)\n" + "".join(
    [
        f"{a} = {{0}}[8] all-reduce({b}), replica_groups={{{{}}}}, to_apply=add\n"
        for a, b in ("ax", "by")
    ]
)
CASES = {
    "the-part-taken-differs-by-partition": (
        "all-gather-to-collective-permute-simplifier",
        GATHERED + ONE_WAY + "ROOT p = s32[2,3] dynamic-slice(a, k, z), dynamic_slice_sizes={2,3}",
        "replicas-and-partitions",
    ),
    "no-part-is-taken": (
        "reduce-scatter-creator",
        "x = s32[8,3] parameter(0)\n"
        + PARTS
        + "a = s32[8,3] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n"
        "i = s32[] convert(r)\nROOT p = s32[0,3] dynamic-slice(a, i, z), dynamic_slice_sizes={0,3}",
        "empty-slice",
    ),
    **{
        f"{name}-of-{narrow}-as-{wide}": (
            name,
            SUMMED.format(narrow)
            + f"c = {wide}[8] convert(a)\nd = {wide}[8] convert(b)\nROOT s = {wide}[8] add(c, d)",
            "sums-differ",
        )
        for name, narrow, wide in (
            ("reorder-convert-reduce-add", "s8", "s32"),
            ("reorder-convert-reduce-add", "f32", "s32"),
            ("all-reduce-reassociate", "s8", "s32"),
            ("all-reduce-reassociate", "u8", "f32"),
        )
    },
    "another-type-of-the-same-bits": (
        "all-reduce-reassociate",
        SUMMED.format("f32")
        + "c = s32[8] bitcast(a)\nd = s32[8] bitcast(b)\nROOT s = s32[8] add(c, d)",
        "sums-differ",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_changes_the_values_is_refused(name: str) -> None:
    passes, body, code = CASES[name]
    kind = body.split("[")[0].split()[-1]
    add = f"add {{\n a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT s = {kind}[] add(a, b)\n}}\n"
    module = parse_hlo(
        f"HloModule m, replica_count=2, num_partitions=2\n{add}ENTRY e {{\n{body}\n}}\n"
    )
    trace = optimize(module, passes, verify=True)
    assert trace.journal is not None
    assert code in [e.reason.code for e in trace.journal.events if e.reason]
    shapes = module.parameter_shapes()
    given = [
        [
            np.random.default_rng(d).integers(90, 120, s.dimensions).astype(s.element_type.dtype)
            for s in shapes
        ]
        for d in range(4)
    ]
    for a, b in zip(
        evaluate_replicated(module, given), evaluate_replicated(trace.module, given), strict=True
    ):
        np.testing.assert_array_equal(flatten_value(a)[0], flatten_value(b)[0])


def test_a_narrowed_sum_of_integers_is_a_sum_of_narrow_ones() -> None:
    text = "HloModule m, replica_count=2\nadd {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT s = s32[] add(a, b)\n}\n"
    body = (
        SUMMED.format("s32")
        + "c = s8[8] convert(a)\nd = s8[8] convert(b)\nROOT s = s8[8] add(c, d)"
    )
    module = parse_hlo(f"{text}ENTRY e {{\n{body}\n}}\n")
    trace = optimize(module, "reorder-convert-reduce-add", verify=True)
    assert trace.changed
    given = [
        [np.random.default_rng(d + k).integers(-300, 300, 8).astype(np.int32) for k in range(2)]
        for d in range(2)
    ]
    for a, b in zip(
        evaluate_replicated(module, given), evaluate_replicated(trace.module, given), strict=True
    ):
        np.testing.assert_array_equal(flatten_value(a)[0], flatten_value(b)[0])
