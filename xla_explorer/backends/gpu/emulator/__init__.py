"""Emulation of PTX text with numpy: one lane per thread, with fault detection and counters.

It needs neither a GPU nor LLVM.
"""

from xla_explorer.backends.gpu.emulator.batch import Finding
from xla_explorer.backends.gpu.emulator.counters import KernelCounters
from xla_explorer.backends.gpu.emulator.launch import EmulatedKernel, LaunchOptions, LaunchResult
from xla_explorer.backends.gpu.emulator.memory import GlobalMemory
from xla_explorer.backends.gpu.emulator.ptx_text import (
    PtxSyntaxError,
    UnsupportedPtxError,
    parse_ptx,
)
from xla_explorer.backends.gpu.emulator.scheduler import EmulatorLimitError
from xla_explorer.backends.gpu.emulator.stepping import WarpStepper

__all__ = [
    "EmulatedKernel",
    "EmulatorLimitError",
    "Finding",
    "GlobalMemory",
    "KernelCounters",
    "LaunchOptions",
    "LaunchResult",
    "PtxSyntaxError",
    "UnsupportedPtxError",
    "WarpStepper",
    "parse_ptx",
]
