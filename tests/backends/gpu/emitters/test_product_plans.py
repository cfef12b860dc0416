"""Plans of products: one planner call per kernel family and product, from pass to code."""

from collections import Counter
from dataclasses import replace

import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import products
from xla_explorer.backends.gpu.emitters.dots.result_store import FusedProduct
from xla_explorer.backends.gpu.emitters.products import ProductPlans
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.text.parser import parse_hlo

DENSE = """HloModule dense
ENTRY e {
  x = bf16[512,768] parameter(0)
  w = bf16[768,768] parameter(1)
  b = f32[768] parameter(2)
  a = f32[512,768] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[512,768] broadcast(b), dimensions={1}
  s = f32[512,768] add(a, bb)
  ROOT t = f32[512,768] tanh(s)
}"""
SKINNY = """HloModule skinny
ENTRY e {
  x = f32[2,4096] parameter(0)
  w = f32[4096,1000] parameter(1)
  n = f32[2,4096] negate(x)
  ROOT a = f32[2,1000] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
CONVOLUTION = """HloModule convolution
ENTRY e {
  x = f32[8,28,28,32] parameter(0)
  k = f32[3,3,32,64] parameter(1)
  c = f32[8,28,28,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  z = f32[] constant(0)
  zz = f32[8,28,28,64] broadcast(z), dimensions={}
  ROOT r = f32[8,28,28,64] maximum(c, zz)
}"""


@pytest.fixture
def planned(monkeypatch):
    """Count the calls of planners by family."""
    calls = Counter()

    def counting(row):
        def plan(dot, architecture):
            calls[row.name] += 1
            return row.plan(dot, architecture)

        return replace(row, plan=plan)

    monkeypatch.setattr(products, "PRODUCT_ROWS", tuple(map(counting, products.PRODUCT_ROWS)))
    return calls


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_90a"])
@pytest.mark.parametrize(
    ("text", "emitter"),
    [
        (DENSE, "tensor-core-dot"),
        (SKINNY, "skinny-dot"),
        (CONVOLUTION, "simt-convolution"),
    ],
    ids=["dense", "skinny", "convolution"],
)
def test_a_product_is_planned_once(planned, text, emitter, architecture):
    session = xe.compile(text, backend="gpu", architecture=architecture)
    assert session.executable.program.kernels
    assert len(session.decisions("library-call")) and len(session.decisions("launch"))
    names = [made.emitter for _, made in session.executable.program.emitted]
    written = "warpgroup-dot" if (text, architecture) == (DENSE, "sm_90a") else emitter
    assert written in names and planned[written] == 1
    assert set(planned.values()) == {1}


def test_the_reason_against_a_library_repeats_the_estimate_of_the_plan(planned):
    session = xe.compile(DENSE, backend="gpu", architecture="sm_80")
    (_, made), *_ = session.executable.program.emitted
    (thunk,) = [t for t in session.executable.program.walk() if t.reason is not None]
    assert thunk.reason.facts["own_arithmetic_us"] == round(made.estimated_us, 2)
    assert thunk.reason.facts["emitter"] == "tensor-core-dot"


def test_plans_belong_to_products_of_equal_names_and_shapes(planned):
    plans = ProductPlans(gpu_architecture("sm_80"))
    dots = [
        next(i for i in parse_hlo(text).entry.sequence() if i.opcode.name == "dot")
        for text in (DENSE, DENSE, DENSE.replace("512", "256"))
    ]
    row = next(row for row in products.PRODUCT_ROWS if row.name == "simt-dot")
    first, again, other = [plans.plan(row, FusedProduct(dot, dot)) for dot in dots]
    assert not isinstance(first, Reason)
    assert first is again and other is not first and planned["simt-dot"] == 2
    skinny = next(row for row in products.PRODUCT_ROWS if row.name == "skinny-dot")
    assert plans.plan(skinny, FusedProduct(dots[0], dots[0].users[0])).code == "no-dot"


def test_a_fused_convolution_has_tiles_though_a_loop_is_faster():
    dot = next(i for i in parse_hlo(CONVOLUTION).entry.sequence() if i.opcode.name == "convolution")
    plans = ProductPlans(gpu_architecture("sm_80"))
    row = next(row for row in products.PRODUCT_ROWS if row.name == "simt-convolution")
    plan = plans.plan(row, FusedProduct(dot, dot))
    plans.plans[next(iter(plans.plans))] = plan._replace(loop_us=0.0)
    refused = plans.plan(row, FusedProduct(dot, dot))
    assert refused.code == "loop-is-faster" and refused.facts["loop_us"] == 0.0
    assert plans.plan(row, FusedProduct(dot, dot.users[0])).loop_us == 0.0
