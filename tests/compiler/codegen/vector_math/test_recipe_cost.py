"""Costs of opcodes follow from the instructions of their recipes."""

import pytest

from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.vector_math import vector_math_function, vector_math_opcodes
from xla_explorer.compiler.codegen.vector_math.recipe_cost import DIVIDE, PLAIN, recipe_cost


@pytest.mark.parametrize("element_type", ["f32", "f64"])
def test_every_recipe_has_a_cost(element_type):
    for opcode in vector_math_opcodes():
        cost = recipe_cost(opcode, element_type)
        assert cost.cycles >= PLAIN.cycles and cost.latency > PLAIN.latency, opcode


def test_a_cost_counts_the_instructions_of_the_recipe_and_of_its_callees():
    records = vector_math_function("exponential", "f32").definition.body.records
    counted = [r for r in records if isinstance(r, Instruction) and r.op != "bitcast"]
    assert recipe_cost("exponential", "f32").instructions == len(counted)
    exponential, logistic = recipe_cost("exponential", "f32"), recipe_cost("logistic", "f32")
    assert logistic.cycles > exponential.cycles + DIVIDE.cycles
    assert logistic.latency > exponential.latency + DIVIDE.latency


def test_longer_recipes_cost_more():
    ranked = ["exponential", "tanh", "power"]
    costs = [recipe_cost(opcode, "f32") for opcode in ranked]
    assert costs == sorted(costs)
    assert recipe_cost("sine", "f64").cycles > 2 * recipe_cost("sine", "f32").cycles
    assert recipe_cost("add", "f32") is None
