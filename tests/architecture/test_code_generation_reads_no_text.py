"""Code generation writes LLVM IR and never parses it: later facts come from records and nests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "xla_explorer"
FOLDERS = ("compiler/codegen", "backends")
# Files that read a text of somebody else, with what it is. The list only shrinks: a file that reads
# no more must leave it.
READERS = {
    # Languages that people write, and words of theirs.
    "compiler/codegen/nest/parser.py": "loop nests",
    "compiler/codegen/nest/schedule_text.py": "schedules",
    "backends/aot/c_files.py": "names in comments of C",
    "backends/aot/c_names.py": "names that become identifiers of C",
    "backends/cpu/threads.py": "a program in LLVM IR with places for words of the target",
    "backends/cross/runners.py": "names of compilers on the path",
    "backends/llvm/cpu_targets.py": "names of CPUs and features",
    "backends/llvm/target_request.py": "a target that a user asked for",
    "backends/scaffolding/scaffold.py": "templates of new backends",
    "backends/testing/opcode_program.py": "templates of HLO programs",
    "backends/testing/conformance.py": "HLO programs",
    "backends/testing/outcome.py": "messages of exceptions",
    "backends/testing/contract.py": "texts of any backend's stages",
    "backends/interfaces/stage.py": "texts of any backend's stages",
    "compiler/codegen/nest/schedule.py": "texts of two nests, for a difference",
    # What LLVM returns.
    "backends/amdgpu/amdgpu_kernels.py": "metadata of AMD's assembly",
    "backends/cpu_program/cpu_stages.py": "optimised LLVM IR",
    "backends/gpu/gpu_executable.py": "PTX, and PTX that a user edited",
    "backends/gpu/gpu_stages.py": "PTX",
    "backends/llvm/assembly.py": "assembly",
    "backends/llvm/llvm_module.py": "messages of LLVM's parser",
    "backends/llvm/llvm_passes.py": "LLVM IR between passes, and remarks",
    "backends/llvm/stages.py": "optimised LLVM IR and assembly",
    "backends/llvm/target_machine.py": "data layouts, assembly",
    "backends/llvm/target_names.py": "messages about unknown targets",
    # What other tools and libraries return.
    "backends/gpu/disassembly.py": "machine code of nvdisasm",
    "backends/gpu/emulator/": "PTX",
    "backends/gpu/libraries/shared_objects.py": "messages of the loader",
    "backends/gpu/ptx_assembler.py": "messages of ptxas",
    "backends/gpu/runtime/code_loading.py": "messages of the driver",
    "backends/gpu/runtime/cuda_driver.py": "messages of the loader",
    "backends/llvm/code_maker.py": "messages of a child process",
    "backends/xla/": "dumps of real XLA",
}
_METHODS = (
    "startswith|endswith|find|index|partition|split|replace|removeprefix|removesuffix"
    "|strip|lstrip|rstrip"
)
_TEXTS = r"line|text|ir|ir_text|detail|\w+\.text|\w+_text|\w+\.detail"
PATTERN = re.compile(
    r"\bre\.(compile|match|sub|search|finditer|findall|fullmatch|split)\("
    rf"|(?<!for )(?<!\w)[\w\"']+ (not )?in ({_TEXTS})\b(?!\.|\()"
    rf"|\b({_TEXTS})\.({_METHODS})\("
    r"|\.(rindex|rfind|rpartition|rsplit|splitlines)\("
    r"|\.split\(\"\\n\"\)"
    r"|\b(text|ir|ir_text|lines)\[[^\]:\[]*-"
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
    return {
        name: lines
        for name, lines in found.items()
        if lines and not name.startswith(tuple(READERS))
    }


def test_only_languages_of_people_and_output_of_tools_are_read() -> None:
    unexpected = {name: lines for name, lines in _readers().items() if name not in LEFT}
    assert not unexpected, f"these lines read text: {unexpected}"


def test_what_is_left_only_shrinks() -> None:
    assert {name: len(lines) for name, lines in _readers().items()} == LEFT


@pytest.mark.parametrize("name", READERS)
def test_a_reader_in_the_list_reads_text(name: str) -> None:
    path = PACKAGE / name
    files = path.rglob("*.py") if path.is_dir() else (path,)
    assert any(PATTERN.search(line) for file in files for line in file.read_text().splitlines())


@pytest.mark.parametrize(
    "line",
    [
        "    ends = {line[line.rindex(', !') :] for line in lines}",
        "    return line.replace(INVARIANT, '')",
        "    if text.startswith('define'):",
        "    lines[place - len(records)] = record_line(record)",
        "    if is_wasm and ' half' in program.text:",
        "    if record.detail.endswith(INVARIANT):",
        "    number = label.rpartition('.')[2]",
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
