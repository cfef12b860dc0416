"""ptxas: PTX text to machine code, and what it says about registers, stack and spills. Optional: PTX can be shown
without it.

Found in the environment variable XLA_EXPLORER_PTXAS, on PATH, in a CUDA installation, or in NVIDIA's wheels
(`pip install nvidia-cuda-nvcc-cu12`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import DEFAULT_ARCHITECTURE
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason, refuse

_SECONDS = 120
_ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


class PtxAssemblerError(XlaExplorerError):
    """ptxas is missing, or refused the text; then `message` holds its first complaints with the lines they are
    about."""


class KernelResources(NamedTuple):
    """What one kernel needs: registers per thread; stack, spill stores and spill loads in bytes per thread."""

    name: str
    architecture: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


class AssembledPtx(NamedTuple):
    """cubin: the ELF file for the driver. resources: a row per kernel, in the order of the text."""

    cubin: bytes
    resources: tuple[KernelResources, ...]


@cache
def find_ptxas() -> str | None:
    """Path of ptxas, or None."""
    named = os.environ.get("XLA_EXPLORER_PTXAS")
    if named:
        return named if Path(named).is_file() else None
    found = shutil.which("ptxas")
    if found:
        return found
    folders = [
        Path(root) for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if root
    ]
    try:
        import nvidia  # the namespace of NVIDIA's wheels

        folders += [
            path for root in nvidia.__path__ for path in (Path(root) / "cuda_nvcc", *sorted(Path(root).glob("cu*")))
        ]
    except ImportError:
        pass
    for folder in folders:
        candidate = folder / "bin" / ("ptxas.exe" if os.name == "nt" else "ptxas")
        if candidate.is_file():
            return str(candidate)
    return None


def why_no_ptxas() -> Reason | None:
    """None when ptxas is here."""
    if find_ptxas() is not None:
        return None
    return refuse(
        "no-ptxas",
        "ptxas was found neither in XLA_EXPLORER_PTXAS, on PATH, in a CUDA installation nor in NVIDIA's wheels "
        "(pip install nvidia-cuda-nvcc-cu12)",
    )


def assemble_ptx(text: str, architecture: str = DEFAULT_ARCHITECTURE) -> AssembledPtx:
    """Assemble PTX text. PtxAssemblerError when ptxas is missing or refuses."""
    program = find_ptxas()
    if program is None:
        missing = why_no_ptxas()
        assert missing is not None
        raise PtxAssemblerError(missing.message, "pip install nvidia-cuda-nvcc-cu12")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "module.ptx", Path(folder) / "module.cubin"
        source.write_text(text)
        done = subprocess.run(
            [program, f"-arch={architecture}", "-v", str(source), "-o", str(target)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        said = done.stdout + done.stderr
        if done.returncode:
            raise PtxAssemblerError(_complaint(said, text), "this is a defect of the code generator")
        return AssembledPtx(target.read_bytes(), _resources(said, text))


def _complaint(said: str, text: str) -> str:
    lines = text.splitlines()
    shown = []
    for sentence in said.splitlines()[:5]:
        found = re.search(r"line (\d+); (.*)", sentence)
        if found is None:
            shown.append(sentence.split("module.ptx, ")[-1])
            continue
        number = int(found[1])
        place = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        shown.append(f"line {number}: {found[2]}: {place}")
    return "ptxas refused the PTX text: " + "; ".join(shown)


def _resources(said: str, text: str) -> tuple[KernelResources, ...]:
    rows: dict[str, KernelResources] = {}
    name, architecture = "", ""
    stack = (0, 0, 0)
    for line in said.splitlines():
        if entry := _ENTRY.search(line):
            name, architecture = entry[1], entry[2]
        elif sizes := _STACK.search(line):
            stack = (int(sizes[1]), int(sizes[2]), int(sizes[3]))
        elif (used := _REGISTERS.search(line)) and name:
            rows[name] = KernelResources(name, architecture, int(used[1]), *stack)
    order = {entry: k for k, entry in enumerate(re.findall(r"\.entry (\w+)\(", text))}
    return tuple(sorted(rows.values(), key=lambda row: order.get(row.name, len(order))))
