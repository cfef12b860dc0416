"""Code generation writes LLVM IR and never parses it: later facts come from records and nests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "xla_explorer"
FOLDERS = ("compiler/codegen", "backends")
# Text that people write: nests, schedules, CPUs and tools by name, and generated C comments.
# And what others wrote: LLVM, assemblers, JAX, real XLA, and the PTX that the emulator runs.
READERS = (
    "compiler/codegen/nest/parser.py",
    "compiler/codegen/nest/schedule_text.py",
    "backends/aot/c_files.py",
    "backends/aot/c_names.py",
    "backends/amdgpu/amdgpu_kernels.py",
    "backends/cpu/threads.py",  # a program that people wrote, with places for a target's words
    "backends/cross/runners.py",
    "backends/gpu/disassembly.py",
    "backends/gpu/emulator/",
    "backends/gpu/gpu_stages.py",
    "backends/gpu/libraries/",
    "backends/gpu/ptx_assembler.py",
    "backends/gpu/runtime/",
    "backends/llvm/assembly.py",
    "backends/llvm/cpu_targets.py",
    "backends/llvm/llvm_module.py",
    "backends/llvm/llvm_passes.py",
    "backends/llvm/native_library.py",
    "backends/llvm/stages.py",
    "backends/llvm/target_machine.py",
    "backends/llvm/target_names.py",
    "backends/llvm/target_request.py",
    "backends/scaffolding/",
    "backends/testing/",
    "backends/xla/",
)
_METHODS = "startswith|endswith|find|index|rindex|partition|rpartition|split|replace"
PATTERN = re.compile(
    r"\bre\.(compile|match|sub|search|finditer|findall|fullmatch|split)\("
    r"|(?<!for )(?<!\w)[\w\"]+ in line\b"
    rf"|\b(line|text|ir|ir_text)\.({_METHODS})\("
    r"|\.(rindex|rfind)\(|\blines\[[^\]:]*-[^\]:]*\] = "
)
# Lines that still read text, by file. The numbers only shrink.
LEFT: dict[str, int] = {}
# What once read the text of kernels and modules, and what took its place.
REPLACED = {
    "compiler/codegen/vector_instructions.py": "22 patterns of scalar instructions: the directive vectorize, and lanes of the builder's types",
    "compiler/codegen/loop_vectorization.py": "loops found in text, their cost by substrings: policies of nests, facts of their schedules",
    "compiler/codegen/counted_loop.py": "induction variables found in text: axes of nests",
    "compiler/codegen/vector_loop.py": "bodies written again in lanes: the lowering of nests",
    "compiler/codegen/debug_lines.py": "lines of functions that are inlined: origins beside the lines, in backends/llvm",
    "backends/gpu/emitters/wide_accesses.py": "8 patterns of neighbouring loads and stores: records",
    "backends/gpu/kernel_module.py": "registers and loads of called kernels: their records",
    "compiler/codegen/host_program.py": "names in declarations: routines that writers declare",
    "backends/gpu/emitters/constant_memory.py": "lines counted from the end: a record for each line",
    "backends/gpu/emitters/uniformity.py": "9 patterns of values that are equal in a warp: operands of records",
    "compiler/codegen/ir/optimization_level.py": "a marker of loops in the text: the field `optimization_level` of a kernel",
    "compiler/codegen/symbol_names.py": "characters of names: one character after the other",
    "compiler/codegen/nest/plain_nests/from_hlo.py": "names of HLO: identifier",
    "compiler/codegen/program_records.py": "stores past the caches: the arrays of nests that are streamed",
    "backends/llvm/module_partition.py": "12 patterns of functions, references, linkage and attributes: fields of `LlvmFunction`",
    "backends/llvm/debug_lines.py": "headers and operations: functions of an `LlvmModule`",
    "backends/llvm/crashed_code.py": "names of functions: fields of `LlvmFunction`",
    "backends/aot/program_entry.py": "names of functions, and slots that code loads: fields of the program",
}


def _readers() -> dict[str, list[str]]:
    paths = [path for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py")]
    found = {
        path.relative_to(PACKAGE).as_posix(): [
            x for x in path.read_text().splitlines() if PATTERN.search(x)
        ]
        for path in paths
    }
    return {name: lines for name, lines in found.items() if lines and not name.startswith(READERS)}


def test_only_languages_of_people_and_output_of_tools_are_read() -> None:
    unexpected = {name: lines for name, lines in _readers().items() if name not in LEFT}
    assert not unexpected, f"these lines read text: {unexpected}"


def test_what_is_left_only_shrinks() -> None:
    assert {name: len(lines) for name, lines in _readers().items()} == LEFT


@pytest.mark.parametrize(
    "line",
    [
        "    ends = {line[line.rindex(', !') :] for line in lines}",
        "    return line.replace(INVARIANT, '')",
        "    if text.startswith('define'):",
        "    lines[place - len(records)] = line_of(record)",
        "_DEFINED = re.compile(r'^define')",
    ],
)
def test_the_pattern_finds_readers_of_text(line: str) -> None:
    assert PATTERN.search(line)


@pytest.mark.parametrize("name", REPLACED)
def test_what_read_text_has_gone_or_reads_none(name: str) -> None:
    path = PACKAGE / name
    assert not path.exists() or not PATTERN.search(path.read_text()), (
        f"{name} reads text again; before: {REPLACED[name]}"
    )
