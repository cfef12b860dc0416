"""Code side by side: rows by HLO line, whole functions, shared kernels, times with sources."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.code.column_time import column_time
from xla_explorer.explorer.code.side_by_side import SideBySide
from xla_explorer.explorer.code.stage_functions import functions_of
from xla_explorer.explorer.sessions.compilation import program_steps

TEXT = """HloModule m
ENTRY e {
  x = f32[256] parameter(0)
  y = f32[256] exponential(x)
  a = f32[256] add(y, x)
  s = f32[256] sine(a)
  ROOT t = (f32[256], f32[256]) tuple(a, s)
}"""


@pytest.fixture(scope="module")
def session() -> xe.Session:
    return xe.compile(TEXT, threads=1)


@pytest.fixture(scope="module")
def shown(session: xe.Session) -> SideBySide:
    return session.side_by_side("llvm-ir-optimized", "assembly", "gpu-llvm-ir-optimized", "ptx")


def test_a_row_has_what_came_from_its_hlo_line_in_every_column(
    session: xe.Session, shown: SideBySide
) -> None:
    names = {i.name: i.id for i in session.module.instructions()}
    for name, llvm, ptx in (("a", "fadd", "add.f32"), ("y", "fma", "fma.rn.f32")):
        row = next(
            row for kernel in shown.kernels for row in kernel.rows if row.instruction == names[name]
        )
        assert f"%{name} = " in row.hlo
        for cell, word in zip(
            row.cells, (llvm, "v", llvm if name == "a" else "fma", ptx), strict=True
        ):
            assert any(word in line.text for line in cell), (name, word)


def test_each_line_of_a_function_stands_in_one_row_with_its_labels(
    session: xe.Session, shown: SideBySide
) -> None:
    for place, stage in enumerate(("llvm-ir-optimized", "assembly")):
        functions = functions_of(stage, session.stage(stage).lines())
        for step, kernel in zip(program_steps(session), shown.kernels, strict=True):
            placed = sorted(line.number for row in kernel.rows for line in row.cells[place])
            assert placed == [line.number for line in functions[step.function]]
    assert any(line.endswith(":") for line in shown.kernels[0].code["assembly"][1:]), (
        "labels of loops"
    )
    assert (
        shown.kernels[0].code["ptx"][0].startswith(".visible .entry")
        and shown.kernels[0].code["llvm-ir-optimized"][-1] == "}"
    )


def test_each_kernel_that_a_gpu_makes_of_one_instruction_is_shown_once() -> None:
    text = """a { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
    ENTRY main { x = f32[200000] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=a }"""
    (kernel,) = xe.compile(text, threads=1).side_by_side("ptx").kernels
    entries = [line for line in kernel.code["ptx"] if ".entry" in line]
    assert len(entries) == 2 and entries[0] != entries[1]


def test_what_one_kernel_of_the_gpu_computes_is_found_in_several_of_the_cpu() -> None:
    split = xe.compile(TEXT, threads=1).override(forbid=[("fusion", "%y", "%a")])
    found = split.side_by_side("ptx").kernels
    assert len(found) >= 2
    notes = {kernel.name: kernel.notes["ptx"] for kernel in found}
    assert any("more instruction" in note for note in notes.values()) and all(
        kernel.code["ptx"] for kernel in found
    )


def test_times_say_how_they_are_known(session: xe.Session, shown: SideBySide) -> None:
    times = shown.kernels[0].times
    assert (
        times["llvm-ir-optimized"].startswith("~")
        and "estimated on one core" in times["llvm-ir-optimized"]
    )
    assert times["ptx"].startswith("~") and "estimated for sm_" in times["ptx"]
    gpu = session.gpu(device="emulator")
    gpu.emulation()
    gpu.last_profile = "an emulator's wall time"
    said = column_time(gpu, list(program_steps(gpu)), gpu.last_emulation)
    assert "on the emulator" in said and "estimated" in said and "measured" not in said
    session.profile(repeats=2)
    assert (
        "measured on this machine (cpu) (n 2)"
        in session.side_by_side("llvm-ir-optimized").kernels[0].times["llvm-ir-optimized"]
    )


def test_whole_lines_and_markup_that_is_text(shown: SideBySide) -> None:
    html = shown._repr_mimebundle_()["text/html"]
    assert "pre-wrap" in html and "&lt;16 x float&gt;" in html.replace(
        "&lt;8 x", "&lt;16 x"
    ).replace("&lt;4 x", "&lt;16 x")
    assert next(iter(shown.to_frame()["ptx_time"])).startswith("~")


SASS = """\t.section .text.k,"ax",@progbits
.text.k:
\t/*0000*/ MOV R1, c[0x0][0x28] ;
.L_x_0:
\t/*0010*/ EXIT ;
//--------------------- .nv.shared
"""


@pytest.mark.parametrize(
    ("stage", "text", "found"),
    [
        ("sass", SASS, {"k": [2, 3, 4, 5]}),
        (
            "assembly",
            "f:\n\tret\n.L1:\n\tnop\n.Lfunc_end0:\n\t.quad 1\ng:\n\tret",
            {"f": [1, 2, 3, 4], "g": [7, 8]},
        ),
        (
            "ptx",
            ".func (.param .b32 r) h(\n)\n{\n}\n\n.visible .entry k(\n)\n{\nret;\n}",
            {"h": [1, 2, 3, 4], "k": [6, 7, 8, 9, 10]},
        ),
        (
            "llvm-ir",
            'declare void @d()\ndefine void @"a.b"(ptr %x) {\n  ret void\n}',
            {"a.b": [2, 3, 4]},
        ),
    ],
)
def test_functions_of_a_stage(stage: str, text: str, found: dict[str, Any]) -> None:
    lines: list[tuple[str, int | None]] = [(line, None) for line in text.split("\n")]
    assert {
        name: [line.number for line in body] for name, body in functions_of(stage, lines).items()
    } == found


def test_times_of_the_emulator_are_marked_and_shown_as_no_kernels_time() -> None:
    gpu = xe.compile(TEXT, "gpu", device="emulator")
    frame = gpu.profile(repeats=1)
    source = gpu._explorer_source_()
    assert set(frame["runs_on"]) == {"PTX emulator"} and "not of a device" in frame.attrs["note"]
    assert (
        source.timings() == []
        and "run_us" not in source.summary()
        and all(row.median_us is None for row in source.view().rows())
    )
