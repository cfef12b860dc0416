"""Input fusions: those that fit a kernel stay, others are inlined; values are kept."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

TEXT = """HloModule m

inner {
  a = f32[8] parameter(0)
  ROOT n = f32[8] negate(a)
}

nested {
  p = f32[8] parameter(0)
  f = f32[8] fusion(p), kind=kLoop, calls=inner
  ROOT r = f32[8] add(f, p)
}

good {
  p = f32[8] parameter(0)
  e = f32[8] exponential(p)
  ROOT r = f32[8] add(e, p)
}

with_dot {
  p = f32[8,8] parameter(0)
  q = f32[8,8] parameter(1)
  d = f32[8,8] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[8,8] tanh(d)
}

pair {
  p = f32[8] parameter(0)
  s = f32[8] sine(p)
  ROOT t = (f32[8], f32[8]) tuple(s, p)
}

of_pair {
  p = f32[8] parameter(0)
  two = (f32[8], f32[8]) fusion(p), kind=kLoop, calls=pair
  a = f32[8] get-tuple-element(two), index=0
  b = f32[8] get-tuple-element(two), index=1
  ROOT r = f32[8] multiply(a, b)
}

scalar {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT f = f32[] fusion(a, b), kind=kLoop, calls=scalar
}

ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8,8] parameter(1)
  zero = f32[] constant(0)
  a = f32[8] fusion(x), kind=kLoop, calls=nested
  kept = f32[8] fusion(a), kind=kLoop, calls=good
  c = f32[8,8] fusion(y, y), kind=kCustom, calls=with_dot
  d = f32[8] fusion(kept), kind=kLoop, calls=of_pair
  total = f32[] reduce(d, zero), dimensions={0}, to_apply=sum
  ROOT t = (f32[8], f32[8,8], f32[]) tuple(d, c, total)
}
"""


def test_what_has_no_kernel_is_dissolved_and_the_rest_stays():
    module = xe.optimize(TEXT, "defuser").module
    names = {i.name for i in module.instructions() if i.opcode.name == "fusion"}
    assert "kept" in names and "c" not in names and "f" not in names
    assert not [
        i
        for i in module.instructions()
        if i.opcode.name == "fusion" and i.parent is not module.entry
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_is_left_to_the_evaluator(threads):
    random = np.random.default_rng(0)
    arguments = (
        random.standard_normal(8).astype(np.float32),
        random.standard_normal((8, 8)).astype(np.float32),
    )
    session = xe.compile(TEXT, cache=False, threads=threads)
    assert {step.runs_on for step in program_steps(session)} <= {"kernel", "copy", "library"}
    for found, wanted in zip(
        session(*arguments), xe.evaluate(xe.parse_hlo(TEXT), *arguments), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=2e-5)


def test_a_fusion_that_must_not_be_dissolved_says_so():
    text = TEXT.replace(
        "kind=kCustom, calls=with_dot",
        'kind=kCustom, calls=with_dot, frontend_attributes={inlineable="false"}',
    )
    trace = xe.optimize(text, "defuser")
    assert "c" in {i.name for i in trace.module.instructions() if i.opcode.name == "fusion"}


def test_a_module_without_fusions_is_left_alone():
    text = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}\n"
    assert not xe.optimize(text, "defuser").steps[0].changed
