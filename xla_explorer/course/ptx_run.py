"""Runs a student's PTX kernel on the emulator: arrays in, an array out, faults named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emulator.ptx_text import PtxKernel

Array = np.ndarray[Any, Any]
MOST_INSTRUCTIONS = 100_000
"""Of a kernel of one block: a loop over its input takes some hundred."""
HEADER = ".version 7.8\n.target sm_80\n.address_size 64\n"


class PtxRun(NamedTuple):
    """The result of a kernel on the emulator.

    output: the array that the kernel wrote. findings: one sentence for each fault. instructions:
    executed instructions by opcode, summed over warps.
    """

    output: Array
    findings: list[str]
    instructions: dict[str, int]


def the_kernel(text: str) -> PtxKernel:
    """Return the one kernel of a PTX text, whose header lines are optional.

    XlaExplorerError if there is not exactly one.
    """
    module = parse_ptx(text if ".version" in text else HEADER + text)
    if len(module.kernels) != 1:
        raise XlaExplorerError(
            f"the text has {len(module.kernels)} kernels",
            "write one `.visible .entry name(...) { ... }`",
        )
    return next(iter(module.kernels.values()))


def run_ptx(
    text: str, *inputs: Any, outputs: int, threads: int = 32, numbers: tuple[int, ...] = ()
) -> PtxRun:
    """Run the kernel of a text with one block of `threads` threads.

    inputs: f32 arrays; their addresses are the first parameters. outputs: f32 elements of the
    result, whose address is the next parameter. numbers: further parameters. EmulatorLimitError for
    a kernel that does not end.
    """
    kernel = the_kernel(text)
    device = GlobalMemory()
    module = parse_ptx(text if ".version" in text else HEADER + text)
    loaded = EmulatedKernel(module, kernel, device)
    addresses = []
    for k, value in enumerate(inputs):
        array = np.ascontiguousarray(value, dtype=np.float32)
        address = device.allocate(max(array.nbytes, 4), f"input{k}" if len(inputs) > 1 else "input")
        if array.nbytes:
            device.write(address, array.reshape(-1).view(np.uint8))
        addresses.append(address)
    result = device.allocate(4 * outputs, "output")
    device.write(result, np.full(outputs, np.nan, np.float32).view(np.uint8))
    options = LaunchOptions(global_races=True, counters=True, instructions=MOST_INSTRUCTIONS)
    launched = loaded.launch(1, threads, [*addresses, result, *numbers], options)
    counted: dict[str, int] = {}
    for row in loaded.counters.rows():
        counted[row["opcode"]] = counted.get(row["opcode"], 0) + int(row["warp_instructions"])
    return PtxRun(
        device.read(result, 4 * outputs).view(np.float32).copy(),
        [str(f) for f in launched.findings],
        counted,
    )
