"""Compiling and folding in a thread that flushes subnormals, as XLA's do, gives equal values."""

from __future__ import annotations

import contextlib
import ctypes
import platform
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.hlo.evaluator import evaluate

_FLUSH = 0x8040  # flush to zero, and denormals are zero: bits of MXCSR
_MXCSR = 7  # which 32-bit word of glibc's fenv_t it is
TINY = np.float32(1e-40)
FOLDED = """ENTRY e {
  c = f32[2] constant({1e-40, 2})
  d = f32[2] constant({0.5, 0.5})
  ROOT m = f32[2] multiply(c, d)
}"""
ROOTS = """ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] rsqrt(x)
  ROOT m = f32[4] multiply(a, a)
}"""


@contextlib.contextmanager
def flushed() -> Iterator[None]:
    library = ctypes.CDLL(None)
    before, words = ctypes.create_string_buffer(512), (ctypes.c_uint32 * 128)()
    library.fegetenv(before)
    ctypes.memmove(words, before, 512)
    words[_MXCSR] |= _FLUSH
    library.fesetenv(words)
    try:
        yield
    finally:
        library.fesetenv(before)


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the flags are set as glibc keeps them on x86-64",
)


def test_subnormal_numbers_are_kept_inside_and_flushed_again_behind() -> None:
    with flushed():
        assert TINY * np.float32(1) == 0
        with default_floating_point():
            assert TINY * np.float32(1) > 0
        assert TINY * np.float32(1) == 0
    assert TINY * np.float32(1) > 0


def test_an_error_restores_the_flags() -> None:
    with flushed():
        with pytest.raises(ValueError, match="inside"), default_floating_point():
            raise ValueError("inside")
        assert TINY * np.float32(1) == 0


@pytest.mark.parametrize("text", [FOLDED, ROOTS])
@pytest.mark.parametrize("backend", ["cpu", "gpu", "interpreter"])
def test_a_compile_does_not_depend_on_the_thread(backend: str, text: str) -> None:
    here = xe.compile(text, backend=backend, cache=False).module.to_text()
    with flushed():
        there = xe.compile(text, backend=backend, cache=False).module.to_text()
    assert there == here


def test_passes_alone_do_not_depend_on_the_thread() -> None:
    here = xe.optimize(FOLDED, "constant_folding").module.to_text()
    with flushed():
        there = xe.optimize(FOLDED, "constant_folding").module.to_text()
    assert there == here and "multiply" not in here


def test_an_evaluation_does_not_depend_on_the_thread() -> None:
    module = xe.parse_hlo(FOLDED)
    here = np.asarray(evaluate(module))
    with flushed():
        there = np.asarray(evaluate(module))
    assert (there == here).all() and here[0] > 0
