"""`why_memory` and `why_recompiled`: XLA's memory report by line, causes of recompiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.why_memory import Alive, WhyMemory
from xla_explorer.frontends.xla_dump.live_range import parse_live_ranges

LIVE = """HloLiveRange (max 3):
  InstructionSequence:
    0:x.1
    1:copy.1
    2:tuple
  BufferLiveRange:
    x.1{}:0-3
    copy.1{}:1-2
    tuple{0}:2-3
  Live ranges at 1 (peak):
    x.1{}: 64 bytes (cumulative: 64 bytes)
    copy.1{0}: 32 bytes (cumulative: 96 bytes)
  Stack trace breakdown for peak usage: 96 bytes
    main.1 (100.0%, total: 96 bytes)
      x{}: 7 bytes
"""


def test_live_ranges_are_read() -> None:
    found = parse_live_ranges(LIVE)
    assert found.schedule == ["x.1", "copy.1", "tuple"] and found.peak == 1
    assert found.ranges[2] == ("tuple", "{0}", 2, 3) and len(found.ranges) == 3
    assert found.alive == [("x.1", "{}", 64), ("copy.1", "{0}", 32)]


@pytest.mark.parametrize(
    "text", ["", "HloLiveRange (max 0):\n", LIVE[:90], "  Live ranges at 7 (peak):\n"]
)
def test_a_text_that_says_little_gives_little(text: str) -> None:
    assert parse_live_ranges(text).alive == []


@pytest.mark.jax
def test_the_peak_is_told_by_line_and_donations_that_do_not_help_are_named() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    jnp = jax.numpy

    def step(weights, batch):  # type: ignore[no-untyped-def]
        gradient = jax.grad(lambda w: (jnp.tanh(batch @ w)).sum())(weights)
        return weights - 0.1 * gradient

    found = xe.xla.why_memory(
        jax.jit(step, donate_argnums=(0, 1)), jnp.ones((64, 96)), jnp.ones((8, 64))
    )
    assert (
        found.by_role["parameters"] == 4 * (64 * 96 + 8 * 64)
        and found.total_bytes >= found.peak_bytes >= 4 * 64 * 96
    )
    assert [one.parameter for one in found.not_aliased] == [
        1
    ] and "no result has its shape f32[8,64]" in found.not_aliased[0].reason
    assert all("test_why_memory.py:" in one.line for one in found.alive)
    assert "donated but not aliased" in str(found) and "source lines at the peak" in str(found)


@pytest.mark.long
@pytest.mark.jax
def test_a_call_says_why_it_compiled() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    three, four = np.zeros(3, np.float32), np.zeros(4, np.float32)
    found = xe.xla.why_recompiled(lambda x: x * 2 + 1, (three,), (three,), (four,), (three,))
    assert [call.compiled for call in found.calls] == [
        True,
        False,
        True,
        False,
    ] and found.compiles == 2
    assert (
        found.calls[0].reason == "the first call"
        and found.calls[2].reason == "args[0]: shape (3,) became (4,)"
    )
    assert found.calls[2].compile > 0 and found.calls[1].compile == found.calls[1].trace == 0
    assert "2 of 4 calls compiled" in str(found)


def test_what_was_compiled_before_does_not_hide_a_compile() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")

    def halved(x: object) -> object:
        return x / 2  # type: ignore[operator]

    jax.jit(halved)(np.zeros(5, np.float32))
    assert xe.xla.why_recompiled(halved, (np.zeros(5, np.float32),)).compiles == 1


@pytest.mark.parametrize(
    ("places", "peak"),
    [
        ([(16, 0, 0), (16, 0, 0)], 16),
        ([(16, 0, 0), (16, 0, 16)], 32),
        ([(16, 0, 0), (4, 0, 8)], 16),
        ([(16, 0, 0), (8, 0, 12)], 20),
        ([(4, 0, 0), (4, 0, 8), (12, 0, 0)], 12),
        ([(16, 0, 0), (16, 1, 0), (16, 1, 0)], 32),
        ([(16, None, None), (16, None, None)], 32),
    ],
)
def test_the_lines_sum_to_the_peak(
    places: list[tuple[int, int | None, int | None]], peak: int
) -> None:
    alive = [
        Alive(f"%v{k}", size, "", allocation, offset, f"a.py:{k % 2}")
        for k, (size, allocation, offset) in enumerate(places)
    ]
    page = WhyMemory("m", [], alive, "v0", [])
    assert page.peak_bytes == peak
    assert sum(size for _, size, _ in page.by_line()) == peak
    assert sum(count for _, _, count in page.by_line()) == len(places)


@pytest.mark.jax
@pytest.mark.parametrize(
    "nest", [lambda x: x, lambda x: {"a": x}, lambda x: (2, [x])], ids=["leaf", "dict", "tuple"]
)
def test_a_committed_argument_is_the_cause_of_a_compile(nest: Callable[[Any], Any]) -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")
    free = jax.numpy.ones(3)
    device = jax.devices()[0]
    held = [
        jax.device_put(free, device),
        jax.device_put(np.ones(3, np.float32), jax.sharding.SingleDeviceSharding(device)),
    ]
    name = f"{device.platform}:{device.id}"

    def double(x: Any) -> Any:
        return jax.tree_util.tree_map(lambda leaf: leaf * 2, x)

    for one in held:
        there = xe.xla.why_recompiled(double, (nest(free),), (nest(one),), (nest(one),))
        assert [call.compiled for call in there.calls] == [True, True, False]
        assert there.calls[1].reason.endswith("device not committed became committed to " + name)
        back = xe.xla.why_recompiled(double, (nest(one),), (nest(free),))
        assert back.calls[1].reason.endswith(f": device committed to {name} became not committed")
    assert not xe.compare.signatures((nest(free),), (nest(np.ones(3, np.float32)),))
