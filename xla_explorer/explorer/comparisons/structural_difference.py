"""`xe.compare.structure`: differences of modules without common history."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_explorer.explorer.comparisons.difference_picture import difference_picture
from xla_explorer.explorer.display import Blocks, Report, Table, wide_frame
from xla_explorer.explorer.pictures.graph import Graph
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.analysis.cost import Cost, instruction_cost, module_cost
from xla_explorer.hlo.analysis.module_matching import ModuleMatching, match_modules
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas

STATUSES = ("changed", "moved", "only left", "only right", "same")


class DifferenceRow(NamedTuple):
    """One instruction, or a pair.

    Attributes
    ----------
    status : str
        One of STATUSES.
    what : str
        The properties that differ, with both values.
    evidence : str
        What matched the pair.
    bytes_left, bytes_right, flops_left, flops_right : float
        Estimates of the cost model; 0 on a side without the instruction.
    """

    status: str
    opcode: str
    left: str
    right: str
    what: str
    evidence: str
    bytes_left: float
    bytes_right: float
    flops_left: float
    flops_right: float


class StructuralDifference(Report):
    """The differences of two modules.

    rows: a DifferenceRow for each instruction of either side. matching: the pairs.
    """

    def __init__(self, left: HloModule, right: HloModule, matching: ModuleMatching) -> None:
        self.left, self.right, self.matching = left, right, matching
        self.rows: list[DifferenceRow] = []
        self._pairs: list[tuple[HloInstruction | None, HloInstruction | None]] = []
        self._pairs += [(a, matching.left_to_right.get(a)) for a in _ordered_instructions(left)]
        self._pairs += [
            (None, b) for b in _ordered_instructions(right) if b not in matching.right_to_left
        ]
        self._callers = {c: i for m in (left, right) for i in m.instructions() for c in i.called}
        for a, b in self._pairs:
            alone = "only right" if a is None else "only left"
            self.rows.append(
                self._pair(a, b) if a is not None and b is not None else _row(alone, a, b, "", "")
            )

    def _pair(self, a: HloInstruction, b: HloInstruction) -> DifferenceRow:
        differences = _differences(a, b, self.matching)
        status = "changed" if differences else "same"
        here, there = self._callers.get(a.parent), self._callers.get(b.parent)
        place = "" if here is None and there is None else f"{_place(here)} -> {_place(there)}"
        if (here is None) != (there is None) or (
            here is not None and there is not None and here.opcode is not there.opcode
        ):
            differences.append(f"computation: {place}")
            status = "moved" if status == "same" else status
        return _row(status, a, b, "; ".join(differences), self.matching.evidence[a])

    @property
    def counts(self) -> dict[str, int]:
        """The number of instructions by status."""
        found = Counter([row.status for row in self.rows])
        return {status: found[status] for status in STATUSES}

    @property
    def same(self) -> bool:
        """True if nothing but names differs."""
        return self.counts["same"] == len(self.rows)

    def graph(self) -> Graph:
        """Return both modules as one picture, with the differences marked.

        A pair is one node; + is only right, − only left, ● changed, ↷ moved. Operands and users of
        the differences are drawn too. `.save(path)` writes it.
        """
        pairs = zip(self._pairs, self.rows, strict=True)
        statuses = [(left, right, row.status, row.what) for (left, right), row in pairs]
        return Graph(difference_picture(statuses, f"{self.left.name} → {self.right.name}"))

    def to_frame(self, same: bool = False) -> pandas.DataFrame:
        """Return a row for each instruction that differs, with the fields of DifferenceRow.

        same: with the equal ones too.
        """
        return wide_frame(self.rows, DifferenceRow._fields) if same else super().to_frame()

    def summary(self) -> list[tuple[str, Any, Any]]:
        """Return (quantity, left, right): sizes and costs of the two modules."""
        a, b = module_cost(self.left), module_cost(self.right)
        return [
            ("module", self.left.name, self.right.name),
            ("instructions", self.left.instruction_count(), self.right.instruction_count()),
            ("computations", len(self.left.computations), len(self.right.computations)),
            ("flops (estimate)", int(a.flops), int(b.flops)),
            ("bytes accessed (estimate)", int(a.bytes_accessed), int(b.bytes_accessed)),
        ]

    def records(self) -> Table:
        """Return the instructions that differ, with the fields of DifferenceRow."""
        return Table(DifferenceRow._fields, [row for row in self.rows if row.status != "same"])

    def blocks(self) -> Blocks:
        """Yield the counts by status, sizes and costs, and the instructions that differ."""
        yield Table(
            ["what", "left", "right"],
            self.summary(),
            ", ".join([f"{n} {status}" for status, n in self.counts.items() if n]),
        )
        differ = sorted(self.records().rows, key=lambda row: STATUSES.index(row[0]))
        if differ:
            yield Table(
                ["status", "opcode", "left", "right", "what"],
                [row[:5] for row in differ],
                printed=60,
            )


@explains_arguments
def structural_diff(left: Any, right: Any, *, by_name: bool = False) -> StructuralDifference:
    """Pair the instructions of two modules and classify them: same, changed, moved, one side only.

    It needs no common history; `xla_explorer.hlo.analysis.module_matching` has the evidence that
    pairs two instructions.

    Parameters
    ----------
    left, right
        Modules, HLO texts, sessions or paths.
    by_name
        Pair equal names, if the two come from one program.

    Returns
    -------
    StructuralDifference
        The pairs.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> str(xe.compare.structure(text, text.replace("tanh", "sine"))).splitlines()[0]
    '1 changed, 1 only left, 1 only right, 1 same'
    """
    a, b = as_module(left), as_module(right)
    return StructuralDifference(a, b, match_modules(a, b, by_name=by_name))


def _ordered_instructions(module: HloModule) -> list[HloInstruction]:
    """Return the instructions of the entry, then those of the computations that it calls."""
    return [i for c in reversed(list(module.computations.values())) for i in c.post_order()]


def _place(caller: HloInstruction | None) -> str:
    return "entry" if caller is None else f"{caller.opcode.name} %{caller.name}"


def _differences(a: HloInstruction, b: HloInstruction, matching: ModuleMatching) -> list[str]:
    differences = []
    if a.shape.text_without_layout != b.shape.text_without_layout:
        differences.append(f"shape: {a.shape.text_without_layout} -> {b.shape.text_without_layout}")
    elif a.shape is not b.shape:
        differences.append(f"layout: {a.shape} -> {b.shape}")
    if a.attributes != b.attributes:
        differences.append("attributes: " + _attribute_changes(a, b))
    if a.payload != b.payload:
        differences.append(f"value: {_short(_value(a))} -> {_short(_value(b))}")
    if len(a.operands) != len(b.operands):
        differences.append(f"operands: {len(a.operands)} -> {len(b.operands)}")
    else:
        other = [
            k
            for k, (x, y) in enumerate(zip(a.operands, b.operands, strict=True))
            if matching.left_to_right.get(x) is not y
        ]
        if other:
            differences.append(
                "operand "
                + ", ".join([f"{k}: %{a.operands[k].name} -> %{b.operands[k].name}" for k in other])
            )
    return differences


def _attribute_changes(a: HloInstruction, b: HloInstruction) -> str:
    left, right = dict(a.attributes.items()), dict(b.attributes.items())
    changed = [k for k in dict.fromkeys([*left, *right]) if left.get(k) != right.get(k)]
    return ", ".join(
        [
            f"{k} {_short(left.get(k, 'absent'))} -> {_short(right.get(k, 'absent'))}"
            for k in changed
        ]
    )


def _value(i: HloInstruction) -> object:
    return i.payload.text if isinstance(i.payload, Literal) else i.payload


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _row(
    status: str, a: HloInstruction | None, b: HloInstruction | None, what: str, evidence: str
) -> DifferenceRow:
    left, right = [instruction_cost(i) if i is not None else Cost() for i in (a, b)]
    one = a if a is not None else b
    assert one is not None
    names = [f"%{i.name}" if i is not None else "" for i in (a, b)]
    return DifferenceRow(
        status,
        one.opcode.name,
        names[0],
        names[1],
        what,
        evidence,
        left.bytes_accessed,
        right.bytes_accessed,
        left.flops,
        right.flops,
    )
