"""Occupancy of a multiprocessor by a kernel, and its limiting resource.

Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; CUDA
Occupancy Calculator. Registers are allocated per warp in units of 256. Shared memory is allocated
per block in units of 128 bytes, plus 1 KiB for the system (from sm_80 on).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.ptx_assembler import AssembledPtx, KernelResources

_REGISTER_UNIT, _SHARED_UNIT, _SHARED_OF_SYSTEM = 256, 128, 1024
REPORT_COLUMNS = ("kernel", "emitter", "grid", "block", "registers", "spill_bytes", "stack_bytes", "shared_bytes", "blocks_resident",
                  "occupancy", "limited_by")  # fmt: skip


class Occupancy(NamedTuple):
    """Occupancy of a multiprocessor by a kernel.

    blocks: resident ones. share: of its threads. limited_by: threads, blocks, registers or shared
    memory.
    """

    blocks: int
    share: float
    limited_by: str


def occupancy(
    threads_per_block: int, registers: int, shared_bytes: int, architecture: GpuArchitecture
) -> Occupancy:
    """Return the occupancy of a kernel."""
    warps = -(-threads_per_block // architecture.warp_size)
    per_warp = -(-max(registers, 1) * architecture.warp_size // _REGISTER_UNIT) * _REGISTER_UNIT
    shared = -(-shared_bytes // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OF_SYSTEM
    limits = {
        "threads": architecture.threads_per_multiprocessor // (warps * architecture.warp_size),
        "blocks": architecture.blocks_per_multiprocessor,
        "registers": architecture.registers_per_multiprocessor // per_warp // warps,
        "shared memory": architecture.shared_per_multiprocessor // shared,
    }
    limited_by = min(limits, key=lambda name: limits[name])
    blocks = limits[limited_by]
    return Occupancy(
        blocks,
        blocks * warps * architecture.warp_size / architecture.threads_per_multiprocessor,
        limited_by,
    )


def resource_rows(
    kernels: Any, assembled: AssembledPtx, architecture: GpuArchitecture
) -> list[dict[str, Any]]:
    """Return a row per kernel of a program, by `REPORT_COLUMNS`."""
    by_name: dict[str, KernelResources] = {row.name: row for row in assembled.resources}
    rows = []
    for k in kernels:
        found = by_name[k.name]
        shared = found.shared + k.dynamic_shared_bytes
        fits = occupancy(k.launch.threads_per_block, found.registers, shared, architecture)
        values = (k.name, k.emitter, k.launch.blocks, k.launch.threads_per_block, found.registers, found.spill_stores + found.spill_loads,
                  found.stack, shared, fits.blocks, round(fits.share, 4), fits.limited_by)  # fmt: skip
        rows.append(dict(zip(REPORT_COLUMNS, values, strict=True)))
    return rows
