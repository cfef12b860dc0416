"""Transposes in tiles: every dimension order, partial tiles, other widths, several threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.nest import tuning

TYPES = {
    "f32": np.float32,
    "s32": np.int32,
    "f64": np.float64,
    "u64": np.uint64,
    "s8": np.int8,
    "c64": np.complex64,
}


def program(shape: tuple[int, ...], order: tuple[int, ...], t: str) -> str:
    """Row-major on both sides, so that data moves."""
    layout = ",".join([str(d) for d in reversed(range(len(shape)))])
    given, made = ",".join(map(str, shape)), ",".join([str(shape[d]) for d in order])
    return f"""HloModule transposes

ENTRY e {{
  x = {t}[{given}]{{{layout}}} parameter(0)
  ROOT o = {t}[{made}]{{{layout}}} transpose(x), dimensions={{{",".join(map(str, order))}}}
}}
"""


def check(shape: tuple[int, ...], order: tuple[int, ...], t: str, threads: int = 1) -> str:
    x = np.arange(np.prod(shape)).reshape(shape).astype(TYPES[t])
    session = xe.compile(program(shape, order, t), backend="cpu", threads=threads)
    assert np.array_equal(session(x), x.transpose(order))
    return str(session.stage("llvm-ir").text)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order(order: tuple[int, ...]) -> None:
    text = check((33, 18, 21), order, "f32")
    assert ("shufflevector" in text) == (order[-1] != 2)


@pytest.mark.parametrize("t", TYPES)
def test_every_width(t: str) -> None:
    text = check((37, 51), (1, 0), t)
    assert "shufflevector" in text


@pytest.mark.parametrize(
    "shape", [(16, 16), (16, 17), (300, 401), (1, 64), (5, 7), (3, 100, 37, 50)]
)
def test_edges(shape: tuple[int, ...]) -> None:
    check(shape, tuple(reversed(range(len(shape)))), "f32")


def test_threads() -> None:
    check((1024, 515), (1, 0), "f32", threads=2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("t", "shape", "order"),
    [
        ("f32", (32, 48), (1, 0)),
        ("f32", (80, 16), (1, 0)),
        ("s32", (5, 48, 32), (2, 0, 1)),
        ("f64", (40, 24), (1, 0)),
    ],
)
def test_an_operand_that_begins_anywhere_in_a_line(
    t: str,
    shape: tuple[int, ...],
    order: tuple[int, ...],
    large: bool,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if large:
        monkeypatch.setattr(tuning, "STREAMED_TRANSPOSE", 0)
    session = xe.compile(program(shape, order, t), backend="cpu", threads=threads, cache=False)
    count, width = int(np.prod(shape)), np.dtype(TYPES[t]).itemsize
    memory = np.arange(count + 32).astype(TYPES[t])
    first = -memory.__array_interface__["data"][0] // width % (64 // width)
    for shift in range(first, first + 64 // width + 1):
        x = memory[shift : shift + count].reshape(shape)
        np.testing.assert_array_equal(session(x), x.transpose(order))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_value_of_the_outermost_loop_goes_through_all_others(threads: int) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[9,11,32] parameter(0)
  bias = f32[32] parameter(1)
  t = f32[32,9,11] transpose(x), dimensions={2,0,1}
  b = f32[32,9,11] broadcast(bias), dimensions={0}
  ROOT r = f32[32,9,11] add(t, b)
}"""
    x, bias = (
        np.arange(9 * 11 * 32, dtype=np.float32).reshape(9, 11, 32),
        np.arange(32, dtype=np.float32),
    )
    assert np.array_equal(
        xe.compile(text, threads=threads)(x, bias), x.transpose(2, 0, 1) + bias[:, None, None]
    )
