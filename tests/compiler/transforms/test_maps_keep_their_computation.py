"""map calls a computation: passes that move operations must move the computation with it."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import registered_passes
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.text import parse_hlo

CALLED = "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  m = f32[] maximum(a, b)\n  ROOT s = f32[] add(m, b)\n}\n"
PROGRAMS = {
    "reverse": (
        ((4, 5), ()),
        "b = f32[4,5] broadcast(p1), dimensions={}\nz = f32[4,5] map(p0, b), dimensions={0,1}, to_apply=f\n"
        "ROOT r = f32[4,5] reverse(z), dimensions={1}",
    ),
    "reshape": (
        ((4, 5), (4, 5)),
        "a = f32[20] reshape(p0)\nb = f32[20] reshape(p1)\nROOT z = f32[20] map(a, b), dimensions={0}, to_apply=f",
    ),
    "transpose": (
        ((4, 5), (4, 5)),
        "a = f32[5,4] transpose(p0), dimensions={1,0}\nb = f32[5,4] transpose(p1), dimensions={1,0}\n"
        "ROOT z = f32[5,4] map(a, b), dimensions={0,1}, to_apply=f",
    ),
    "slice": (
        ((9,), (9,)),
        "z = f32[9] map(p0, p1), dimensions={0}, to_apply=f\nROOT t = f32[4] slice(z), slice={[2:6]}",
    ),
    "slices": (
        ((9,), (9,)),
        "a = f32[4] slice(p0), slice={[0:4]}\nb = f32[4] slice(p1), slice={[0:4]}\n"
        "c = f32[4] slice(p0), slice={[4:8]}\nd = f32[4] slice(p1), slice={[4:8]}\n"
        "z = f32[4] map(a, b), dimensions={0}, to_apply=f\nw = f32[4] map(c, d), dimensions={0}, to_apply=f\n"
        "ROOT t = f32[8] concatenate(z, w), dimensions={0}",
    ),
    "pad": (
        ((4,), ()),
        "p = f32[8] pad(p0, p1), padding=2_2\nq = f32[8] pad(p0, p1), padding=2_2\n"
        "z = f32[8] map(p, q), dimensions={0}, to_apply=f\nROOT s = f32[4] slice(z), slice={[2:6]}",
    ),
    "copy": (
        ((4, 5), (4, 5)),
        "a = f32[4,5]{0,1} copy(p0)\nb = f32[4,5]{0,1} copy(p1)\nROOT z = f32[4,5]{0,1} map(a, b), dimensions={0,1}, to_apply=f",
    ),
    "broadcast": (
        ((4,), (4,)),
        "a = f32[3,4] broadcast(p0), dimensions={1}\nb = f32[3,4] broadcast(p1), dimensions={1}\n"
        "ROOT z = f32[3,4] map(a, b), dimensions={0,1}, to_apply=f",
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_pass_alone(program: str) -> None:
    shapes, body = PROGRAMS[program]
    parameters = "".join(
        f"p{k} = f32[{','.join(map(str, shape))}] parameter({k})\n"
        for k, shape in enumerate(shapes)
    )
    text = f"HloModule m\n{CALLED}ENTRY e {{\n{parameters}{body}\n}}"
    random = np.random.default_rng(0)
    arguments = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    expected = np.asarray(evaluate(parse_hlo(text), *arguments))
    for name in registered_passes():
        found = evaluate(optimize(parse_hlo(text), name).module, *arguments)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, err_msg=name)
