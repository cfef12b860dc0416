"""Indices of types with fewer values than the array has elements."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.rewriting.value_pools import all_values
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

READS = {
    "iota": "c = s32[9] iota(), iota_dimension=0\n",
    "counting constant": "c = s32[9] constant({0, 1, 2, 3, 4, 5, 6, 7, 8})\n",
    "multiple": "n = s32[9] iota(), iota_dimension=0\nt = s32[] constant(3)\n"
    "b = s32[9] broadcast(t), dimensions={}\nc = s32[9] multiply(n, b)\n",
}


@pytest.mark.parametrize("kind", ["s1", "u1", "s2", "u2", "s4", "u4", "s8", "u8"])
@pytest.mark.parametrize("what", READS)
def test_every_index_of_a_narrow_type_reads_the_clamped_element(what: str, kind: str) -> None:
    module = xe.parse_hlo(
        f"ENTRY e {{\ni = {kind}[] parameter(0)\n{READS[what]}"
        "ROOT r = s32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}\n}"
    )
    simplified = xe.optimize(module).module
    for index in all_values(PRIMITIVE_TYPES[kind]):
        np.testing.assert_array_equal(
            xe.evaluate(simplified, index), xe.evaluate(module, index), str(index)
        )
