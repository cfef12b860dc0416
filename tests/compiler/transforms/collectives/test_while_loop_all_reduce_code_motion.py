"""Sums over devices move out of loops that accumulate them; values stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.evaluator import evaluate_replicated, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

NAME = "while-loop-all-reduce-code-motion"
GROUPS = "replica_groups={{0,1},{2,3}}, use_global_device_ids=true"
TEXT = """HloModule m, num_partitions=4
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
max {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }}
cond {{ p = (s32[], f32[4,6], f32{acc}) parameter(0) k = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3) ROOT c = pred[] compare(k, n), direction=LT }}
body {{ p = (s32[], f32[4,6], f32{acc}) parameter(0) k = s32[] get-tuple-element(p), index=0
  x = f32[4,6] get-tuple-element(p), index=1 old = f32{acc} get-tuple-element(p), index=2
  one = s32[] constant(1) m = s32[] add(k, one)
  zero = f32[] constant(0) i = u32[] partition-id() fi = f32[] convert(i)
  fk = f32[] convert(k) third = s32[] constant(2) last = pred[] compare(k, third), direction=EQ
  y = f32[4,6] sine(x)
  {lines}
  ROOT t = (s32[], f32[4,6], f32{acc}) tuple(m, y, new) }}
ENTRY main {{ x = f32[4,6] parameter(0) start = f32{acc} parameter(1) z = s32[] constant(0)
  w = (s32[], f32[4,6], f32{acc}) while((s32[], f32[4,6], f32{acc}) tuple(z, x, start)),
    condition=cond, body=body
  r = f32{acc} get-tuple-element(w), index=2
  ROOT s = f32{acc} negate(r) }}"""
SUM = f"s = f32[4,6] all-reduce(y), channel_id=1, {GROUPS}, to_apply=add\n  "
ACCUMULATED = {
    "sum": ("[4,6]", SUM + "new = f32[4,6] add(old, s)"),
    "transposed part": (
        "[3,4]",
        SUM
        + """t1 = f32[6,4] transpose(s), dimensions={1,0}
  p1 = f32[3,4] slice(t1), slice={[1:4], [0:4]}
  new = f32[3,4] add(p1, old)""",
    ),
    "two sums, scaled by the counter": (
        "[4,6]",
        SUM
        + f"""u = f32[4,6] cosine(x) v = f32[4,6] all-reduce(u), channel_id=2, {GROUPS}, to_apply=add
  f = f32[4,6] broadcast(fk), dimensions={{}} g = f32[4,6] multiply(v, f)
  a1 = f32[4,6] add(s, g) new = f32[4,6] add(old, a1)""",
    ),
    "selected by the counter": (
        "[4,6]",
        SUM
        + """zs = f32[4,6] broadcast(zero), dimensions={} ps = pred[4,6] broadcast(last), dimensions={}
  g = f32[4,6] select(ps, zs, s) new = f32[4,6] add(g, old)""",
    ),
}


def compiled(acc: str, lines: str, **options: bool) -> tuple[HloModule, HloModule]:
    text = TEXT.format(acc=acc, lines=lines)
    before = xe.parse_hlo(text)
    given = ",".join([f"{k}={str(v).lower()}" for k, v in options.items()])
    after = xe.optimize(before, NAME + (f"{{{given}}}" if given else "")).module
    verify(after)
    return before, after


def check_values(before: HloModule, after: HloModule, acc: str) -> None:
    random = np.random.default_rng(1)
    sizes = tuple(map(int, acc.strip("[]").split(",")))
    given = [
        [random.standard_normal(shape).astype(np.float32) for shape in ((4, 6), sizes)]
        for _ in range(4)
    ]
    found = evaluate_replicated(after, given, partitions=4, replicas=1)
    wanted = evaluate_replicated(before, given, partitions=4, replicas=1)
    for a, b in zip(found, wanted, strict=True):
        for x, y in zip(flatten_value(a), flatten_value(b), strict=True):
            np.testing.assert_allclose(x, y, 1e-5, 1e-5)


def collectives_in_loop(module: HloModule) -> list[str]:
    (loop,) = [i for i in module.instructions() if i.opcode.name == "while"]
    names = [i.opcode.name for i in loop.called[1].instructions.values()]
    return [n for n in names if n in ("all-reduce", "reduce-scatter")]


@pytest.mark.parametrize("name", ACCUMULATED)
def test_accumulated_sums_move_behind_the_loop(name: str) -> None:
    acc, lines = ACCUMULATED[name]
    before, after = compiled(acc, lines)
    assert collectives_in_loop(before)
    assert collectives_in_loop(after) == []
    assert [i.opcode.name for i in after.entry.instructions.values()].count("all-reduce") == 1
    check_values(before, after, acc)


KEPT = {
    "scaled by the device": SUM
    + """f = f32[4,6] broadcast(fi), dimensions={} g = f32[4,6] multiply(s, f)
  new = f32[4,6] add(g, old)""",
    "not linear": SUM + "e = f32[4,6] exponential(s) new = f32[4,6] add(e, old)",
    "read elsewhere": SUM.replace("y)", "q)").replace("s = ", "q = f32[4,6] negate(x) s = ")
    + "y2 = f32[4,6] subtract(s, y) z2 = f32[4,6] multiply(y2, y2) a = f32[4,6] add(s, old) "
    + "new = f32[4,6] maximum(a, z2)",
    "own terms too": SUM + "a = f32[4,6] add(s, y) new = f32[4,6] add(a, old)",
    "replaced": SUM
    + f"""o = f32[4,6] all-reduce(old), channel_id=2, {GROUPS}, to_apply=add
  new = f32[4,6] add(o, s)""",
    "a maximum": SUM.replace("to_apply=add", "to_apply=max") + "new = f32[4,6] add(s, old)",
}


@pytest.mark.parametrize("name", KEPT)
def test_other_sums_stay(name: str) -> None:
    before, after = compiled("[4,6]", KEPT[name])
    assert collectives_in_loop(after) == collectives_in_loop(before)
    check_values(before, after, "[4,6]")


def test_a_refusal_has_its_reason() -> None:
    text = TEXT.format(acc="[4,6]", lines=KEPT["not linear"])
    session = xe.compile(text, passes=NAME, journal="everything")
    assert session.passes.journal is not None
    events = [e for e in session.passes.journal.events if e.by == NAME]
    rows = [e for e in events if e.reason is not None]
    assert [e.reason.code for e in rows if e.reason] == ["not-linear"]
    assert "%e (exponential)" in str(rows[0].reason)


@pytest.mark.parametrize("axis", [0, 1])
def test_reduce_scatters_move_on_request(axis: int) -> None:
    sizes = [4, 6]
    sizes[axis] //= 2
    acc = "[" + ",".join(map(str, sizes[::-1])) + "]"
    lines = f"""s = f32{sizes} reduce-scatter(y), channel_id=1, {GROUPS}, dimensions={{{axis}}}, to_apply=add
  t1 = f32{acc} transpose(s), dimensions={{1,0}}
  new = f32{acc} add(old, t1)"""
    before, after = compiled(acc, lines)
    assert collectives_in_loop(after) == ["reduce-scatter"]
    before, after = compiled(acc, lines, enable_reduce_scatter=True)
    assert collectives_in_loop(after) == []
    check_values(before, after, acc)


@pytest.mark.parametrize(
    ("size", "index", "moved"),
    [(3, "k", True), (3, "subtract(third, k)", True), (4, "k", False), (3, "third", False)],
)
def test_a_buffer_filled_with_reductions_is_reduced_after_the_loop(
    size: int, index: str, moved: bool
) -> None:
    acc = f"[{size},6]"
    at = f"at = s32[] {index}\n  " if "(" in index else ""
    lines = f"""h = f32[6] reduce(y, zero), dimensions={{0}}, to_apply=add
  s = f32[6] all-reduce(h), channel_id=1, {GROUPS}, to_apply=max
  part = f32[1,6] reshape(s) z0 = s32[] constant(0)
  {at}new = f32{acc} dynamic-update-slice(old, part, {"at" if at else index}, z0)"""
    before, after = compiled(acc, lines)
    assert collectives_in_loop(after) == ([] if moved else ["all-reduce"])
    check_values(before, after, acc)
