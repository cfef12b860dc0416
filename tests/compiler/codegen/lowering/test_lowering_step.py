"""A step that is added to the lowering from outside."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.pipeline import RECORD_STEPS
from xla_explorer.compiler.codegen.lowering.record_step import RewriteBuilder
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.plugin import NestStep, RecordStep, lowering_step

TEXT = "HloModule m\nENTRY e { x = f32[1000] parameter(0)\n  ROOT r = f32[1000] exponential(x) }"


def _doubled(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    return i.operands[0] * 2.0


DOUBLE = RecordStep("double", "Double the operand.", {"math": _doubled}, lambda i, f: True, "d")


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_a_step_on_records_replaces_operations_of_compiles_inside(backend: str) -> None:
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    with lowering_step(DOUBLE, before="expand-math"):
        changed = xe.compile(TEXT, backend=backend, cache=False)
        assert changed.lowering(changed.loops()[0].name).step("double").changed
    np.testing.assert_array_equal(changed(x), 2 * x)
    np.testing.assert_allclose(xe.compile(TEXT, backend=backend, cache=False)(x), np.exp(x), 1e-5)
    assert DOUBLE not in RECORD_STEPS


def _announced(b: RewriteBuilder, i: Instruction, features: CodeFeatures) -> Value:
    b.declare("llvm.donothing")
    b.effect("call", (), "void @llvm.donothing")
    return b.again(i)


def test_a_step_adds_an_effect_to_an_operation() -> None:
    step = RecordStep(
        "announce", "Do nothing before.", {"load": _announced}, lambda i, f: True, "a"
    )
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    with lowering_step(step):
        changed = xe.compile(TEXT, cache=False)
        lines = list(changed.lowering(changed.loops()[0].name).step("announce").lines)
    loads = [k for k, line in enumerate(lines) if " = load " in line]
    assert loads and all("@llvm.donothing" in lines[k - 1] for k in loads)
    np.testing.assert_array_equal(changed(x), xe.compile(TEXT)(x))


def test_a_step_on_nests_sees_the_scheduled_nest() -> None:
    seen: list[LoopNest] = []

    def look(nest: LoopNest) -> LoopNest:
        seen.append(nest)
        return nest

    with lowering_step(NestStep("look", "Look at the nest.", look)):
        xe.compile(TEXT, cache=False)
    assert len(seen) == 1 and seen[0].arrays[0].shape.element_count == 1000


def test_an_unknown_place_names_the_steps() -> None:
    with (
        pytest.raises(xe.XlaExplorerError, match="named 'expand-maths'") as problem,
        lowering_step(DOUBLE, before="expand-maths"),
    ):
        pass
    assert "expand-math" in problem.value.hint and DOUBLE not in RECORD_STEPS
