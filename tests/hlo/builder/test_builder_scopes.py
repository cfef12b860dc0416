"""Scopes in the metadata, and control flow as functions of values inside `@hlo`."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.hlo.builder import HloBuilder, HloBuilderError
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.primitive_type import F32, S32
from xla_explorer.hlo.text import parse_hlo


def test_scopes_nest_and_stand_in_the_metadata() -> None:
    b = HloBuilder("m")
    x = b.parameter(F32[4], "x")
    with b.scope("encoder"):
        with b.scope("layer1"):
            y, line = x * 2, inspect.currentframe().f_lineno  # type: ignore[union-attr]
        z = -y
    module = b.build(z + 1)
    names = {i.opcode.name: i.op_metadata.op_name for i in module.entry.instructions.values()}
    assert names["multiply"] == "encoder/layer1/multiply" and names["negate"] == "encoder/negate"
    assert names["add"] == "" and names["parameter"] == ""
    found = next(i for i in module.instructions() if i.opcode.name == "multiply").op_metadata
    assert (found.source_file, found.source_line) == (__file__, line)
    again = parse_hlo(module.to_text())
    assert {
        i.opcode.name: i.op_metadata.op_name for i in again.entry.instructions.values()
    } == names


def test_a_scope_reaches_into_subcomputations_and_ends_with_an_error() -> None:
    b = HloBuilder("m", locations=False)
    x = b.parameter(F32[4])
    with b.scope("sum"):
        total = x.reduce(lambda p, q: p + q, init=0, axes=0)
    with pytest.raises(HloBuilderError), b.scope("broken"):
        x + b.parameter(F32[3])
    root = b.build(-total).entry.root
    assert root.metadata is None
    assert root.operands[0].called[0].root.op_metadata.op_name == "sum/add"
    with pytest.raises(HloBuilderError, match="needs a name"), b.scope(""):
        pass


def test_control_flow_needs_no_builder() -> None:
    @xe.hlo
    def collatz_steps(n: xe.s32):  # type: ignore[name-defined]
        def step(m, count):  # type: ignore[no-untyped-def]
            return xe.hlo.cond(m % 2 == 0, lambda v: v // 2, lambda v: 3 * v + 1, m), count + 1

        return xe.hlo.while_loop(lambda m, count: m > 1, step, (n, n * 0))[1]

    assert int(collatz_steps(np.int32(27))) == 111

    @xe.hlo
    def pick(k: xe.s32, x: xe.f32[3]):  # type: ignore[name-defined]
        y = xe.hlo.switch(k, [lambda v: v + 1, lambda v: v * 10, lambda v: -v], x)
        return xe.hlo.fori_loop(0, k, lambda i, v: v + 1, xe.hlo.where(x > 1, y, 0))

    for k, function in enumerate([lambda v: v + 1, lambda v: v * 10, lambda v: -v]):
        x = np.array([1, 2, 3], np.float32)
        np.testing.assert_array_equal(pick(np.int32(k), x), np.where(x > 1, function(x), 0) + k)


def test_control_flow_of_numbers_alone_is_refused() -> None:
    with pytest.raises(
        HloBuilderError,
        match=r"while_loop: none of its arguments .* b\.while_loop|none of its arguments",
    ):
        xe.hlo.while_loop(lambda i: i < 3, lambda i: i + 1, 0)


def test_the_examples_of_the_documentation_run() -> None:
    b = HloBuilder("softmax")
    x = b.parameter(F32[8, 16], "x")
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    rows = evaluate(b.build(e / e.sum(axis=-1, keepdims=True)), np.ones((8, 16), np.float32))
    np.testing.assert_allclose(rows, 1 / 16, rtol=1e-6)
    b = HloBuilder("loop")
    n = b.parameter(S32)
    _, y = b.while_loop(lambda i, y: i < 10, lambda i, y: (i + 1, y * 2), (n, 1.0))
    assert float(evaluate(b.build(y), np.int32(7))) == 8.0
