"""Code generation writes records of typed values; only the printer spells LLVM IR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder

PACKAGE = Path(__file__).resolve().parents[2] / "xla_explorer"
FOLDERS = ("compiler/codegen", "backends", "pjrt")
# The printer, and whole programs that people wrote, with places for a target's words.
SPELLED = (
    "compiler/codegen/ir/llvm_text.py",
    "backends/cpu/microbenchmarks.py",
    "backends/cpu/threads.py",
    "backends/llvm/runtime_support.py",
)
_OPERATIONS = (
    "load|store|getelementptr|icmp|fcmp|br|phi|select|bitcast|extractvalue|insertelement|"
    "extractelement|shufflevector|ret|trunc|zext|sext|fpext|fptrunc|fneg|cmpxchg|add|sub|mul|udiv|"
    "sdiv|urem|srem|xor|and|or|lshr|ashr|shl|alloca|fadd|fsub|fmul|fdiv|switch|inttoptr|ptrtoint"
)
_TYPES = r"(?:i\d+|float|double|half|ptr|void|label|inbounds|<\d+ x|\{(?:t|self|vector|word))"
PATTERN = re.compile(
    rf"[\"'](?:\s*%[\w.]+ = )?(?:{_OPERATIONS}) (?:nsw |nuw |contract )*{_TYPES}"
    rf"|[\"']call {_TYPES}"
)
# Lines that spell LLVM IR, by file. The numbers only shrink.
LEFT = {
    "compiler/codegen/lowering/threads/block_of_threads.py": 1,  # an address in shared memory, a constant expression
}


def _spelled() -> dict[str, list[str]]:
    found = {
        path.relative_to(PACKAGE).as_posix(): [
            x for x in path.read_text().splitlines() if PATTERN.search(x)
        ]
        for folder in FOLDERS
        for path in (PACKAGE / folder).rglob("*.py")
    }
    return {name: lines for name, lines in found.items() if lines and name not in SPELLED}


def test_what_spells_llvm_ir_only_shrinks() -> None:
    found = _spelled()
    assert {name: len(lines) for name, lines in found.items()} == LEFT, found


def test_builders_take_no_text() -> None:
    assert not {"value", "do"} & set(dir(InOrderBuilder))


@pytest.mark.parametrize(
    "line",
    [
        """    w.do(f"store i32 0, ptr {total}")""",
        """    x = w.value(f"load {t}, ptr {address}")""",
        """    lines.append("  %p = getelementptr inbounds ptr, ptr %context, i64 1")""",
        """    w.do(f"call void @{routine}(ptr {which}, i64 1)")""",
        """    y = w.value(f"fmul contract {t} {a}, {b}")""",
    ],
)
def test_the_pattern_finds_spelled_operations(line: str) -> None:
    assert PATTERN.search(line)
