"""Small texts that stand for huge programs: passes refuse with a Reason, and the compile ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.transforms.fusion import multi_output_fusion
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.hlo.analysis import call_graph_size, coalescing


def doubling_calls(depth: int) -> str:
    lines = ["HloModule d", "c0 {", "  p = f32[4] parameter(0)", "  ROOT r = f32[4] add(p, p)", "}"]
    for k in range(1, depth):
        lines += [
            f"c{k} {{",
            "  p = f32[4] parameter(0)",
            f"  a = f32[4] call(p), to_apply=c{k - 1}",
            f"  ROOT b = f32[4] call(a), to_apply=c{k - 1}",
            "}",
        ]
    return "\n".join(
        [
            *lines,
            "ENTRY e {",
            "  x = f32[4] parameter(0)",
            f"  ROOT r = f32[4] call(x), to_apply=c{depth - 1}",
            "}",
        ]
    )


def doubling_branches(depth: int) -> str:
    lines = ["HloModule d", "c0 {", "  p = f32[4] parameter(0)", "  ROOT r = f32[4] cosine(p)", "}"]
    for k in range(1, depth):
        lines += [
            f"c{k} {{",
            "  p = f32[4] parameter(0)",
            "  z = f32[1] slice(p), slice={[0:1]}",
            "  q = f32[] reshape(z)",
            "  n = f32[4] negate(p)",
            "  i = s32[] convert(q)",
            f"  a = f32[4] conditional(i, p, n), branch_computations={{c{k - 1}, c{k - 1}}}",
            f"  ROOT b = f32[4] conditional(i, a, p), branch_computations={{c{k - 1}, c{k - 1}}}",
            "}",
        ]
    return "\n".join(
        [
            *lines,
            "ENTRY e {",
            "  x = f32[4] parameter(0)",
            f"  ROOT r = f32[4] call(x), to_apply=c{depth - 1}",
            "}",
        ]
    )


def doubling_concatenates(depth: int, root: str = "") -> str:
    lines = [
        f"  a{k} = f32[{2**k}] concatenate(a{k - 1}, a{k - 1}), dimensions={{0}}"
        for k in range(1, depth + 1)
    ]
    cut = f"  ROOT s = f32[4] slice(a{depth}), slice={{[{2 ** (depth - 1) - 2}:{2 ** (depth - 1) + 2}]}}"
    return "\n".join(["HloModule c", "ENTRY e {", "  a0 = f32[1] parameter(0)", *lines, cut, "}"])


def branches(count: int) -> str:
    lines = ["HloModule b"]
    for k in range(count):
        lines += [
            f"b{k} {{",
            f"  p{k} = f32[4] parameter(0)",
            f"  k{k} = f32[] constant({k})",
            f"  w{k} = f32[4] broadcast(k{k}), dimensions={{}}",
            f"  ROOT r{k} = f32[4] add(p{k}, w{k})",
            "}",
        ]
    called = ", ".join([f"b{k}" for k in range(count)])
    lines += [
        "ENTRY e {",
        "  i = s32[] parameter(0)",
        "  x = f32[4] parameter(1)",
        f"  ROOT c = f32[4] conditional(i, {', '.join(['x'] * count)}), branch_computations={{{called}}}",
        "}",
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text", [doubling_calls(40), doubling_branches(40)], ids=["calls", "branches"]
)
@pytest.mark.parametrize("passes", ["default", "none"])
def test_a_call_graph_that_doubles_is_compiled_and_refused_by_name(text: str, passes: str) -> None:
    session = xe.compile(text, passes=passes)
    assert session.module.instruction_count() < 20_000
    rows = session.decisions()
    refused = rows[rows["code"] == "too-many-instructions"]
    assert (
        "call-site-copies" in set(refused["kind"]) and "limit 50,000" in refused["reason"].iloc[0]
    )
    assert {step.reason.code for step in program_steps(session)} == {"too-many-instructions"}
    assert "on the evaluator" in str(session) or "evaluator" in str(program_steps(session))


def test_beyond_the_limit_calls_stay_calls_and_the_values_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(xe.compile(doubling_calls(5))(x), x * 2**16)
    for module in (call_graph_size,):
        monkeypatch.setattr(module, "LEAST_LIMIT", 600)
        monkeypatch.setattr(module, "MOST_GROWTH", 1)
    for text in (doubling_calls(12), doubling_branches(9)):
        session = xe.compile(text)
        assert {step.runs_on for step in program_steps(session)} == {"evaluator"}
        np.testing.assert_array_equal(session(x * 0), xe.evaluate(text, x * 0))
    small = xe.compile(doubling_calls(7))
    assert {step.runs_on for step in program_steps(small)} == {"kernel"}
    np.testing.assert_array_equal(small(x), x * 2**64)


def test_no_aot_file_is_made_of_it() -> None:
    with pytest.raises(xe.XlaExplorerError, match="several callers"):
        xe.aot(doubling_calls(40))


@pytest.mark.parametrize("depth", [9, 14])
def test_concatenates_of_themselves_stop_joining(depth: int) -> None:
    text = doubling_concatenates(depth)
    session = xe.compile(text)
    assert max(len(i.operands) for i in session.module.instructions()) <= 128
    np.testing.assert_array_equal(session(np.array([3], np.float32)), np.full(4, 3, np.float32))


def test_why_concatenates_stop_joining_is_recorded() -> None:
    text = "\n".join(
        [*doubling_concatenates(12).splitlines()[:-2], "  ROOT t = f32[4096] negate(a12)", "}"]
    )
    session = xe.compile(text)
    rows = session.decisions("rule")
    assert (rows["code"] == "too-many-operands").any()
    np.testing.assert_array_equal(session(np.array([3], np.float32)), np.full(4096, -3, np.float32))


def test_a_long_list_of_different_operands_is_joined_as_ever() -> None:
    names = [f"x{k}" for k in range(300)]
    text = "\n".join(
        [
            "HloModule m",
            "ENTRY e {",
            *[f"  {n} = f32[1] parameter({k})" for k, n in enumerate(names)],
            f"  a = f32[150] concatenate({', '.join(names[:150])}), dimensions={{0}}",
            f"  b = f32[150] concatenate({', '.join(names[150:])}), dimensions={{0}}",
            "  ROOT r = f32[300] concatenate(a, b), dimensions={0}",
            "}",
        ]
    )
    assert len(xe.optimize(xe.parse_hlo(text), "algsimp").module.entry.root.operands) == 300


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    calls = [0]
    real: Callable[..., Any] = getattr(owner, name)

    def counting(*arguments: Any) -> Any:
        calls[0] += 1
        return real(*arguments)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_work_on_a_conditional_grows_with_its_branches_and_not_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = counted(monkeypatch, coalescing, "interfere")
    bodies = counted(monkeypatch, multi_output_fusion, "Counter")
    found = []
    for count in (100, 400):
        pairs[0] = bodies[0] = 0
        session = xe.compile(branches(count))
        found.append(pairs[0])
        assert bodies[0] == 1
    assert found[1] <= 6 * max(found[0], 100), "four times as many branches"
    np.testing.assert_array_equal(
        session(np.int32(399), np.zeros(4, np.float32)), np.full(4, 399, np.float32)
    )


def mirrored(rounds: int) -> str:
    """Return a fusion of rounds of x + reverse(x), each of which reads twice as many places."""
    lines = ["HloModule r", "f {", "  x0 = f32[8] parameter(0)"]
    for k in range(rounds):
        lines += [
            f"  y{k} = f32[8] reverse(x{k}), dimensions={{0}}",
            f"  {'ROOT ' if k == rounds - 1 else ''}x{k + 1} = f32[8] add(x{k}, y{k})",
        ]
    return "\n".join(
        [
            *lines,
            "}",
            "ENTRY e {",
            "  a = f32[8] parameter(0)",
            "  ROOT o = f32[8] fusion(a), kind=kLoop, calls=f",
            "}",
        ]
    )


@pytest.mark.parametrize("passes", ["default", "none"])
def test_a_fusion_whose_code_doubles_in_each_round_is_no_kernel(passes: str) -> None:
    x = np.arange(8, dtype=np.float32)
    session = xe.compile(mirrored(40), passes=passes, cache=False)
    np.testing.assert_array_equal(session(x), np.full(8, 7 * 2.0**39, np.float32))
    if passes == "none":
        [step] = program_steps(session)
        assert step.runs_on == "evaluator" and step.reason.code == "too-many-instructions"
    else:  # dissolved, and fused again into kernels that are small enough
        assert {step.runs_on for step in program_steps(session)} == {"kernel"}
    small = xe.compile(mirrored(8), passes=passes, cache=False)
    assert [step.runs_on for step in program_steps(small)] == ["kernel"]
    np.testing.assert_array_equal(small(x), np.full(8, 7 * 2.0**7, np.float32))


def test_shared_places_are_written_once() -> None:
    """Sixty rounds of x + broadcast(scalar) and of equal slices grow in proportion to the text."""
    lines = ["HloModule s", "f {", "  x0 = f32[8] parameter(0)", "  c = f32[] parameter(1)"]
    for k in range(60):
        lines += [
            f"  b{k} = f32[8] broadcast(c), dimensions={{}}",
            f"  m{k} = f32[8] reverse(x0), dimensions={{0}}",
            f"  t{k} = f32[8] add(m{k}, b{k})",
            f"  {'ROOT ' if k == 59 else ''}x{k + 1} = f32[8] add(x{k}, t{k})",
        ]
    text = "\n".join(
        [
            *lines,
            "}",
            "ENTRY e {",
            "  a = f32[8] parameter(0)",
            "  z = f32[] parameter(1)",
            "  ROOT o = f32[8] fusion(a, z), kind=kLoop, calls=f",
            "}",
        ]
    )
    session = xe.compile(text, passes="none", cache=False)
    assert [step.runs_on for step in program_steps(session)] == ["kernel"]
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(session(x, np.float32(1)), x + 60 * (x[::-1] + 1))
