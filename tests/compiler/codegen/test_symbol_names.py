"""Instructions may be called as functions that LLVM calls itself."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.symbol_names import identifier


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("add.1", "add_1"),
        ("memcpy", "memcpy_kernel"),
        ("powf", "powf_kernel"),
        ("round", "round_kernel"),
        ("__divti3", "__divti3_kernel"),
        ("rounded", "rounded"),
    ],
)
def test_names(name: str, made: str) -> None:
    assert identifier(name) == made


def test_a_sort_called_memset_does_not_take_the_place_of_memset() -> None:
    text = """HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[1000] parameter(0)
  memset = f32[1000] sort(x), dimensions={0}, to_apply=less
  zero = f32[] constant(0)
  floorf = f32[1000] broadcast(zero), dimensions={}
  ROOT t = (f32[1000], f32[1000]) tuple(memset, floorf)
}"""
    # In a child process: without the other name this ended in a crash.
    session = xe.compile(text, isolate=True)
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    ordered, zeros = session(x)
    np.testing.assert_array_equal(ordered, np.sort(x))
    np.testing.assert_array_equal(zeros, np.zeros(1000, np.float32))
