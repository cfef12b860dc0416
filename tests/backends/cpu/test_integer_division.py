"""Quotients and remainders of vectors of integers: every pair of edge values, by XLA's rules."""

from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.cpu import cpu_compiler
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text.parser import parse_hlo


def _edges(dtype):
    limits = np.iinfo(dtype)
    around = [0, 1, 2, 3, 5, 7, 10, 127, limits.max // 2, limits.max // 3, limits.max]
    values = [v + d for v in around for d in (-1, 0, 1)]
    values += [-v for v in values] + [limits.min, limits.min + 1]
    random = np.random.default_rng(0).integers(limits.min, limits.max, 60, dtype=dtype)
    return np.array(
        [*dict.fromkeys([v for v in values if limits.min <= v <= limits.max]), *random], dtype
    )


def _wide_edges(dtype):
    """Return edge values of 64 bits: powers of 2, fractions of the largest, their neighbours."""
    limits = np.iinfo(dtype)
    around = [1 << k for k in (12, 13, 26, 31, 32, 52, 53, 61, 62, 63)]
    around += [limits.max // k for k in (2, 3, 4, 5, 1000, 6144)]
    values = [v + d for v in around for d in (-2, -1, 0, 1, 2)]
    values += [-v for v in values]
    spread = np.random.default_rng(1).integers(0, 64, 40).astype(dtype)
    random = np.random.default_rng(2).integers(limits.min, limits.max, 40, dtype=dtype) >> spread
    kept = [v for v in values if limits.min <= v <= limits.max]
    return np.array([*dict.fromkeys([*_edges(dtype).tolist(), *kept, *random.tolist()])], dtype)


@pytest.mark.parametrize("name", ["s64", "u64"])
def test_wide_integers_are_divided_as_floats_in_vectors(name, monkeypatch):
    """The code for AVX512DQ, which LLVM expands for this CPU."""
    host = cpu_compiler.described_cpu(libraries=True)
    wide = replace(
        host,
        features=host.features | {"avx512dq", "avx512vl"},
        vector=replace(host.vector, bits=512, is_fixed=True),
    )
    monkeypatch.setattr(cpu_compiler, "described_cpu", lambda **_: wide)
    dtype = np.dtype(f"{'int' if name[0] == 's' else 'uint'}64")
    edges = _wide_edges(dtype)
    x, y = [np.ascontiguousarray(v.ravel()) for v in np.meshgrid(edges, edges)]
    kept = f"{name}[{x.size}]"
    module = parse_hlo(
        f"""HloModule m
ENTRY e {{
  x = {kept} parameter(0)
  y = {kept} parameter(1)
  q = {kept} divide(x, y)
  r = {kept} remainder(x, y)
  ROOT t = ({kept}, {kept}) tuple(q, r)
}}"""
    )
    session = xe.compile(module, threads=1, cache=False)
    assert "fdiv" in str(session.llvm_ir(False)) and "sdiv" not in str(session.llvm_ir(False))
    for a, b in zip(session(x, y), flatten_value(evaluate(module, x, y)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", ["s8", "u8", "s16", "u16", "s32", "u32"])
def test_quotients_and_remainders_of_edge_values(name):
    dtype = np.dtype(f"{'int' if name[0] == 's' else 'uint'}{name[1:]}")
    edges = _edges(dtype)
    x, y = [np.ascontiguousarray(v.ravel()) for v in np.meshgrid(edges, edges)]
    kept = f"{name}[{x.size}]"
    module = parse_hlo(
        f"""HloModule m
ENTRY e {{
  x = {kept} parameter(0)
  y = {kept} parameter(1)
  q = {kept} divide(x, y)
  r = {kept} remainder(x, y)
  c = {name}[] constant(7)
  s = {kept} broadcast(c), dimensions={{}}
  p = {kept} divide(x, s)
  m = {kept} remainder(x, s)
  ROOT t = ({kept}, {kept}, {kept}, {kept}) tuple(q, r, p, m)
}}"""
    )
    found = xe.compile(module, threads=1)(x, y)
    for a, b in zip(found, flatten_value(evaluate(module, x, y)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
