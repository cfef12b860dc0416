"""`xe.sharding.search_shardings`: the result, a table of candidates with the winner to paste."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.devices.sharding_tactics import AnnotatedDevices, Specs
from xla_explorer.explorer.display.blocks import Blocks, Code, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count, microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.foundation.diagnostic import XlaExplorerError

SEARCHED = (
    "searched: which axes split which dimensions of the arguments, and constraints on results of"
    " products; not searched: pipelines over layers, micro-batches, recomputation, meshes of other"
    " shapes"
)


class ShardingCandidate(NamedTuple):
    """Annotations that were costed.

    Attributes
    ----------
    rank : int
        0 is the best.
    name : str
        `replicated`, `data parallel`, `FSDP`, `as given` or the use of each axis.
    step_us, compute_us, exposed_us : float
        Of a simulated step.
    sent_bytes : float
        Bytes that a device sends in a step.
    collectives : int
        In the program of one device.
    peak_bytes : int
        The memory of a device.
    fits : bool
        True if the memory is enough.
    """

    rank: int
    name: str
    step_us: float
    compute_us: float
    exposed_us: float
    sent_bytes: float
    collectives: int
    peak_bytes: int
    fits: bool


class ShardingSearch(Report):
    """The annotations that a search compared, the best first.

    Attributes
    ----------
    rows : list of ShardingCandidate
        The best ones, and every baseline.
    memory_bytes : int
        The limit of a device.
    tried : int
        Annotations that were costed: propagated, partitioned, and simulated.
    estimated : int
        Annotations that were only propagated and priced, to choose those that are costed.
    stopped : str
        Why the search ended.
    """

    def __init__(
        self,
        devices: AnnotatedDevices,
        found: Sequence[tuple[ShardingCandidate, Specs | None]],
        memory_bytes: int,
        counts: tuple[int, int],
        stopped: str,
    ) -> None:
        self._devices, self._specs = devices, [specs for _, specs in found]
        self.rows = [row for row, _ in found]
        self.memory_bytes, self.stopped = memory_bytes, stopped
        self.tried, self.estimated = counts

    def specs(self, rank: int = 0) -> dict[str, tuple[str | tuple[str, ...] | None, ...]]:
        """Return the annotations of a candidate as JAX's users write them.

        Parameters
        ----------
        rank : int
            Of the candidate.

        Raises
        ------
        XlaExplorerError
            No candidate has the rank.
        """
        return {
            name: tuple([None if not a else a[0] if len(a) == 1 else a for a in axes])
            for name, axes in (self._chosen(rank) or {}).items()
        }

    def _chosen(self, rank: int) -> Specs | None:
        if not 0 <= rank < len(self._specs):
            raise XlaExplorerError(
                f"no candidate has rank {rank}", f"ranks: 0 to {len(self._specs) - 1}"
            )
        return self._specs[rank]

    def apply(self, rank: int = 0) -> AnnotatedDevices:
        """Return the devices of the program with a candidate's annotations.

        Parameters
        ----------
        rank : int
            Of the candidate.

        Raises
        ------
        XlaExplorerError
            No candidate has the rank.
        """
        specs = self._chosen(rank)
        return self._devices if specs is None else self._devices.what_if(specs)

    def paste(self, rank: int = 0) -> str:
        """Return a candidate as Python: shardings of the arguments, then constraints by line.

        Parameters
        ----------
        rank : int
            Of the candidate.

        Raises
        ------
        XlaExplorerError
            No candidate has the rank.
        """
        if self._chosen(rank) is None:
            return "# the annotations of the program stay as they are"
        module = self._devices.given_module
        arguments = {p.name for p in module.entry.parameters()}
        places, names = SourceLines(module), {i.name: i for i in module.instructions()}
        lines, held = [], []
        for name, spec in self.specs(rank).items():
            written = f"P({', '.join(map(repr, spec))})"
            if name in arguments:
                lines.append(f"    {name!r}: {written},")
            else:
                i = names[name]
                place = places.metadata_place(i.metadata) or f"the {i.opcode.name} %{name}"
                held.append(f"x = jax.lax.with_sharding_constraint(x, {written})  # {place}")
        return "\n".join(["in_shardings = {", *lines, "}", *held])

    def headline(self) -> str:
        """Return the winner and its costs."""
        best = self.rows[0]
        fits = "fits" if best.fits else "does not fit"
        return (
            f"{best.name}: step {microseconds(best.step_us)} (estimate),"
            f" {microseconds(best.exposed_us)} of it exposed; a device sends"
            f" {byte_count(best.sent_bytes)} and holds {byte_count(best.peak_bytes)}, which {fits}"
            f" {byte_count(self.memory_bytes)}"
        )

    def blocks(self) -> Blocks:
        """Yield the candidates, the winner to paste, and what was searched."""
        yield Table(ShardingCandidate._fields, self.rows)
        yield Code("annotations of the best", self.paste())
        yield Sentence(
            f"{number_of(self.tried, 'annotation')} costed, chosen among"
            f" {number_of(self.estimated, 'estimate')}; {self.stopped}"
        )
        yield Sentence(SEARCHED)
