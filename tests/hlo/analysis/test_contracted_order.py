"""Kernels that may become one, compared with a search of the whole graph."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.hlo.analysis.contracted_order import ContractedOrder
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text.parser import parse_hlo


def random_graph(seed: int, size: int = 40) -> list[HloInstruction]:
    generator = np.random.default_rng(seed)
    lines = ["v0 = f32[4] parameter(0)"]
    for k in range(1, size):
        a, b = generator.integers(0, k, 2)
        lines.append(f"v{k} = f32[4] add(v{a}, v{b})")
    shapes = ", ".join(["f32[4]"] * size)
    text = "\n  ".join(
        [*lines, f"ROOT t = ({shapes}) tuple({', '.join([f'v{k}' for k in range(size)])})"]
    )
    return parse_hlo(f"HloModule m\nENTRY e {{\n  {text}\n}}\n").entry.post_order()[:-1]


def has_way(part: dict[HloInstruction, int], a: int, b: int) -> bool:
    """Return True if a path leads from part `a` to part `b` through another part."""
    members: dict[int, list[HloInstruction]] = {}
    for i, number in part.items():
        members.setdefault(number, []).append(i)
    seen: set[int] = set()
    stack = [part[u] for m in members[a] for u in m.users if u in part and part[u] not in (a, b)]
    while stack:
        here = stack.pop()
        if here in seen:
            continue
        seen.add(here)
        for m in members[here]:
            for u in m.users:
                if u in part:
                    if part[u] == b:
                        return True
                    stack.append(part[u])
    return False


@pytest.mark.parametrize("seed", range(8))
def test_like_a_search_of_the_whole_graph(seed: int) -> None:
    instructions = random_graph(seed)
    order = ContractedOrder(instructions[0].parent)
    part = {i: number for number, i in enumerate(instructions)}
    generator = np.random.default_rng(seed)
    joined = 0
    for _ in range(400):
        a, b = (instructions[int(k)] for k in generator.integers(0, len(instructions), 2))
        if part[a] == part[b]:
            continue
        expected = has_way(part, part[a], part[b]) or has_way(part, part[b], part[a])
        refusal = order.why_not_join(a, b)
        assert (refusal is not None) == expected, refusal
        if refusal is None and generator.integers(0, 3) == 0:
            order.join(a, b)
            old, joined = part[a], joined + 1
            for i, number in part.items():
                if number == old:
                    part[i] = part[b]
    assert joined > 3


def test_a_join_far_apart_is_remembered() -> None:
    """A join of distant nodes is kept for later orders.

    b1 and b2 become one; then a1 stands before it through b1 and a2 behind it through b2, whatever
    their places.
    """
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  b2 = f32[4] sine(x)
  a2 = f32[4] negate(b2)
  a1 = f32[4] cosine(x)
  c1 = f32[4] abs(a1)
  b1 = f32[4] tanh(c1)
  ROOT t = (f32[4], f32[4], f32[4]) tuple(a2, b1, a1)
}"""
    named = {i.name: i for i in parse_hlo(text).entry.post_order()}
    order = ContractedOrder(named["x"].parent)
    assert order.why_not_join(named["a1"], named["a2"]) is None
    order.join(named["b2"], named["b1"])
    refusal = order.why_not_join(named["a2"], named["a1"])
    assert refusal is not None and refusal.code == "would-create-cycle"
