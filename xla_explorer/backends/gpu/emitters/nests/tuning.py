"""All tuning parameters of GPU schedules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuTuning:
    """Tuning parameters.

    bytes_at_once: of the widest access. most_elements: of a thread of an elementwise kernel.
    most_work: machine instructions of a thread, so that code stays within the instruction cache.
    in_registers: elements of a row that one thread keeps. memory_parallelism: loads of one thread
    before the first use. most_columns: of a thread, each with an accumulator. rows_at_once: of a
    tile to transpose, a warp each; more if memory would be idle. shortest_side: elements of a
    dimension that is worth tiles. block: threads of a block of reductions. lone_block: if there are
    fewer blocks than multiprocessors. largest_group: threads of a row. least_per_split: elements of
    a row, least_steps: rows of a thread, that are worth a block of their own. short: elements that
    one thread combines.
    """

    bytes_at_once: int = 16
    most_elements: int = 8
    most_work: int = 1024
    in_registers: int = 32
    memory_parallelism: int = 4
    most_columns: int = 4
    rows_at_once: int = 8
    shortest_side: int = 8
    block: int = 256
    lone_block: int = 1024
    largest_group: int = 1024
    least_per_split: int = 4096
    least_steps: int = 8
    short: int = 8


DEFAULT_TUNING = GpuTuning()
