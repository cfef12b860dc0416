"""Facts about kernels in a dump of XLA:GPU: choices for products, machine code by nvdisasm."""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.disassembly import why_no_sass
from xla_explorer.backends.xla import gpu_dump
from xla_explorer.explorer.code.code_panes import MOST_PTX_LINES_ASSEMBLED, code_panes, costly
from xla_explorer.explorer.page.session_source import SessionSource

MODULE = """HloModule jit_f
f { p = f32[8,16] parameter(0)  ROOT d = f32[8,8] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={1} }
ENTRY e { x = f32[8,16] parameter(0)
  gemm_fusion_dot = f32[8,8] fusion(x), kind=kCustom, calls=f, backend_config={"fusion_backend_config":{"kind":"__triton_nested_gemm_fusion","block_level_fusion_config":{"num_warps":"2","output_tiles":[{"sizes":["16","8"]}],"num_stages":1}}}
  w = f32[8,8] custom-call(gemm_fusion_dot, gemm_fusion_dot), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"selected_algorithm":"13","beta":0}}
  h = f32[8,8] custom-call(w), custom_call_target="my_callback", backend_config=""
  ROOT r = f32[8,8] add(w, h) }"""
PTX = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry gemm_fusion_dot(
)
{
	ret;
}
"""


def _dump(folder: Path, ptx: str = PTX) -> xe.Session:
    for name in ("before_optimizations", "sm_9.0_gpu_after_optimizations"):
        (folder / f"module_0000.jit_f.{name}.txt").write_text(MODULE)
    (folder / "module_0000.jit_f.1.ptx").write_text(ptx)
    (folder / "module_0000.jit_f.1.ir-with-opt.ll").write_text(
        "define void @gemm_fusion_dot() {\n  ret void\n}\n"
    )
    (folder / "module_0000.jit_f.0.ir-no-opt.ll").write_text(
        "define void @gemm_fusion_dot() {\n  ret void\n}\n"
    )
    return xe.load(folder).session()


def test_picks_of_products_are_a_line_each(tmp_path: Path) -> None:
    assert _dump(tmp_path).stages()["picks"].text.splitlines() == [
        "%gemm_fusion_dot  __triton_nested_gemm_fusion  num_warps 2, tile 16x8, num_stages 1",
        "%w                __cublas$gemm                selected_algorithm 13",
    ]


def test_machine_code_belongs_to_the_instruction_of_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools' answer is given here; the next test runs the tools if they are installed."""
    asked: list[str] = []

    def assembled(ptx: str, architecture: str) -> tuple[str, list[int | None]]:
        asked.append(architecture)
        return (
            '\t.section\t.text.gemm_fusion_dot,"ax",@progbits\n        /*0000*/  EXIT ;\n\t.section\t.text.other\n  /*0000*/ EXIT ;\n',
            [],
        )

    monkeypatch.setattr(gpu_dump, "sass_of", assembled)
    paths = [tmp_path / "a.ptx", tmp_path / "empty.ptx"]
    paths[0].write_text(PTX)
    paths[1].write_text(".version 8.3\n.target sm_90\n")
    text, origins = gpu_dump.sass(paths, {"gemm_fusion_dot": 7})
    assert (
        asked == ["sm_90a"]
        and origins == [7, 7, None, None, None]
        and len(text.split("\n")) == len(origins)
    )


@pytest.mark.skipif(why_no_sass() is not None, reason="ptxas and nvdisasm are not installed")
def test_ptx_of_a_dump_is_assembled_and_disassembled(tmp_path: Path) -> None:
    session = _dump(tmp_path)
    made = session.stages()["sass"]
    assert "EXIT" in made.text and session.module.find("gemm_fusion_dot").id in made.origins


def test_a_page_says_why_there_are_no_loops_and_no_machine_code(tmp_path: Path) -> None:
    session = _dump(
        tmp_path, PTX.replace("\tret;", "\tret;\n" + "// more\n" * MOST_PTX_LINES_ASSEMBLED)
    )
    panes = {pane.name: pane for pane in code_panes(session)}
    assert "emitters write LLVM IR directly" in panes["loops"].lines[0].text
    assert (
        SessionSource(session).view().loops() == []
        and "emitters write LLVM IR directly" in panes["loops"].note
    )
    if "sass" in panes:
        assert "session.stage('sass').text makes it" in costly(session, panes["sass"])
