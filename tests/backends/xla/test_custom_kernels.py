"""A program's own kernels (Pallas, Triton) and autotuner choices in a dump of XLA:GPU."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest

import xla_explorer as xe

# The call as jax 0.10.2 writes it for `pl.pallas_call` ahead of time; of its bytecode the beginning
# and the names.
WHY_NOT = (
    "this jaxlib cannot read" if find_spec("jaxlib") else "jaxlib prints where it is installed"
)
CONFIG = (
    r'{debug = false, grid_x = 8 : i32, grid_y = 2 : i32, grid_z = 1 : i32, ir = "ML\EFR\0DMLIR\00num_warps = 9\00model.<locals>.gelu_kernel\00\22", '
    r'name = "gelu_kernel", num_stages = 3 : i32, num_warps = 4 : i32}'
)
MODULE = f"""HloModule jit_f

FileNames
1 "model.py"

FunctionNames
1 "model"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=28 end_line=28 column=11 end_column=30}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}

f {{ p = f32[8,16] parameter(0)  ROOT d = f32[8,8] dot(p, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}
ENTRY e {{ x = f32[8,16] parameter(0)
  product = f32[8,8] fusion(x), kind=kCustom, calls=f, backend_config={{"fusion_backend_config":{{"kind":"__triton_gemm"}}}}
  call = f32[8,8] custom-call(product), custom_call_target="__gpu$xla.gpu.triton", metadata={{op_name="jit(f)/pallas_call" stack_frame_id=1}}, backend_config={CONFIG}
  text = f32[8,8] custom-call(product), custom_call_target="__gpu$xla.gpu.triton", backend_config={{ir = "tt.func @add() {{\\0A}}", name = "add"}}
  ROOT r = f32[8,8] add(call, text) }}"""
TUNED = r"""results { device: "H100" hlo: "{ tmp_0 = f32[8,16]{1,0} parameter(0) ROOT tmp_1 = f32[8,8]{1,0} dot(tmp_0, tmp_0) }"
  result { run_time { nanos: 4160 } triton { block_m: 16 } } }
results { device: "H100" hlo: "of another program" result { gemm { algorithm: 1 } } }"""


def _stages(folder: Path) -> xe.Session:
    for name in ("before_optimizations", "sm_9.0_gpu_after_optimizations"):
        (folder / f"module_0000.jit_f.{name}.txt").write_text(MODULE)
    (folder / "module_0000.jit_f.1.ptx").write_text(
        ".version 8.3\n.visible .entry gelu_kernel(\n)\n{\n\tret;\n}\n"
    )
    (folder / "module_0000.jit_f.autotune_results.pbtxt").write_text(TUNED)
    return xe.load(folder).session()


def test_a_kernel_of_pallas_is_opaque_with_its_source_and_its_code(tmp_path: Path) -> None:
    session = _stages(tmp_path)
    stages, call = session.stages(), session.module.find("call").id
    said = stages["custom-kernels"]
    assert said.text.splitlines() == [
        "%call: gelu_kernel by __gpu$xla.gpu.triton, grid 8x2x1, num_stages 3, num_warps 4", "  called at model.py:28",
        "  made of model.<locals>.gelu_kernel",
        f"  its representation is MLIR bytecode of 52 bytes, which {WHY_NOT}; its PTX is among the program's", "",
        "%text: add by __gpu$xla.gpu.triton, grid 1x1x1", "tt.func @add() {", "}",
    ]  # fmt: skip
    assert said.origins[:4] == [call] * 4 and len(said.origins) == len(said.text.split("\n"))
    assert stages["ptx"].origins.count(call) == 5


def test_picks_of_the_autotuner_stand_with_their_instruction(tmp_path: Path) -> None:
    assert _stages(tmp_path).stages()["picks"].text.splitlines() == [
        "%product            __triton_gemm         nothing picked",
        "%product            autotuned             triton: block_m 16, 4.16 us",
        "%call               __gpu$xla.gpu.triton  kernel gelu_kernel, grid 8x2x1, num_stages 3, num_warps 4",
        "%text               __gpu$xla.gpu.triton  kernel add, grid 1x1x1",
        "of another program  autotuned             gemm: algorithm 1",
    ]


def test_a_broken_file_of_the_autotuner_does_not_close_the_dump(tmp_path: Path) -> None:
    _stages(tmp_path)
    (tmp_path / "module_0000.jit_f.autotune_results.pbtxt").write_text("results {")
    assert "holds no autotuning results" in xe.load(tmp_path).session().stages()["picks"].text


@pytest.mark.jax
def test_bytecode_of_triton_is_printed_by_jaxlib(tmp_path: Path) -> None:
    ir, dialect = [
        pytest.importorskip(name, reason="needs the extra `jax`")
        for name in ("jaxlib.mlir.ir", "jaxlib.triton.dialect")
    ]
    stream = BytesIO()
    with ir.Context() as context:
        dialect.register_dialect(context)
        text = "module { tt.func public @scaled(%p: !tt.ptr<f32>) { %0 = tt.get_program_id x : i32 tt.return } }"
        ir.Module.parse(text).operation.write_bytecode(stream)
    escaped = "".join([f"\\{byte:02X}" for byte in stream.getvalue()])
    module = MODULE.replace(CONFIG, f'{{grid_x = 4 : i32, ir = "{escaped}", name = "scaled"}}')
    (tmp_path / "module_0000.jit_f.sm_9.0_gpu_after_optimizations.txt").write_text(module)
    said = xe.load(tmp_path).session().stages()["custom-kernels"].text
    assert "%call: scaled by __gpu$xla.gpu.triton, grid 4x1x1" in said
    assert (
        "  tt.func public @scaled(%arg0: !tt.ptr<f32>) {" in said.splitlines()
        and "tt.get_program_id x : i32" in said
    )
