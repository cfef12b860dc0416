"""`session.schedule(kernel).access_patterns()`: how the accesses of a kernel run through memory."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.accesses import WARP, Traffic, accesses_of
from xla_explorer.compiler.codegen.nest.estimate import CpuNumbers
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table
from xla_explorer.hlo.analysis.indexing import Axis

COLUMNS = ("access", "of", "offset", "along", "pattern", "elements", "bytes", "distinct_bytes", "behind_L1", "behind_L2", "behind_L3",
           "warp_sectors", "coalesced")  # fmt: skip


class AccessPattern(NamedTuple):
    """One load or store of a nest.

    Attributes
    ----------
    access : str
        `load %x` or `store %out`.
    of, instruction : str, int or None
        The HLO instruction that it belongs to, by name and by id.
    offset : str
        Where it goes, in elements, by the axes of the nest.
    along : str
        The axis whose steps follow one another fastest.
    pattern : str
        `contiguous`, `one element`, `every nth element`, `in pieces` (no constant step) or `gathered` (by values), along that axis.
    elements, bytes, element_bytes : int
        How many are accessed in one run, again and again; the size of one.
    distinct_bytes : int
        How many different bytes that are, in whole cache lines.
    behind_L1, behind_L2, behind_L3 : int
        Bytes from and to what lies behind each cache, by what the loops touch.
    warp_sectors : int
        Sectors of 32 bytes that a GPU's warp would ask for, if its threads ran along that axis.
    coalesced : float
        The least number of sectors for so many elements, over `warp_sectors`; 1 is the best.
    terms, constant : tuple of (str, int) or None, int
        Elements from one step of an axis to the next, by name, None where the offset is not a sum of them; the offset where all axes begin.
    """

    access: str
    of: str
    offset: str
    along: str
    pattern: str
    elements: int
    bytes: int
    distinct_bytes: int
    behind_L1: int
    behind_L2: int
    behind_L3: int
    warp_sectors: int
    coalesced: float
    instruction: int | None
    element_bytes: int
    terms: tuple[tuple[str, int], ...] | None
    constant: int


class AccessPatterns(Report, tuple[AccessPattern, ...]):
    """A row an access, in the order of the nest."""

    def __new__(cls, kernel: str, rows: tuple[AccessPattern, ...], footprint: int) -> AccessPatterns:
        made = super().__new__(cls, rows)
        made.kernel, made.footprint = kernel, footprint
        return made

    kernel: str
    footprint: int

    def blocks(self) -> Blocks:
        """A sentence, and the table."""
        yield Sentence(f"%{self.kernel}: {len(self)} accesses touch {self.footprint:,} bytes")
        yield Table(COLUMNS, [row[: len(COLUMNS)] for row in self])


def access_patterns_of(kernel: str, nest: LoopNest) -> AccessPatterns:
    """See `KernelSchedule.access_patterns`."""
    accesses = accesses_of(nest)
    traffic = Traffic(accesses)
    near, middle, far = [level.bytes for level in CpuNumbers().caches]
    rows = []
    for a in accesses:
        least = 1 if a.pattern == "one element" else -(-WARP * a.element_bytes // 32)
        sectors = a.sectors()
        affine = all(isinstance(atom, Axis) for atom, _ in a.offset.terms)
        terms = tuple([(atom.name, factor) for atom, factor in a.offset.terms if isinstance(atom, Axis)]) if affine else None
        rows.append(
            AccessPattern(
                f"{'store' if a.written else 'load'} %{a.array.name}", f"%{nest.names.get(a.origin, '')}" if a.origin is not None else "",
                str(a.offset), a.inner.axis.name if a.inner is not None else "", a.pattern, a.executions, a.executions * a.element_bytes,
                a.distinct_bytes([b.axis for b in a.path]), traffic.beyond(a, near), traffic.beyond(a, middle),
                traffic.beyond(a, far), sectors, round(min(least / sectors, 1.0), 3), a.origin, a.element_bytes, terms, a.offset.constant,
            )
        )  # fmt: skip
    return AccessPatterns(kernel, tuple(rows), traffic.footprint)
