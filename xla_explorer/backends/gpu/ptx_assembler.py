"""Assemble PTX to machine code with ptxas, and read its report of registers, stack and spills.

ptxas is optional: PTX can be shown without it. `find_ptxas` searches the environment variable
XLA_EXPLORER_PTXAS, PATH, a CUDA installation, and NVIDIA's wheels (`pip install
nvidia-cuda-nvcc-cu12`).
"""

from __future__ import annotations

import importlib
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

_SECONDS = 300  # large modules take ptxas a minute on a busy machine
_ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


class PtxAssemblerError(XlaExplorerError):
    """An error: ptxas is missing, takes too long, or rejects the PTX text.

    `message` has the first errors of ptxas, each with its line of PTX.
    """


class KernelResources(NamedTuple):
    """Resources of one kernel.

    registers: per thread. stack, spill_stores, spill_loads: bytes per thread. shared: static shared
    memory in bytes per block.
    """

    name: str
    architecture: str
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    shared: int = 0


class AssembledPtx(NamedTuple):
    """The result of ptxas.

    cubin: the ELF file for the driver. resources: a row per kernel, in the order of the text.
    """

    cubin: bytes
    resources: tuple[KernelResources, ...]


@cache
def find_ptxas() -> str | None:
    """Return the path of ptxas, or None."""
    return find_tool("ptxas", "XLA_EXPLORER_PTXAS")


@cache
def find_tool(program: str, variable: str) -> str | None:
    """Return the path of one of NVIDIA's programs, or None.

    variable: environment variable with an explicit path.
    """
    named = os.environ.get(variable)
    if named:
        return named if Path(named).is_file() else None
    found = shutil.which(program)
    if found:
        return found
    folders = [
        Path(root) / "bin"
        for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
        if root
    ]
    for package, inside in (
        ("nvidia", ("cuda_nvcc/bin", "cu*/bin")),
        ("triton", ("backends/nvidia/bin",)),
    ):
        try:
            roots = list(importlib.import_module(package).__path__)
        except ImportError:
            continue
        folders += [
            path
            for root in roots
            for pattern in inside
            for path in sorted(Path(root).glob(pattern))
        ]
    for folder in folders:
        candidate = folder / (f"{program}.exe" if os.name == "nt" else program)
        if candidate.is_file():
            return str(candidate)
    return None


def run_tool(*command: str) -> subprocess.CompletedProcess[str]:
    """Run one of NVIDIA's programs; PtxAssemblerError after a timeout."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        text = f"{Path(command[0]).name} did not finish within {_SECONDS} s"
        raise PtxAssemblerError(
            text, "try a smaller module, or a machine that is less busy"
        ) from None


def why_no_ptxas() -> Reason | None:
    """Return None if ptxas is installed, else the reason."""
    if find_ptxas() is not None:
        return None
    return refuse(
        "no-ptxas",
        "ptxas was found neither in XLA_EXPLORER_PTXAS, on PATH, in a CUDA installation nor in "
        "NVIDIA's wheels "
        "(pip install nvidia-cuda-nvcc-cu12)",
    )


def assemble_ptx(
    text: str, architecture: str = DEFAULT_ARCHITECTURE, *options: str
) -> AssembledPtx:
    """Assemble PTX text with further options of ptxas.

    PtxAssemblerError if ptxas is missing or rejects the text.
    """
    program = find_ptxas()
    if program is None:
        missing = why_no_ptxas()
        assert missing is not None
        raise PtxAssemblerError(missing.message, "pip install nvidia-cuda-nvcc-cu12")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "module.ptx", Path(folder) / "module.cubin"
        source.write_text(text)
        done = run_tool(
            program, f"-arch={architecture}", "-v", *options, str(source), "-o", str(target)
        )
        report = done.stdout + done.stderr
        if done.returncode:
            raise PtxAssemblerError(
                _errors(report, text), "report this program: the compiler generated invalid PTX"
            )
        return AssembledPtx(target.read_bytes(), _resources(report, text))


def _errors(report: str, text: str) -> str:
    lines = text.splitlines()
    shown = []
    for sentence in report.splitlines()[:5]:
        found = re.search(r"line (\d+); (.*)", sentence)
        if found is None:
            shown.append(sentence.split("module.ptx, ")[-1])
            continue
        number = int(found[1])
        place = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        shown.append(f"line {number}: {found[2]}: {place}")
    return "ptxas rejected the PTX text: " + "; ".join(shown)


def _resources(report: str, text: str) -> tuple[KernelResources, ...]:
    rows: dict[str, KernelResources] = {}
    name, architecture = "", ""
    stack = (0, 0, 0)
    for line in report.splitlines():
        if entry := _ENTRY.search(line):
            name, architecture = entry[1], entry[2]
        elif sizes := _STACK.search(line):
            stack = (int(sizes[1]), int(sizes[2]), int(sizes[3]))
        elif (used := _REGISTERS.search(line)) and name:
            shared = _SHARED.search(line)
            rows[name] = KernelResources(
                name, architecture, int(used[1]), *stack, int(shared[1]) if shared else 0
            )
    order = {entry: k for k, entry in enumerate(re.findall(r"\.entry (\w+)\(", text))}
    return tuple(sorted(rows.values(), key=lambda row: order.get(row.name, len(order))))
