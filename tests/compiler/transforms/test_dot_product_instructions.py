"""The pass that gives products of small integers the form of CPU dot-product instructions."""

import numpy as np

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import cpu_target
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

WITH_VNNI = cpu_target(
    triple="x86_64-unknown-linux-gnu", bits=512, features=frozenset(["avx512vnni", "avx512vl"])
)
WITH_BF16 = cpu_target(
    triple="x86_64-unknown-linux-gnu", bits=512, features=frozenset(["avx512bf16", "avx512vl"])
)
TEXT = """HloModule m

ENTRY e {
  x = s8[9,50] parameter(0)
  y = u8[50,7] parameter(1)
  w = s32[9,50] convert(x)
  v = s32[50,7] convert(y)
  a = s16[9,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = s32[9,7] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = s8[9,50] convert(w)
  l = s64[9,50] convert(x)
  k = s64[50,7] convert(y)
  c = s64[9,7] dot(l, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s16[9,7], s32[9,7], s64[9,7]) tuple(a, b, c)
}
"""


def dots(module):
    return [(*[o.shape.element_type.name for o in i.operands], i.shape.element_type.name)
            for i in module.entry.sequence() if i.opcode.name == "dot"]  # fmt: skip


def test_factors_become_narrow_and_sums_32_bits_wide():
    module = parse_hlo(TEXT)
    found = optimize(module, "dot-product-instructions", target=WITH_VNNI).module
    assert sorted(dots(found)) == [("s64", "s64", "s64"), ("s8", "u8", "s32"), ("s8", "u8", "s32")]
    x, y = np.full((9, 50), -128, np.int8), np.full((50, 7), 255, np.uint8)
    for a, b in zip(
        flatten_value(evaluate(module, x, y)), flatten_value(evaluate(found, x, y)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_without_the_instructions_nothing_changes_and_floats_do_it():
    without = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512)
    assert dots(
        optimize(parse_hlo(TEXT), "dot-product-instructions", target=without).module
    ) == dots(parse_hlo(TEXT))
    assert ("f32", "f32", "f32") in dots(
        optimize(parse_hlo(TEXT), "integer-products-in-floats", target=without).module
    )
    with_groups = optimize(
        parse_hlo(TEXT), "dot-product-instructions,integer-products-in-floats", target=WITH_VNNI
    ).module
    assert ("s8", "u8", "s32") in dots(with_groups)


def test_a_bf16_dot_stays_if_the_cpu_has_instructions_unless_the_user_forces_floats():
    text = """HloModule m

ENTRY e {
  x = bf16[9,50] parameter(0)
  y = bf16[50,7] parameter(1)
  ROOT a = bf16[9,7] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""

    def found(target, force=None):
        given = PassControl(force=force) if force else None
        return dots(
            optimize(parse_hlo(text), "change-op-data-type", target=target, control=given).module
        )

    without = cpu_target(triple="x86_64-unknown-linux-gnu", bits=512)
    assert found(WITH_BF16) == [("bf16", "bf16", "bf16")]
    assert found(without) == [("f32", "f32", "f32")]
    assert found(WITH_BF16, {"change-op-data-type": [("a",)]}) == [("f32", "f32", "f32")]
