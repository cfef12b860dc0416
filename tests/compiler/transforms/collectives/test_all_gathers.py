"""Passes that merge, move and simplify all-gathers and permutes; values stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import evaluate_replicated, flatten_value
from xla_explorer.hlo.verifier import verify

HEAD = """HloModule m, replica_count=4
ENTRY main { x = f32[2,3] parameter(0) y = f32[2,3] parameter(1)
  """
GROUPS = "replica_groups={{0,1},{2,3}}"
# Name of the pass, body, opcodes of the result.
CASES = {
    "a sum of two gathers": (
        "all-gather-optimizer",
        f"""a = f32[2,6] all-gather(x), {GROUPS}, dimensions={{1}}
  b = f32[2,6] all-gather(y), {GROUPS}, dimensions={{1}}
  ROOT r = f32[2,6] subtract(a, b)""",
        ["subtract", "all-gather"],
    ),
    "equal gathers": (
        "all-gather-cse",
        f"""n = f32[2,3] negate(x)
  a = f32[4,3] all-gather(n), {GROUPS}, dimensions={{0}}
  b = f32[4,3] all-gather(n), {GROUPS}, dimensions={{0}}
  ROOT r = f32[4,3] multiply(a, b)""",
        ["negate", "all-gather", "multiply"],
    ),
    "dimensions of size one": (
        "all-gather-remove-degenerate-dims",
        f"""p = f32[1,2,1,3] reshape(x)
  ROOT r = f32[1,2,1,6] all-gather(p), {GROUPS}, dimensions={{3}}""",
        ["reshape", "reshape", "all-gather", "reshape"],
    ),
    "a gathered dimension of size one stays": (
        "all-gather-remove-degenerate-dims",
        f"""p = f32[2,1,3,1] reshape(x)
  ROOT r = f32[2,2,3,1] all-gather(p), {GROUPS}, dimensions={{1}}""",
        ["reshape", "reshape", "all-gather", "reshape"],
    ),
    "a reshape before": (
        "canon-all-gather-for-cse",
        f"""p = f32[2,1,3] reshape(x) q = f32[2,1,1,3] reshape(p)
  ROOT r = f32[2,2,1,3] all-gather(q), {GROUPS}, dimensions={{1}}""",
        ["all-gather", "reshape"],
    ),
    "equal reshapes, near each other": (
        "schedule-aware-collective-cse",
        f"""p = f32[1,6] reshape(x) q = f32[1,6] reshape(x)
  a = f32[2,6] all-gather(p), {GROUPS}, dimensions={{0}}
  b = f32[2,6] all-gather(q), {GROUPS}, dimensions={{0}}
  ROOT r = f32[2,6] multiply(a, b)""",
        ["reshape", "all-gather", "multiply"],
    ),
    "a permuted slice": (
        "collective-permute-cse",
        """s = f32[1,3] slice(x), slice={[1:2], [0:3]}
  a = f32[1,3] collective-permute(s), source_target_pairs={{0,1},{2,0}}
  b = f32[2,3] collective-permute(x), source_target_pairs={{0,1},{2,0}}
  ROOT r = (f32[1,3], f32[2,3]) tuple(a, b)""",
        ["collective-permute", "slice", "tuple"],
    ),
}
KEPT = {
    "other groups": (
        "all-gather-cse",
        f"""a = f32[4,3] all-gather(x), {GROUPS}, dimensions={{0}}
  b = f32[4,3] all-gather(x), replica_groups={{{{0,2}},{{1,3}}}}, dimensions={{0}}
  ROOT r = f32[4,3] multiply(a, b)""",
    ),
    "too far from each other": (
        "schedule-aware-collective-cse{distance_threshold=2}",
        f"""a = f32[4,3] all-gather(x), {GROUPS}, dimensions={{0}}
  n = f32[4,3] negate(a) e = f32[4,3] sine(n) t = f32[4,3] cosine(e)
  b = f32[4,3] all-gather(x), {GROUPS}, dimensions={{0}}
  ROOT r = f32[4,3] multiply(t, b)""",
    ),
    "read twice": (
        "all-gather-optimizer",
        f"""a = f32[2,6] all-gather(x), {GROUPS}, dimensions={{1}}
  b = f32[2,6] all-gather(y), {GROUPS}, dimensions={{1}}
  s = f32[2,6] subtract(a, b) ROOT r = f32[2,6] multiply(s, a)""",
    ),
    "other dimensions": (
        "all-gather-optimizer",
        f"""a = f32[2,6] all-gather(x), {GROUPS}, dimensions={{1}}
  t = f32[1,6] reshape(y) b = f32[2,6] all-gather(t), {GROUPS}, dimensions={{0}}
  ROOT r = f32[2,6] subtract(a, b)""",
    ),
    "no longer dimension": (
        "canon-all-gather-for-cse",
        f"""p = f32[2,3,1] reshape(x)
  ROOT r = f32[2,3,2] all-gather(p), {GROUPS}, dimensions={{2}}""",
    ),
    "other pairs": (
        "collective-permute-cse",
        """s = f32[1,3] slice(x), slice={[1:2], [0:3]}
  a = f32[1,3] collective-permute(s), source_target_pairs={{0,1}}
  b = f32[2,3] collective-permute(x), source_target_pairs={{0,1},{2,0}}
  ROOT r = (f32[1,3], f32[2,3]) tuple(a, b)""",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_pass_changes_the_program_and_no_value(case: str) -> None:
    name, body, opcodes = CASES[case]
    before = xe.parse_hlo(HEAD + body + " }")
    after = xe.optimize(before, f"{name},dce").module
    verify(after)
    kinds = [i.opcode.name for i in after.entry.post_order() if i.opcode.name != "parameter"]
    assert kinds == opcodes
    random = np.random.default_rng(3)
    given = [[random.standard_normal((2, 3)).astype(np.float32) for _ in "xy"] for _ in range(4)]
    for a, b in zip(
        evaluate_replicated(after, given, replicas=4),
        evaluate_replicated(before, given, replicas=4),
        strict=True,
    ):
        for x, y in zip(flatten_value(a), flatten_value(b), strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("case", KEPT)
def test_other_programs_stay(case: str) -> None:
    name, body = KEPT[case]
    before = xe.parse_hlo(HEAD + body + " }")
    assert xe.optimize(before, name).module.to_text() == before.to_text()
