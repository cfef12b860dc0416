"""One cost of an opcode: fusion, code size and the estimates of nests read the same recipe."""

from __future__ import annotations

from dataclasses import replace

import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.parallel_plan import plan_parallel
from xla_explorer.compiler.codegen.vector_math.recipe_cost import recipe_cost
from xla_explorer.compiler.costs.cpu_costs import FusionCostModel
from xla_explorer.compiler.costs.opcode_cost import emitted_instructions, opcode_cost
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.target import HOST_LIKE, cpu_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import BF16, F32, F64, S32
from xla_explorer.hlo.text import parse_hlo

AVX2 = cpu_target(bits=256)


def _root(opcode: str, element: str = "f32", operands: int = 1) -> HloInstruction:
    shape = f"{element}[1024,1024]"
    given = "\n".join([f" x{k} = {shape} parameter({k})" for k in range(operands)])
    names = ", ".join([f"x{k}" for k in range(operands)])
    text = f"HloModule m\nENTRY e {{\n{given}\n ROOT r = {shape} {opcode}({names})\n}}"
    return parse_hlo(text).entry.root


def test_the_cost_of_a_function_is_that_of_its_recipe() -> None:
    for opcode in ("exponential", "log", "power"):
        cost = recipe_cost(opcode, "f32")
        assert opcode_cost(opcode, F32) == opcode_cost(opcode, BF16) == cost
    assert opcode_cost("sine", F64) == recipe_cost("sine", "f64")
    assert opcode_cost("divide", S32, 8).cycles == 8 * opcode_cost("divide", S32, 1).cycles
    assert emitted_instructions(_root("tanh")) == opcode_cost("tanh", F32).instructions
    assert emitted_instructions(_root("add", operands=2)) == 1


# Nanoseconds of an f32 element, as measured on one core with AVX-512.
MEASURED = {
    "exponential": 0.13,
    "log": 0.2,
    "tanh": 0.2,
    "sqrt": 0.1,
    "logistic": 0.2,
    "rsqrt": 0.15,
}


@pytest.mark.parametrize("opcode", MEASURED)
def test_functions_take_the_measured_time_on_the_measured_core(opcode: str) -> None:
    assert FusionCostModel(HOST_LIKE).element(_root(opcode)) == pytest.approx(
        MEASURED[opcode], rel=0.16
    )


def test_times_follow_the_numbers_of_the_core() -> None:
    wide, narrow = FusionCostModel(HOST_LIKE), FusionCostModel(AVX2)
    tanh = _root("tanh")
    assert narrow.element(tanh) == pytest.approx(2 * wide.element(tanh))
    fast = replace(HOST_LIKE, cores=replace(HOST_LIKE.cores, gigahertz=5.2))
    assert FusionCostModel(fast).element(tanh) == pytest.approx(wide.element(tanh) / 2)
    assert wide.element(_root("add", "f64", 2)) == pytest.approx(2 * wide.plain)


TWICE = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[40000,100] parameter(0)
  f = f32[40000,100] exponential(x)
  z = f32[] constant(0)
  r = f32[40000] reduce(f, z), dimensions={1}, to_apply=add
  b = f32[40000,100] broadcast(r), dimensions={0}
  c = f32[100] reduce(f, z), dimensions={0}, to_apply=add
  ROOT o = (f32[40000,100], f32[100]) tuple(f32[40000,100] divide(f, b), c)
}
"""


def test_another_core_gets_another_fusion() -> None:
    """An exponential is computed again where that takes less time than reading it."""
    slow = replace(HOST_LIKE, cores=replace(HOST_LIKE.cores, gigahertz=0.1))

    def exponentials(target: object) -> int:
        module = xe.parse_hlo(TWICE)
        text = optimize(module, "default,fusion", "off", target=target).module.to_text()  # type: ignore[arg-type]
        return text.count(" exponential(")

    assert exponentials(HOST_LIKE) > exponentials(slow) == 1


def test_tasks_follow_the_numbers_of_the_core() -> None:
    i = _root("tanh")
    usual = plan_parallel(i, 64, "kernel", HOST_LIKE)
    lazy = replace(HOST_LIKE, cores=replace(HOST_LIKE.cores, wake_nanoseconds=50_000.0))
    assert 1 < plan_parallel(i, 64, "kernel", lazy).tasks < usual.tasks
    assert plan_parallel(i, 64, "kernel", AVX2).nanoseconds > usual.nanoseconds
