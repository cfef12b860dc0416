"""Passes that replace one collective by others: every device gets the values that it had."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.hlo.evaluator import evaluate_replicated, flatten_value
from xla_explorer.hlo.text import parse_hlo

ADD = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
X = "x = f32[4,8] parameter(0)\n"
CASES = {
    "gather-as-sum": (
        "all_gather_decomposer",
        X + "ROOT g = f32[4,16] all-gather(x), replica_groups={{1,0},{2,3}}, dimensions={1}",
        {"all-reduce", "dynamic-update-slice"},
    ),
    "sum-as-gather": (
        "all-reduce-decomposer",
        X + "ROOT s = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add",
        {"all-gather", "reduce"},
    ),
    "sums-of-one-array": (
        "all-reduce-contiguous",
        X + "y = f32[4,8] negate(x)\n"
        "ROOT s = (f32[4,8], f32[4,8]) all-reduce(x, y), replica_groups={}, to_apply=add",
        {"concatenate", "slice", "all-reduce"},
    ),
    "scatter-first": (
        "all-reduce-reduce-scatter-reorder",
        X + "s = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
        "ROOT t = f32[2,8] reduce-scatter(s), replica_groups={{0,2},{1,3}}, dimensions={0}, "
        "to_apply=add",
        {"reduce-scatter", "all-reduce"},
    ),
    "cycle": (
        "collective-permute-cycle-decomposer",
        X + "ROOT p = f32[4,8] collective-permute(x), "
        "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
        {"select", "collective-permute", "compare"},
    ),
    "backward-cycle": (
        "collective-permute-cycle-decomposer",
        X + "ROOT p = f32[4,8] collective-permute(x), "
        "source_target_pairs={{0,3},{1,0},{2,1},{3,2}}",
        {"select", "collective-permute", "compare"},
    ),
    "sum-by-hosts": (
        "all-reduce-blueconnect{num_devices_per_host=2}",
        X + "ROOT s = f32[4,8] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add",
        {"reduce-scatter", "all-reduce", "all-gather"},
    ),
    "one-branch-sent": (
        "collective-select-folder,dce",
        X + "y = f32[4,8] negate(x)\nr = u32[] replica-id()\nc = u32[] constant(3)\n"
        "p = pred[] compare(r, c), direction=EQ\nb = pred[4,8] broadcast(p), dimensions={}\n"
        "s = f32[4,8] select(b, x, y)\n"
        "ROOT t = f32[4,8] collective-permute(s), source_target_pairs={{0,1},{1,2}}",
        {"collective-permute", "negate"},
    ),
    "reshape-before-gather": (
        "collective-transformation-reorderer",
        X + "g = f32[4,32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1}\n"
        "ROOT r = f32[2,2,32] reshape(g)",
        {"reshape", "all-gather"},
    ),
    "narrow-before-gather": (
        "collective-quantizer",
        X + "g = f32[4,32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1}\n"
        "ROOT c = f16[4,32] convert(g)",
        {"convert", "all-gather"},
    ),
    "widen-after-permute": (
        "collective-quantizer",
        X + "n = f16[4,8] convert(x)\nw = f32[4,8] convert(n)\nr = f32[32] reshape(w)\n"
        "ROOT p = f32[32] collective-permute(r), source_target_pairs={{0,1},{1,0}}",
        {"convert", "reshape", "collective-permute"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values_on_every_device_stay(case: str) -> None:
    passes, body, opcodes = CASES[case]
    module = parse_hlo(f"HloModule m, replica_count=4\n{ADD}ENTRY e {{\n{body}\n}}\n")
    trace = optimize(module, passes, verify=True)
    found = {i.opcode.name for i in trace.module.entry.instructions.values()}
    assert trace.changed and opcodes <= found
    random = np.random.default_rng(7)
    given = [[random.integers(-9, 9, (4, 8)).astype(np.float32)] for _ in range(4)]
    wanted = evaluate_replicated(module, given)
    got = evaluate_replicated(trace.module, given)
    for a, b in zip(wanted, got, strict=True):
        for x, y in zip(flatten_value(a), flatten_value(b), strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("passes", "body"),
    [
        (
            "collective-permute-cycle-decomposer",
            "ROOT p = f32[4,8] collective-permute(x), source_target_pairs={{0,2},{2,0}}",
        ),
        (
            "all-reduce-reduce-scatter-reorder",  # devices 0 and 1 scatter to different parts
            "s = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
            "ROOT t = f32[2,8] reduce-scatter(s), replica_groups={{0,2},{3,1}}, dimensions={0}, "
            "to_apply=add",
        ),
        (
            "collective-quantizer",  # the wide value has another reader
            "g = f32[4,32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1}\n"
            "c = f16[4,32] convert(g)\nROOT t = (f16[4,32], f32[4,32]) tuple(c, g)",
        ),
        (
            "collective-transformation-reorderer",  # the reshape splits the gathered dimension
            "g = f32[4,32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={1}\n"
            "ROOT r = f32[4,4,8] reshape(g)",
        ),
    ],
)
def test_other_collectives_stay(passes: str, body: str) -> None:
    module = parse_hlo(f"HloModule m, replica_count=4\n{ADD}ENTRY e {{\n{X}{body}\n}}\n")
    assert not optimize(module, passes, verify=True).changed
