"""Input async computations run at their done instruction; others have a reason to stay."""

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

COMPUTATION = """c {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  d = f32[4] add(a, b)
  ROOT r = f32[4] multiply(d, b)
}
"""
START = " s = ((f32[4], f32[4]), f32[4], s32[]) async-start(x, y), calls=c\n"
UPDATE = " u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s), calls=c\n"


def module(body, before="", header=""):
    return f"HloModule m{header}\n{before}{COMPUTATION}ENTRY e {{\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n{body}}}"


X, Y = np.arange(4, dtype=np.float32), np.full(4, 3, np.float32)


@pytest.mark.parametrize(
    "text",
    [
        module(START + UPDATE + " ROOT o = f32[4] async-done(u), calls=c\n"),
        module(START + " ROOT o = f32[4] async-done(s), calls=c\n", header=", is_scheduled=true"),
        # Instructions beside the computation: after its start, before its done.
        module(START + " n = f32[4] negate(x), control-predecessors={s}\n o = f32[4] async-done(s), calls=c, control-predecessors={n}\n"
               " m = f32[4] subtract(n, n)\n ROOT q = f32[4] add(o, m)\n"),
        module(START + " n = f32[4] negate(x), control-predecessors={s}\n m = f32[4] subtract(n, n)\n"
               + UPDATE.replace("\n", ", control-predecessors={m}\n") + " o = f32[4] async-done(u), calls=c\n ROOT q = f32[4] add(o, m)\n"),
        module(START + " n = f32[4] negate(x)\n o = f32[4] async-done(s), calls=c, control-predecessors={n}\n"
               " k = f32[4] negate(n), control-predecessors={o}\n j = f32[4] negate(k)\n z = f32[4] multiply(j, j)\n"
               " w = f32[4] subtract(z, z)\n ROOT q = f32[4] add(o, w)\n"),
    ],
)  # fmt: skip
def test_native_and_right(text):
    session = xe.compile(text, backend="cpu", cache=False)
    assert {step.runs_on for step in program_steps(session)} == {"kernel"}
    np.testing.assert_array_equal(np.asarray(session(X, Y)), (X + Y) * Y)


def test_inside_of_another_one():
    outer = """outer {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  s = ((f32[4], f32[4]), f32[4], s32[]) async-start(a, b), calls=c
  o = f32[4] async-done(s), calls=c
  ROOT n = f32[4] negate(o)
}
"""
    text = module(
        START.replace("calls=c", "calls=outer") + " ROOT o = f32[4] async-done(s), calls=outer\n"
    ).replace("ENTRY", outer + "ENTRY")
    session = xe.compile(text, backend="cpu", cache=False)
    assert {step.runs_on for step in program_steps(session)} == {"kernel"}
    np.testing.assert_array_equal(np.asarray(session(X, Y)), -(X + Y) * Y)
