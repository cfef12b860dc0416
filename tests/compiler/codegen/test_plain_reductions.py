"""Dots, convolutions and windows without a loop nest have the evaluator's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_empty_arrays import assert_same
from xla_explorer.compiler.codegen.dispatch import kernel_writing
from xla_explorer.foundation.reason import Reason

ADD = "add {{\n a = {t}[] parameter(0)\n b = {t}[] parameter(1)\n ROOT r = {t}[] add(a, b)\n}}\n"
BODIES = {
    "dot": "x = {t}[2,3,4] parameter(0)\n y = {t}[2,4,5] parameter(1)\n ROOT r = {t}[2,3,5] dot(x, y), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, "
    "lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}",
    "dot over two dimensions": "x = {t}[3,4,2] parameter(0)\n y = {t}[2,5,3] parameter(1)\n ROOT r = {t}[4,5] dot(x, y), lhs_contracting_dims={{2,0}}, "
    "rhs_contracting_dims={{0,2}}",
    "convolution": "x = {t}[2,7,4] parameter(0)\n k = {t}[3,2,6] parameter(1)\n ROOT r = {t}[2,6,6] convolution(x, k), "
    "window={{size=3 stride=2 pad=1_2 lhs_dilate=2 rhs_dilate=2}}, dim_labels=b0f_0io->b0f, feature_group_count=2",
    "reduce-window": "x = {t}[5,7] parameter(0)\n z = {t}[] constant({zero})\n ROOT r = {t}[3,6] reduce-window(x, z), "
    "window={{size=2x3 stride=2x1 pad=1_0x0_1 rhs_dilate=1x1}}, to_apply=add",
    "fusion": "x = {t}[5,7] parameter(0)\n ROOT r = {t}[5,5] fusion(x), kind=kInput, calls=square",
}
SQUARE = """square {{
 p = {t}[5,7] parameter(0)
 n = {t}[5,7] add(p, p)
 ROOT r = {t}[5,5] dot(n, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
}}
"""


def _refused(*_: Any, **__: Any) -> Reason:
    return Reason("no-loop-nest", "no nest in this test", {})


@pytest.mark.parametrize("element_type", ["s8", "s32", "u16", "f32", "bf16", "c64"])
@pytest.mark.parametrize("kind", BODIES)
def test_values_are_the_evaluators(
    kind: str, element_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_writing, "nest_kernel", _refused)
    holes = {"t": element_type, "zero": "(0, 0)" if element_type == "c64" else "0"}
    functions = (ADD + SQUARE).format(**holes)
    module = xe.parse_hlo(
        "HloModule m\n" + functions + "ENTRY e {\n " + BODIES[kind].format(**holes) + "\n}"
    )
    arguments = tuple(
        [np.round(x.astype(np.complex128) * 4).astype(x.dtype) for x in xe.random_arguments(module)]
    )  # exact in every order
    assert_same(module, arguments, "cpu", "none")
