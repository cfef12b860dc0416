"""Shardings go from annotations to every value, by rules, levels and priorities."""

from __future__ import annotations

import re

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.spmd.propagation.report import ShardingReport, sharding_report
from xla_explorer.compiler.spmd.propagation.steps import REFUSAL_CODES
from xla_explorer.foundation.journal import Journal, Level
from xla_explorer.hlo.module import HloModule

MESH = (
    "HloModule m, num_partitions=8, frontend_attributes="
    '{xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}}\n'
)


def stated(sharding: str) -> str:
    text = re.sub(r"\b([xy])\b", r'\\"\1\\"', sharding)
    return f', frontend_attributes={{xla.sdy.sharding="#sdy.sharding<@mesh, {text}>"}}'


def constraint(operand: str, shape: str, sharding: str) -> str:
    return f'{shape} custom-call({operand}), custom_call_target="Sharding"{stated(sharding)}'


def program(*lines: str, before: str = "") -> HloModule:
    return xe.parse_hlo(MESH + before + "ENTRY main {\n" + "\n".join(lines) + "\n}")


def report(*lines: str, before: str = "") -> ShardingReport:
    return sharding_report(program(*lines, before=before))


def axes(found: ShardingReport, name: str) -> str:
    return str(found.row(name).sharding).partition(", ")[2].rstrip(">").replace('"', "")


def test_a_product_takes_the_free_axes_of_both_sides() -> None:
    found = report(
        f"a = f32[8,16] parameter(0){stated('[{x}, {}]')}",
        f"b = f32[16,32] parameter(1){stated('[{}, {y}]')}",
        "ROOT c = f32[8,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )
    assert axes(found, "c") == "[{x}, {y}]"
    assert found.row("c").origins == {"x": "input: 0", "y": "input: 1"}
    assert found.row("c").local_dimensions == (4, 8) and found.row("c").local_bytes == 128
    assert "factor j" in found.why("c", 1)[0] and "%b is annotated (input: 1)" in found.why("c")[1]


def test_the_larger_source_wins_a_conflict_of_factors() -> None:
    found = report(
        f"a = f32[8,8] parameter(0){stated('[{x}, {?}]')}",
        f"b = f32[8,64] parameter(1){stated('[{?}, {x}]')}",
        "ROOT c = f32[8,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )
    assert axes(found, "c") == "[{}, {x}]"
    assert "axis-in-use" in {one.code for one in found.refusals if one.target_value == "%c"}


def test_a_loop_has_one_sharding_for_operand_state_and_result() -> None:
    loop = """body {
      s = (s32[], f32[16]) parameter(0)
      n = s32[] get-tuple-element(s), index=0
      v = f32[16] get-tuple-element(s), index=1
      w = f32[16] negate(v)
      ROOT t = (s32[], f32[16]) tuple(n, w)
    }
    condition {
      s = (s32[], f32[16]) parameter(0)
      n = s32[] get-tuple-element(s), index=0
      ROOT p = pred[] compare(n, n), direction=LT
    }
    """
    module = program(
        f"a = f32[16] parameter(0){stated('[{y}]')}",
        "z = s32[] constant(0)",
        "t = (s32[], f32[16]) tuple(z, a)",
        "l = (s32[], f32[16]) while(t), condition=condition, body=body",
        "ROOT r = f32[16] get-tuple-element(l), index=1",
        before=loop,
    )
    assert make_pass("shardy-xla").run(module, PassContext())
    text = str(module)
    assert text.count("{replicated}, {devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}") >= 4
    assert "negate(%v), sharding={devices=[4,2]<=[2,4]T(1,0)" in text
    steps = sharding_report(program(
        f"a = f32[16] parameter(0){stated('[{y}]')}", "z = s32[] constant(0)",
        "t = (s32[], f32[16]) tuple(z, a)",
        "l = (s32[], f32[16]) while(t), condition=condition, body=body",
        "ROOT r = f32[16] get-tuple-element(l), index=1", before=loop,
    )).steps  # fmt: skip
    assert [one.kind for one in steps][:1] == ["edge"] and steps[0].level == 0


def test_branches_share_the_sharding_of_their_result() -> None:
    branches = "f { p = f32[16] parameter(0) ROOT n = f32[16] negate(p) }\n"
    branches += "g { q = f32[16] parameter(0) ROOT e = f32[16] exponential(q) }\n"
    found = report(
        "k = s32[] parameter(0)",
        "a = f32[16] parameter(1)",
        "c = f32[16] conditional(k, a, a), branch_computations={f, g}",
        f"ROOT r = {constraint('c', 'f32[16]', '[{x}]')}",
        before=branches,
    )
    # the constraint is on the result only: the branches keep their freedom, then take it backwards
    assert axes(found, "n") == axes(found, "e") == axes(found, "a") == "[{x}]"


def test_constants_are_copied_for_each_use() -> None:
    module = program(
        f"a = f32[16] parameter(0){stated('[{x}]')}",
        f"b = f32[16] parameter(1){stated('[{y}]')}",
        "one = f32[] constant(1)",
        "ones = f32[16] broadcast(one), dimensions={}",
        "c = f32[16] add(a, ones)",
        "d = f32[16] add(b, ones)",
        "ROOT t = (f32[16], f32[16]) tuple(c, d)",
    )
    assert make_pass("shardy-xla").run(module, PassContext())
    root = module.entry.root
    shardings = [i.operands[1].attributes["sharding"] for i in root.operands]
    assert shardings[0] != shardings[1] and len(set(shardings)) == 2
    assert root.operands[0].operands[1] is not root.operands[1].operands[1]


def test_a_closed_dimension_takes_no_axes_and_an_open_one_does() -> None:
    for given, result in (("[{}]", "[{}]"), ("[{?}]", "[{x}]")):
        found = report(
            f"a = f32[16] parameter(0){stated('[{x}]')}",
            "b = f32[16] negate(a)",
            f"ROOT c = {constraint('b', 'f32[16]', given)}",
        )
        assert axes(found, "c") == result
    assert any(one.code == "closed" for one in report(
        f"a = f32[16] parameter(0){stated('[{x}]')}",
        f"ROOT c = {constraint('a', 'f32[16]', '[{}]')}",
    ).refusals)  # fmt: skip


def test_priorities_decide_before_operations() -> None:
    lines = (
        "a = f32[16,16] parameter(0){}",
        "b = f32[16,16] parameter(1){}",
        "ROOT c = f32[16,16] add(a, b)",
    )
    for p_a, p_b, result in (("p0", "p1", "[{x}, {}]"), ("p1", "p0", "[{}, {x}]")):
        a, b = stated(f"[{{x}}{p_a}, {{?}}]"), stated(f"[{{?}}, {{x}}{p_b}]")
        found = report(lines[0].format(a), lines[1].format(b), lines[2])
        assert axes(found, "c") == result


def test_a_reshape_splits_an_axis_between_factors() -> None:
    found = report(
        f"a = f32[8,6] parameter(0){stated('[{y}, {}]')}",
        "ROOT b = f32[2,4,6] reshape(a)",
    )
    assert axes(found, "b") == "[{y:(1)2}, {y:(2)2}, {}]"


def test_arguments_and_results_are_cut_evenly() -> None:
    found = report(
        "a = f32[6] parameter(0)",
        f"ROOT b = {constraint('a', 'f32[6]', '[{y}]')}",
    )
    assert axes(found, "a") == "[{y:(1)2}]" and axes(found, "b") == "[{y}]"


def test_a_manual_region_is_local_along_its_axes() -> None:
    body = """%xla.sdy.manual_computation_body.1 {
      p = f32[8] parameter(0)
      ROOT q = f32[8] negate(p)
    }
    """
    sharding = '#sdy.sharding_per_value<[<@mesh, [{\\"x\\", ?}]>]>'
    manual = '#sdy<manual_axes{\\"x\\"}>'
    module = program(
        f"a = f32[16] parameter(0){stated('[{x, y}]')}",
        "l = f32[8] custom-call(a), custom_call_target=\"xla.sdy.GlobalToLocalShape\", "
        f'frontend_attributes={{xla.sdy.in_shardings="{sharding}",xla.sdy.manual_axes="{manual}"}}',
        "c = f32[8] call(l), to_apply=%xla.sdy.manual_computation_body.1, "
        'frontend_attributes={inlineable="false"}',
        "ROOT g = f32[16] custom-call(c), custom_call_target=\"xla.sdy.LocalToGlobalShape\", "
        f'frontend_attributes={{xla.sdy.manual_axes="{manual}",xla.sdy.out_shardings="{sharding}"}}',
        before=body,
    )  # fmt: skip
    found = sharding_report(module)
    assert axes(found, "q") == "[{y}]" and axes(found, "g") == "[{x, y}]"
    assert make_pass("shardy-xla").run(module, PassContext())
    inside = "sharding={devices=[4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"
    assert f"negate(%p), {inside}" in str(module)
    assert 'custom_call_target="SPMDFullToShardShape"' in str(module)
    again = xe.parse_hlo(str(module))
    assert str(xe.parse_hlo(str(again))) == str(again)


def test_gspmd_annotations_are_read_as_axes_of_the_smallest_mesh() -> None:
    module = xe.parse_hlo("""HloModule m, num_partitions=4
    ENTRY main {
      a = f32[8,8] parameter(0), sharding={devices=[2,2]<=[4]}
      b = f32[8,8] transpose(a), dimensions={1,0}
      ROOT c = f32[8,8] custom-call(b), custom_call_target="Sharding", sharding={replicated}, \
backend_config="unspecified_dims=[0]"
    }""")
    assert make_pass("shardy-xla").run(module, PassContext())
    by_name = {i.name: i for i in module.instructions()}
    assert by_name["b"].attributes["sharding"] == "{devices=[2,2]<=[2,2]T(1,0)}"
    root = module.entry.root
    assert root.opcode.name == "copy" and "devices=[2,1,2]" in root.attributes["sharding"]


CODES = {
    "axis-in-use": ('[{x}, {?}]', '[{?}, {x}]', "ROOT c = f32[8,8] add(a, b)"),
    "conflict": ('[{x}, {?}]', '[{y}, {?}]', "ROOT c = f32[8,8] add(a, b)"),
    "blocked-factor": (
        '[{x}, {?}]', '[{}, {}]',
        "n = s32[] constant(0)\ns = f32[1,8] dynamic-slice(a, n, n), dynamic_slice_sizes={1,8}\n"
        "ROOT c = f32[8] reshape(s)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_has_its_code(code: str) -> None:
    a, b, rest = CODES[code]
    found = report(
        f"a = f32[8,8] parameter(0){stated(a)}", f"b = f32[8,8] parameter(1){stated(b)}", rest
    )
    codes = {one.code for one in found.refusals}
    if code == "blocked-factor":
        assert axes(found, "a") == "[{x}, {}]"
        assert all(row.name != "s" for row in found.rows)
    else:
        assert code in codes


def test_explicitly_replicated_unreduced_and_indivisible_axes_are_refused() -> None:
    for given, rest, code in (
        ("[{?}], replicated={x}", "ROOT c = f32[6] add(a, b)", "explicitly-replicated"),
        ("[{?}], unreduced={x}", "ROOT c = f32[6] add(a, b)", "unreduced"),
    ):
        found = report(
            f"a = f32[6] parameter(0){stated('[{x}]')}",
            f"b = f32[6] parameter(1){stated(given)}",
            rest,
        )
        assert code in {one.code for one in found.refusals}, code
        assert found.why_not("b", "x")[0].endswith(f"({code})")
    cut = constraint("a", "f32[3,4]", "[{x}, {}]")
    found = report("a = f32[3,4] parameter(0)", f"c = {cut}", "ROOT b = f32[12] reshape(c)")
    assert "(indivisible)" in found.why_not("b", "x")[0]


def test_every_code_has_a_sentence() -> None:
    assert all(sentence[0].islower() for sentence in REFUSAL_CODES.values())


def test_decisions_are_recorded_and_obey_the_user() -> None:
    lines = (
        f"a = f32[16] parameter(0){stated('[{x}]')}",
        "b = f32[16] negate(a)",
        "ROOT c = f32[16] exponential(b)",
    )
    journal = Journal(Level.DECISIONS)
    make_pass("shardy-xla").run(program(*lines), PassContext(journal))
    events = [one for one in journal.events if one.by == "sharding-propagation"]
    assert [one.names for one in events if one.acted][:2] == [("b",), ("c",)]
    assert (events[0].facts or {})["origin"] == "input: 0" and events[0].names == ("b",)
    module = program(*lines)
    control = PassControl(forbid={"sharding-propagation": [("b",)]})
    make_pass("shardy-xla").run(module, PassContext(None, control))
    by_name = {i.name: i for i in module.instructions()}
    assert "sharding" not in by_name["b"].attributes
    assert "sharding" not in by_name["c"].attributes


def test_propagation_is_idempotent_and_keeps_full_annotations() -> None:
    module = program(
        f"a = f32[8,16] parameter(0){stated('[{x}, {}]')}",
        f"b = f32[16,32] parameter(1){stated('[{}, {y}]')}",
        "c = f32[8,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        f"d = {constraint('c', 'f32[8,32]', '[{}, {y}]')}",
        "ROOT e = f32[8,32] tanh(d)",
    )
    assert make_pass("shardy-xla").run(module, PassContext())
    once = str(module)
    make_pass("shardy-xla").run(module, PassContext())
    assert str(module) == once
    assert not sharding_report(module).steps
