"""Twelve profiles that JAX (two versions), TensorFlow and torch_xla recorded on a CPU: read, joined, and refused with one sentence where they are damaged."""

from __future__ import annotations

import gzip
import random
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
    assert sorted([name.partition("__")[0] for name in {row["module"] for row, _ in found.kernel_rows}]) == list(modules)
    assert (len(found.kernel_rows), len(found.runs()), len(found.steps())) == (kernels, runs, steps)
    assert found.joined_share >= 0.98 and found.lines_share >= 0.98
    assert found.kernel_rows[0][0]["line"].endswith(line)
    busiest = found.module()
    assert found.kernel_rows[0][1] is not None and busiest.find(found.kernel_rows[0][1].name).opcode is found.kernel_rows[0][1].opcode


def test_runs_that_a_profile_does_not_number_are_told_by_the_first_instruction() -> None:
    found = xe.xla.read_profile(PROFILES / "jax_0_6_cpu_attention.xplane.pb.gz")
    assert list(found.runs()["kernels"]) == [9, 9, 9] and all(found.kernels()["n"] == 3)
    kernels = found.kernels()
    assert all(abs(3 * kernels["per_run_us"] - kernels["total_us"]) < 1e-6)
    train = xe.xla.read_profile(PROFILES / "tensorflow_cpu_train_steps.xplane.pb.gz")
    assert len(train.runs()) == 3 and train.runs()["kernels"].sum() == train.kernels()["n"].sum()


def test_steps_hold_the_kernels_that_began_in_them() -> None:
    steps = xe.xla.read_profile(PROFILES / "jax_cpu_train_steps.xplane.pb.gz").steps()
    assert list(steps["step"]) == [0, 1, 2] and set(steps["name"]) == {"train"} and all(steps["kernels"] == 10)
    assert all(steps["busy_us"] <= steps["wall_us"])


@pytest.mark.parametrize("name", RECORDED)
def test_a_damaged_profile_is_refused_with_one_sentence_or_read(name: str, tmp_path: Path) -> None:
    """Cut off, and with bytes that are others: never an error of another kind, never one of several lines."""
    data, chance = gzip.decompress((PROFILES / f"{name}.xplane.pb.gz").read_bytes()), random.Random(name)
    refused = 0
    for turn in range(12):
        raw = bytearray(data[: chance.randrange(1, len(data))] if turn % 2 else data)
        for _ in range(0 if turn % 2 else 20):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        path = tmp_path / f"{turn}.xplane.pb"
        path.write_bytes(bytes(raw))
        try:
            xe.xla.read_profile(path).kernels()
        except xe.xla.ProfileError as problem:
            refused += 1
            assert "\n" not in problem.message and str(tmp_path) not in problem.message
    assert refused >= 4
