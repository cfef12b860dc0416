"""Edges are accepted unless they close a cycle; every accepted edge holds in the order."""

from __future__ import annotations

import random
import time

import xla_explorer as xe
from tests.support.pace import processor_seconds
from xla_explorer.compiler.transforms.scheduling.growing_order import GrowingOrder
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import order_that_saves_copies
from xla_explorer.hlo.instruction import HloInstruction


def _reaches(
    start: HloInstruction, goal: HloInstruction, edges: list[tuple[HloInstruction, HloInstruction]]
) -> bool:
    seen, stack = {start}, [start]
    while stack:
        i = stack.pop()
        for user in [*i.users, *[b for a, b in edges if a is i]]:
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return goal in seen


def test_edges_are_refused_exactly_when_they_close_a_cycle() -> None:
    for seed in range(20):
        choose = random.Random(seed)
        lines = ["v0 = f32[4] parameter(0)", "v1 = f32[4] parameter(1)"]
        lines += [
            f"v{n} = f32[4] add(v{choose.randrange(n)}, v{choose.randrange(n)})"
            for n in range(2, 24)
        ]
        module = xe.parse_hlo("ENTRY e { " + "\n".join(lines) + "\n ROOT r = f32[4] negate(v23) }")
        order, edges = GrowingOrder(module.entry), list[tuple[HloInstruction, HloInstruction]]()
        everything = list(module.entry.instructions.values())
        for _ in range(60):
            before, after = choose.choice(everything), choose.choice(everything)
            closes = _reaches(after, before, edges)
            assert order.add(before, after) == (not closes)
            if not closes:
                edges.append((before, after))
            assert all(order.place[a] < order.place[b] for a, b in edges)
            assert all(order.place[o] < order.place[i] for i in everything for o in i.operands)


def test_many_updates_in_place_of_one_long_chain_take_no_quadratic_time() -> None:
    count = 3000
    lines = ["x0 = f32[64] parameter(0)", "u = f32[1] parameter(1)", "z = s32[] parameter(2)"]
    for n in range(count):
        lines.append(f"r{n} = f32[64] negate(x{n})")
        lines.append(f"x{n + 1} = f32[64] dynamic-update-slice(x{n}, u, z)")
    read = ", ".join([f"r{n}" for n in range(count)])
    shape = ", ".join(["f32[64]"] * (count + 1))
    module = xe.parse_hlo(
        "ENTRY e { " + "\n".join(lines) + f"\n ROOT t = ({shape}) tuple({read}, x{count}) }}"
    )
    started = time.process_time()
    assert len(order_that_saves_copies(module.entry)) == count
    assert time.process_time() - started < processor_seconds(3), (
        "each pair was asked over the whole computation"
    )
