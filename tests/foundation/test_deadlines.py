"""`xe.options.timeout` ends work of Python: reading, verifying, passes and the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.foundation.limits import OutOfTimeError, check_deadline, limited_run
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto

STEPS = 4000
HLO = "\n".join(
    [
        "HloModule m\nENTRY e {\n v0 = f32[] parameter(0)",
        *[f" v{k + 1} = f32[] add(v{k}, v0)" for k in range(STEPS)],
        f" ROOT r = f32[] negate(v{STEPS})\n}}",
    ]
)
MLIR = "\n".join(
    [
        "func.func @main(%v0: tensor<f32>) -> tensor<f32> {",
        *[f"  %v{k + 1} = stablehlo.add %v{k}, %v0 : tensor<f32>" for k in range(STEPS)],
        f"  return %v{STEPS} : tensor<f32>\n}}",
    ]
)
ENDLESS = """HloModule endless
body { p = s32[] parameter(0)
 ROOT r = s32[] negate(p) }
again { p = s32[] parameter(0)
 z = s32[] constant(7)
 ROOT r = pred[] compare(p, z), direction=NE }
ENTRY e { p = s32[] parameter(0)
 ROOT w = s32[] while(p), condition=again, body=body }"""
WORK: dict[str, Callable[[Path, xe.HloModule], Any]] = {
    "text": lambda folder, module: xe.load(folder / "m.hlo"),
    "proto": lambda folder, module: xe.load(folder / "m.hlo.pb"),
    "StableHLO": lambda folder, module: xe.load(folder / "m.mlir"),
    "given text": lambda folder, module: xe.verify(HLO),
    "verifier": lambda folder, module: xe.verify(module),
    "passes": lambda folder, module: xe.optimize(module, verify=False),
    "evaluator": lambda folder, module: xe.evaluate(module, np.float32(1)),
    "endless loop": lambda folder, module: xe.evaluate(ENDLESS, np.int32(1)),
}


@pytest.mark.parametrize("name", WORK)
def test_work_of_python_ends_at_its_deadline(name: str, tmp_path: Path) -> None:
    module = xe.parse_hlo(HLO)
    (tmp_path / "m.hlo").write_text(HLO)
    (tmp_path / "m.mlir").write_text(MLIR)
    (tmp_path / "m.hlo.pb").write_bytes(write_hlo_proto(module))
    seconds = 0.05 if name == "endless loop" else 1e-6
    with xe.options.set(timeout=seconds), pytest.raises(OutOfTimeError, match="timeout") as ended:
        WORK[name](tmp_path, module)
    assert f"after {seconds:g} s" in str(ended.value)
    if name != "endless loop":
        WORK[name](tmp_path, module)


def test_a_run_inside_a_run_has_the_deadline_of_the_outer_one() -> None:
    with limited_run(1e-9), limited_run(60), pytest.raises(OutOfTimeError):
        check_deadline("it")
    check_deadline("nothing limits this")
