"""Fusion: what is fused with what, why not, and that no value changes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.fusion_texts import entry
from xla_explorer.compiler.decisions.fusion_reasons import FUSION as FUSION_REASONS
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.transforms.fusion.instruction_fusion import InstructionFusion
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Check
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo


def fuse(text: str, context: PassContext | None = None, **options: float) -> HloModule:
    module = parse_hlo(text)
    make_pass("fusion", **options).run(module, context or PassContext())
    return module


def shown(module: HloModule) -> list[str]:
    """Return what the entry runs: opcodes, and fusions with the opcodes that they compute."""
    found = []
    for i in module.entry.post_order():
        if i.opcode.name == "fusion":
            inner = [
                x.opcode.name
                for x in i.called[0].post_order()
                if x.opcode.name not in ("parameter", "constant")
            ]
            found.append("{" + " ".join(sorted(inner)) + "}")
        elif i.opcode.name not in ("parameter", "constant", "tuple"):
            found.append(i.opcode.name)
    return sorted(found)


def codes(text: str, producer: str, consumer: str, context: PassControl | None = None) -> list[str]:
    """Codes of the refusals of one pair, from the journal."""
    journal = Journal("decisions")
    fuse(text, PassContext(journal, context))
    return [
        e.reason.code
        for e in journal.events
        if e.by == "fusion" and e.names == (producer, consumer) and e.reason
    ]


BIG = "f32[4096,4096]"
CASES = {
    "chain": (
        entry(
            "x = f32[64] parameter(0)",
            "a = f32[64] exponential(x)",
            "b = f32[64] negate(a)",
            "ROOT c = f32[64] add(b, x)",
        ),
        ["{add exponential negate}"],
    ),
    "expensive with two users stays": (
        entry(
            "x = f32[65536] parameter(0)",
            "a = f32[65536] exponential(x)",
            "b = f32[65536] negate(a)",
            "c = f32[65536] floor(a)",
            "ROOT t = (f32[65536], f32[65536]) tuple(b, c)",
        ),
        ["exponential", "floor", "negate"],
    ),
    "cheap large value goes to both users": (
        entry(
            f"x = {BIG} parameter(0)",
            f"a = {BIG} negate(x)",
            f"b = {BIG} cosine(a)",
            f"c = {BIG} floor(a)",
            f"ROOT t = ({BIG}, {BIG}) tuple(b, c)",
        ),
        ["{cosine negate}", "{floor negate}"],
    ),
    "reads would multiply": (
        entry(
            f"x = {BIG} parameter(0)",
            f"y = {BIG} parameter(1)",
            "m = pred[4096,4096] parameter(2)",
            f"s = {BIG} select(m, x, y)",
            *[
                f"{n} = {BIG} {op}(s)"
                for n, op in zip("abcd", ("cosine", "floor", "ceil", "negate"), strict=True)
            ],
            f"ROOT t = ({BIG}, {BIG}, {BIG}, {BIG}) tuple(a, b, c, d)",
        ),
        ["ceil", "cosine", "floor", "negate", "select"],
    ),
    "expensive is not repeated along a broadcast": (
        entry(
            "x = f32[128] parameter(0)",
            "y = f32[1000,128] parameter(1)",
            "a = f32[128] exponential(x)",
            "b = f32[1000,128] broadcast(a), dimensions={1}",
            "ROOT c = f32[1000,128] add(b, y)",
        ),
        ["exponential", "{add broadcast}"],
    ),
    "producers into a reduce": (
        entry(
            "x = f32[64,64] parameter(0)",
            "a = f32[64,64] exponential(x)",
            "z = f32[] constant(0)",
            "ROOT r = f32[64] reduce(a, z), dimensions={1}, to_apply=sum",
        ),
        ["{exponential reduce}"],
    ),
    "a reduce stays a root": (
        entry(
            "x = f32[64,64] parameter(0)",
            "z = f32[] constant(0)",
            "r = f32[64] reduce(x, z), dimensions={1}, to_apply=sum",
            "ROOT a = f32[64] negate(r)",
        ),
        ["negate", "{reduce}"],
    ),
    "a tiny reduce goes inside": (
        entry(
            "x = f32[64,4] parameter(0)",
            "z = f32[] constant(0)",
            "r = f32[64] reduce(x, z), dimensions={1}, to_apply=sum",
            "ROOT a = f32[64] negate(r)",
        ),
        ["{negate reduce}"],
    ),
    "bitcast of a stored value stays outside": (
        entry("x = f32[64] parameter(0)", "b = f32[8,8] reshape(x)", "ROOT a = f32[8,8] negate(b)"),
        ["negate", "reshape"],
    ),
    "reshape between fused values goes inside": (
        entry(
            "x = f32[64] parameter(0)",
            "n = f32[64] cosine(x)",
            "b = f32[8,8] reshape(n)",
            "ROOT a = f32[8,8] negate(b)",
        ),
        ["{cosine negate reshape}"],
    ),
    "update computed inside": (
        entry(
            "x = f32[64] parameter(0)",
            "u = f32[4] parameter(1)",
            "i = s32[] parameter(2)",
            "n = f32[4] negate(u)",
            "ROOT d = f32[64] dynamic-update-slice(x, n, i)",
        ),
        ["{dynamic-update-slice negate}"],
    ),
    "the updated buffer itself is not computed inside": (
        entry(
            "x = f32[64] parameter(0)",
            "u = f32[4] parameter(1)",
            "i = s32[] parameter(2)",
            "n = f32[64] negate(x)",
            "ROOT d = f32[64] dynamic-update-slice(n, u, i)",
        ),
        ["dynamic-update-slice", "negate"],
    ),
    "update that reads the same place": (
        entry(
            "x = f32[64] parameter(0)",
            "i = s32[] parameter(1)",
            "s = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}",
            "n = f32[4] negate(s)",
            "ROOT d = f32[64] dynamic-update-slice(x, n, i)",
        ),
        ["{dynamic-slice dynamic-update-slice negate}"],
    ),
    "update that reads another place": (
        entry(
            "x = f32[64] parameter(0)",
            "i = s32[] parameter(1)",
            "j = s32[] parameter(2)",
            "s = f32[4] dynamic-slice(x, j), dynamic_slice_sizes={4}",
            "n = f32[4] negate(s)",
            "ROOT d = f32[64] dynamic-update-slice(x, n, i)",
        ),
        ["dynamic-update-slice", "{dynamic-slice negate}"],
    ),
    "library calls": (
        entry(
            "x = f32[64,64] parameter(0)",
            "n = f32[64,64] negate(x)",
            "d = f32[64,64] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "ROOT a = f32[64,64] tanh(d)",
        ),
        ["dot", "negate", "tanh"],
    ),
    "large constants stay in memory": (
        entry(
            "x = f32[3] parameter(0)",
            "c = f32[3] constant({1,2,3})",
            "h = f32[] constant(0.5)",
            "b = f32[3] broadcast(h), dimensions={}",
            "m = f32[3] multiply(x, b)",
            "ROOT a = f32[3] add(m, c)",
        ),
        ["{add broadcast multiply}"],
    ),
    "argmax": (
        entry(
            "x = f32[64,64] parameter(0)",
            "y = f32[64,64] abs(x)",
            "z = f32[] constant(0)",
            "r = f32[64] reduce(y, z), dimensions={0}, to_apply=largest",
            "s = f32[64] broadcast(z), dimensions={}",
            "ROOT a = f32[64] maximum(r, s)",
        ),
        ["{abs reduce}", "{broadcast maximum}"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_fused(name: str) -> None:
    text, expected = CASES[name]
    module = fuse(text)
    assert shown(module) == sorted(expected)
    wrapped = fuse(text)
    make_pass("fusion-wrapper").run(wrapped, PassContext())
    if "4096,4096" not in text:
        generator = np.random.default_rng(0)
        arguments = [
            generator.integers(0, 9, s.dimensions).astype(s.element_type.dtype)
            if s.element_type.is_integer
            else generator.standard_normal(s.dimensions).astype(np.float32)
            for s in module.parameter_shapes()
        ]
        want = flatten_value(evaluate(parse_hlo(text), *arguments))
        for version in (module, wrapped, parse_hlo(module.to_text()), parse_hlo(wrapped.to_text())):
            for a, b in zip(want, flatten_value(evaluate(version, *arguments)), strict=True):
                np.testing.assert_array_equal(a, b)


def test_the_wrapper_leaves_only_fusions_and_library_calls() -> None:
    text, _ = CASES["library calls"]
    module = fuse(text)
    assert make_pass("fusion-wrapper").run(module, PassContext())
    assert shown(module) == ["dot", "{negate}", "{tanh}"]
    assert {i.name for i in module.entry.instructions.values()} >= {
        "wrapped_negate",
        "wrapped_tanh",
    }
    assert not make_pass("fusion-wrapper").run(module, PassContext())
    assert list(module.computations.values())[-1] is module.entry


def test_reasons_in_the_journal() -> None:
    assert codes(CASES["expensive with two users stays"][0], "a", "b") == [
        "would-duplicate-expensive"
    ]
    assert codes(CASES["reads would multiply"][0], "s", "a") == ["reads-multiply"]
    assert codes(CASES["expensive is not repeated along a broadcast"][0], "a", "c") == [
        "recomputed-per-element"
    ]
    assert codes(CASES["a reduce stays a root"][0], "r", "a") == ["reduce-is-root-only"]
    assert codes(CASES["the updated buffer itself is not computed inside"][0], "n", "d") == [
        "in-place-update-conflict"
    ]
    assert codes(CASES["update that reads another place"][0], "n", "d") == [
        "in-place-update-conflict"
    ]
    assert codes(CASES["library calls"][0], "d", "a") == ["producer-has-own-kernel"]
    assert codes(CASES["large constants stay in memory"][0], "c", "a") == ["constant-not-fused"]


def test_decisions_that_go_ahead_carry_numbers() -> None:
    journal = Journal("decisions")
    fuse(CASES["chain"][0], PassContext(journal))
    event = next(e for e in journal.events if e.names == ("a", "c"))
    assert event.verdict == "accepted"
    assert event.facts is not None and event.facts["bytes_saved"] == 512
    assert event.facts["unfused_microseconds"] > event.facts["fused_microseconds"] > 0


def test_the_user_forces_and_forbids() -> None:
    text = CASES["expensive with two users stays"][0]
    forced = fuse(
        text, PassContext(control=PassControl(force={"fusion": [("%a", "%b"), ("%a", "%c")]}))
    )
    assert shown(forced) == ["{exponential floor}", "{exponential negate}"]
    forbidden = fuse(
        CASES["chain"][0], PassContext(control=PassControl(forbid={"fusion": [("a", "c")]}))
    )
    assert shown(forbidden) == ["exponential", "{add negate}"]
    assert codes(CASES["chain"][0], "a", "c", PassControl(forbid={"fusion": [("a", "c")]})) == [
        "forbidden-by-user"
    ]
    through = fuse(
        CASES["chain"][0], PassContext(control=PassControl(forbid={"fusion": [("%a", "%b")]}))
    )  # b, which reads it, is inside c
    assert shown(through) == ["exponential", "{add negate}"]
    library = fuse(
        CASES["library calls"][0], PassContext(control=PassControl(force={"fusion": [("d", "a")]}))
    )
    assert "dot" in shown(library)  # legality is not for the user to override


def test_a_fused_instruction_keeps_its_id_and_a_repeated_one_is_cloned() -> None:
    text = CASES["cheap large value goes to both users"][0]
    before = parse_hlo(text).find("a").id
    module = fuse(text)
    ids = [
        i.id
        for c in module.fusion_computations()
        for i in c.instructions.values()
        if i.opcode.name == "negate"
    ]
    assert len(ids) == 2 and before in ids


def test_code_of_one_element_stays_bounded() -> None:
    lines, last = ["x = f32[4096] parameter(0)"], "x"
    for k in range(40):  # each level reads the one before at two places
        lines += [
            f"q{k} = f32[4096] reverse({last}), dimensions={{0}}",
            f"v{k} = f32[4096] subtract({last}, q{k})",
        ]
        last = f"v{k}"
    lines[-1] = "ROOT " + lines[-1]
    module = fuse(entry(*lines))
    counts = [len(c.instructions) for c in module.fusion_computations()]
    assert len(counts) > 5 and max(counts) < 30
    long = [
        "x = f32[4096] parameter(0)",
        *[f"v{k} = f32[4096] negate({'x' if k == 0 else f'v{k - 1}'})" for k in range(300)],
    ]
    long[-1] = "ROOT " + long[-1]
    assert len(fuse(entry(*long), max_emitted=100).fusion_computations()) == 3


def test_the_number_of_operands_stays_bounded() -> None:
    lines = [f"p{k} = f32[16] parameter({k})" for k in range(20)]
    lines += [
        "v0 = f32[16] add(p0, p1)",
        *[f"v{k} = f32[16] add(v{k - 1}, p{k + 1})" for k in range(1, 19)],
    ]
    lines[-1] = "ROOT " + lines[-1]
    module = fuse(entry(*lines), max_operands=8)
    assert max(len(i.operands) for i in module.entry.instructions.values()) == 8


def test_control_dependencies_survive() -> None:
    text = entry(
        "x = f32[16] parameter(0)",
        "a = f32[16] negate(x)",
        "b = f32[16] abs(x), control-predecessors={a}",
        "ROOT c = f32[16] add(a, b)",
    )
    assert shown(fuse(text)) == ["abs", "add", "negate"]


def test_fusion_inside_loops() -> None:
    text = """HloModule m
body {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  n = f32[64] negate(a)
  m = f32[64] multiply(n, a)
  ROOT t = (s32[], f32[64]) tuple(j, m)
}
condition {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[64] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[64]) tuple(z, x)
  w = (s32[], f32[64]) while(t), condition=condition, body=body
  ROOT r = f32[64] get-tuple-element(w), index=1
}"""
    module = fuse(text)
    assert len(module.fusion_computations()) == 3
    x = np.linspace(-1, 1, 64).astype(np.float32)
    np.testing.assert_array_equal(evaluate(parse_hlo(text), x), evaluate(module, x))


def test_the_checklist_answers_without_a_run() -> None:
    context = PassContext()

    def ask(
        producer: HloInstruction, consumer: HloInstruction, context: PassContext
    ) -> tuple[Check, ...]:
        decision = InstructionFusion().evaluate("fusion", (producer, consumer), context)
        assert decision is not None
        return decision.checklist

    module = parse_hlo(CASES["expensive with two users stays"][0])
    answers = {check.name: check for check in ask(module.find("a"), module.find("b"), context)}
    assert answers["producer-is-fusible"].ok and answers["layouts-agree"].ok
    refusal = answers["duplicates-nothing-expensive"]
    assert refusal.ok is False and refusal.code in FUSION_REASONS
    library = parse_hlo(CASES["library calls"][0])
    assert {c.name: c.ok for c in ask(library.find("n"), library.find("d"), context)}[
        "consumer-is-fusible"
    ] is False
    assert all(
        check.ok or check.code in FUSION_REASONS
        for check in ask(library.find("d"), library.find("a"), context)
    )


def test_a_row_written_at_a_constant_place_is_no_scatter_any_more() -> None:
    import xla_explorer as xe

    text = """HloModule m
replace {
  old = f32[] parameter(0)
  ROOT new = f32[] parameter(1)
}
ENTRY e {
  x = f32[4,8] parameter(0)
  u = f32[8] parameter(1)
  two = s32[1] constant({2})
  d = f32[8] multiply(u, u)
  ROOT s = f32[4,8] scatter(x, two, d), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=0, to_apply=replace
}"""
    session = xe.compile(text)
    assert not any(
        i.opcode.name in ("scatter", "compare", "select")
        for i in session.passes.module.instructions()
    )
    x, u = np.ones((4, 8), np.float32), np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(session(x, u)), np.vstack([x[:2], u * u, x[3:]]))


def test_what_has_control_dependencies_is_not_wrapped() -> None:
    """Inside, it would wait for an instruction of another computation."""
    module = parse_hlo("""HloModule m
ENTRY e { x = f32[8] parameter(0) a = f32[8] negate(x) b = f32[8] exponential(x), control-predecessors={a}
  ROOT t = (f32[8], f32[8]) tuple(a, b) }""")
    journal = Journal()
    assert not make_pass("fusion-wrapper").run(module, PassContext(journal))
    assert [e.reason.code for e in journal.events if e.reason is not None] == [
        "control-dependency"
    ] * 2
