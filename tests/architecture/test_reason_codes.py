"""Every recorded reason code is registered in `compiler/decisions`, and every code is used."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator
from functools import cache

import xla_explorer
from xla_explorer.compiler.decisions import answer_reasons
from xla_explorer.compiler.decisions.kinds import KINDS, OF_ANY_KIND

PACKAGE = pathlib.Path(xla_explorer.__file__).parent
RECORDING = (  # where reasons are made that a journal, an answer or a row of overrides may hold
    "compiler", "backends/gpu/persistent_kernel.py", "backends/gpu/emitters", "backends/gpu/gpu_program.py", "backends/gpu/libraries/library_runner.py",
    "backends/llvm/target_machine.py", "backends/interpreter/whole_module.py",
    "explorer/questions", "explorer/rules", "explorer/xla/overrides", "explorer/xla/replay", "hlo/analysis/call_graph_size.py", "hlo/analysis/coalescing.py", "hlo/analysis/elided_constants.py",
    "hlo/analysis/indexing",
)  # fmt: skip
ELSEWHERE = {  # reasons of checks, of tables of buffers and of the verifier, which no decision carries
    "compiler/rewriting/exactness.py", "compiler/buffers/checking.py", "compiler/buffers/assignment.py", "compiler/buffers/donation.py",
    "compiler/codegen/nest/launch.py", "compiler/codegen/nest/verifier.py",
}  # fmt: skip
NOT_RECORDED = {
    "cpu-feature-missing",
    "other-machine",
    "registers-too-narrow",
}  # why code does not run on this machine
MADE_OF_PARTS = {  # codes that are computed or passed on where they are refused
    "removed-before-fusion", "removed-before-the-pass", "left-to-llvm", "library-only", "library-faster", "not-partitioned", "operands-overlap",
    "read-only-constant", "scalar-loops", "shared-computation", "width-chosen-by-llvm", "tiny-kernel", "too-little-work", "worth-threads",
    "written-in-vectors",
    # of the propagation's refusals, by their table of sentences
    "closed", "axis-in-use", "explicitly-replicated", "unreduced", "indivisible", "blocked-factor", "conflict",
}  # fmt: skip


@cache
def codes_in(path: pathlib.Path) -> frozenset[str]:
    """Codes of the calls that make reasons, where they are literals."""
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in ("refuse", "Reason")):
        return frozenset()
    made = [
        n
        for n in ast.walk(ast.parse(text))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.args
    ]
    made = [n for n in made if n.func.id in ("refuse", "Reason")]  # type: ignore[attr-defined]
    return frozenset([str(n.args[0].value) for n in made if isinstance(n.args[0], ast.Constant)])


def sources() -> Iterator[pathlib.Path]:
    for place in RECORDING:
        path = PACKAGE / place
        found = [path] if path.is_file() else sorted(path.rglob("*.py"))
        yield from [one for one in found if one.relative_to(PACKAGE).as_posix() not in ELSEWHERE]


def registered() -> set[str]:
    return {
        code
        for table in (*[row.reasons for row in KINDS.values()], OF_ANY_KIND, answer_reasons.COSTS)
        for code in table
    }


def test_no_code_outside_of_the_registry_can_be_recorded() -> None:
    missing = {
        f"{path.relative_to(PACKAGE)}: {code}"
        for path in sources()
        for code in codes_in(path) - registered() - NOT_RECORDED
    }
    assert not missing, (
        "give it a row in a table of compiler/decisions, then run python -m tests.compiler.decisions.reason_page"
    )


def test_no_code_of_the_registry_is_idle() -> None:
    used = {code for path in sources() for code in codes_in(path)}
    assert registered() - used <= MADE_OF_PARTS
    text = "".join([path.read_text() for path in sources() if "decisions" not in path.parts])
    spelled = {
        code
        for code in MADE_OF_PARTS
        if f'"{code}"' in text or (code == "read-only-constant" and 'f"read-only-{' in text)
    }
    assert spelled == MADE_OF_PARTS
