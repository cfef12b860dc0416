"""Code generation writes LLVM IR and never parses it: later facts come from records and nests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "xla_explorer"
FOLDERS = ("compiler/codegen", "backends/gpu/emitters")
# Text that people write: nests and schedules. And the names of symbols that a program declares.
READERS = {
    "compiler/codegen/nest/parser.py",
    "compiler/codegen/nest/schedule.py",
    "compiler/codegen/host_program.py",
}
PATTERN = re.compile(
    r"\bre\.(compile|match|sub|search|finditer|fullmatch|split)\(|(?<!for )(?<!\w)[\w\"]+ in line\b|\bline\.(startswith|endswith|find|partition|split)\("
)
# Files that once read the text of kernels, with their replacements.
REPLACED = {
    "compiler/codegen/vector_instructions.py": "22 patterns of scalar instructions: the directive vectorize, and lanes of the builder's types",
    "compiler/codegen/loop_vectorization.py": "loops found in text, their cost by substrings: policies of nests, facts of their schedules",
    "compiler/codegen/counted_loop.py": "induction variables found in text: axes of nests",
    "compiler/codegen/vector_loop.py": "bodies written again in lanes: the lowering of nests",
    "compiler/codegen/debug_lines.py": "lines of functions that are inlined: origins beside the lines, in backends/llvm",
    "backends/gpu/emitters/wide_accesses.py": "8 patterns of neighbouring loads and stores: records",
    "backends/gpu/emitters/constant_memory.py": "2 patterns of loads that a warp shares: records and their address space",
    "backends/gpu/emitters/uniformity.py": "9 patterns of values that are equal in a warp: operands of records",
    "compiler/codegen/ir/optimization_level.py": "a marker of loops in the text: the field `optimization_level` of a kernel",
    "compiler/codegen/symbol_names.py": "characters of names: one character after the other",
    "compiler/codegen/nest/plain_nests/from_hlo.py": "names of HLO: identifier",
    "compiler/codegen/program_records.py": "stores past the caches: the arrays of nests that are streamed",
}


def _readers() -> dict[str, list[str]]:
    paths = [path for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py")]
    found = {
        str(path.relative_to(PACKAGE)): [
            x for x in path.read_text().splitlines() if PATTERN.search(x)
        ]
        for path in paths
    }
    return {name: lines for name, lines in found.items() if lines and name not in READERS}


def test_only_the_languages_of_nests_and_schedules_are_read() -> None:
    found = _readers()
    unexpected = {
        name: lines
        for name, lines in found.items()
        if name != "compiler/codegen/function_writer.py"
    }
    assert not unexpected, f"these lines read text: {unexpected}"
    # Which metadata the branches and stores end in, and a name that is final when all is written.
    assert len(found.get("compiler/codegen/function_writer.py", [])) <= 2


@pytest.mark.parametrize("name", REPLACED)
def test_what_read_text_has_gone_or_reads_none(name: str) -> None:
    path = PACKAGE / name
    assert not path.exists() or not PATTERN.search(path.read_text()), (
        f"{name} reads text again; before: {REPLACED[name]}"
    )
