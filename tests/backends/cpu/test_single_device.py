"""Collectives, identifiers and expanded opcodes in a program of one device run as native code."""

import numpy as np
import pytest

from tests.backends.cpu.cpu_programs import check_program, compile_for_cpu, opcodes_on_evaluator

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    "text",
    [
        "all-reduce(x), replica_groups={{0}}, to_apply=add",
        "all-reduce(x), replica_groups={}, to_apply=add",
        "all-gather(x), replica_groups={{0}}, dimensions={0}",
        "all-to-all(x), replica_groups={{0}}, dimensions={0}",
        "reduce-scatter(x), replica_groups={{0}}, dimensions={0}, to_apply=add",
        "collective-permute(x), source_target_pairs={{0,0}}",
    ],
)
def test_a_collective_of_one_device_is_a_copy(text):
    program = (
        f"HloModule m\n{ADD}ENTRY e {{ x = f32[3,4] parameter(0)\n ROOT r = f32[3,4] {text} }}"
    )
    executable = compile_for_cpu(program)
    assert not opcodes_on_evaluator(executable)
    np.testing.assert_array_equal(executable.execute([X])[0], X)


@pytest.mark.parametrize("opcode", ["replica-id", "partition-id"])
def test_the_only_device_is_number_zero(opcode):
    check_program(
        f"HloModule m\nENTRY e {{ i = u32[] {opcode}()\n c = u32[] constant(7)\n ROOT r = u32[] add(i, c) }}"
    )


def test_a_known_dimension_is_a_constant():
    check_program(
        "HloModule m\nENTRY e { x = f32[3,4] parameter(0)\n ROOT r = s32[] get-dimension-size(x), dimensions={1} }",
        X,
    )


def test_batch_norm_is_expanded():
    check_program(
        """HloModule m
ENTRY e { x = f32[5,4] parameter(0)
 s = f32[4] parameter(1)
 ROOT r = (f32[5,4], f32[4], f32[4]) batch-norm-training(x, s, s), epsilon=0.001, feature_index=1 }""",
        np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32),
        np.ones(4, np.float32),
        relative=1e-5,
    )


def test_16_bit_factorisations_are_computed_in_f32():
    a = np.array([[4, 2], [2, 5]], np.float16)
    check_program(
        "HloModule m\nENTRY e { x = f16[2,2] parameter(0)\n ROOT r = f16[2,2] cholesky(x), lower=true }",
        a,
        relative=1e-3,
    )
