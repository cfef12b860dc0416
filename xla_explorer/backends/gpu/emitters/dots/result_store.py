"""Store the accumulators of a dot, after the elementwise epilogue of its fusion.

`product_in` decides which fusions have an epilogue; `ResultStore` computes and stores it.

A fusion of kind kOutput holds one dot and elementwise operations on its result: a bias, an
activation, a residual, a conversion. They are computed in registers, so the product itself is never
stored. Rows of 16-bit results are first exchanged within four lanes, so that each lane stores 16
contiguous bytes and four lanes store whole sectors.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k16", "Register Fragments for
wgmma.mma_async.m64nNk16"; cublasLt's epilogues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.emitters.block import Block, both
from xla_explorer.compiler.codegen.elemental import elemental_opcodes
from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.ir.index_arithmetic import Condition, Word
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.llvm_types import real, stored_type, to_memory
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import F32, PrimitiveType

FRAGMENT_COLUMNS = 8  # of a fragment of the result: two adjacent ones in each of four lanes
_QUAD = 4


class FusedProduct(NamedTuple):
    """A dot or convolution, with the epilogue of its fusion if there is one.

    dot: the dot or convolution. root: the stored value, `dot` itself without an epilogue.
    """

    dot: HloInstruction
    root: HloInstruction

    @property
    def is_fused(self) -> bool:
        """True if the product has an epilogue."""
        return self.root is not self.dot


def product_in(i: HloInstruction, *opcodes: str) -> FusedProduct | Reason:
    """Return the product of an instruction or fusion, or a refusal.

    opcodes: of products, by default only dots.
    """
    opcodes = opcodes or ("dot",)
    if i.opcode.name in opcodes:
        return FusedProduct(i, i)
    if i.opcode.name != "fusion" or i.attributes.get("kind") != "kOutput":
        return refuse("no-dot", f"%{i.name} must be a {' or '.join(opcodes)}")
    body = i.called[0]
    dots = [inner for inner in body.instructions.values() if inner.opcode.name in opcodes]
    if len(dots) != 1 or any(o.opcode.name != "parameter" for o in dots[0].operands):
        return refuse(
            "no-dot",
            f"%{i.name} must hold one {' or '.join(opcodes)} whose operands are parameters, got "
            f"{len(dots)}",
        )
    (dot,) = dots
    after = {dot}
    for inner in body.post_order():
        if inner is dot or inner.opcode.name in ("parameter", "constant"):
            continue
        follows = any(o in after for o in inner.operands)
        if inner.opcode.name not in elemental_opcodes() or (
            follows and not inner.opcode.elementwise
        ):
            return refuse(
                "no-epilogue",
                f"%{inner.name} ({inner.opcode.name}) cannot be computed element by element from "
                f"%{dot.name}",
            )
        if follows:
            after.add(inner)
    root = body.root
    if (
        root not in after
        or root.shape.dimensions != dot.shape.dimensions
        or not root.shape.layout.is_default
    ):
        return refuse(
            "no-epilogue",
            f"%{root.name} must have the shape of the product, {dot.shape}, got {root.shape}",
        )
    return FusedProduct(dot, root)


def operand_slots(
    i: HloInstruction, dot: HloInstruction, slots: tuple[int, ...]
) -> tuple[int, int]:
    """Return the parameter numbers of a dot's two operands."""
    if i is dot:
        places = {
            operand: slots[number] for number, operand in enumerate(dict.fromkeys(i.operands))
        }
        return places[dot.operands[0]], places[dot.operands[1]]
    return slots[dot.operands[0].payload], slots[dot.operands[1].payload]


class ResultStore:
    """Stores rows, vectors and elements of an m x n result, with the epilogue.

    batch: the batch index of the product that the block computes. together: columns are contiguous
    and aligned in runs of each divisor of this number.
    """

    def __init__(
        self, context: KernelContext, block: Block, product: FusedProduct, m: int, n: int
    ) -> None:
        self.context, self.block, self.product, self.m, self.n = context, block, product, m, n
        self.w, self.output = context.writer, context.outputs[0]
        self.emitter = context.emitter()
        self._accumulator: Scalar | None = None
        self._sums_only = False
        self.emitter.sources[product.dot] = lambda index: self._product()
        self.batch: list[Word] = []
        self.together = n

    def store_sums(self, partial: ArrayInMemory) -> None:
        """Store f32 accumulators to another array, without the epilogue (for split-K).

        The array has one more leading dimension, whose index is the first of `set_batch`.
        """
        self.output, self._sums_only, self.together = partial, True, self.n

    def set_batch(self, batch: list[Word]) -> None:
        """Set the batch index of the next stores."""
        self.batch = batch

    def _product(self) -> Scalar:
        assert self._accumulator is not None  # set by `value_to_store_at`
        return self._accumulator

    def value_to_store(self, value: Scalar, wide: PrimitiveType, row: Word, column: Word) -> Scalar:
        """Return the value to store for an accumulator: converted, and with the epilogue.

        wide: the accumulator's type. The index must be in bounds, because the epilogue loads its
        operands at this index.
        """
        if self._sums_only:
            return value
        return self.value_to_store_at(value, wide, self.index(row, column))

    def value_to_store_at(
        self, value: Scalar, wide: PrimitiveType, index: tuple[Word, ...]
    ) -> Scalar:
        """Return the value to store for an accumulator by its index in the result."""
        self._accumulator = convert_value(self.w, value, wide, self.product.dot.shape.element_type)
        if self.product.root is self.product.dot:
            return self._accumulator
        return self.emitter.element(self.product.root, index)

    def index(self, row: Word, column: Word) -> tuple[Word, ...]:
        """Return the index in the result of an element of the product."""
        return (*self.batch, row, column)

    def inside(self, side: int, at: Word, exact: bool) -> tuple[Word, Condition]:
        """Return a row (side 0) or column (side 1), 0 if out of bounds, and its bounds check.

        exact: tiles end at the end of the result, so the check is None.
        """
        if exact:
            return at, None
        condition = self.w.test("ult", at, (self.m, self.n)[side])
        return self.w.choose(condition, at, 0), condition

    def fragments(
        self,
        sums: Sequence[Sequence[Scalar]],
        row: Word,
        column: Word,
        exact_rows: bool,
        exact_columns: bool,
    ) -> None:
        """Store a row of fragments; each has 8 columns, and the first begins at `column`.

        Every lane has the f32 accumulators of two adjacent columns of its own row. exact_rows,
        exact_columns: tiles end at the end of the result. All lanes of the warp must be active.
        """
        at_row, in_rows = self.inside(0, row, exact_rows)
        bits = self.output.shape.element_type.bits
        if bits == 16 and self.together % FRAGMENT_COLUMNS == 0 and len(sums) % _QUAD == 0:
            for first in range(0, len(sums), _QUAD):
                start = self.w.add(column, FRAGMENT_COLUMNS * first)
                self._sixteen_bytes(
                    sums[first : first + _QUAD], row, at_row, in_rows, start, exact_columns
                )
            return
        for number, pair in enumerate(sums):
            self._store(
                pair,
                F32,
                row,
                at_row,
                in_rows,
                self._own_column(self.w.add(column, FRAGMENT_COLUMNS * number)),
                exact_columns,
            )

    def _own_column(self, first: Word) -> Word:
        return self.w.add(first, self.w.mul(self.w.mod(self.block.lane, _QUAD), 2))

    def _sixteen_bytes(
        self,
        pairs: Sequence[Sequence[Scalar]],
        row: Word,
        at_row: Word,
        in_rows: Condition,
        first: Word,
        exact: bool,
    ) -> None:
        """Store four fragments of a row; an exchange gives lane k of four the whole fragment k."""
        w = self.w
        words: list[Value[Integer]] = []
        for number, pair in enumerate(pairs):
            column = self._own_column(w.add(first, FRAGMENT_COLUMNS * number))
            at_column, _ = self.inside(1, column, exact)
            values = [
                self.value_to_store(pair[j], F32, at_row, w.add(at_column, j)) for j in (0, 1)
            ]
            words.append(self._packed(values))
        for distance in (1, 2):
            words = self._exchange(words, distance)
        own = w.mod(self.block.lane, _QUAD)
        column = w.add(first, w.mul(own, FRAGMENT_COLUMNS))
        _, in_columns = self.inside(1, column, exact)
        with self.block.only_if(both(w, in_rows, in_columns)):
            self.store_vector(words, self._offset(row, column))

    def store_vector(self, values: Sequence[Value], offset: Word) -> None:
        """Store elements, or words that hold several elements each, as one aligned vector."""
        w, element = self.w, stored_type(self.output.shape.element_type)
        w.store_lanes(values, lambda: w.address(self.output.pointer, element, offset))

    def _packed(self, values: Sequence[Scalar]) -> Value[Integer]:
        """Pack two 16-bit values into a word, the first one low."""
        w = self.w
        low, high = [
            w.convert("zext", bits, "i32") for bits in [w.to_bits(real(v)) for v in values]
        ]
        return low | (high << 16)

    def _exchange(self, words: Sequence[Value[Integer]], distance: int) -> list[Value[Integer]]:
        """Swap words k and k + distance between lanes whose numbers differ in the bit `distance`.

        Two such steps, with distances 1 and 2, transpose a 4 x 4 matrix of lanes and words.
        """
        w, result = self.w, list(words)
        bit = w.index_operation("and", self.block.lane, distance)
        upper = w.test("ne", bit, 0)
        for k in range(_QUAD):
            if k & distance:
                continue
            low, high = words[k], words[k + distance]
            received = self.block.shuffle_xor(w.select(upper, low, high), distance)
            result[k] = w.select(upper, received, low)
            result[k + distance] = w.select(upper, high, received)
        return result

    def _offset(self, row: Word, column: Word) -> Word:
        w, strides = self.w, self.output.shape.strides
        batch = w.linear(self.batch, strides[: len(self.batch)])
        return w.add(batch, w.add(w.mul(row, strides[-2]), column))

    def contiguous_columns(
        self,
        values: Sequence[Scalar],
        wide: PrimitiveType,
        row: Word,
        column: Word,
        exact_rows: bool,
        exact_columns: bool,
    ) -> None:
        """Store accumulators of adjacent columns, as a vector if they are contiguous.

        column: the first column, which must be a multiple of the number of values.
        """
        with self.emitter.scope():
            self._store(values, wide, row, *self.inside(0, row, exact_rows), column, exact_columns)

    def _store(
        self, values: Sequence[Scalar], wide: PrimitiveType, row: Word, at_row: Word, in_rows: Condition, column: Word,
        exact: bool,
    ) -> None:  # fmt: skip
        """Store accumulators of adjacent columns of a row, whose bounds check is `in_rows`."""
        w, count = self.w, len(values) if self.together % len(values) == 0 else 1
        for first in range(0, len(values), count):
            at_column, in_columns = self.inside(1, w.add(column, first), exact)
            converted = [
                self.value_to_store(values[first + j], wide, at_row, w.add(at_column, j))
                for j in range(count)
            ]
            with self.block.only_if(both(w, in_rows, in_columns)):
                offset = self._offset(row, w.add(column, first))
                if count == 1:
                    self.output.store_linear(w, offset, converted[0])
                else:
                    self.store_vector(
                        [
                            to_memory(w, real(value), self.output.shape.element_type)
                            for value in converted
                        ],
                        offset,
                    )

    def element(self, value: Scalar, wide: PrimitiveType, row: Word, column: Word) -> None:
        """Store one accumulator, whose row and column must be in bounds."""
        with self.emitter.scope():
            self.output.store_linear(
                self.w, self._offset(row, column), self.value_to_store(value, wide, row, column)
            )
