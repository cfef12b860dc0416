"""SASS, the machine code of NVIDIA GPUs, with the HLO instruction of every line.

ptxas keeps line numbers, nvdisasm shows them. nvdisasm is optional: it is part of CUDA, of the
wheels of the extra `sass`, and of the package triton. Source: CUDA Binary Utilities, "nvdisasm".
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from xla_explorer.backends.gpu.ptx_assembler import (
    PtxAssemblerError,
    assemble_ptx,
    find_tool,
    run_tool,
    why_no_ptxas,
)
from xla_explorer.foundation.reason import Reason, refuse

_PLACE = re.compile(r"//## File \".*\", line (\d+)")


def why_no_sass() -> Reason | None:
    """Return None if ptxas and nvdisasm are installed, else the reason."""
    if (missing := why_no_ptxas()) is not None:
        return missing
    if find_tool("nvdisasm", "XLA_EXPLORER_NVDISASM") is None:
        return refuse(
            "no-nvdisasm",
            "nvdisasm was found neither in XLA_EXPLORER_NVDISASM, on PATH, in a CUDA "
            "installation, in NVIDIA's wheels (pip install "
            '"xla-explorer[sass]") nor in the package triton',
        )
    return None


def sass_of(ptx_with_lines: str, architecture: str) -> tuple[str, list[int | None]]:
    """Return the SASS of PTX text with `.loc` directives, and the HLO instruction id of each line.

    PtxAssemblerError if a tool is missing.
    """
    missing = why_no_sass()
    if missing is not None:
        raise PtxAssemblerError(
            missing.message,
            "install CUDA's binary utilities, or name nvdisasm in XLA_EXPLORER_NVDISASM",
        )
    program = find_tool("nvdisasm", "XLA_EXPLORER_NVDISASM")
    assert program is not None
    cubin = assemble_ptx(ptx_with_lines, architecture, "-lineinfo").cubin
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.cubin"
        path.write_bytes(cubin)
        done = run_tool(program, "-gi", "-c", str(path))
    if done.returncode:
        raise PtxAssemblerError(
            f"nvdisasm rejected the machine code: {done.stderr.strip()[:300]}",
            "report this program: the compiler generated invalid code",
        )
    return with_origins(done.stdout)


def with_origins(said: str) -> tuple[str, list[int | None]]:
    """Return nvdisasm's text without line notes, and the HLO instruction id of each line."""
    lines: list[str] = []
    origins: list[int | None] = []
    current: int | None = None
    for line in said.splitlines():
        if place := _PLACE.search(line):
            current = int(place[1]) - 1 if int(place[1]) else None
            continue
        if line.startswith((".section", ".text.")) or line.lstrip().startswith(".section"):
            current = None
        lines.append(line)
        origins.append(current if line.lstrip().startswith("/*") else None)
    return "\n".join(lines) + "\n", origins
