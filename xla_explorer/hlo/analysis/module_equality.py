"""Structural equality of modules, up to ids and optionally up to names."""

from __future__ import annotations

from typing import Any, NamedTuple

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.module import HloModule


class Difference(NamedTuple):
    """The first difference found: its place, its kind, and the two sides as text."""

    place: str
    what: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what} differs: {self.left} against {self.right}"


class _DifferenceError(Exception):
    def __init__(self, place: str, what: str, left: object, right: object) -> None:
        super().__init__(place)
        self.difference = Difference(place, what, str(left), str(right))


class _Comparison:
    """The pairs found so far; each instruction and each computation has one partner."""

    def __init__(self, ignore_names: bool, ignore_metadata: bool) -> None:
        self.ignore_names = ignore_names
        self.ignore_metadata = ignore_metadata
        self.partner: dict[HloInstruction, HloInstruction] = {}
        self.taken: set[HloInstruction] = set()
        self.computations: dict[HloComputation, HloComputation] = {}
        self.pending: list[tuple[HloComputation, HloComputation]] = []

    def pair_computations(self, place: str, left: HloComputation, right: HloComputation) -> None:
        known = self.computations.get(left)
        if known is None:
            if not self.ignore_names and left.name != right.name:
                raise _DifferenceError(place, "called computation", left, right)
            self.computations[left] = right
            self.pending.append((left, right))
        elif known is not right:
            raise _DifferenceError(place, "called computation", known, right)

    def computation(self, left: HloComputation, right: HloComputation) -> None:
        """Compare two computations: from the roots backwards, then unused instructions in order."""
        if len(left.instructions) != len(right.instructions):
            raise _DifferenceError(
                f"%{left.name}",
                "number of instructions",
                len(left.instructions),
                len(right.instructions),
            )
        if left.execution_thread != right.execution_thread:
            raise _DifferenceError(
                f"%{left.name}", "execution thread", left.execution_thread, right.execution_thread
            )
        self.reach(left.root, right.root)
        if self.ignore_names:
            rest_left = [i for i in left.post_order() if i not in self.partner]
            rest_right = [i for i in right.post_order() if i not in self.taken]
            for a, b in zip(reversed(rest_left), reversed(rest_right), strict=True):
                if a not in self.partner:
                    self.reach(a, b)
        else:
            by_name = {i.name: i for i in right.instructions.values()}
            for i in left.instructions.values():
                if i not in self.partner:
                    if i.name not in by_name:
                        raise _DifferenceError(
                            f"%{left.name}", "instruction", i, "none of that name"
                        )
                    self.reach(i, by_name[i.name])
        if (left.schedule is None) != (right.schedule is None):
            raise _DifferenceError(
                f"%{left.name}", "schedule", left.schedule is not None, right.schedule is not None
            )
        for a, b in zip(left.schedule or (), right.schedule or (), strict=True):
            if self.partner[a] is not b:
                raise _DifferenceError(f"%{left.name}", "schedule", a, b)

    def reach(self, left: HloInstruction, right: HloInstruction) -> None:
        """Pair two instructions and their transitive operands.

        The loop has no recursion, because chains are long.
        """
        stack = [(left, right)]
        while stack:
            a, b = stack.pop()
            known = self.partner.get(a)
            if known is not None or b in self.taken:
                if known is not b:
                    raise _DifferenceError(f"%{a.name}", "operand", known, b)
                continue
            self.partner[a] = b
            self.taken.add(b)
            self.instruction(a, b)
            stack += zip(a.operands, b.operands, strict=True)
            stack += zip(a.control_predecessors, b.control_predecessors, strict=True)

    def instruction(self, a: HloInstruction, b: HloInstruction) -> None:
        """Compare two instructions without their operands."""
        place = f"%{a.name}"
        facts: list[tuple[str, Any, Any]] = [
            ("opcode", a.opcode, b.opcode),
            ("shape", a.shape, b.shape),
            ("number of operands", len(a.operands), len(b.operands)),
            ("attributes", a.attributes, b.attributes),
            ("number of called computations", len(a.called), len(b.called)),
            (
                "number of control predecessors",
                len(a.control_predecessors),
                len(b.control_predecessors),
            ),
        ]
        if not self.ignore_names:
            facts.append(("name", a.name, b.name))
        if not self.ignore_metadata:
            facts.append(("metadata", a.metadata, b.metadata))
        for what, x, y in facts:
            if x is not y and x != y:
                raise _DifferenceError(place, what, x, y)
        if not _same_payload(a.payload, b.payload):
            raise _DifferenceError(place, "value", a.payload, b.payload)
        for x, y in zip(a.called, b.called, strict=True):
            self.pair_computations(place, x, y)


def _same_payload(a: Any, b: Any) -> bool:
    if (
        isinstance(a, Literal)
        and isinstance(b, Literal)
        and a._text is not None
        and a._text == b._text
    ):
        return (
            a.shape is b.shape
        )  # elided or large literals of the same text are equal without decoding
    return bool(a == b)


def modules_equal(
    left: HloModule, right: HloModule, *, ignore_names: bool = False, ignore_metadata: bool = False
) -> Difference | None:
    """Return None if both modules are the same graph, else the first difference.

    Compared: opcodes, shapes, attributes, payloads, operands, control predecessors, called
    computations, schedules, threads, and header attributes; names of modules, computations and
    instructions unless `ignore_names`. Not compared: ids, source lines, the order of unscheduled
    instructions. Uncalled computations compare only by name.
    """
    comparison = _Comparison(ignore_names, ignore_metadata)
    try:
        if not ignore_names and left.name != right.name:
            raise _DifferenceError("module", "name", left.name, right.name)
        ours, theirs = dict(left.attributes), dict(right.attributes)
        ours.pop("entry_computation_layout", None), theirs.pop("entry_computation_layout", None)
        if ours != theirs:
            raise _DifferenceError("module", "header", ours, theirs)
        comparison.pair_computations("module", left.entry, right.entry)
        if not ignore_names:
            if left.computations.keys() != right.computations.keys():
                raise _DifferenceError(
                    "module",
                    "computations",
                    sorted(left.computations.keys() - right.computations.keys()),
                    sorted(right.computations.keys() - left.computations.keys()),
                )
            for name, computation in left.computations.items():
                comparison.pair_computations("module", computation, right.computations[name])
        while comparison.pending:
            comparison.computation(*comparison.pending.pop())
    except _DifferenceError as found:
        return found.difference
    return None
