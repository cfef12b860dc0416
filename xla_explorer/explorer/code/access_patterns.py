"""`session.schedule(kernel).access_patterns()`: how the accesses of a kernel run through memory."""

from __future__ import annotations

from xla_explorer.compiler.codegen.nest.accesses import Traffic, accesses_of
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.target import HOST_LIKE, SECTOR_BYTES, WARP_SIZE, Target
from xla_explorer.explorer.code.loop_rows import AccessPattern
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table
from xla_explorer.hlo.analysis.indexing import Axis

COLUMNS = ("access", "of", "offset", "along", "pattern", "elements", "bytes", "distinct_bytes", "behind_l1", "behind_l2", "behind_l3",
           "warp_sectors", "coalesced")  # fmt: skip


class AccessPatterns(Report, tuple[AccessPattern, ...]):
    """The accesses of a nest, in its order."""

    def __new__(
        cls, kernel: str, rows: tuple[AccessPattern, ...], footprint: int
    ) -> AccessPatterns:
        """Return a tuple of rows with the kernel's name and its footprint in bytes."""
        made = super().__new__(cls, rows)
        made.kernel, made.footprint = kernel, footprint
        return made

    kernel: str
    footprint: int

    def blocks(self) -> Blocks:
        """Yield a sentence, and the table."""
        yield Sentence(f"%{self.kernel}: {len(self)} accesses touch {self.footprint:,} bytes")
        yield Table(COLUMNS, [row[: len(COLUMNS)] for row in self])


def access_patterns_of(kernel: str, nest: LoopNest, target: Target = HOST_LIKE) -> AccessPatterns:
    """See `KernelSchedule.access_patterns`."""
    accesses = accesses_of(nest)
    traffic = Traffic(accesses)
    levels = (target.first_cache, target.second_cache, target.last_cache)
    near, middle, far = [cache.bytes for cache in levels]
    rows = []
    for a in accesses:
        least = 1 if a.pattern == "one element" else -(-WARP_SIZE * a.element_bytes // SECTOR_BYTES)
        sectors = a.sectors()
        affine = all(isinstance(atom, Axis) for atom, _ in a.offset.terms)
        terms = (
            tuple(
                [(atom.name, factor) for atom, factor in a.offset.terms if isinstance(atom, Axis)]
            )
            if affine
            else None
        )
        rows.append(
            AccessPattern(
                f"{'store' if a.written else 'load'} %{a.array.name}", f"%{nest.names.get(a.origin, '')}" if a.origin is not None else "",
                str(a.offset), a.inner.axis.name if a.inner is not None else "", a.pattern, a.executions, a.executions * a.element_bytes,
                a.distinct_bytes([b.axis for b in a.path]), traffic.beyond(a, near), traffic.beyond(a, middle),
                traffic.beyond(a, far), sectors, round(min(least / sectors, 1.0), 3), a.origin, a.element_bytes, terms, a.offset.constant,
            )
        )  # fmt: skip
    return AccessPatterns(kernel, tuple(rows), traffic.footprint)
