"""Properties of the partitioner on random programs, meshes and shardings; padding is poisoned."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.sharded_programs import COUNTS, Program
from tests.support.sharded_runs import compare, partitioned
from xla_explorer.hlo.module import HloModule


def _program(seed: int) -> tuple[str, int, list[object]]:
    rng = random.Random(seed)
    count = rng.choice(COUNTS)
    text, arguments = Program(seed).build(rng.randint(1, 6), count)
    return text, count, list(arguments)


@pytest.mark.parametrize("policy", ["cost", "xla"])
def test_the_devices_together_compute_the_whole_program(policy: str) -> None:
    for seed in range(25):
        text, count, arguments = _program(seed)
        compare(text, count, arguments, policy)  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("policy", ["cost", "xla"])
@pytest.mark.parametrize("first", range(100, 600, 50))
def test_so_do_many_programs(first: int, policy: str) -> None:
    for seed in range(first, first + 50):
        text, count, arguments = _program(seed)
        compare(text, count, arguments, policy)  # type: ignore[arg-type]


@pytest.mark.long
def test_the_order_of_devices_changes_no_value() -> None:
    for seed in range(600, 640):
        text, count, arguments = _program(seed)
        order = random.Random(seed).sample(range(count), count)
        moved = text.replace(f"<=[{count}]", ",".join(map(str, order)))
        compare(moved, count, arguments)  # type: ignore[arg-type]


def test_a_partitioned_program_stays_the_same() -> None:
    """Without shardings and with every value manual there is nothing to split."""
    for seed in range(10):
        text, count, _ = _program(seed)
        module = partitioned(text, count)
        for i in module.instructions():
            attributes = i.attributes.with_values(sharding="{manual}")
            i.parent.set_attributes(i, attributes)
        again = partitioned(str(module), count)
        kinds = [_kinds(one) for one in (module, again)]
        assert kinds[0] == kinds[1]


def _kinds(module: HloModule) -> Counter[str]:
    """Return the opcodes; constants may be written more than once."""
    return Counter([i.opcode.name for i in module.instructions() if i.opcode.name != "constant"])
