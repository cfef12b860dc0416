"""Assemble PTX of many modules with ptxas: `assemble_corpora.py ARCHITECTURE FILE.hlo...`.

A call of ptxas takes a hundred modules.

A slow test does it for the corpora. Modules are put into one text: one header, entries and
variables with the module's number before.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from xla_explorer.backends.gpu.gpu_compiler import GpuCompiler
from xla_explorer.backends.gpu.ptx_assembler import PtxAssemblerError, assemble_ptx
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.hlo.text.parser import parse_hlo

_HEADER = re.compile(r"^\.(version|target|address_size)\b.*$", re.MULTILINE)
_ENTRY = re.compile(r"(\.entry )(\w+)(?=\()")
_VARIABLE = re.compile(
    r"^(?:\.(?:visible|extern|weak) )*\.(?:global|const|shared) (?:\.align \d+ )?\.\w+ (\w+)",
    re.MULTILINE,
)
TOGETHER = 100


def ptx_of(text: str, architecture: str) -> str:
    """Return the PTX of an HLO module; empty if the evaluator runs the whole module.

    It does so if sizes are known only at run time.
    """
    compiler = GpuCompiler()
    options = CompileOptions(
        journal="off", backend_options={"architecture": architecture, "device": "emulator"}
    )
    result = compiler.run_backend(compiler.run_hlo_passes(parse_hlo(text), options), options)
    return result.stages["ptx"].text if "ptx" in result.stages else ""


def joined(modules: list[str]) -> str:
    """Several PTX texts as one."""
    parts = [
        line[0]
        for line in (
            re.findall(rf"^\.{word}\b.*$", modules[0], re.MULTILINE)
            for word in ("version", "target", "address_size")
        )
    ]
    for number, text in enumerate(modules):
        body = _HEADER.sub("", text)
        for name in set(_VARIABLE.findall(body)):
            body = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"m{number}_{name}", body)
        parts.append(_ENTRY.sub(rf"\g<1>m{number}_\g<2>", body))
    return "\n".join(parts)


def assemble_all(texts: Iterable[tuple[str, str]], architecture: str) -> tuple[int, dict[str, str]]:
    """(kernels assembled, refusals by module) of named HLO texts.

    Modules without a kernel count nothing.
    """
    kernels, refused = 0, {}
    batch: list[tuple[str, str]] = []

    def flush() -> None:
        nonlocal kernels
        if not batch:
            return
        try:
            kernels += len(
                assemble_ptx(joined([text for _, text in batch]), architecture).resources
            )
        except PtxAssemblerError:
            for name, text in batch:
                try:
                    kernels += len(assemble_ptx(text, architecture).resources)
                except PtxAssemblerError as problem:
                    refused[name] = problem.message
        batch.clear()

    for name, text in texts:
        ptx = ptx_of(text, architecture)
        if ".entry" in ptx:
            batch.append((name, ptx))
        if len(batch) == TOGETHER:
            flush()
    flush()
    return kernels, refused


if __name__ == "__main__":
    found, problems = assemble_all(
        ((path, Path(path).read_text()) for path in sys.argv[2:]), sys.argv[1]
    )
    print(f"{found} kernels assembled for {sys.argv[1]}, {len(problems)} modules refused")
    for where, message in problems.items():
        print(f"  {where}: {message}")
    sys.exit(bool(problems))
