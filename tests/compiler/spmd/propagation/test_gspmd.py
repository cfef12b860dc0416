"""GSPMD's propagation: levels, more specific shardings only, manual values, and XLA's programs.

The corpus is `spmd` beside the checkout.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter

import pytest

import xla_explorer as xe
from tests.support.corpora import SHARED
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

DATA = SHARED / "spmd" / "programs"


def propagated(*lines: str, header: str = "") -> dict[str, str]:
    """The sharding of each instruction; "" for none."""
    text = f"HloModule m, num_partitions=4{header}\nENTRY main {{\n" + "\n".join(lines) + "\n}"
    module = xe.parse_hlo(text)
    make_pass("sharding-propagation").run(module, PassContext())
    verify(module)
    return {i.name: str(i.attributes.get("sharding", "")) for i in module.instructions()}


def test_the_first_sharding_stays_and_becomes_more_specific() -> None:
    found = propagated(
        "a = f32[8,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}",
        "b = f32[8,8] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
        "c = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT t = (f32[8,8]) tuple(c)",
    )
    assert found["c"] == "{devices=[2,2]<=[4]}"


def test_a_conflict_goes_to_the_first_operand() -> None:
    found = propagated(
        "a = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}",
        "b = f32[8,8] parameter(1), sharding={devices=[1,4]<=[4]}",
        "c = f32[8,8] add(a, b)",
        "ROOT t = (f32[8,8]) tuple(c)",
    )
    assert found["c"] == "{devices=[4,1]<=[4]}"


def test_the_operand_of_a_constraint_takes_its_sharding() -> None:
    found = propagated(
        "a = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}",
        "n = f32[8,8] negate(a)",
        'c = f32[8,8] custom-call(n), custom_call_target="Sharding", sharding={devices=[1,4]<=[4]}',
        "m = f32[8,8] negate(c)",
        "ROOT t = (f32[8,8]) tuple(m)",
    )
    assert found["n"] == found["m"] == "{devices=[1,4]<=[4]}"


def test_an_element_that_is_the_result_keeps_its_annotation() -> None:
    found = propagated(
        "a = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}",
        "n = f32[8,8] negate(a)",
        "t = (f32[8,8]) tuple(n)",
        "ROOT r = f32[8,8] get-tuple-element(t), index=0, sharding={devices=[1,4]<=[4]}",
    )
    assert (found["n"], found["r"]) == ("{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}")


def test_broadcasts_pass_shardings_backward_before_forward() -> None:
    found = propagated(
        "a = f32[8] parameter(0)",
        "n = f32[8] negate(a)",
        "b = f32[8,4] broadcast(n), dimensions={0}",
        "c = f32[8,4] copy(b), sharding={devices=[4,1]<=[4]}",
        "ROOT t = (f32[8,4]) tuple(c)",
    )
    assert found["n"] == "{devices=[4]<=[4]}" and found["a"] == ""


def test_arguments_and_results_only_change_if_the_module_allows_it() -> None:
    lines = (
        "a = f32[8] parameter(0)",
        "b = f32[8] copy(a), sharding={devices=[4]<=[4]}",
        "ROOT c = f32[8] negate(b)",
    )
    free = ", allow_spmd_sharding_propagation_to_parameters={true}"
    assert propagated(*lines)["a"] == ""
    assert propagated(*lines, header=free)["a"] == "{devices=[4]<=[4]}"


def test_contracted_dimensions_pass_between_the_operands_of_a_dot() -> None:
    found = propagated(
        "p = f32[8,4] parameter(0)",
        "a = f32[8,4] negate(p)",
        "b = f32[4,8] parameter(1), sharding={devices=[4,1]<=[4]}",
        "c = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT t = (f32[8,8]) tuple(c)",
    )
    assert found["a"] == "{devices=[1,4]<=[4]}"


def test_values_of_a_manual_region_are_manual() -> None:
    found = propagated(
        "a = f32[8] parameter(0), sharding={devices=[4]<=[4]}",
        'l = f32[2] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={manual}',
        "n = f32[2] negate(l)",
        'ROOT g = f32[8] custom-call(n), custom_call_target="SPMDShardToFullShape", '
        "sharding={devices=[4]<=[4]}",
    )
    assert found["n"] == "{manual}" and found["g"] == "{devices=[4]<=[4]}"


def test_shardings_over_some_devices_keep_their_numbers() -> None:
    found = propagated(
        "a = f32[8] parameter(0), sharding={devices=[4]0,1,4,5}",
        "b = f32[2,4] reshape(a)",
        "ROOT t = (f32[2,4]) tuple(b)",
    )
    assert found["b"] == "{devices=[2,2]0,1,4,5}"


def table(module: HloModule) -> Counter[tuple[str, ...]]:
    """Opcode, shape and sharding of the arrays; without a sharding an array is replicated."""
    rows: Counter[tuple[str, ...]] = Counter()
    for i in module.instructions():
        if i.opcode.name in ("tuple", "get-tuple-element", "reshape") or not i.shape.rank:
            continue
        sharding = re.sub(r" metadata=\{[^}]*\}", "", str(i.attributes.get("sharding", "")))
        rows[i.opcode.name, i.shape.text_without_layout, sharding or "{replicated}"] += 1
    return rows


@pytest.mark.long
def test_most_instructions_are_sharded_as_xla_shards_them() -> None:
    records = sorted(DATA.glob("*.gspmd.json.gz"))
    if not records:
        pytest.skip("needs ../shared/spmd")
    same = every = 0
    for path in records:
        record = json.loads(gzip.decompress(path.read_bytes()))
        module = xe.parse_hlo(record["hlo_before"])
        for name in ("call-inliner", "sharding-propagation"):
            make_pass(name).run(module, PassContext())
        wanted = table(xe.parse_hlo(record["hlo_before_spmd"]))
        same += (wanted & table(module)).total()
        every += wanted.total()
    assert same >= 0.98 * every, (same, every)


def test_a_result_that_may_be_sharded_stays_whole_if_its_parts_are_uneven() -> None:
    text = """HloModule m, allow_spmd_sharding_propagation_to_output={true}
    ENTRY e {
      x = f32[4] parameter(0), sharding={devices=[4]<=[4]}
      ROOT y = f32[LENGTH] slice(x), slice={[0:LENGTH]} }"""
    for length, sharding in (("3", "{replicated}"), ("4", "{devices=[4]<=[4]}")):
        module = xe.parse_hlo(text.replace("LENGTH", length))
        make_pass("sharding-propagation").run(module, PassContext())
        assert str(module.entry.root.attributes["sharding"]) == sharding
