"""Each dot algorithm of StableHLO becomes HLO's of the same name, as in XLA's converter."""

from __future__ import annotations

import pytest

import xla_explorer as xe

# Operands, accumulator, primitive operations: one component a side in all of them.
NAMES = {
    ("f16", "f16", 1): "dot_f16_f16_f16", ("f16", "f32", 1): "dot_f16_f16_f32", ("bf16", "bf16", 1): "dot_bf16_bf16_bf16",
    ("bf16", "f32", 1): "dot_bf16_bf16_f32", ("bf16", "f32", 3): "dot_bf16_bf16_f32_x3", ("bf16", "f32", 6): "dot_bf16_bf16_f32_x6",
    ("bf16", "f32", 9): "dot_bf16_bf16_f32_x9", ("tf32", "f32", 1): "dot_tf32_tf32_f32", ("tf32", "f32", 3): "dot_tf32_tf32_f32_x3",
    ("f32", "f32", 1): "dot_f32_f32_f32", ("f64", "f64", 1): "dot_f64_f64_f64",
}  # fmt: skip


def module(
    kind: str, accumulator: str, operations: int, components: tuple[int, int] = (1, 1)
) -> str:
    return f"""module @m {{ func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = {kind}, rhs_precision_type = {kind},
    accumulation_type = {accumulator}, lhs_component_count = {components[0]}, rhs_component_count = {components[1]},
    num_primitive_operations = {operations}, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32> }} }}"""


@pytest.mark.parametrize(("spelt", "name"), NAMES.items(), ids=NAMES.values())
def test_the_name(spelt: tuple[str, str, int], name: str) -> None:
    assert f"algorithm={name}" in xe.parse_stablehlo(module(*spelt)).to_text()


@pytest.mark.parametrize(
    "wrong",
    [
        ("bf16", "f32", 2),
        ("f32", "f32", 3),
        ("f64", "f32", 1),
        ("bf16", "f32", 3, (2, 2)),
        ("bf16", "f32", 1, (1, 2)),
    ],
)
def test_others_are_refused(wrong: tuple[str, str, int]) -> None:
    with pytest.raises(xe.XlaExplorerError, match="no dot algorithm"):
        xe.parse_stablehlo(module(*wrong))
