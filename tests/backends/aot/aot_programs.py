"""Modules for the tests of ahead-of-time code, and C compilers to link it with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

MLP = """HloModule mlp
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[16,32] parameter(0)
  w1 = f32[32,64] constant({W1})
  b1 = f32[64] constant({B1})
  w2 = f32[64,10] constant({W2})
  h0 = f32[16,64] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h1 = f32[16,64] broadcast(b1), dimensions={1}
  h2 = f32[16,64] add(h0, h1)
  zero = f32[] constant(0)
  zeros = f32[16,64] broadcast(zero), dimensions={}
  h3 = f32[16,64] maximum(h2, zeros)
  y = f32[16,10] dot(h3, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  low = f32[] constant(-inf)
  m = f32[16] reduce(y, low), dimensions={1}, to_apply=max
  mb = f32[16,10] broadcast(m), dimensions={0}
  d = f32[16,10] subtract(y, mb)
  e = f32[16,10] exponential(d)
  s = f32[16] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[16,10] broadcast(s), dimensions={0}
  ROOT p = f32[16,10] divide(e, sb)
}
"""

ATTENTION = """HloModule attention
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  q = f32[2,24,16] parameter(0)
  k = f32[2,24,16] parameter(1)
  v = f32[2,24,16] parameter(2)
  t = f32[2,24,24] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  c = f32[] constant(0.25)
  cb = f32[2,24,24] broadcast(c), dimensions={}
  u = f32[2,24,24] multiply(t, cb)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2,24] reduce(u, low), dimensions={2}, to_apply=max
  mb = f32[2,24,24] broadcast(m), dimensions={0,1}
  d = f32[2,24,24] subtract(u, mb)
  e = f32[2,24,24] exponential(d)
  s = f32[2,24] reduce(e, zero), dimensions={2}, to_apply=add
  sb = f32[2,24,24] broadcast(s), dimensions={0,1}
  p = f32[2,24,24] divide(e, sb)
  ROOT o = f32[2,24,16] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
"""


def _literal(array: np.ndarray) -> str:
    return (
        "{"
        + ", ".join([_literal(row) if array.ndim > 1 else repr(float(row)) for row in array])
        + "}"
    )


def mlp_text() -> str:
    """Two layers and a softmax, the weights in the module."""
    random = np.random.default_rng(7)
    weights = {
        "W1": random.normal(size=(32, 64)) / 6,
        "B1": random.normal(size=64),
        "W2": random.normal(size=(64, 10)) / 8,
    }
    text = MLP
    for name, value in weights.items():
        text = text.replace("{" + name + "}", _literal(value.astype(np.float32)))
    return text


def need(*programs: str) -> None:
    """Skip, naming what is missing."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def build(folder: Path, compiler: str, sources: list[str], objects: list[str], *flags: str) -> Path:
    """Compile and link; warnings are errors."""
    made = folder / "program"
    command = [
        compiler,
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags,
        *sources,
        *objects,
        "-o",
        str(made),
        "-lm",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


def output(*command: str | Path) -> str:
    """Return the output of a program, which must end well."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout
