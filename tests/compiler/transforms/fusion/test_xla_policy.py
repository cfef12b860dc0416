"""Fusion and its wrapper by XLA:CPU's policy: edges, names, operand order, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.support.fusion_texts import entry
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify


def run(name: str, text: str, context: PassContext | None = None) -> HloModule:
    module = parse_hlo(text)
    make_pass(name, policy="xla").run(module, context or PassContext())
    verify(module)
    return module


def shown(module: HloModule) -> list[str]:
    """Return what the entry runs: opcodes, and fusions with their opcodes in order."""
    found = []
    for i in module.entry.post_order():
        if i.opcode.name == "fusion":
            inner = [
                x.opcode.name
                for x in i.called[0].post_order()
                if x.opcode.name not in ("parameter", "constant")
            ]
            found.append("{" + " ".join(inner) + "}")
        elif i.opcode.name not in ("parameter", "constant", "tuple"):
            found.append(i.opcode.name)
    return sorted(found)


BIG = "f32[64,256]"
CASES = {
    "cheap values go into each reader": (
        entry(
            "x = f32[64] parameter(0)",
            "a = f32[64] negate(x)",
            "b = f32[64] ceil(a)",
            "c = f32[64] floor(a)",
            "ROOT t = (f32[64], f32[64]) tuple(b, c)",
        ),
        ["{negate ceil}", "{negate floor}"],
    ),
    "expensive ones with two readers stay": (
        entry(
            "x = f32[64] parameter(0)",
            "a = f32[64] exponential(x)",
            "b = f32[64] ceil(a)",
            "c = f32[64] floor(a)",
            "ROOT t = (f32[64], f32[64]) tuple(b, c)",
        ),
        ["ceil", "exponential", "floor"],
    ),
    "a broadcast repeats what it reads": (
        entry(
            "x = f32[64] parameter(0)",
            f"y = {BIG} parameter(1)",
            "a = f32[64] exponential(x)",
            f"b = {BIG} broadcast(a), dimensions={{0}}",
            f"ROOT c = {BIG} multiply(b, y)",
        ),
        ["exponential", "{broadcast multiply}"],
    ),
    "a reduce is computed in what reads it once": (
        entry(
            f"x = {BIG} parameter(0)",
            f"a = {BIG} exponential(x)",
            "z = f32[] constant(0)",
            "b = f32[64] reduce(a, z), dimensions={1}, to_apply=sum",
            "ROOT c = f32[64] negate(b)",
        ),
        ["{exponential reduce negate}"],
    ),
    "a transpose ends as a copy": (
        entry(
            f"x = {BIG} parameter(0)",
            "a = f32[256,64]{0,1} transpose(x), dimensions={1,0}",
            "ROOT b = f32[256,64]{1,0} copy(a)",
        ),
        ["{transpose copy}"],
    ),
    "what feeds a maximum and its shift is computed once": (
        entry(
            f"x = {BIG} parameter(0)",
            f"y = {BIG} parameter(1)",
            f"s = {BIG} multiply(x, y)",
            "m = f32[] constant(-inf)",
            "h = f32[64] reduce(s, m), dimensions={1}, to_apply=largest",
            f"b = {BIG} broadcast(h), dimensions={{0}}",
            f"d = {BIG} subtract(s, b)",
            f"ROOT e = {BIG} exponential(d)",
        ),
        ["multiply", "reduce", "{broadcast subtract exponential}"],
    ),
    "of what feeds both, products only": (
        entry(
            f"x = {BIG} parameter(0)",
            f"s = {BIG} add(x, x)",
            "m = f32[] constant(-inf)",
            "h = f32[64] reduce(s, m), dimensions={1}, to_apply=largest",
            f"b = {BIG} broadcast(h), dimensions={{0}}",
            f"d = {BIG} subtract(s, b)",
            f"ROOT e = {BIG} exponential(d)",
        ),
        ["{add broadcast subtract exponential}", "{add reduce}"],
    ),
    "nine pieces are copied": (
        entry(
            "x = f32[4] parameter(0)",
            "n = f32[4] negate(x)",
            f"c = f32[36] concatenate({', '.join(['n'] * 9)}), dimensions={{0}}",
            "ROOT e = f32[36] abs(c)",
        ),
        ["abs", "concatenate", "negate"],
    ),
    "eight are chosen": (
        entry(
            "x = f32[4] parameter(0)",
            "n = f32[4] negate(x)",
            f"c = f32[32] concatenate({', '.join(['n'] * 8)}), dimensions={{0}}",
            "ROOT e = f32[32] abs(c)",
        ),
        ["{negate concatenate abs}"],
    ),
    "long rows are copied": (
        entry(
            "x = f32[4,64] parameter(0)",
            "y = f32[4,64] parameter(1)",
            "c = f32[4,128] concatenate(x, y), dimensions={1}",
            "ROOT e = f32[4,128] abs(c)",
        ),
        ["abs", "concatenate"],
    ),
    "an update in place takes no slice past a bitcast": (
        entry(
            "x = f32[64] parameter(0)",
            "k = s32[] parameter(1)",
            "s = f32[1] dynamic-slice(x, k), dynamic_slice_sizes={1}",
            "b = f32[] bitcast(s)",
            "n = f32[] negate(b)",
            "c = f32[1] bitcast(n)",
            "ROOT u = f32[64] dynamic-update-slice(x, c, k)",
        ),
        ["dynamic-slice", "{bitcast negate bitcast dynamic-update-slice}"],
    ),
    "an update in place takes the slice of its place only": (
        entry(
            "x = f32[64] parameter(0)",
            "k = s32[] parameter(1)",
            "j = s32[] parameter(2)",
            "a = f32[8] dynamic-slice(x, k), dynamic_slice_sizes={8}",
            "b = f32[8] dynamic-slice(x, j), dynamic_slice_sizes={8}",
            "n = f32[8] add(a, b)",
            "ROOT u = f32[64] dynamic-update-slice(x, n, k)",
        ),
        ["dynamic-slice", "{dynamic-slice add dynamic-update-slice}"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_fuses_what_xla_fuses_and_keeps_the_values(name: str) -> None:
    text, expected = CASES[name]
    module = run("fusion", text)
    assert shown(module) == sorted(expected)
    source = parse_hlo(text)
    rng = np.random.default_rng(0)
    arguments = [
        rng.integers(0, 9, p.shape.dimensions).astype(np.int32)
        if p.shape.element_type.is_integer
        else rng.standard_normal(p.shape.dimensions).astype(np.float32)
        for p in source.entry.parameters()
    ]
    for ours, wanted in zip(
        flatten_value(evaluate(module, *arguments)),
        flatten_value(evaluate(source, *arguments)),
        strict=True,
    ):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(wanted))


def test_names_kinds_and_the_order_of_operands_are_those_of_xla() -> None:
    module = run(
        "fusion",
        entry(
            "x = f32[64] parameter(0)",
            "y = f32[64] parameter(1)",
            "z = f32[64] parameter(2)",
            "m = f32[64] multiply(x, y)",
            "s = f32[64] subtract(z, m)",
            'ROOT a = f32[64] add(s, x), frontend_attributes={kept="yes"}',
        ),
    )
    fusion = module.entry.root
    assert fusion.name == "subtract_add_fusion" and fusion.attributes.value("kind") == "kLoop"
    assert [o.name for o in fusion.operands] == ["x", "z", "y"]
    assert "kept" in fusion.attributes.get("frontend_attributes")


def test_every_refusal_says_why_and_the_user_overrides_what_is_legal() -> None:
    text = CASES["expensive ones with two readers stay"][0]
    journal = Journal("decisions")
    run("fusion", text, PassContext(journal))
    refused = {e.names: e.reason.code for e in journal.events if e.reason is not None}
    assert refused["a", "b"] == refused["a", "c"] == "would-duplicate-expensive"
    forced = run("fusion", text, PassContext(None, PassControl(force={"fusion": [("a", "b")]})))
    assert shown(forced) == ["exponential", "floor", "{exponential ceil}"]
    cheap = CASES["cheap values go into each reader"][0]
    kept = run("fusion", cheap, PassContext(None, PassControl(forbid={"fusion": [("a", "b")]})))
    assert shown(kept) == ["ceil", "negate", "{negate floor}"]


def test_what_cannot_go_into_every_reader_goes_into_none() -> None:
    module = run(
        "fusion",
        entry(
            f"x = {BIG} parameter(0)",
            f"y = {BIG} parameter(1)",
            f"a = {BIG} add(x, y)",
            f"b = {BIG} negate(a)",
            f"c = {BIG} sort(a), dimensions={{1}}, to_apply=less",
            f"ROOT t = ({BIG}, {BIG}) tuple(b, c)",
        ).replace(
            "ENTRY",
            "less {\n  l2 = f32[] parameter(0)\n  r2 = f32[] parameter(1)\n  ROOT o2 = pred[] compare(l2, r2), direction=LT\n}\nENTRY",
        ),
    )
    assert shown(module) == ["add", "negate", "sort"]


def test_the_wrapper_leaves_to_other_emitters_what_xla_leaves_to_them() -> None:
    module = run(
        "fusion-wrapper",
        entry(
            "x = f32[4,8] parameter(0)",
            "z = f32[] constant(0)",
            "a = f32[4] reduce(x, z), dimensions={1}, to_apply=sum",
            "t = f32[8,4] transpose(x), dimensions={1,0}",
            "c = f32[4,8] copy(x)",
            "d = f32[4,8]{0,1} copy(x)",
            "ROOT r = (f32[4], f32[8,4], f32[4,8], f32[4,8]{0,1}) tuple(a, t, c, d)",
        ),
    )
    assert shown(module) == ["copy", "transpose", "{copy}", "{reduce}"]
    wrapped = next(i for i in module.entry.post_order() if i.name == "wrapped_reduce")
    assert wrapped.called[0].name == "wrapped_reduce_computation" and [
        o.name for o in wrapped.operands
    ] == ["x", "z"]


def test_a_compile_by_the_policy_computes_the_same_and_is_compared_edge_by_edge() -> None:
    text, _ = CASES["what feeds a maximum and its shift is computed once"]
    session = xe.compile(text, fusion_policy="xla")
    assert shown(session.module) == ["{broadcast subtract exponential}", "{multiply}", "{reduce}"]
    x = np.random.default_rng(1).standard_normal((2, 64, 256)).astype(np.float32)
    np.testing.assert_allclose(np.asarray(session(*x)), np.asarray(xe.compile(text)(*x)), rtol=1e-5)
    found = xe.compare.fusions(text, policies=("time", "xla"))
    different = {
        (e.producer, e.consumer): (e.left, e.right, e.code)
        for e in found.edges
        if e.left != e.right
    }
    # By time both are fused on a CPU whose exponential is cheap, else neither is.
    refused = ("fused", "memory", "max-must-agree")
    assert different in ({}, {("s", "h"): refused, ("s", "d"): refused})
    assert f"{len(different)} by time only, 0 by xla only" in str(found)
    answer = session.why_not("fusion", "s", "h")
    assert answer.code == "max-must-agree" and "in general" in str(answer)
    assert "max-must-agree" in session.why_not("fusion", "s", "d").code
    with pytest.raises(xe.XlaExplorerError, match="fusion_policy 'fastest'"):
        xe.compile(text, fusion_policy="fastest")
