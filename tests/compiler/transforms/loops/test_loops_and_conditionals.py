"""Trip counts, loops of zero or one iteration, unused state, constant conditionals."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import PassContext, PassTrace, make_pass, optimize
from xla_explorer.compiler.transforms.loops.induction import InductionVariable, find_induction
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo


def loop(
    first: int = 0,
    limit: int = 5,
    step: int = 1,
    direction: str = "LT",
    result: str = "ROOT r = f32[] get-tuple-element(w), index=1",
) -> str:
    """state: counter, accumulator, an invariant scale, a value without readers."""
    return f"""HloModule m
condition {{
  p = (s32[], f32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({limit})
  ROOT c = pred[] compare(i, n), direction={direction}
}}
body {{
  p = (s32[], f32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[] get-tuple-element(p), index=1
  k = f32[] get-tuple-element(p), index=2
  u = f32[] get-tuple-element(p), index=3
  s = s32[] constant({step})
  j = s32[] add(i, s)
  b = f32[] multiply(a, k)
  v = f32[] add(u, a)
  ROOT t = (s32[], f32[], f32[], f32[]) tuple(j, b, k, v)
}}
ENTRY e {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = s32[] constant({first})
  start = (s32[], f32[], f32[], f32[]) tuple(z, x, y, x)
  w = (s32[], f32[], f32[], f32[]) while(start), condition=condition, body=body
  {result}
}}
"""


def simplified(text: str, passes: str = "simplify-while-loops,tuple-simplifier,dce") -> PassTrace:
    """Run until nothing changes, verify, and check that the value stays."""
    module = parse_hlo(text)
    trace = optimize(module, f"fixed{{{passes}}}*", verify=True)
    arrays = [np.float32(1.5), np.float32(1.25)][: len(module.parameter_shapes())]
    for a, b in zip(
        flatten_value(evaluate(module, *arrays)),
        flatten_value(evaluate(trace.module, *arrays)),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    return trace


def opcodes(module: HloModule) -> list[str]:
    return [i.opcode.name for i in module.entry.post_order()]


@pytest.mark.parametrize(
    ("first", "limit", "step", "direction", "count"),
    [
        (0, 5, 1, "LT", 5),
        (0, 5, 2, "LT", 3),
        (0, 5, 1, "LE", 6),
        (9, 0, -2, "GT", 5),
        (9, 0, -3, "GE", 4),
        (0, 6, 2, "NE", 3),
        (7, 5, 1, "LT", 0),
    ],
)
def test_trip_counts(first: int, limit: int, step: int, direction: str, count: int) -> None:
    found = find_induction(parse_hlo(loop(first, limit, step, direction)).find("w"))
    assert isinstance(found, InductionVariable) and found.trip_count == count


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (loop(0, 5, -1), "direction-unknown"),
        (loop(0, 5, 2, "NE"), "direction-unknown"),
        (loop(0, 2147483647, 2), "wraps-around"),
        (loop().replace("z = s32[] constant(0)", "z = s32[] convert(x)"), "start-not-constant"),
    ],
)
def test_unknown_trip_counts_say_why(text: str, code: str) -> None:
    found = find_induction(parse_hlo(text).find("w"))
    assert isinstance(found, Reason) and found.code == code


def test_a_loop_that_never_runs_is_its_initial_value() -> None:
    assert opcodes(simplified(loop(5, 5)).module) == ["parameter", "parameter"]


def test_a_loop_that_runs_once_is_its_body() -> None:
    trace = simplified(loop(0, 1))
    assert "while" not in opcodes(trace.module) and "multiply" in opcodes(trace.module)


def test_unused_state_goes() -> None:
    trace = simplified(loop())
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert len(made.shape.tuple_shapes) == 3
    assert trace.module.computations["body"].parameters()[0].shape is made.shape


def test_state_that_never_changes_is_read_before_the_loop() -> None:
    trace = simplified(
        loop(result="k = f32[] get-tuple-element(w), index=2\nROOT r = f32[] negate(k)")
    )
    assert trace.module.entry.root.operands[0].name == "y"


def test_a_loop_that_is_the_result_keeps_its_shape() -> None:
    text = loop(result="").replace("  w =", "  ROOT w =")
    trace = simplified(text)
    assert trace.module.result_shape() is parse_hlo(text).result_shape()


def test_trip_counts_are_annotated_once() -> None:
    trace = optimize(
        parse_hlo(loop()),
        "while-loop-trip-count-annotator,while-loop-trip-count-annotator",
        verify=True,
    )
    assert '"known_trip_count":{"n":"5"}' in trace.module.find("w").attributes["backend_config"]
    assert [s.changed for s in trace.steps] == [True, False]


@pytest.mark.parametrize(
    ("selector", "opcode"),
    [
        ("pred[] constant(true)", "negate"),
        ("pred[] constant(false)", "abs"),
        ("s32[] constant(0)", "negate"),
        ("s32[] constant(7)", "abs"),
    ],
)
def test_a_known_branch_is_inlined(selector: str, opcode: str) -> None:
    branches = (
        "branch_computations={f, g}"
        if selector.startswith("s32")
        else "true_computation=f, false_computation=g"
    )
    trace = simplified(
        "HloModule m\nf {\n a = f32[] parameter(0)\n ROOT n = f32[] negate(a)\n}\ng {\n a = f32[] parameter(0)\n"
        f" ROOT n = f32[] abs(a)\n}}\nENTRY e {{\n x = f32[] parameter(0)\n c = {selector}\n"
        f" ROOT r = f32[] conditional(c, x, x), {branches}\n}}\n",
        "simplify-conditional,dce",
    )
    assert opcodes(trace.module) == ["parameter", opcode] and list(trace.module.computations) == [
        "e"
    ]


def test_constants_of_the_state_are_read_in_the_loop() -> None:
    text = (
        loop()
        .replace("tuple(z, x, y, x)", "tuple(z, x, two, x)")
        .replace("  z = s32[]", "  two = f32[] constant(2)\n  z = s32[]")
    )
    trace = simplified(text)
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert len(made.shape.tuple_shapes) == 2


@pytest.mark.parametrize("selector", ["pred[]", "s32[]"])
def test_cheap_branches_become_a_select(selector: str) -> None:
    branches = (
        "branch_computations={f, g}"
        if selector.startswith("s32")
        else "true_computation=f, false_computation=g"
    )
    module = parse_hlo(
        "HloModule m\nf {\n a = (f32[], f32[2]) parameter(0)\n ROOT b = f32[2] get-tuple-element(a), index=1\n}\n"
        "g {\n a = f32[] parameter(0)\n n = f32[] negate(a)\n ROOT b = f32[2] broadcast(n), dimensions={}\n}\n"
        f"ENTRY e {{\n x = f32[] parameter(0)\n y = f32[2] parameter(1)\n c = {selector} parameter(2)\n"
        " t = (f32[], f32[2]) tuple(x, y)\n"
        f" ROOT r = f32[2] conditional(c, t, x), {branches}\n}}\n"
    )
    trace = optimize(module, "simplify-conditional,tuple-simplifier,dce", verify=True)
    assert trace.module.entry.root.opcode.name == "select" and list(trace.module.computations) == [
        "e"
    ]
    for value in (0, 1):
        arrays = [
            np.float32(3),
            np.float32([4, 5]),
            np.array(value).astype(module.parameter_shapes()[2].element_type.dtype),
        ]
        np.testing.assert_array_equal(evaluate(module, *arrays), evaluate(trace.module, *arrays))


def branching(first: str, second: str, result: str, read: str) -> HloModule:
    """Return a module whose conditional has two branches of (f32[2], f32[2], f32[2]).

    `read` ends the entry, where %r is the conditional, of the shape `result`.

    `read` is in the entry, where %r is the conditional.
    """
    head = " p = (f32[2], f32[2], f32[2]) parameter(0)\n" + "".join(
        f" {n} = f32[2] get-tuple-element(p), index={k}\n" for k, n in enumerate("abc")
    )
    return parse_hlo(
        f"HloModule m\nf {{\n{head}{first}}}\ng {{\n{head}{second}}}\n"
        "ENTRY e {\n x = f32[2] parameter(0)\n y = f32[2] parameter(1)\n z = f32[2] parameter(2)\n c = pred[] parameter(3)\n"
        f" t = (f32[2], f32[2], f32[2]) tuple(x, y, z)\n r = {result} conditional(c, t, t), true_computation=f, false_computation=g\n{read}}}\n"
    )


def after_simplifying(module: HloModule) -> HloInstruction | None:
    """Return the remaining conditional, after a check that values are kept."""
    trace = optimize(
        module, ",".join(["simplify-conditional,tuple-simplifier,dce"] * 2), verify=True
    )
    for choice in (True, False):
        arrays = [np.float32([k, k + 0.5]) for k in range(1, 4)]
        results = [
            flatten_value(evaluate(m, *arrays, np.bool_(choice))) for m in (module, trace.module)
        ]
        for wanted, got in zip(*results, strict=True):
            np.testing.assert_array_equal(wanted, got)
    assert not optimize(trace.module, "simplify-conditional").changed
    return next((i for i in trace.module.instructions() if i.opcode.name == "conditional"), None)


EXPENSIVE = " u = f32[2] exponential(a)\n v = f32[2] exponential(b)\n"


def test_results_that_nobody_reads_are_not_given() -> None:
    root = " ROOT t = (f32[2], f32[2], f32[2]) tuple(u, v, b)\n"
    read = " ROOT s = f32[2] get-tuple-element(r), index=1\n"
    found = after_simplifying(
        branching(
            EXPENSIVE + root,
            EXPENSIVE + root.replace("v, b", "u, b"),
            "(f32[2], f32[2], f32[2])",
            read,
        )
    )
    assert found is not None and found.shape.text_without_layout == "(f32[2])"
    # The first branch reads y alone now, the second x alone.
    assert [o.shape.text_without_layout for o in found.operands[1:]] == ["(f32[2])", "(f32[2])"]
    assert [opcodes_of(branch).count("exponential") for branch in found.called] == [1, 1]


def opcodes_of(branch: HloComputation) -> list[str]:
    return [i.opcode.name for i in branch.instructions.values()]


def test_results_that_are_equal_are_read_once() -> None:
    root = " ROOT t = (f32[2], f32[2]) tuple(u, u)\n"
    read = " d = f32[2] get-tuple-element(r), index=0\n h = f32[2] get-tuple-element(r), index=1\n ROOT s = f32[2] add(d, h)\n"
    found = after_simplifying(
        branching(
            EXPENSIVE + root, EXPENSIVE + root.replace("u, u", "v, v"), "(f32[2], f32[2])", read
        )
    )
    assert found is not None and len(found.shape.tuple_shapes) == 1
    different = after_simplifying(
        branching(
            EXPENSIVE + root, EXPENSIVE + root.replace("u, u", "u, v"), "(f32[2], f32[2])", read
        )
    )
    assert different is not None and len(different.shape.tuple_shapes) == 2


def test_a_branch_that_others_call_too_is_theirs() -> None:
    root = " ROOT t = (f32[2], f32[2]) tuple(u, v)\n"
    read = (" d = f32[2] get-tuple-element(r), index=0\n o = (f32[2], f32[2]) call(t), to_apply=f\n"
            " ROOT s = (f32[2], (f32[2], f32[2])) tuple(d, o)\n")  # fmt: skip
    found = after_simplifying(
        branching(EXPENSIVE + root, EXPENSIVE + root, "(f32[2], f32[2])", read)
    )
    assert found is not None and len(found.shape.tuple_shapes) == 1


def test_small_arrays_are_selected_and_large_ones_are_not() -> None:
    small = branching(
        " ROOT u = f32[2] negate(a)\n",
        " ROOT u = f32[2] add(b, c)\n",
        "f32[2]",
        " ROOT s = f32[2] abs(r)\n",
    )
    assert after_simplifying(small) is None
    large = parse_hlo(small.to_text().replace("[2]", "[2000]"))
    trace = optimize(large, "simplify-conditional")
    assert trace.journal is not None and any(
        e.reason is not None and e.reason.code == "branch-not-cheap" for e in trace.journal.events
    )
    assert any(i.opcode.name == "conditional" for i in trace.module.instructions())
    assert "conditional" not in opcodes(
        optimize(large, "simplify-conditional{select_all=true}").module
    ), "XLA's choice"


def test_a_branch_worth_skipping_stays() -> None:
    module = parse_hlo(
        "HloModule m\nf {\n a = f32[] parameter(0)\n ROOT b = f32[] exponential(a)\n}\ng {\n"
        " ROOT a = f32[] parameter(0)\n}\n"
        "ENTRY e {\n x = f32[] parameter(0)\n c = pred[] parameter(1)\n"
        " ROOT r = f32[] conditional(c, x, x), true_computation=f, false_computation=g\n}\n"
    )
    trace = optimize(module, "simplify-conditional")
    assert trace.journal is not None and not trace.changed
    assert (
        trace.journal.events[-1].reason is not None
        and trace.journal.events[-1].reason.code == "branch-not-cheap"
    )


def test_invariant_work_moves_in_front_of_the_loop() -> None:
    text = loop().replace(
        "b = f32[] multiply(a, k)",
        "e = f32[] exponential(k)\n  h = f32[] add(e, k)\n  b = f32[] multiply(a, h)",
    )
    trace = simplified(
        text, "while-loop-invariant-code-motion,simplify-while-loops,tuple-simplifier,dce"
    )
    assert "exponential" in opcodes(trace.module)
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert [i.opcode.name for i in made.called[1].instructions.values()].count("exponential") == 0
    assert len(made.shape.tuple_shapes) == 3
    assert not optimize(trace.module, "while-loop-invariant-code-motion").changed


def test_a_value_that_grows_stays_in_the_loop() -> None:
    text = loop().replace(
        "b = f32[] multiply(a, k)",
        "kk = f32[1] reshape(k)\n  zero = f32[] constant(0)\n  e = f32[100] pad(kk, zero), padding=0_99\n"
        "  f = f32[1] slice(e), slice={[0:1]}\n  g = f32[] reshape(f)\n  b = f32[] multiply(a, g)",
    )
    trace = simplified(text, "while-loop-invariant-code-motion{hoist_size_inflation_ratio=1}")
    assert trace.journal is not None and not trace.changed
    assert {e.reason.code for e in trace.journal.events if e.reason} == {
        "value-grows",
        "carried-with-others",
    }
    assert simplified(text, "while-loop-invariant-code-motion").changed


def test_what_is_made_of_a_broadcast_counts_against_what_was_broadcast() -> None:
    text = state_loop(
        "n = s32[] constant(0)\n  xs = f32[64] broadcast(x), dimensions={}\n  start = (s32[], f32[64], f32[64]) tuple(n, xs, xs)",
        "(s32[], f32[64], f32[64])",
        "i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  a = f32[64] get-tuple-element(p), index=1\n  b = f32[64] get-tuple-element(p), index=2\n  h = f32[] constant(0.5)\n"
        "  halves = f32[64] broadcast(h), dimensions={}\n  scaled = f32[64] multiply(a, halves)\n  wide = f32[64,64] broadcast(a), dimensions={1}\n"
        "  powers = f32[64,64] exponential(wide)\n  row = f32[1,64] slice(powers), slice={[0:1], [0:64]}\n  flat = f32[64] reshape(row)\n"
        "  s = f32[64] add(scaled, flat)\n  t = f32[64] multiply(b, s)\n  ROOT r = (s32[], f32[64], f32[64]) tuple(j, a, t)",
        "i = s32[] get-tuple-element(p), index=0\n  k = s32[] constant(5)\n  ROOT c = pred[] compare(i, k), direction=LT",
        "ROOT r = f32[64] get-tuple-element(w), index=2",
    )
    given = "while-loop-invariant-code-motion{hoist_size_inflation_ratio=1"
    kept, moved = (
        optimize(parse_hlo(text), f"{given}}}"),
        optimize(parse_hlo(text), f"{given},look_through_cheap=true}}"),
    )
    assert moved.journal is not None and not kept.changed
    verdicts = {
        e.names[0]: e.reason.code if e.reason else ""
        for e in moved.journal.events
        if e.by == "loop-hoisting" and e.names
    }
    assert verdicts["halves"] == verdicts["wide"] == "carried-with-others"
    assert verdicts["scaled"] == "" and verdicts["powers"] == "value-grows", verdicts
    assert np.array_equal(evaluate(parse_hlo(text), 1.0, 2.0), evaluate(moved.module, 1.0, 2.0))


def test_a_hoisted_value_leaves_the_trip_count() -> None:
    text = loop().replace(
        "b = f32[] multiply(a, k)", "e = f32[] exponential(k)\n  b = f32[] multiply(a, e)"
    )
    trace = optimize(
        parse_hlo(text),
        "while-loop-trip-count-annotator,while-loop-invariant-code-motion",
        verify=True,
    )
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert trace.steps[-1].changed and "known_trip_count" in made.attributes["backend_config"]


def state_loop(start: str, state: str, body: str, condition: str, result: str) -> str:
    """Return a loop over a written-out state, `p` in condition and body; `w` is its result."""
    return f"""HloModule m
condition {{
  p = {state} parameter(0)
  {condition}
}}
body {{
  p = {state} parameter(0)
  {body}
}}
ENTRY e {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  {start}
  w = {state} while(start), condition=condition, body=body
  {result}
}}
"""


def test_elements_that_hold_one_value_become_one() -> None:
    text = state_loop(
        "n = s32[] constant(0)\n  start = (s32[], f32[], f32[], f32[]) tuple(n, x, y, x)",
        "(s32[], f32[], f32[], f32[])",
        "i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  a = f32[] get-tuple-element(p), index=1\n  b = f32[] get-tuple-element(p), index=2\n  c = f32[] get-tuple-element(p), index=3\n"
        "  d = f32[] multiply(a, c)\n  s = f32[] add(b, d)\n  ROOT r = (s32[], f32[], f32[], f32[]) tuple(j, a, s, c)",
        "i = s32[] get-tuple-element(p), index=0\n  k = s32[] constant(5)\n  ROOT c = pred[] compare(i, k), direction=LT",
        "ROOT r = f32[] get-tuple-element(w), index=2",
    )
    trace = simplified(text)
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert len(made.shape.tuple_shapes) == 3


def test_tuples_within_the_state_are_taken_apart() -> None:
    text = state_loop(
        "n = s32[] constant(0)\n  xy = (f32[], f32[]) tuple(x, y)\n  start = (s32[], (f32[], f32[])) tuple(n, xy)",
        "(s32[], (f32[], f32[]))",
        "i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  t = (f32[], f32[]) get-tuple-element(p), index=1\n  a = f32[] get-tuple-element(t), index=0\n"
        "  b = f32[] get-tuple-element(t), index=1\n  u = (f32[], f32[]) tuple(b, a)\n"
        "  ROOT r = (s32[], (f32[], f32[])) tuple(j, u)",
        "i = s32[] get-tuple-element(p), index=0\n  k = s32[] constant(5)\n  ROOT c = pred[] compare(i, k), direction=LT",
        "ROOT r = (f32[], f32[]) get-tuple-element(w), index=1",
    )
    trace = simplified(text)
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert made.shape.text == "(s32[], f32[], f32[])"


def test_what_counts_along_is_computed_from_the_counter() -> None:
    text = state_loop(
        "n = s32[] constant(0)\n  m = s32[] constant(7)\n  start = (s32[], s32[], f32[]) tuple(n, m, x)",
        "(s32[], s32[], f32[])",
        "i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  h = s32[] get-tuple-element(p), index=1\n  three = s32[] constant(-3)\n  g = s32[] add(three, h)\n"
        "  v = f32[] get-tuple-element(p), index=2\n  f = f32[] convert(h)\n  s = f32[] add(v, f)\n"
        "  ROOT r = (s32[], s32[], f32[]) tuple(j, g, s)",
        "i = s32[] get-tuple-element(p), index=0\n  k = s32[] constant(5)\n  ROOT c = pred[] compare(i, k), direction=LT",
        "v = f32[] get-tuple-element(w), index=2\n  h = s32[] get-tuple-element(w), index=1\n  ROOT r = (f32[], s32[]) tuple(v, h)",
    )
    trace = simplified(text)
    [made] = [i for i in trace.module.instructions() if i.opcode.name == "while"]
    assert made.shape.text == "(s32[], f32[])"
    kept = simplified(
        text, "simplify-while-loops{merge_induction_variables=false},tuple-simplifier,dce"
    )
    assert (
        next(i for i in kept.module.instructions() if i.opcode.name == "while").shape.text
        == "(s32[], s32[], f32[])"
    )


def test_a_loop_with_side_effects_is_not_run_twice() -> None:
    effect = 'x = f32[] custom-call(a), custom_call_target="t", custom_call_has_side_effect=true\n  v = f32[] add(u, a)'
    text = loop().replace("v = f32[] add(u, a)", effect).replace("multiply(a, k)", "multiply(a, e)")
    text = text.replace("  j = s32[] add", "  e = f32[] exponential(k)\n  j = s32[] add")
    for passes in ("while-loop-invariant-code-motion", "simplify-while-loops"):
        trace = optimize(parse_hlo(text), passes, verify=True)
        assert trace.changed and opcodes(trace.module).count("while") == 1


def test_a_loop_that_may_not_end_stays_in_the_loop_that_may_not_run() -> None:
    """A possibly infinite loop stays inside a loop that may not run.

    A negative bound is never reached from below; the outer loop does not run then.
    """
    text = """HloModule m
inner_body {
  p = (s32[], s32[]) parameter(0)
  k = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  l = s32[] add(k, one)
  ROOT t = (s32[], s32[]) tuple(l, n)
}
inner_condition {
  p = (s32[], s32[]) parameter(0)
  k = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(k, n), direction=NE
}
body {
  p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  n = s32[] get-tuple-element(p), index=1
  z = s32[] constant(0)
  t = (s32[], s32[]) tuple(z, n)
  w = (s32[], s32[]) while(t), condition=inner_condition, body=inner_body
  g = s32[] get-tuple-element(w), index=0
  a = s32[] get-tuple-element(p), index=2
  b = s32[] add(a, g)
  ROOT r = (s32[], s32[], s32[]) tuple(j, n, b)
}
condition {
  p = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  n = s32[] parameter(0)
  z = s32[] constant(0)
  t = (s32[], s32[], s32[]) tuple(z, n, z)
  ROOT w = (s32[], s32[], s32[]) while(t), condition=condition, body=body
}"""
    trace = optimize(parse_hlo(text), "while-loop-invariant-code-motion", verify=True)
    assert [
        i.called[0].name
        for i in trace.module.entry.instructions.values()
        if i.opcode.name == "while"
    ] == ["condition"]
    assert evaluate(trace.module, np.int32(-5))[2] == 0
    known = text.replace("n = s32[] parameter(0)", "n = s32[] constant(3)")
    assert (
        evaluate(
            optimize(parse_hlo(known), "while-loop-invariant-code-motion", verify=True).module
        )[2]
        == 9
    )


def test_a_conditional_that_only_an_earlier_one_was_given_goes_with_what_it_does_not_read() -> None:
    def branch(name: str, parameter: str, function: str) -> str:
        return (
            f"{name} {{\n  p = ({parameter}) parameter(0)\n  x = f32[3] get-tuple-element(p), index=0\n"
            f"  n = f32[3] {function}(x)\n  ROOT t = (f32[3]) tuple(n)\n}}\n"
        )

    module = parse_hlo(
        "HloModule m\n"
        + branch("same", "f32[3]", "copy")
        + branch("other", "f32[3]", "negate")
        + branch("first", "f32[3], f32[3]", "copy")
        + branch("second", "f32[3], f32[3]", "exponential")
        + """ENTRY e {
  s = pred[] parameter(0)
  x = f32[3] parameter(1)
  no = pred[] constant(false)
  i = (f32[3]) tuple(x)
  inner = (f32[3]) conditional(no, i, i), true_computation=same, false_computation=other
  y = f32[3] get-tuple-element(inner), index=0
  o = (f32[3], f32[3]) tuple(x, y)
  outer = (f32[3]) conditional(s, o, o), true_computation=first, false_computation=second
  ROOT r = f32[3] get-tuple-element(outer), index=0
}"""
    )
    instructions = module.entry.instructions
    inner = next(i for i in instructions.values() if i.name == "inner")
    instructions[inner.id] = instructions.pop(
        inner.id
    )  # as passes leave it that make an instruction anew: behind its readers
    assert make_pass("simplify-conditional").run(module, PassContext())
    assert [i.name for i in instructions.values() if i.opcode.name == "conditional"] == ["outer"]
