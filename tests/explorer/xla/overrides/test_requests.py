"""Requests about XLA's program: what a file holds, and what each does to a module without XLA."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import ClassVar

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.xla import kernel_of, named
from xla_explorer.explorer.xla.overrides.acting import after_scheduling, before_scheduling, dropped
from xla_explorer.explorer.xla.overrides.requests import make_requests, read_requests
from xla_explorer.frontends.hlo_proto import read_hlo_proto, schema
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.frontends.protobuf import Message

# As XLA:CPU hands it over before it schedules: every operation stands in a fusion.
MODULE = """HloModule jit_step

%first (p0: f32[8,4]) -> f32[8,4] {
  %p0 = f32[8,4]{1,0} parameter(0)
  ROOT %tanh.1 = f32[8,4]{1,0} tanh(%p0)
}

%second (p1: f32[8,4]) -> f32[8,4] {
  %p1 = f32[8,4]{1,0} parameter(0)
  %two = f32[] constant(2)
  %twos = f32[8,4]{1,0} broadcast(%two), dimensions={}
  %mul.1 = f32[8,4]{1,0} multiply(%p1, %twos)
  %sub.1 = f32[8,4]{1,0} subtract(%mul.1, %p1)
  ROOT %exp.1 = f32[8,4]{1,0} exponential(%sub.1)
}

%third (p2: f32[8,4], p3: f32[8,4]) -> f32[8,4] {
  %p2 = f32[8,4]{1,0} parameter(0)
  %p3 = f32[8,4]{1,0} parameter(1)
  ROOT %add.1 = f32[8,4]{1,0} add(%p2, %p3)
}

ENTRY %main (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %k1 = f32[8,4]{1,0} fusion(%x), kind=kLoop, calls=%first
  %k2 = f32[8,4]{1,0} fusion(%k1), kind=kLoop, calls=%second
  ROOT %k3 = f32[8,4]{1,0} fusion(%k2, %k1), kind=kLoop, calls=%third
}
"""
X = np.linspace(-3, 3, 32, dtype=np.float32).reshape(8, 4)


def acted(**requests):
    """Return (module after the requests, results), with the values compared to those before."""
    data, found = before_scheduling(
        write_hlo_proto(xe.parse_hlo(MODULE)), make_requests(**requests)
    )
    changed = read_hlo_proto(data).module if data is not None else None
    if changed is not None:
        xe.verify(changed)
        np.testing.assert_array_equal(xe.evaluate(changed, X), xe.evaluate(MODULE, X))
    return changed, found


def test_a_forbidden_pair_is_computed_by_two_kernels():
    module, [(word, pair, reason)] = acted(forbid=[("%sub.1", "exp.1")])
    assert (word, pair, reason) == ("forbid", ("sub.1", "exp.1"), None)
    kernels = [kernel_of(named(module, name)) for name in pair]
    assert kernels[0] is not kernels[1] and kernels[0] in kernels[1].operands
    assert dropped(write_hlo_proto(module), make_requests(forbid=[pair])) == {}


def test_a_producer_that_others_read_stays_a_kernel_of_its_own():
    module, [(_, _, reason)] = acted(fuse=[("tanh.1", "mul.1")])
    assert reason is None
    inside = kernel_of(named(module, "mul.1")).called[0]
    assert [i.opcode.name for i in inside.instructions.values()].count("tanh") == 1
    assert kernel_of(named(module, "tanh.1")) is not kernel_of(named(module, "mul.1"))
    assert dropped(write_hlo_proto(module), make_requests(fuse=[("tanh.1", "mul.1")])) == {}


def test_requests_act_one_after_another():
    module, found = acted(
        forbid=[("mul.1", "sub.1")], fuse=[("exp.1", "add.1"), ("tanh.1", "mul.1")]
    )
    assert [reason for _, _, reason in found] == [None, None, None]
    assert sum(i.opcode.name == "fusion" for i in module.entry.instructions.values()) == 3


@pytest.mark.parametrize(
    ("requests", "code"),
    [
        ({"fuse": [("nothing", "exp.1")]}, "not-in-the-module"),
        ({"fuse": [("exp.1", "tanh.1")]}, "not-producer-and-consumer"),
        ({"forbid": [("exp.1", "mul.1")]}, "not-producer-and-consumer"),
        ({"fuse": [("x", "tanh.1")]}, "opcode-not-fusible"),
        ({"passes": "dce"}, "nothing-to-change"),
    ],
)
def test_what_cannot_be_granted_is_refused_with_a_reason(requests, code):
    changed, [(_, _, reason)] = acted(**requests)
    assert changed is None and reason.code == code


def test_a_request_that_holds_already_changes_nothing():
    changed, found = acted(fuse=[("mul.1", "exp.1")], forbid=[("tanh.1", "exp.1")])
    assert changed is None and [reason for _, _, reason in found] == [None, None]


def test_a_pass_that_changes_values_is_refused():
    @register_pass()
    @dataclasses.dataclass(frozen=True)
    class SineForTanh:
        name: ClassVar[str] = "sine-for-tanh-in-a-test"

        def run(self, module, context):
            for c in module.computations.values():
                for i in list(c.instructions.values()):
                    if i.opcode.name == "tanh":
                        c.replace(i, c.add("sine", i.shape, i.operands))
                        c.remove(i)
            return True

    changed, [(_, _, reason)] = acted(passes=SineForTanh.name)
    assert changed is None and reason.code == "values-differ"


def test_an_order_of_the_schedule_moves_instructions_later():
    text = """HloModule m, is_scheduled=true

ENTRY %e (x: f32[4]) -> (f32[4], f32[4]) {
  %x = f32[4]{0} parameter(0)
  %a = f32[4]{0} negate(%x)
  %b = f32[4]{0} exponential(%x)
  %c = f32[4]{0} add(%a, %b)
  ROOT %t = (f32[4]{0}, f32[4]{0}) tuple(%c, %b)
}
"""
    data = write_hlo_proto(xe.parse_hlo(text))
    changed, [(_, _, reason)] = after_scheduling(data, make_requests(schedule_order=["b", "a"]))
    assert reason is None
    names = [i.name for i in read_hlo_proto(changed).module.entry.schedule]
    assert names == ["x", "b", "a", "c", "t"]
    unchanged, _ = after_scheduling(changed, make_requests(schedule_order=["b", "a"]))
    assert unchanged is None
    _, [(_, _, reason)] = after_scheduling(data, make_requests(schedule_order=["c", "a"]))
    assert reason.code == "order-against-operands"


def test_requests_survive_a_file(tmp_path):
    path = tmp_path / "overrides.json"
    wanted = make_requests(
        [("a", "b")], [("c", "d")], ["add-zero"], "algsimp,dce", ["a", "c"], "jit_step*"
    )
    path.write_text(json.dumps(wanted.to_data()))
    assert read_requests(path).to_data() == wanted.to_data()
    assert wanted.concern("jit_step_1") and not wanted.concern("jit_loss")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fuse": ["ab"]}, "fuse must list pairs"),
        ({"forbid": [("a",)]}, "forbid must list pairs"),
        ({"fuse": [(1, "b")]}, "named by a text"),
        ({"rules": ["no-such-rule"]}, "is not known"),
        ({"passes": "no-such-pass"}, "no-such-pass"),
        ({"when": 3}, "pattern of module names"),
        ({"fuse": [("a", "b")], "forbid": [("a", "b")]}, "under fuse and under forbid"),
    ],
)
def test_malformed_requests_are_refused(given, message):
    with pytest.raises(xe.XlaExplorerError, match=message):
        make_requests(**given)


@pytest.mark.parametrize("content", ["[]", "{", '{"version": 9}', '{"version": 1, "fus": []}'])
def test_malformed_files_are_refused(tmp_path, content):
    path = tmp_path / "overrides.json"
    path.write_text(content)
    with pytest.raises(xe.XlaExplorerError, match=r"overrides\.json"):
        read_requests(path)
    with pytest.raises(xe.XlaExplorerError, match="cannot read"):
        read_requests(tmp_path / "absent.json")


def test_a_program_that_does_not_use_overrides_does_not_load_them():
    import subprocess

    code = "import xla_explorer.pjrt, sys; sys.exit('xla_explorer.explorer.xla.overrides' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_only_the_kernels_concerned_are_written_anew():
    def parts(data):
        module = Message(schema.MODULE, data)
        bodies = [Message(schema.COMPUTATION, raw) for raw in module.spans("computations")]
        return {one.text("name"): [bytes(i) for i in one.spans("instructions")] for one in bodies}

    data = write_hlo_proto(xe.parse_hlo(MODULE))
    changed, _ = before_scheduling(data, make_requests(forbid=[("mul.1", "sub.1")]))
    before, after = parts(data), parts(changed)
    assert before["first"] == after["first"] and before["third"] == after["third"]
    assert set(before["main"]) - set(after["main"]) != set()
    kept = [raw for raw in before["main"] if raw in after["main"]]
    assert len(kept) == 3 and len(after["main"]) == 5
    numbers = [Message(schema.INSTRUCTION, raw).number("id") for of in after.values() for raw in of]
    assert len(numbers) == len(set(numbers))


def test_a_kernel_with_control_edges_is_left_alone():
    text = MODULE.replace("calls=%second", "calls=%second, control-predecessors={%x}")
    changed, [(_, _, reason)] = before_scheduling(
        write_hlo_proto(xe.parse_hlo(text)), make_requests(forbid=[("mul.1", "sub.1")])
    )
    assert changed is None and reason.code == "has-control-edges"


SCATTER = """HloModule m
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %ab = f32[] add(%a, %b)
}
%rows (r0: f32[8,4], r1: s32[3,1]) -> f32[3,4] {
  %r0 = f32[8,4]{1,0} parameter(0)
  %r1 = s32[3,1]{1,0} parameter(1)
  %gather.1 = f32[3,4]{1,0} gather(%r0, %r1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  ROOT %neg.1 = f32[3,4]{1,0} negate(%gather.1)
}
%where (w0: s32[3,1]) -> s32[3,1] {
  %w0 = s32[3,1]{1,0} parameter(0)
  ROOT %abs.1 = s32[3,1]{1,0} abs(%w0)
}
%update (v0: f32[8,4], v1: s32[3,1], v2: f32[3,4]) -> f32[8,4] {
  %v0 = f32[8,4]{1,0} parameter(0)
  %v1 = s32[3,1]{1,0} parameter(1)
  %v2 = f32[3,4]{1,0} parameter(2)
  ROOT %scatter.1 = f32[8,4]{1,0} scatter(%v0, %v1, %v2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%sum
}
ENTRY %main (x: f32[8,4], i: s32[3,1]) -> f32[8,4] {
  %x = f32[8,4]{1,0} parameter(0)
  %i = s32[3,1]{1,0} parameter(1)
  %copy.1 = f32[8,4]{1,0} copy(%x)
  %k1 = f32[3,4]{1,0} fusion(%copy.1, %i), kind=kLoop, calls=%rows
  %k2 = s32[3,1]{1,0} fusion(%i), kind=kLoop, calls=%where
  %k3 = f32[8,4]{1,0} fusion(%copy.1, %k2, %k1), kind=kLoop, calls=%update
  ROOT %k4 = f32[8,4]{1,0} negate(%k3)
}
"""


@pytest.mark.parametrize(
    ("pair", "code"),
    [
        (("copy.1", "scatter.1"), "overwritten-in-place"),
        (("neg.1", "scatter.1"), "overwritten-in-place"),
        (("scatter.1", "k4"), "opcode-not-fusible"),
        (("abs.1", "scatter.1"), None),
        (("copy.1", "neg.1"), None),
    ],
)
def test_an_array_that_is_updated_in_place_is_read_before(pair, code):
    data = write_hlo_proto(xe.parse_hlo(SCATTER))
    _, [(_, _, reason)] = before_scheduling(data, make_requests(fuse=[pair]))
    assert (reason and reason.code) == code
