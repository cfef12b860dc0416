"""Steps that replace operations: which, with what, and what they leave alone."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.codegen.ir.builder import SUM
from xla_explorer.compiler.codegen.ir.records import Instruction
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import BF16, F16, F32, I8, I32, PTR, Type
from xla_explorer.compiler.codegen.lowering.body import KernelBody, body_in_blocks
from xla_explorer.compiler.codegen.lowering.expand_divisions import EXPAND_DIVISIONS
from xla_explorer.compiler.codegen.lowering.expand_math import EXPAND_MATH
from xla_explorer.compiler.codegen.lowering.features import CodeFeatures
from xla_explorer.compiler.codegen.lowering.legalise_conversions import LEGALISE_CONVERSIONS
from xla_explorer.compiler.codegen.lowering.legalise_memory import LEGALISE_MEMORY
from xla_explorer.compiler.codegen.lowering.legalise_types import LEGALISE_TYPES
from xla_explorer.compiler.codegen.lowering.pipeline import RECORD_STEPS, lower_records

F8 = Type("i8", format="f8e5m2")


def _operations(body: KernelBody) -> list[str]:
    return [r.op for r in body.records if isinstance(r, Instruction)]


def _text(body: KernelBody) -> str:
    return "\n".join([line for line, _ in body.lines()])


def _stored(b: StructuredBuilder, value: object) -> KernelBody:
    b.store(value, b.named("%out", PTR))  # type: ignore[arg-type]
    return body_in_blocks(b)


def test_a_step_that_replaces_nothing_returns_the_same_body() -> None:
    b = StructuredBuilder()
    body = _stored(b, b.named("%x", F32) + 1.0)
    for step in RECORD_STEPS:
        assert step.run(body, CodeFeatures()) is body


def test_the_result_keeps_its_name_and_origin() -> None:
    b = StructuredBuilder()
    b.origin = 7
    body = _stored(b, b.narrow(b.named("%x", F32), BF16))
    after = LEGALISE_TYPES.run(body, CodeFeatures())
    assert body.records[-1] == after.records[-1]
    assert {record.origin for record in after.records} == {7}
    last = after.records[-2]
    assert isinstance(last, Instruction) and last.result is not None
    assert (last.op, last.result.name) == ("trunc", body.records[-1].operands[0].name)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("features", "wanted"),
    [
        (CodeFeatures(rounds_to_bf16=True), ["fptrunc", "bitcast"]),
        (CodeFeatures(keeps_nan_payloads=True), ["bitcast", "lshr", "and", "add", "add", "lshr"]),
    ],
)
def test_a_sum_of_bf16_is_rounded_as_the_target_can(
    features: CodeFeatures, wanted: list[str]
) -> None:
    b = StructuredBuilder()
    body = _stored(b, b.narrow(b.named("%x", F32), BF16, SUM))
    assert _operations(LEGALISE_TYPES.run(body, features))[: len(wanted)] == wanted


def test_half_is_left_to_llvm() -> None:
    b = StructuredBuilder()
    body = _stored(b, b.named("%x", F16) + b.named("%y", F16))
    assert LEGALISE_TYPES.run(body, CodeFeatures()) is body


def test_equal_operations_are_shared_in_a_block_but_not_between_blocks() -> None:
    b = StructuredBuilder(speculates=False)
    x, condition = b.named("%x", F8), b.named("%c", Type("i1"))
    b.store(b.widen(x), b.named("%p", PTR))
    with b.only_if(condition):
        b.store(b.narrow(b.named("%y", F32), F8), b.named("%q", PTR))
    with b.only_if(condition):
        b.store(b.narrow(b.named("%y", F32) + 0.0, F8), b.named("%q", PTR))
        b.store(b.narrow(b.named("%y", F32), F8), b.named("%p", PTR))
    lines = [
        line.strip() for line, _ in LEGALISE_TYPES.run(body_in_blocks(b), CodeFeatures()).lines()
    ]
    bits = [k for k, line in enumerate(lines) if line.endswith("bitcast float %y to i32")]
    labels = [k for k, line in enumerate(lines) if line.endswith(":")]
    assert len(bits) == 2 and bits[0] < labels[1] < bits[1]


def test_math_on_scalars_stays_a_call_if_the_module_has_functions() -> None:
    b = StructuredBuilder()
    body = _stored(b, b.call_math("xe_tanh_f32", b.named("%x", F32)))
    assert EXPAND_MATH.run(body, CodeFeatures(calls_math=True)) is body
    assert body.math_functions() == ("xe_tanh_f32",)
    inline = EXPAND_MATH.run(body, CodeFeatures())
    assert inline.math_functions() == () and "math" not in _operations(inline)
    assert "@llvm.fma" in _text(inline)
    assert "@llvm.fma" not in _text(EXPAND_MATH.run(body, CodeFeatures(fused=False)))


def test_a_float_becomes_an_integer_by_one_instruction_if_the_target_saturates() -> None:
    b = StructuredBuilder()
    body = _stored(b, b.saturate(b.named("%x", F32), I8, signed=True))
    assert "llvm.fptosi.sat.i8.f32" in _text(
        LEGALISE_CONVERSIONS.run(body, CodeFeatures(saturates=True))
    )
    assert _operations(LEGALISE_CONVERSIONS.run(body, CodeFeatures()))[-3:] == [
        "select",
        "trunc",
        "store",
    ]


def test_masked_halves_are_moved_as_integers() -> None:
    b = StructuredBuilder()
    pointer, mask, alignment = b.named("%p", PTR), b.named("%m", Type("i1", 8)), b.number(2, I32)
    value = b.emit("masked-load", F16.of_lanes(8), (pointer, mask, alignment))
    b.effect("masked-store", (value, pointer, mask, alignment))
    body = LEGALISE_MEMORY.run(body_in_blocks(b), CodeFeatures())
    assert _operations(body) == ["call", "bitcast", "bitcast", "call"]
    assert len(body.declarations) == 2


def test_no_operation_of_a_step_is_left_after_all_steps() -> None:
    b = StructuredBuilder()
    x = b.widen(b.named("%x", F8.of_lanes(4)))
    y = b.narrow(b.call_math("xe_log_f32", x), BF16)
    body = _stored(b, b.saturate(b.widen(y), I32, signed=False))
    after = lower_records(body, CodeFeatures())
    assert "math" not in _operations(after)
    for record in after.records:
        if isinstance(record, Instruction) and record.op in ("fpext", "fptrunc"):
            assert not any(v.type.format for v in (*record.operands, record.result))  # type: ignore[union-attr]
    assert " ; " not in _text(after)


def test_vectors_are_divided_as_floats_unless_the_divisor_is_constant() -> None:
    features = CodeFeatures(divided_bits=32)
    b = StructuredBuilder()
    lanes = Type("i32", 8)
    x, y = b.named("%x", lanes), b.named("%y", lanes)
    body = _stored(b, b.binary("sdiv", x, y) + b.binary("srem", x, y))
    assert _operations(EXPAND_DIVISIONS.run(body, features))[:4] == [
        "sitofp",
        "sitofp",
        "fdiv",
        "fptosi",
    ]
    assert _operations(EXPAND_DIVISIONS.run(body, features)).count("fdiv") == 1
    assert EXPAND_DIVISIONS.run(body, CodeFeatures()) is body
    for divisor, dividend in ((b.number(7, lanes), x), (b.named("%n", I32), b.named("%m", I32))):
        b = StructuredBuilder()
        body = _stored(b, b.binary("udiv", dividend, divisor))
        assert EXPAND_DIVISIONS.run(body, features) is body
