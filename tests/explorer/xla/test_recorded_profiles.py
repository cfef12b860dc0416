"""Twelve CPU profiles of JAX (two versions), TensorFlow and torch_xla: read and joined.

Damaged ones are refused with one sentence.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import xla_explorer as xe

PROFILES = Path(__file__).parent / "profiles"
# File, without its ending -> modules, kernels, runs, steps, the line of the longest kernel.
RECORDED = {
    "jax_cpu_attention": (("jit_attention",), 5, 3, 0, "models.py:5"),
    "jax_cpu_train_steps": (("jit_train_step",), 10, 3, 3, "models.py:10"),
    "jax_cpu_loop": (("jit_power_iteration",), 7, 3, 0, "models.py:18"),
    "jax_cpu_branches": (("jit_abs", "jit_negative", "jit_routed"), 8, 12, 0, "models.py:21"),
    "jax_cpu_two_programs": (("jit_attention", "jit_power_iteration"), 12, 6, 0, "models.py:5"),
    "jax_cpu_two_devices": (("jit", "jit"), 5, 6, 0, "models.py:17"),
    "jax_cpu_annotated_steps": (("jit_evaluate", "jit_step"), 8, 8, 4, "models.py:25"),
    "jax_0_6_cpu_attention": (("jit_attention",), 9, 3, 0, "models.py:8"),
    "tensorflow_cpu_softmax": (("a_inference_f_22",), 8, 2, 0, "ops.py:1221"),
    "tensorflow_cpu_train_steps": (("a_inference_train_66",), 10, 3, 3, "ops.py:1221"),
    "torch_xla_cpu_softmax": (("SyncTensorsGraph.23",), 6, 3, 0, "model.py:14"),
    "torch_xla_cpu_train_step": (("SyncTensorsGraph.65",), 7, 3, 0, "model.py:9"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_profile_is_joined_to_instructions_and_lines(name: str) -> None:
    modules, kernels, runs, steps, line = RECORDED[name]
    found = xe.xla.read_profile(PROFILES / f"{name}.xplane.pb.gz")
    assert sorted(
        [name.partition("__")[0] for name in {row.module for row, _ in found.kernel_rows}]
    ) == list(modules)
    assert (len(found.kernel_rows), len(found.runs()), len(found.steps())) == (kernels, runs, steps)
    assert found.joined_share >= 0.98 and found.lines_share >= 0.98
    assert found.kernel_rows[0][0].line.endswith(line)
    busiest = found.module()
    assert (
        found.kernel_rows[0][1] is not None
        and busiest.find(found.kernel_rows[0][1].name).opcode is found.kernel_rows[0][1].opcode
    )


def test_runs_that_a_profile_does_not_number_are_told_by_the_first_instruction() -> None:
    found = xe.xla.read_profile(PROFILES / "jax_0_6_cpu_attention.xplane.pb.gz")
    assert list(found.runs()["kernels"]) == [9, 9, 9] and all(found.kernels()["n"] == 3)
    kernels = found.kernels()
    assert all(kernels["per_run_us"] == kernels["median_us"]), (
        "each runs once in a run; the median over runs, as of executions"
    )
    train = xe.xla.read_profile(PROFILES / "tensorflow_cpu_train_steps.xplane.pb.gz")
    assert len(train.runs()) == 3 and train.runs()["kernels"].sum() == train.kernels()["n"].sum()


def test_steps_hold_the_kernels_that_began_in_them() -> None:
    steps = xe.xla.read_profile(PROFILES / "jax_cpu_train_steps.xplane.pb.gz").steps()
    assert (
        list(steps["step"]) == [0, 1, 2]
        and set(steps["name"]) == {"train"}
        and all(steps["kernels"] == 10)
    )
    assert all(steps["busy_us"] <= steps["wall_us"])


def _others(data: bytes, chance: random.Random) -> bytes:
    raw = bytearray(data)
    for _ in range(chance.choice((1, 3, 20, 200))):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    return bytes(raw)


def _without_a_part(data: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.sample(range(len(data)), 2))
    return data[:first] + data[last:]


def _with_a_part_twice(data: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.sample(range(len(data)), 2))
    return data[:last] + data[first:]


def _with_a_large_number(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + b"\xff" * 8 + b"\x7f" + data[place + 9 :]


def _deep(data: bytes, chance: random.Random) -> bytes:
    """Planes in planes."""
    for _ in range(chance.choice((3, 50))):
        size, length = len(data := data[:60_000]), b""
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        data = b"\x0a" + length + bytes([size]) + data
    return data


def _badly_packed(data: bytes, chance: random.Random) -> bytes:
    packed = bytearray(gzip.compress(data, 1))
    packed[chance.randrange(10, len(packed))] ^= 1 << chance.randrange(8)
    return bytes(packed)


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut off": lambda data, chance: data[: chance.randrange(1, len(data))],
    "bytes that are others": _others,
    "without a part": _without_a_part,
    "with a part twice": _with_a_part_twice,
    "with a large number": _with_a_large_number,
    "deep": _deep,
    "badly packed": _badly_packed,
}


def is_refused_well(path: Path) -> bool:
    """Return True if a profile is refused with one sentence, no folder and no other error."""
    try:
        found = xe.xla.read_profile(path)
        for asked in (
            found.kernels,
            found.by_line,
            found.by_scope,
            found.runs,
            found.steps,
            found.module,
        ):
            asked()
    except xe.xla.ProfileError as problem:
        assert "\n" not in problem.message and len(problem.message) < 300
        assert str(path.parent) not in str(problem) and "Error -" not in problem.message
        return True
    return False


@pytest.mark.parametrize("name", RECORDED)
def test_a_damaged_profile_is_refused_with_one_sentence_or_read(name: str, tmp_path: Path) -> None:
    data, chance = (
        gzip.decompress((PROFILES / f"{name}.xplane.pb.gz").read_bytes()),
        random.Random(name),
    )
    path, refused = tmp_path / "damaged.xplane.pb", 0
    for mutate in MUTATIONS.values():
        path.write_bytes(mutate(data, chance))
        refused += is_refused_well(path)
    assert refused >= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", MUTATIONS)
def test_three_hundred_damaged_profiles_of_a_kind_are_refused_well(
    kind: str, tmp_path: Path
) -> None:
    chance, path = random.Random(kind), tmp_path / "damaged.xplane.pb"
    given = [gzip.decompress(stored.read_bytes()) for stored in sorted(PROFILES.glob("*.gz"))]
    refused = 0
    for _ in range(300):
        path.write_bytes(MUTATIONS[kind](chance.choice(given), chance))
        refused += is_refused_well(path)
    assert refused >= 60
