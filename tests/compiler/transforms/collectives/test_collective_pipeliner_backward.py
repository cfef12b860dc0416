"""collective-pipeliner-backward: values, number of all-gathers, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.spmd.explanation.step_schedule import trip_count
from xla_explorer.hlo.evaluator import evaluate_replicated
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

LOOP = """HloModule m, num_partitions=2
condition {
  s = (s32[], f32[4,4], f32[N,2,4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(N)
  ROOT less = pred[] compare(k, n), direction=LT
}
body {
  s = (s32[], f32[4,4], f32[N,2,4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  w = f32[N,2,4] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  next = s32[] add(k, one)
  part = f32[1,2,4] dynamic-slice(w, INDEX, zero, zero), dynamic_slice_sizes={1,2,4}
  own = f32[2,4] reshape(part)
  whole = f32[4,4] all-gather(own), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
  y = f32[4,4] dot(x, whole), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[4,4], f32[N,2,4]) tuple(next, y, w)
}
ENTRY main {
  x = f32[4,4] parameter(0)
  w = f32[N,2,4] parameter(1)
  first = s32[] constant(0)
  s = (s32[], f32[4,4], f32[N,2,4]) tuple(first, x, w)
  loop = (s32[], f32[4,4], f32[N,2,4]) while(s), condition=condition, body=body
  k = s32[] get-tuple-element(loop), index=0
  y = f32[4,4] get-tuple-element(loop), index=1
  ROOT r = (s32[], f32[4,4]) tuple(k, y)
}"""


def piped(text: str) -> tuple[HloModule, bool]:
    module = parse_hlo(text)
    changed = make_pass("collective-pipeliner-backward").run(module, PassContext())
    verify(module)
    return module, changed


@pytest.mark.parametrize("trips", [2, 3, 5])
def test_values_stay_and_as_many_all_gathers_run(trips: int) -> None:
    text = LOOP.replace("[N,", f"[{trips},").replace("(N)", f"({trips})").replace("INDEX", "k")
    module, changed = piped(text)
    assert changed
    rng = np.random.default_rng(0)
    given = [
        [rng.normal(size=(4, 4)).astype("f4"), rng.normal(size=(trips, 2, 4)).astype("f4")]
        for _ in range(2)
    ]
    wanted = evaluate_replicated(parse_hlo(text), given)
    for found, want in zip(evaluate_replicated(module, given), wanted, strict=True):
        assert found[0] == want[0] == trips
        np.testing.assert_array_equal(found[1], want[1])
    (loop,) = [i for i in module.instructions() if i.opcode.name == "while"]
    assert trip_count(loop) == trips - 1
    gathers = [i.parent for i in module.instructions() if i.opcode.name == "all-gather"]
    assert gathers.count(loop.called[1]) == 1 and gathers.count(module.entry) == 1
    channels = [
        i.attributes["channel_id"] for i in module.instructions() if "channel_id" in i.attributes
    ]
    assert len(set(channels)) == len(channels) == 2


@pytest.mark.parametrize(
    ("trips", "index"),
    [("1", "k"), ("3", "zero"), ("3", "moved")],
    ids=["one iteration", "an invariant collective", "an index of computed data"],
)
def test_loops_that_stay(trips: str, index: str) -> None:
    text = LOOP.replace("[N,", f"[{trips},").replace("(N)", f"({trips})").replace("INDEX", index)
    if index == "moved":
        entry = "a = f32[1,1] slice(x), slice={[0:1], [0:1]}\n  b = f32[] reshape(a)\n"
        text = text.replace("  part =", f"  {entry}  moved = s32[] convert(b)\n  part =")
    before = str(parse_hlo(text))
    module, changed = piped(text)
    assert not changed and str(module) == before
