"""Lines of a real XLA session refer to the compiled text, not to XLA's print of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.xla_dump.snapshots import adopt_identities

STABLEHLO = """module @m { func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.exponential %arg0 : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32> } }
"""
FUSED = """HloModule m
f { p = f32[8,8] parameter(0)
  exponential = f32[8,8] exponential(p)
  ROOT tanh = f32[8,8] tanh(exponential) }

ENTRY e { arg0 = f32[8,8] parameter(0)
  k = f32[8,8] copy(arg0)
  ROOT r = f32[8,8] fusion(k), kind=kLoop, calls=f }
"""


def test_what_a_compiler_made_has_the_line_of_what_it_computes() -> None:
    after = xe.parse_hlo(FUSED)
    adopt_identities(xe.compile(STABLEHLO, passes="none").source, after)
    assert {i.name: i.line for i in after.instructions()} == {
        "p": 0,
        "exponential": 2,
        "tanh": 3,
        "arg0": 1,
        "k": 0,
        "r": 3,
    }


def test_lines_of_stablehlo_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "model.mlir").write_text(STABLEHLO)
    named, unnamed = [
        xe.compile(given, passes="none") for given in (xe.load(tmp_path / "model.mlir"), STABLEHLO)
    ]
    for session, name in ((named, str(tmp_path / "model.mlir")), (unnamed, "<stablehlo>")):
        i = session.source.find("tanh")
        assert session.source_lines.place(i.id, i.metadata) == f"{name}:3"


@pytest.mark.jax
def test_kernels_of_xla_have_lines_of_the_program() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    session = xe.compile(STABLEHLO, backend="xla")
    assert {i.line for i in session.module.instructions() if i.opcode.name == "fusion"} == {3}


@pytest.mark.long
@pytest.mark.jax
def test_a_program_whose_python_function_is_not_reached_runs_on_real_xla() -> None:
    jax = pytest.importorskip("jax", reason="needs the extra `jax`")

    def checked(x):  # type: ignore[no-untyped-def]
        return jax.lax.cond(
            x > 100,
            lambda y: jax.pure_callback(lambda z: z, jax.ShapeDtypeStruct((), "float32"), y),
            lambda y: y * 2,
            x,
        )

    module = xe.from_jax(checked, jax.numpy.float32(3))
    assert xe.compile(module, backend="xla")(np.float32(3)) == 6
