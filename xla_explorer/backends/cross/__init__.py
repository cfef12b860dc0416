"""Other CPUs as backends, run under qemu or wasmtime.

Importing it does not load LLVM.

A CPU is a row in `cpu_targets.py`; how its programs are run, when the tools are there, is in
`runners.py`.
"""

from __future__ import annotations

from xla_explorer.backends.cross.cross_platform import CrossPlatform


def aarch64() -> CrossPlatform:
    """Return the platform for 64-bit Arm."""
    return CrossPlatform("aarch64")


def riscv64() -> CrossPlatform:
    """Return the platform for 64-bit RISC-V with vectors."""
    return CrossPlatform("riscv64")


def x86_64() -> CrossPlatform:
    """Return the platform for x86-64 by its levels v1 to v4."""
    return CrossPlatform("x86-64")


def wasm32() -> CrossPlatform:
    """Return the platform for WebAssembly."""
    return CrossPlatform("wasm32")


def hexagon() -> CrossPlatform:
    """Return the platform for Qualcomm's DSP."""
    return CrossPlatform("hexagon")
