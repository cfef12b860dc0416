"""Names of any kind, from builders and front ends, are printed so that the text reads back."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.foundation.naming import legal_name
from xla_explorer.frontends.stablehlo import parse_stablehlo

NAMES = [
    "é",
    "a b",
    "1st",
    "a{",
    "x=y",
    "q:",
    "f32",
    "ENTRY",
    "a\nb",
    "%",
    "a/*b*/",
    "日本",
    "-x",
    "...",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_of_the_builder_reads_back(name: str) -> None:
    builder = xe.HloBuilder(name)
    x = builder.parameter(xe.f32[2])
    module = builder.build(x + x)
    assert xe.parse_hlo(module.to_text()).name == module.name == legal_name(name)


@pytest.mark.parametrize("name", [name for name in NAMES if "\n" not in name])
def test_a_module_and_a_function_of_stablehlo_read_back(name: str) -> None:
    text = f"""module @"{name}" {{
  func.func private @"{name}"(%a: tensor<f32>) -> tensor<f32> {{ return %a : tensor<f32> }}
  func.func public @main(%a: tensor<f32>) -> tensor<f32> {{
    %0 = call @"{name}"(%a) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }}
}}"""
    module = parse_stablehlo(text)
    again = xe.parse_hlo(module.to_text())
    assert len(again.computations) == len(module.computations)
