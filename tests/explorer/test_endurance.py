"""Many compiles, in turn and concurrent: flat memory, closed files, right values."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
OPCODES = ("tanh", "cosine", "negate", "abs", "floor", "exponential")


def text(number: int) -> str:
    """Another program for every number."""
    size, first, second = 8 + number % 97, OPCODES[number % 6], OPCODES[number // 6 % 6]
    return (
        f"HloModule m{number}\nENTRY e {{\n  x = f32[{size}] parameter(0)\n  c = f32[] constant({number % 13})\n  b = f32[{size}] broadcast(c), dimensions={{}}\n"
        f"  y = f32[{size}] {first}(x)\n  z = f32[{size}] {second}(x)\n  s = f32[{size}] multiply(y, z)\n  ROOT r = f32[{size}] add(s, b)\n}}"
    )


def resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_two_thousand_compiles_are_flat_in_memory() -> None:
    marks, files = [], []
    for number in range(2001):
        session = xe.compile(text(number))
        size = 8 + number % 97
        assert session(np.zeros(size, np.float32)).shape == (size,)
        if number in (500, 2000):
            del session
            marks.append(resident())
            files.append(len(os.listdir("/proc/self/fd")))
    print(
        f"resident after 500 compiles {marks[0] >> 20} MB, after 2000 {marks[1] >> 20} MB; files {files}"
    )
    assert marks[1] - marks[0] < 24 << 20 and files[1] <= files[0] + 2


def test_eight_threads_of_two_hundred_compiles_and_runs() -> None:
    wrong: list[str] = []

    def work(thread: int) -> None:
        for k in range(200):
            number = (
                k if thread % 2 else 200 * thread + k
            )  # half of them the same programs at the same time
            x = np.linspace(-2, 2, 8 + number % 97, dtype=np.float32)
            try:
                found = xe.compile(text(number))(x)
                wanted = xe.evaluate(text(number), x)
                if not np.allclose(found, wanted, rtol=1e-4, atol=1e-5):
                    wrong.append(f"{thread}.{k}: {found} for {wanted}")
            except Exception as problem:
                wrong.append(f"{thread}.{k}: {type(problem).__name__}: {problem}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]


def test_isolated_sessions_of_eight_threads() -> None:
    wrong: list[str] = []

    def work(thread: int) -> None:
        for k in range(25):
            number = 25 * thread + k
            x = np.linspace(-2, 2, 8 + number % 97, dtype=np.float32)
            found = xe.compile(text(number), isolate=True)(x)
            if not np.allclose(found, xe.evaluate(text(number), x), rtol=1e-4, atol=1e-5):
                wrong.append(f"{thread}.{k}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]
