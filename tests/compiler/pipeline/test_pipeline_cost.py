"""Work of the default pipeline per instruction is constant in module size; it is counted."""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.compiler.pipeline.default_pipelines import code_generation_pipeline
from xla_explorer.compiler.rewriting import RuleSet
from xla_explorer.hlo.text import parse_hlo

OPCODES = ("add", "multiply", "subtract", "maximum")


def chain(count: int) -> str:
    """Each instruction reads the one before and a parameter."""
    lines = ["p0 = f32[64] parameter(0)", "p1 = f32[64] parameter(1)", "v0 = f32[64] add(p0, p1)"]
    lines += [f"v{k} = f32[64] {OPCODES[k % 4]}(v{k - 1}, p{k % 2})" for k in range(1, count)]
    return _entry(lines)


def graph(count: int) -> str:
    """Return a graph whose instructions each read two of the previous forty.

    Some are functions or broadcasts of constants. Instructions without readers are summed up.
    """
    draw, used = random.Random(5), set()
    lines = [
        "p0 = f32[64] parameter(0)",
        "p1 = f32[64] parameter(1)",
        "c = f32[] constant(2)",
        "v0 = f32[64] add(p0, p1)",
    ]
    for k in range(1, count):
        a, b = (f"v{draw.randrange(max(0, k - 40), k)}" for _ in range(2))
        kind = draw.randrange(10)
        used |= {a} if kind < 2 else {a, b}
        if kind == 0:
            lines.append(f"v{k} = f32[64] tanh({a})")
        elif kind == 1:
            lines += [
                f"b{k} = f32[64] broadcast(c), dimensions={{}}",
                f"v{k} = f32[64] multiply({a}, b{k})",
            ]
        else:
            lines.append(f"v{k} = f32[64] {draw.choice(OPCODES)}({a}, {b})")
    results = [f"v{k}" for k in range(count) if f"v{k}" not in used]
    sums = [
        f"w{k} = f32[64] add({f'w{k - 1}' if k else 'p0'}, {result})"
        for k, result in enumerate(results)
    ]
    return _entry([*lines, *sums])


def _entry(lines: list[str]) -> str:
    return "HloModule m\nENTRY e {\n  " + "\n  ".join([*lines[:-1], "ROOT " + lines[-1]]) + "\n}\n"


def lines_run(text: str, journal: str) -> float:
    """Lines of our Python that the pipeline runs, per instruction of the module."""
    module = parse_hlo(text)
    size = module.instruction_count()
    pipeline = code_generation_pipeline("test")
    counted = 0

    def inside(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal counted
        counted += event == "line"
        return inside

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        return inside if "xla_explorer" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        optimize(module, pipeline, journal, in_place=True)
    finally:
        sys.settrace(before)
    return counted / size


@pytest.mark.parametrize("make", [chain, graph])
def test_work_per_instruction_does_not_grow(make: Any) -> None:
    lines_run(make(60), "decisions")  # matchers are compiled, candidates indexed
    small, large = lines_run(make(500), "decisions"), lines_run(make(1500), "decisions")
    assert large <= 1.25 * small, f"{small:.0f} lines an instruction at 500, {large:.0f} at 1500"


@pytest.mark.parametrize("make", [chain, graph])
def test_the_journal_adds_little(make: Any) -> None:
    lines_run(make(60), "decisions")
    off, on = lines_run(make(300), "off"), lines_run(make(300), "decisions")
    assert on <= 1.3 * off, f"{off:.0f} lines an instruction without the journal, {on:.0f} with it"


def test_each_instruction_is_asked_for_rules_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain in which nothing applies: one look an instruction."""
    asked = 0
    original = RuleSet.candidates

    def counting(self: RuleSet, i: Any) -> Any:
        nonlocal asked
        asked += 1
        return original(self, i)

    monkeypatch.setattr(RuleSet, "candidates", counting)
    module = parse_hlo(chain(500))
    trace = optimize(module, "algsimp", "off", in_place=True)
    rewrites = sum([s.rewrites for s in trace.steps])
    assert asked <= 2 * 500 + 20 * rewrites, f"{asked} looks, {rewrites} rewrites"
