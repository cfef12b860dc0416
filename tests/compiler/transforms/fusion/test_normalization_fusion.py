"""normalization-fusion: which chains become one kernel, and why others do not."""

from dataclasses import replace

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.target import NVPTX, GpuUnit
from xla_explorer.compiler.transforms.fusion.normalization_fusion import NormalizationFusion
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.text.parser import parse_hlo

HELPERS = """HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
top { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
"""


def softmax(rows=64, length=128, more="", root="ROOT r"):
    full, row = f"f32[{rows},{length}]", f"f32[{rows}]"
    return f"""{HELPERS}ENTRY e {{
  x = {full} parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = {row} reduce(x, low), dimensions={{1}}, to_apply=top
  mb = {full} broadcast(m), dimensions={{0}}
  d = {full} subtract(x, mb)
  e = {full} exponential(d)
  s = {row} reduce(e, zero), dimensions={{1}}, to_apply=sum
  sb = {full} broadcast(s), dimensions={{0}}
  {root} = {full} divide(e, sb)
{more}}}
"""


def fused(text, multiprocessors=132):
    """Return the module after the pass, its fusions, and the codes of refusals."""
    module, journal = parse_hlo(text), Journal()
    NormalizationFusion().run(
        module,
        PassContext(journal, target=replace(NVPTX, gpu=GpuUnit(multiprocessors=multiprocessors))),
    )
    fusions = [i for i in module.entry.instructions.values() if i.opcode.name == "fusion"]
    return module, fusions, [e.reason.code for e in journal.events if e.reason is not None]


def test_softmax_is_one_kernel_and_means_the_same():
    module, (fusion,), _ = fused(softmax())
    assert module.entry.root is fusion and fusion.attribute("kind") == "kCustom"
    x = np.random.default_rng(0).standard_normal((64, 128)).astype(np.float32)
    np.testing.assert_array_equal(xe.evaluate(module, x), xe.evaluate(parse_hlo(softmax()), x))


def test_values_of_a_row_that_others_need_keep_it_apart():
    text = softmax(more="  ROOT t = (f32[64,128], f32[64]) tuple(r, s)\n", root="r")
    _, fusions, codes = fused(text)
    assert not fusions and "row-value-used-elsewhere" in codes


@pytest.mark.parametrize(
    ("rows", "length", "code"),
    [(64, 5, "row-length"), (64, 70000, "row-length"), (2, 8192, "too-few-rows")],
)
def test_sizes(rows, length, code):
    _, fusions, codes = fused(softmax(rows, length))
    assert not fusions and code in codes


def test_a_bare_reduction_and_columns_are_left_alone():
    for dimension, kept in ((1, 64), (0, 128)):
        text = f"""{HELPERS}ENTRY e {{
  x = f32[64,128] parameter(0)
  zero = f32[] constant(0)
  s = f32[{kept}] reduce(x, zero), dimensions={{{dimension}}}, to_apply=sum
  b = f32[64,128] broadcast(s), dimensions={{{1 - dimension}}}
  ROOT r = f32[64,128] add(x, b)
}}
"""
        assert len(fused(text)[1]) == (1 if dimension == 1 else 0)


def test_what_the_rows_are_made_of_stays_outside_when_others_read_it():
    text = (
        softmax(more="  ROOT t = (f32[64,128], f32[64,128]) tuple(r, n)\n", root="r")
        .replace("  low =", "  n = f32[64,128] tanh(x)\n  low =")
        .replace("reduce(x, low)", "reduce(n, low)")
        .replace("subtract(x, mb)", "subtract(n, mb)")
    )
    _, (fusion,), _ = fused(text)
    assert [o.name for o in fusion.operands] == ["n"]
    assert "tanh" not in [i.opcode.name for i in fusion.called[0].instructions.values()]


def test_a_module_of_any_size_is_looked_at_near_each_result_only():
    """The softmax of a long computation is one kernel, and the walk has an end."""
    long = softmax().replace("  x = f32[64,128] parameter(0)\n", "  x0 = f32[64,128] parameter(0)\n" + "".join(
        [f"  x{n + 1} = f32[64,128] tanh(x{n})\n" for n in range(60)]) + "  x = f32[64,128] negate(x60)\n")  # fmt: skip
    module, journal = parse_hlo(long), Journal()
    NormalizationFusion(most_seen=20).run(module, PassContext(journal, target=NVPTX))
    (fusion,) = [i for i in module.entry.instructions.values() if i.opcode.name == "fusion"]
    inside = [i.opcode.name for i in fusion.called[0].instructions.values()]
    assert inside.count("reduce") == 2 and 0 < inside.count("tanh") < 20
    _, whole, _ = fused(long)
    assert [i.opcode.name for i in whole[0].called[0].instructions.values()].count("tanh") == 60
    x = np.random.default_rng(0).standard_normal((64, 128)).astype(np.float32)
    np.testing.assert_allclose(
        xe.evaluate(module, x), xe.evaluate(parse_hlo(long), x), rtol=1e-5, atol=1e-6
    )
