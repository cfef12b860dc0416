"""What is done to the tiles of a product before they are stored: a bias, an activation, a residual, in the registers of the tile.

A fusion of kind kOutput holds a dot and elementwise operations on its result. Other operands are scalars, vectors along the last dimension,
or arrays of the result's shape; all have the dot's type. Tiles may be written twice (see `matrix_multiply`), so the result must not
overwrite an operand: `hlo.analysis.in_place` knows. Source of the idea: BLAS extensions' epilogues (cublasLtEpilogue_t), oneDNN's post-ops.
"""

from __future__ import annotations

from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.kernels.products.matrix_multiply import TileWriter
from xla_explorer.compiler.codegen.llvm_types import scalar_constant
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

_BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_INTRINSIC = {"maximum": "llvm.maximum", "minimum": "llvm.minimum"}


def epilogue_dot(fusion: HloInstruction) -> HloInstruction | None:
    """The dot of a fusion that is a product with an epilogue, else None."""
    if fusion.opcode.name != "fusion" or fusion.attributes.get("kind") != "kOutput":
        return None
    return next((i for i in fusion.called[0].instructions.values() if i.opcode.name == "dot"), None)


def belongs_into_epilogue(i: HloInstruction, dot: HloInstruction) -> Reason | None:
    """None when the tile writer can do the operation on a dot's result, or supply it as the other operand of one that is done."""
    name, shape = i.opcode.name, i.shape
    if not shape.is_array or shape.element_type is not dot.shape.element_type or not shape.layout.is_default:
        return refuse("type-differs", f"%{i.name} is {shape}, the product {dot.shape}")
    if not shape.element_type.is_float:
        return refuse("not-in-registers", f"%{i.name} works on integers; tiles of floats only have an epilogue")
    if name == "broadcast":
        operand = i.operands[0]
        scalar = operand.shape.element_count == 1 and operand.shape.rank == 0
        if shape.dimensions == dot.shape.dimensions and (scalar or i.attribute("dimensions") == (shape.rank - 1,)):
            return None
        return refuse("not-in-registers", f"%{i.name} repeats its operand along other dimensions than the rows of the product")
    if (name in _BINARY or name in _INTRINSIC or name == "negate") and shape.dimensions == dot.shape.dimensions:
        return None
    return refuse("not-in-registers", f"%{i.name} ({name}) is not done in the registers of a tile")


class EpilogueWriter:
    """Applies the epilogue to one vector of a tile at a time. root: of the fused computation. result: the array in memory."""

    def __init__(
        self,
        writer: TileWriter,
        root: HloInstruction,
        dot: HloInstruction,
        arrays: dict[HloInstruction, ArrayInMemory],
        result: ArrayInMemory,
    ) -> None:
        self.writer, self.root, self.dot, self.arrays, self.result = writer, root, dot, arrays, result
        self.column: str | int = 0
        self._of_tile: dict[tuple[HloInstruction, int], str] = {}

    def start_tile(self) -> None:
        """Values that were loaded for another tile hold no longer."""
        self._of_tile = {}

    def apply(self, value: str, vector: int, to: str) -> str:
        """The stored value for a vector of the product; `to` is where it goes."""
        return self._value(self.root, {self.dot: value}, vector, to)

    def _value(self, i: HloInstruction, known: dict[HloInstruction, str], vector: int, to: str) -> str:
        found = known.get(i)
        if found is None:
            found = known[i] = self._computed(i, known, vector, to)
        return found

    def _computed(self, i: HloInstruction, known: dict[HloInstruction, str], vector: int, to: str) -> str:
        w, t, name = self.writer.w, self.writer.vector, i.opcode.name
        if i in self.arrays and i.shape.dimensions == self.dot.shape.dimensions:
            distance = w.value(f"sub i64 {w.value(f'ptrtoint ptr {to} to i64')}, {w.value(f'ptrtoint ptr {self.result.pointer} to i64')}")
            return self._load(w.value(f"getelementptr i8, ptr {self.arrays[i].pointer}, i64 {distance}"))
        if name == "broadcast":
            key = (i, vector)
            if key not in self._of_tile:
                self._of_tile[key] = self._broadcast(i.operands[0], vector)
            return self._of_tile[key]
        operands = [self._value(o, known, vector, to) for o in i.operands]
        with w.from_instruction(i.id):
            if name == "negate":
                return w.value(f"fneg {t} {operands[0]}")
            if name in _BINARY:
                return w.value(f"{_BINARY[name]} {t} {operands[0]}, {operands[1]}")
            intrinsic = f"{_INTRINSIC[name]}.v{self.writer.tile.width}f{8 * self.writer.bytes}"
            return w.call_intrinsic(intrinsic, t, (t, operands[0]), (t, operands[1]))

    def _broadcast(self, operand: HloInstruction, vector: int) -> str:
        w, writer = self.writer.w, self.writer
        if operand.shape.rank:
            return self._load(writer.at(self.arrays[operand].pointer, w.add(self.column, vector * writer.tile.width)))
        if operand in self.arrays:
            scalar = w.value(f"load {writer.scalar}, ptr {self.arrays[operand].pointer}, align {writer.bytes}")
        else:
            scalar = str(scalar_constant(operand.literal.splat, operand.shape.element_type))
        one = w.value(f"insertelement {writer.vector} poison, {writer.scalar} {scalar}, i64 0")
        return w.value(f"shufflevector {writer.vector} {one}, {writer.vector} poison, <{writer.tile.width} x i32> zeroinitializer")

    def _load(self, pointer: str) -> str:
        return self.writer.w.value(f"load {self.writer.vector}, ptr {pointer}, align {self.writer.bytes}")
