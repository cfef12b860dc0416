"""Elementwise instructions and fusions, in tiles through the scratchpad.

Loads of the next tile overlap with the work on this one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_explorer.plugin import HloInstruction, Reason, refuse
from xla_explorer_npu.instruction_set import BINARY, UNARY
from xla_explorer_npu.lowering.writer import Box, ProgramWriter, Region, boxes, lowers
from xla_explorer_npu.simulator import bits_of_value
from xla_explorer_npu.vector_functions import DTYPES

_SPECIAL = ("compare", "select", "clamp", "convert", "bitcast-convert")
ELEMENTWISE = frozenset({*UNARY, *BINARY, *_SPECIAL}) - {"copy"}
_LARGEST_TILE = 16384  # elements: enough to hide the latency of a load, small enough that most arrays have several


def is_plain_compare(i: HloInstruction) -> Reason | None:
    """Refuse the total order of floats, which the vector unit lacks."""
    if i.opcode.name == "compare" and str(i.attribute("type") or "").upper() == "TOTALORDER":
        return refuse("total-order", f"%{i.name}: the vector unit compares floats by value only")
    return None


def keeps_width(i: HloInstruction) -> Reason | None:
    """Accept bitcast-converts between types of one width."""
    if i.opcode.name == "bitcast-convert":
        old, new = i.operands[0].shape.element_type, i.shape.element_type
        if old.bits != new.bits or old.is_pred != new.is_pred:
            return refuse(
                "width-changes",
                f"%{i.name}: from {old.name} to {new.name} elements change their width",
            )
    return None


def fits_the_vector_unit(i: HloInstruction) -> Reason | None:
    """Accept fusions of elementwise operations, scalar constants, and broadcasts.

    A broadcast must be of a parameter or a constant.
    """
    for member in i.called[0].post_order():
        name = member.opcode.name
        if name in ("parameter", "constant"):
            continue
        if name == "broadcast":
            if member.operands[0].opcode.name not in ("parameter", "constant"):
                return refuse(
                    "broadcast-of-computed",
                    f"%{i.name}: %{member.name} broadcasts a value that is computed inside the "
                    "fusion",
                )
            continue
        if name not in ELEMENTWISE:
            return refuse(
                "not-elementwise",
                f"%{i.name}: %{member.name} ({name}) is unsupported by the vector unit",
            )
        for check in (is_plain_compare, keeps_width):
            if (reason := check(member)) is not None:
                return reason
    return None


@lowers(*ELEMENTWISE, checks=(is_plain_compare, keeps_width))
def lower_one(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a single instruction, whose operands are loaded."""
    sources = {o: writer.region_of(o) for o in i.operands}
    _Tiles(writer, [i], sources, writer.region_of(i)).write()


@lowers("fusion", checks=(fits_the_vector_unit,))
def lower_fusion(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write a fusion whose intermediate results stay in the scratchpad."""
    body = i.called[0]
    sources = {p: writer.region_of(i.operands[int(p.payload)]) for p in body.parameters()}
    members = [m for m in body.post_order() if m.opcode.name != "parameter"]
    _Tiles(writer, members, sources, writer.region_of(i)).write()


class _Tiles:
    """The tiles of one loop over a result."""

    def __init__(
        self,
        writer: ProgramWriter,
        members: list[HloInstruction],
        sources: dict[HloInstruction, Region],
        target: Region,
    ) -> None:
        self.writer, self.members, self.sources, self.target = writer, members, sources, target
        self.root = members[-1]
        types = [m.shape.element_type.name for m in members] + [
            r.element_type for r in sources.values()
        ]
        self.item = max([DTYPES[t].itemsize for t in types])
        self.constants = {
            m: k for k, m in enumerate([m for m in members if m.opcode.name == "constant"])
        }
        self.filled = dict(self.constants)  # with the broadcasts of constants
        for m in members:
            if m.opcode.name == "broadcast" and m.operands[0] in self.constants:
                self.filled[m] = self.constants[m.operands[0]]
        self.last_use = {o: k for k, m in enumerate(members) for o in m.operands}

    def write(self) -> None:
        """Write constants once, then tile by tile, alternating between halves of the scratchpad."""
        slots = self._tile(None, 0, 0)
        pad = self.writer.architecture.scratchpad_bytes
        room = (pad // (2 * slots + len(self.constants)) // self.item) // 128 * 128
        tile = max(min(room, _LARGEST_TILE, max(math.prod(self.target.sizes), 1)), 1)
        stride = -(-tile * self.item // 256) * 256
        self.constant_base = 2 * slots * stride
        for constant, number in self.constants.items():
            kind = constant.shape.element_type.name
            bits = bits_of_value(constant.literal.array, kind)
            self.writer.emit(
                "vec.fill",
                kind,
                self.writer.scratch(self.constant_base + number * stride),
                bits,
                tile,
            )
        for number, box in enumerate(boxes(self.target.sizes, tile)):
            self._tile(box, (number % 2) * slots * stride, stride)

    def _tile(self, box: Box | None, base: int, stride: int) -> int:
        """Write one tile; without a box only count the slots that it needs."""
        free: list[int] = []
        used = 0
        place: dict[HloInstruction, int] = {}

        def take() -> int:
            nonlocal used
            if free:
                return free.pop()
            used += 1
            return used - 1

        def offset(value: HloInstruction) -> int:
            """Return the offset of an operand, and load it at its first use."""
            if value in self.filled:
                return 0 if box is None else self.constant_base + self.filled[value] * stride
            if value not in place:
                place[value] = take()
                if box is not None:
                    self._load(value, box, base + place[value] * stride)
            return base + place[value] * stride

        for number, member in enumerate(self.members):
            name = member.opcode.name
            if name in ("constant", "broadcast"):
                continue
            operands = [offset(o) for o in member.operands]
            free += [
                place[o]
                for o in dict.fromkeys(member.operands)
                if self.last_use[o] == number and o in place
            ]
            place[member] = take()
            if box is not None:
                self._compute(member, base + place[member] * stride, operands, box.elements)
        out = offset(self.root)
        if box is not None:
            self.writer.store(self.target.box(box.starts, box.sizes), out)
        return max(used, 1)

    def _load(self, value: HloInstruction, box: Box, offset: int) -> None:
        rank = len(self.target.sizes)
        if value.opcode.name == "broadcast" and value not in self.sources:
            source = self.sources[value.operands[0]]
            steps = [0] * rank
            for k, d in enumerate(value.attribute("dimensions")):
                steps[d] = source.steps[k]
        else:
            source = self.sources[value]
            steps = (
                list(source.steps) if len(source.sizes) == rank else [0] * rank
            )  # a scalar bound or predicate
        region = Region(source.address, source.element_type, self.target.sizes, tuple(steps)).box(
            box.starts, box.sizes
        )
        self.writer.load(region, offset)

    def _compute(self, i: HloInstruction, to: int, operands: Sequence[int], n: int) -> None:
        name, address = i.opcode.name, self.writer.scratch
        kind, source = i.shape.element_type.name, i.operands[0].shape.element_type.name
        places = [address(o) for o in operands]
        if name == "compare":
            self.writer.emit(
                "vec.compare", source, address(to), *places, n, str(i.attribute("direction"))
            )
        elif name == "convert":
            self.writer.emit("vec.convert", kind, address(to), *places, n, source)
        elif name == "bitcast-convert":
            self.writer.emit("vec.bits", kind, address(to), *places, n, source)
        else:
            self.writer.emit(
                f"vec.{name}", source if name == "is-finite" else kind, address(to), *places, n
            )


@lowers("iota")
def lower_iota(writer: ProgramWriter, i: HloInstruction) -> None:
    """Write an iota in tiles of the vector unit."""
    target, axis = writer.region_of(i), i.attribute("iota_dimension")
    half = writer.architecture.scratchpad_bytes // 2
    for number, box in enumerate(boxes(target.sizes, _LARGEST_TILE)):
        offset = (number % 2) * half
        writer.emit(
            "vec.iota",
            target.element_type,
            writer.scratch(offset),
            box.sizes,
            int(axis),
            box.starts[int(axis)],
        )
        writer.store(target.box(box.starts, box.sizes), offset)
