"""collective-pipeliner-forward and -forwardsink: values, number of collectives, refusals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from xla_explorer.compiler.costs.topology import Topology
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.spmd.explanation.step_schedule import step_schedule, trip_count
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.evaluator import evaluate_replicated
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify

LOOP = """HloModule m, num_partitions=2
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
condition {
  s = (s32[], f32[4,OUT], f32[4,2,3]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT less = pred[] compare(k, n), direction=LT
}
body {
  s = (s32[], f32[4,OUT], f32[4,2,3]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  y = f32[4,OUT] get-tuple-element(s), index=1
  x = f32[4,2,3] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  three = s32[] constant(3)
  fill = f32[] constant(7)
  next = s32[] add(k, one)
  back = s32[] subtract(three, k)
  part = f32[1,2,3] dynamic-slice(x, k, zero, zero), dynamic_slice_sizes={1,2,3}
  squared = f32[1,2,3] multiply(part, part)
  FORMAT
  update = f32[4,OUT] dynamic-update-slice(y, row, INDEX, zero, zero)
  ROOT t = (s32[], f32[4,OUT], f32[4,2,3]) tuple(next, update, x)
}
ENTRY main {
  y = f32[4,OUT] parameter(0)
  x = f32[4,2,3] parameter(1)
  first = s32[] constant(0)
  s = (s32[], f32[4,OUT], f32[4,2,3]) tuple(first, y, x)
  loop = (s32[], f32[4,OUT], f32[4,2,3]) while(s), condition=condition, body=body
  k = s32[] get-tuple-element(loop), index=0
  r = f32[4,OUT] get-tuple-element(loop), index=1
  ROOT all = (s32[], f32[4,OUT]) tuple(k, r)
}"""
REDUCE = "all-reduce(squared), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum"
FORMATS = {
    "plain": ("2,3", f"row = f32[1,2,3] {REDUCE}"),
    "transposed": (
        "3,2",
        f"""sums = f32[1,2,3] {REDUCE}
  row = f32[1,3,2] transpose(sums), dimensions={{0,2,1}}""",
    ),
    "padded": (
        "3,3",
        f"""sums = f32[1,2,3] {REDUCE}
  row = f32[1,3,3] pad(sums, fill), padding=0_0x1_0x0_0""",
    ),
    "scaled by a value of the iteration": (
        "2,3",
        f"""sums = f32[1,2,3] {REDUCE}
  f = f32[] convert(k)
  scale = f32[1,2,3] broadcast(f), dimensions={{}}
  row = f32[1,2,3] multiply(sums, scale)""",
    ),
    "reduced": (
        "1,3",
        f"""sums = f32[1,2,3] {REDUCE}
  column = f32[1,3] reduce(sums, fill), dimensions={{1}}, to_apply=sum
  row = f32[1,1,3] reshape(column)""",
    ),
    "of a cut array": (
        "2,2",
        f"""sums = f32[1,2,3] {REDUCE}
  row = f32[1,2,2] slice(sums), slice={{[0:1], [0:2], [1:3]}}""",
    ),
    "a gather of a sum": (
        "4,3",
        f"""sums = f32[1,2,3] {REDUCE}
  row = f32[1,4,3] all-gather(sums), channel_id=2, replica_groups={{{{0,1}}}}, use_global_device_ids=true, dimensions={{1}}""",
    ),
    "of two sums": (
        "2,3",
        f"""sums = f32[1,2,3] {REDUCE}
  others = f32[1,2,3] {REDUCE.replace("squared", "part").replace("channel_id=1", "channel_id=2")}
  row = f32[1,2,3] add(sums, others)""",
    ),
    "an update of one column": (
        "2,4",
        f"""sums = f32[1,2,3] {REDUCE}
  column = f32[1,2,1] slice(sums), slice={{[0:1], [0:2], [1:2]}}
  empty = f32[1,2,4] broadcast(fill), dimensions={{}}
  row = f32[1,2,4] dynamic-update-slice(empty, column, zero, zero, back)""",
    ),
}


def written(kind: str, index: str = "k") -> str:
    sizes, lines = FORMATS[kind]
    return LOOP.replace("OUT", sizes).replace("FORMAT", lines).replace("INDEX", index)


def piped(text: str, direction: str, **options: Any) -> tuple[HloModule, bool]:
    module = parse_hlo(text)
    made = make_pass(f"collective-pipeliner-{direction}", **options)
    changed = made.run(module, PassContext())
    verify(module)
    return module, changed


def check_values(text: str, module: HloModule) -> None:
    rng = np.random.default_rng(0)
    before = parse_hlo(text)
    given = [
        [rng.normal(size=p.shape.dimensions).astype("f4") for p in before.entry.parameters()]
        for _ in range(2)
    ]
    wanted = evaluate_replicated(before, given)
    for found, want in zip(evaluate_replicated(module, given), wanted, strict=True):
        assert found[0] == want[0] == 4
        np.testing.assert_allclose(found[1], want[1], rtol=1e-6)


def loop_of(module: HloModule) -> Any:
    (loop,) = [i for i in module.instructions() if i.opcode.name == "while"]
    return loop


@pytest.mark.parametrize("index", ["k", "back"])
@pytest.mark.parametrize("kind", [k for k in FORMATS if "update" not in k])
def test_results_are_stored_one_iteration_later(kind: str, index: str) -> None:
    text = written(kind, index)
    for reuse in (True, False):
        module, changed = piped(text, "forward", use_tree=True, reuse_buffer=reuse)
        assert changed
        check_values(text, module)
        assert trip_count(loop_of(module)) == 3
        reduces = [i.parent for i in module.instructions() if i.opcode.name == "all-reduce"]
        assert reduces.count(module.entry) == reduces.count(loop_of(module).called[1])
        channels = re.findall(r"channel_id=(\d+)", str(module))
        assert len(set(channels)) == len(channels)


def test_the_next_iteration_does_not_wait_for_the_collective() -> None:
    module, _ = piped(written("plain"), "forward")
    body = loop_of(module).called[1]
    (reduce,) = [i for i in body.instructions.values() if i.opcode.name == "all-reduce"]
    products = [i for i in body.instructions.values() if i.opcode.name == "multiply"]
    reached, pending = {reduce}, [reduce]
    while pending:
        i = pending.pop()
        for one in (*i.users, *i.operands):
            if one in reached or one.opcode.name in ("parameter", "tuple", "dynamic-update-slice"):
                continue
            reached.add(one)
            pending.append(one)
    assert products and reached.isdisjoint(products)


def test_a_simulated_step_hides_the_collective_behind_the_next_iteration() -> None:
    text = written("plain").replace("2,3", "4096,2048")
    topology = Topology.named(Mesh((("d", 2),)), "h100")
    before = step_schedule(parse_hlo(text).entry, topology, 2)
    module, _ = piped(text, "forward", reuse_buffer=False)
    make_pass("dce").run(module, PassContext())
    after = step_schedule(module.entry, topology, 2)
    assert after.exposed_us < 0.8 * before.exposed_us


@pytest.mark.parametrize("index", ["k", "back"])
@pytest.mark.parametrize("kind", FORMATS)
def test_one_collective_after_the_loop_fills_the_buffer(kind: str, index: str) -> None:
    text = written(kind, index)
    module, changed = piped(text, "forwardsink")
    assert changed
    check_values(text, module)
    assert not [
        i for i in loop_of(module).called[1].instructions.values() if "all-" in i.opcode.name
    ]
    assert trip_count(loop_of(module)) == 4


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("tuple(next, update, x)", "tuple(next, update, x2)", "used-otherwise"),
        (", k, zero, zero)\n  ROOT", ", one, zero, zero)\n  ROOT", "several-indices"),
        ("constant(4)", "constant(1)", ""),
        ("multiply(part, part)", "multiply(part, old)", "state-read"),
        ("subtract(three, k)", "multiply(k, k)", "index-not-linear"),
    ],
    ids=["a second use", "a constant index", "one iteration", "a buffer that is read", "squares"],
)
@pytest.mark.parametrize("direction", ["forward", "forwardsink"])
def test_loops_that_stay(old: str, new: str, code: str, direction: str) -> None:
    text = written("plain", "back" if "subtract" in old else "k").replace(old, new)
    if new.endswith("x2)"):
        text = text.replace(
            "  ROOT t", "  x2 = f32[4,2,3] pad(row, fill), padding=0_3x0_0x0_0\n  ROOT t"
        )
    if "old" in new:
        text = text.replace(
            "  squared", "  old = f32[1,2,3] slice(y), slice={[0:1], [0:2], [0:3]}\n  squared"
        )
    codes = []

    class Context(PassContext):
        def refused(self, rule: str, subject: Any, reason: Any) -> None:
            codes.append(reason.code)

    module = parse_hlo(text)
    assert not make_pass(f"collective-pipeliner-{direction}", use_tree=True).run(module, Context())
    assert str(module) == str(parse_hlo(text))
    assert not code or codes == [code]


def test_rows_that_leave_some_out_are_not_sunk() -> None:
    text = written("plain").replace("constant(4)", "constant(3)")
    assert piped(text, "forward")[1] and not piped(text, "forwardsink")[1]


def test_bounds_of_permutes_follow_the_peeled_iteration() -> None:
    permute = (
        "moved = f32[4,2,3] collective-permute(x), channel_id=9, source_target_pairs={{0,1},{1,0}},"
        ' frontend_attributes={_xla_send_recv_validation="{{0,2},{1,3}}"}\n'
        "  part = f32[1,2,3] dynamic-slice(moved,"
    )
    text = written("plain").replace("part = f32[1,2,3] dynamic-slice(x,", permute)
    module, changed = piped(text, "forward")
    bounds = re.findall(r"validation=(\{\{.*?\}\})", str(module))
    assert changed and bounds == ["{{0,1},{0,2}}", "{{0,0},{1,0}}"]
