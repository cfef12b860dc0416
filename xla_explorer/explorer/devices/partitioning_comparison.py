"""`session.devices.compare_partitioning`: this partitioner beside XLA's, operation by operation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.backends.xla.partitioned_by_xla import partitioned_by_xla
from xla_explorer.compiler.spmd.explanation.collective_rows import PlacedProgram
from xla_explorer.compiler.spmd.partitioning.choices import PartitionChoice
from xla_explorer.compiler.spmd.propagation.report import ShardingReport
from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table
from xla_explorer.explorer.display.quantities import byte_count, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.collective_traffic import traffic_of
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

NO_NAME = "(no op_name)"


class ComparedOperation(NamedTuple):
    """The collectives of one operation of the program, here and in XLA; loops count once.

    Attributes
    ----------
    operation : str
        Its `op_name`.
    ours, xla : str
        The collectives by kind.
    our_bytes, xla_bytes : float
        Bytes that a device sends.
    reason : str
        The reason of the difference; empty if there is none.
    """

    operation: str
    ours: str
    xla: str
    our_bytes: float
    xla_bytes: float
    reason: str = ""


class ComparedSharding(NamedTuple):
    """A value with another sharding in XLA."""

    value: str
    opcode: str
    operation: str
    ours: str
    xla: str


class PartitioningComparison(Report):
    """A partitioning beside the one by real XLA.

    Attributes
    ----------
    version : str
        Of jaxlib.
    policy : str
        Of the partitioner here.
    rows : list of ComparedOperation
        Operations with collectives, those that differ first.
    shardings : list of ComparedSharding
        Values whose propagated shardings differ.
    values : int
        Values whose shardings were compared.
    our_bytes, xla_bytes : float
        Bytes that a device sends.
    our_flops, xla_flops : float
        Of the products and convolutions of one device.
    warnings : list of str
        Of XLA's partitioner.
    """

    def __init__(
        self,
        version: str,
        policy: str,
        rows: list[ComparedOperation],
        shardings: list[ComparedSharding],
        values: int,
        flops: tuple[float, float],
        warnings: Sequence[str],
    ) -> None:
        self.version, self.policy, self.rows = version, policy, rows
        self.shardings, self.values = shardings, values
        self.our_bytes = sum([row.our_bytes for row in rows])
        self.xla_bytes = sum([row.xla_bytes for row in rows])
        self.our_flops, self.xla_flops = flops
        self.warnings = list(warnings)

    @property
    def same(self) -> bool:
        """True if each operation has the same collectives with the same bytes."""
        return all(row.ours == row.xla and row.our_bytes == row.xla_bytes for row in self.rows)

    def headline(self) -> str:
        """Return the bytes of both, and the number of operations that differ."""
        if self.same:
            return (
                f"the same collectives as XLA (jaxlib {self.version}):"
                f" a device sends {byte_count(self.our_bytes)}"
            )
        count = sum([row.ours != row.xla or row.our_bytes != row.xla_bytes for row in self.rows])
        return (
            f"a device sends {byte_count(self.our_bytes)} here (policy {self.policy}),"
            f" {byte_count(self.xla_bytes)} in XLA (jaxlib {self.version});"
            f" {number_of(count, 'operation')} with other collectives"
        )

    def blocks(self) -> Blocks:
        """Yield the operations, the shardings that differ, and XLA's warnings."""
        yield Table(ComparedOperation._fields, self.rows)
        if self.shardings:
            title = "values with another sharding in XLA"
            yield Table(ComparedSharding._fields, self.shardings, title)
        else:
            yield Sentence(f"{self.values} of {self.values} compared values have XLA's sharding")
        if self.warnings:
            yield Listing("XLA warns", self.warnings)


def beside_xla(
    ours: PlacedProgram, in_order: PlacedProgram, options: tuple[str, str, float]
) -> PartitioningComparison:
    """Partition a program by real XLA, and compare.

    in_order: the same program partitioned by XLA's order of choices. options: the policy of `ours`,
    `shardy` or `gspmd`, and the longest time of XLA.
    """
    policy, propagation, seconds = options
    if propagation not in ("shardy", "gspmd"):
        raise XlaExplorerError(f"no propagation {propagation!r} is known", "shardy or gspmd")
    text, devices = str(ours.program.source), ours.program.devices
    xla = partitioned_by_xla(text, devices, shardy=propagation == "shardy", seconds=seconds)
    stages = parse_hlo(xla.propagated), parse_hlo(xla.partitioned)
    return compared_partitioning(ours, in_order, *stages, (xla.version, policy, xla.warnings))


def compared_partitioning(
    ours: PlacedProgram,
    in_order: PlacedProgram,
    propagated: HloModule,
    partitioned: HloModule,
    heading: tuple[str, str, Sequence[str]],
) -> PartitioningComparison:
    """Compare a partitioned program with XLA's.

    in_order: the same program partitioned by XLA's order of choices. propagated, partitioned: of
    XLA. heading: jaxlib's version, the policy, XLA's warnings.
    """
    devices = ours.program.devices
    mine, again = _with_causes(ours), _with_causes(in_order)
    theirs = _collectives(partitioned, devices)
    differing, values = _shardings(ours.program.report, propagated)
    moved = {row.operation for row in differing}
    choices = [_choices(one.program.run.choices) for one in (ours, in_order)]
    rows = []
    for name in dict.fromkeys([*mine, *theirs]):
        sides = mine.get(name, []), theirs.get(name, [])
        texts, sent = [_kinds(side) for side in sides], [sum([s for _, s in one]) for one in sides]
        reason = ""
        if texts[0] != texts[1] or sent[0] != sent[1]:
            as_xla = Counter(again.get(name, [])) == Counter(sides[1])
            reason = _why(name, name in moved, as_xla, choices)
        rows.append(ComparedOperation(name, texts[0], texts[1], sent[0], sent[1], reason))
    rows.sort(key=lambda row: not row.reason)
    version, policy, warnings = heading
    flops = _product_flops(ours.program.module), _product_flops(partitioned)
    return PartitioningComparison(version, policy, rows, differing, values, flops, warnings)


def _collectives(module: HloModule, devices: int) -> dict[str, list[tuple[str, float]]]:
    """Return kind and bytes of the collectives of each operation."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for i in module.instructions():
        traffic = traffic_of(i, devices)
        if traffic is not None and traffic.sent:
            name = parse_metadata(i.metadata).op_name or NO_NAME
            found[name].append((traffic.kind, round(traffic.sent, 3)))
    return found


def _with_causes(placed: PlacedProgram) -> dict[str, list[tuple[str, float]]]:
    """Return kind and bytes of the collectives of each operation, as XLA names it.

    XLA writes the reshard of a constraint for the operation in front of it.
    """
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    names = {
        f"%{i.name}": parse_metadata(i.metadata).op_name for i in placed.program.report.graph.values
    }
    for one in placed.collectives:
        cause = one.cause
        is_constraint = cause.kind == "reshard" and cause.opcode == "custom-call"
        name = names.get(cause.value, "") if is_constraint else ""
        name = name or parse_metadata(one.instruction.metadata).op_name or NO_NAME
        if one.traffic.sent:
            found[name].append((one.traffic.kind, round(one.traffic.sent, 3)))
    return found


def _kinds(side: Iterable[tuple[str, float]]) -> str:
    counts = Counter([kind for kind, _ in side])
    shown = [f"{n} {kind}" if n > 1 else kind for kind, n in sorted(counts.items())]
    return ", ".join(shown) or "none"


def _product_flops(module: HloModule) -> float:
    products = [i for i in module.instructions() if i.opcode.name in ("dot", "convolution")]
    return float(sum([instruction_cost(i).flops for i in products]))


def _choices(made: Iterable[PartitionChoice]) -> dict[str, list[PartitionChoice]]:
    """Return the decisions of each operation."""
    found: dict[str, list[PartitionChoice]] = defaultdict(list)
    for choice in made:
        found[parse_metadata(choice.instruction.metadata).op_name or NO_NAME].append(choice)
    return found


def _why(
    name: str, moved: bool, as_xla: bool, choices: Sequence[Mapping[str, list[PartitionChoice]]]
) -> str:
    """Return the reason of other collectives: another sharding, another way, or unknown."""
    mine, xla = [side.get(name, []) for side in choices]
    ways = [
        f"{a.kind} of %{a.instruction.name}: {_way(a)} here, {_way(b)} by XLA's order"
        for a, b in zip(mine, xla, strict=False)
        if (a.instruction.name, a.kind) == (b.instruction.name, b.kind) and a.chosen != b.chosen
    ]
    found = ["a value of it has another sharding in XLA"] * moved + ways[:2]
    if not found and as_xla:
        found = ["XLA's order of choices leads to its collectives"]
    return "; ".join(found) or "XLA's handler does otherwise than its order of choices here"


def _way(choice: PartitionChoice) -> str:
    sent = next((way.sent for way in choice.alternatives if way.name == choice.chosen), None)
    return choice.chosen + (f" ({byte_count(sent)})" if sent is not None else "")


def _shardings(report: ShardingReport, propagated: HloModule) -> tuple[list[ComparedSharding], int]:
    """Return the values with another sharding in XLA, and the number of values compared.

    Values correspond by opcode, op_name and shape, in order.
    """
    theirs: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for i in propagated.instructions():
        stated = i.attributes.get("sharding")
        if i.shape.is_array and isinstance(stated, str):
            key = (i.opcode.name, parse_metadata(i.metadata).op_name, i.shape.dimensions)
            theirs[key].append(stated)
    found: list[ComparedSharding] = []
    count = 0
    for value in report.graph.all_values():
        i = value.instruction
        if value.sharding is None or not value.sizes or not i.shape.is_array:
            continue
        name = parse_metadata(i.metadata).op_name
        left = theirs.get((i.opcode.name, name, value.sizes))
        rows = report.rows_of(i.name)
        if not left or not name or not rows:
            continue
        count += 1
        stated = left.pop(0)
        if not _equal(rows[0].tiles, stated, value.sizes, report.graph.mesh.count):
            one = ComparedSharding(f"%{i.name}", i.opcode.name, name, rows[0].tiles, stated)
            found.append(one)
    return found, count


def _equal(ours: str, xla: str, sizes: tuple[int, ...], devices: int) -> bool:
    """Return True if every device has the same part by two shardings."""
    one, other = [Sharding.read_all(text)[0] for text in (ours, xla)]
    return all(one.part(sizes, d) == other.part(sizes, d) for d in range(devices))
