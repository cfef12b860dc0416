"""Texts for the stages of every LLVM backend, each line with its HLO instruction."""

from __future__ import annotations

import re

from xla_explorer.backends.llvm.assembly import assembly_with_lines
from xla_explorer.backends.llvm.debug_lines import with_debug_lines
from xla_explorer.backends.llvm.llvm_compiler import OptimizationOptions, emit_assembly
from xla_explorer.backends.llvm.target_machine import TargetDescription
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule

_LOCATION = re.compile(r"^(!\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_METADATA = re.compile(r"!\d+ = |!llvm\.(dbg|module)|!\w+ = ")
_REFERENCE = re.compile(r",? !dbg (!\d+)")


def strip_debug(text: str) -> tuple[str, list[int | None]]:
    """Return LLVM IR without debug metadata, and each line's instruction id from that metadata.

    See `with_debug_lines`.
    """
    locations = {
        m.group(1): int(m.group(2)) - 1 for m in _LOCATION.finditer(text) if m.group(2) != "0"
    }
    lines: list[str] = []
    origins: list[int | None] = []
    for line in text.splitlines():
        if _METADATA.match(line):
            continue
        found = _REFERENCE.search(line)
        origins.append(locations.get(found.group(1)) if found else None)
        lines.append(_REFERENCE.sub("", line))
    return "\n".join(lines), origins


def assembly_with_origins(
    module: LlvmModule, target: TargetDescription, options: OptimizationOptions
) -> tuple[str, list[int | None]]:
    """Return the assembly of a module, and the instruction id of each of its lines."""
    text = emit_assembly(with_debug_lines(module), target, options)
    found = assembly_with_lines(text, "module.hlo")
    origins = [None if line is None else line - 1 for _, line in found]
    return "\n".join([text for text, _ in found]), origins
