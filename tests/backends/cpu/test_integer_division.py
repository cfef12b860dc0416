"""Quotients and remainders of vectors of integers: every pair of edge values, by XLA's rules."""

import numpy as np
import pytest

import xla_explorer as xe
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
