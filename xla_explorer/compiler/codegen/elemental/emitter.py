"""The elemental emitter: the value of one element of any instruction of a fused computation.

Recursion from the root to the operands. Intermediate results never get an address: that is loop
fusion. Values are memoised per (instruction, index) while their block dominates the insertion
point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from xla_explorer.compiler.codegen.elemental.conversion import convert_value
from xla_explorer.compiler.codegen.elemental.registry import (
    ELEMENTWISE_EMITTERS,
    INDEXED_EMITTERS,
    Complex,
    Scalar,
)
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.records import INVARIANT
from xla_explorer.compiler.codegen.ir.types import PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value
from xla_explorer.compiler.codegen.llvm_types import (
    constant,
    from_memory,
    pair,
    real,
    stored_type,
    to_memory,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape

Position = Word
IndexTuple = tuple[Word, ...]
Source = Callable[[IndexTuple], Scalar]


class CodegenError(XlaExplorerError):
    """A defect of the emitter: an instruction that `supports` should have refused."""


class ArrayInMemory:
    """An array in memory: a pointer, and a shape with strides."""

    __slots__ = ("invariant", "pointer", "shape")

    def __init__(self, pointer: Value[Pointer], shape: Shape, invariant: bool = False) -> None:
        self.pointer, self.shape, self.invariant = pointer, shape, invariant

    def _part_alignment(self, k: int) -> int:
        """Return the alignment of a real (0) or imaginary (1) part in bytes.

        Complex numbers are fully aligned in a GPU's buffers, so that one access loads both parts.
        """
        size = self.shape.element_type.bytes
        return size if k == 0 and self.pointer.type is not PTR else size // 2

    def load(self, w: FunctionWriter, index: IndexTuple) -> Scalar:
        """Load the element at the index."""
        return self.load_linear(w, w.linear(index, self.shape.strides))

    def _address(self, w: FunctionWriter, t: Type, offset: Word) -> Value[Pointer]:
        return w.address(self.pointer, t, offset)

    def load_linear(self, w: FunctionWriter, offset: Word) -> Scalar:
        """Load the element at a linear offset (in elements)."""
        element_type = self.shape.element_type
        t = stored_type(element_type)
        tail = INVARIANT if self.invariant else ""
        if element_type.is_complex:
            even = w.mul(offset, 2)
            return Complex(
                *[
                    w.load(self._address(w, t, w.add(even, k)), t, self._part_alignment(k), tail)
                    for k in (0, 1)
                ]
            )
        return from_memory(
            w, w.load(self._address(w, t, offset), t, element_type.bytes, tail), element_type
        )

    def store(self, w: FunctionWriter, index: IndexTuple, value: Scalar) -> None:
        """Store the element at the index."""
        self.store_linear(w, w.linear(index, self.shape.strides), value)

    def store_linear(self, w: FunctionWriter, offset: Word, value: Scalar) -> None:
        """Store the element at a linear offset (in elements)."""
        element_type = self.shape.element_type
        t = stored_type(element_type)
        if isinstance(value, Complex):
            even = w.mul(offset, 2)
            for k, part in enumerate(value):
                w.store(part, self._address(w, t, w.add(even, k)), self._part_alignment(k))
            return
        stored = to_memory(w, value, element_type)
        w.store(stored, self._address(w, t, offset), element_type.bytes)


class ElementalEmitter:
    """Emits elements of the instructions of one computation.

    sources: by instruction, a function from index to value that replaces its computation
    (parameters and stored values).
    """

    def __init__(self, writer: FunctionWriter, sources: Mapping[HloInstruction, Source]) -> None:
        self.writer = writer
        self.sources = dict(sources)
        self._scopes: list[dict[tuple[HloInstruction, IndexTuple], Scalar]] = [{}]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget the values emitted inside: their block does not dominate later code."""
        self._scopes.append({})
        try:
            yield
        finally:
            self._scopes.pop()

    def element(self, i: HloInstruction, index: IndexTuple) -> Scalar:
        """Return the value of element `index` of instruction `i`."""
        known = self._known(i, index)
        return known if known is not None else self._resolve(i, index)

    def _known(self, i: HloInstruction, index: IndexTuple) -> Scalar | None:
        key = (i, index)
        for scope in reversed(self._scopes):
            if key in scope:
                return scope[key]
        return None

    def _resolve(self, i: HloInstruction, index: IndexTuple) -> Scalar:
        """Emit an element.

        Chains of elementwise instructions, of up to thousands, are walked without recursion.
        """
        stack = [(i, index)]
        value: Scalar | None = None
        while stack:
            current, at = stack[-1]
            value = self._known(current, at)
            if value is not None:
                stack.pop()
                continue
            source = self.sources.get(current)
            operands: list[Scalar] = []
            if source is None and self._is_elementwise(current):
                missing = []
                for operand in current.operands:
                    place = at if operand.shape.dimensions == current.shape.dimensions else ()
                    found = self._known(operand, place)
                    if found is None:
                        missing.append((operand, place))
                    else:
                        operands.append(found)
                if missing:
                    stack.extend(reversed(missing))
                    continue
            stack.pop()
            with self.writer.from_instruction(current.id):
                if source is not None:
                    value = source(at)
                elif operands:
                    value = ELEMENTWISE_EMITTERS[current.opcode.name](
                        self.writer, current, operands
                    )
                else:
                    value = self._compute(current, at)
            self._scopes[-1][current, at] = value
        assert value is not None
        return value

    def _is_elementwise(self, i: HloInstruction) -> bool:
        name = i.opcode.name
        return name in ELEMENTWISE_EMITTERS and not (
            name == "bitcast-convert" and i.shape.dimensions != i.operands[0].shape.dimensions
        )

    def _compute(self, i: HloInstruction, index: IndexTuple) -> Scalar:
        """Emit an element of an instruction that is not elementwise."""
        name = i.opcode.name
        if name == "constant":
            splat = i.literal.splat
            if splat is None:
                raise CodegenError(f"%{i.name}: an array constant must be a kernel argument")
            return constant(self.writer, splat, i.shape.element_type)
        indexed = INDEXED_EMITTERS.get(name)
        if indexed is None:
            raise CodegenError(f"%{i.name}: {name} has no elemental emitter")
        return indexed(self, i, index)

    # -- small computations called with scalars (reducers, comparators, map) -----------------------
    def inline_scalar_computation(
        self, computation: HloComputation, arguments: Sequence[Scalar]
    ) -> list[Scalar]:
        """Inline a computation over scalars; return one result per element of the root tuple."""
        parameters = computation.parameters()
        values = dict(zip(parameters, arguments, strict=True))

        def always(value: Scalar) -> Callable[[IndexTuple], Scalar]:
            return lambda _index: value

        inner = ElementalEmitter(self.writer, {p: always(v) for p, v in values.items()})
        root = computation.root
        outputs = root.operands if root.opcode.name == "tuple" else (root,)
        return [inner.element(o, ()) for o in outputs]

    def combine(
        self,
        computation: HloComputation,
        arguments: Sequence[Scalar],
        types: Sequence[PrimitiveType],
    ) -> list[Scalar]:
        """Inline a computation over scalars on arguments of the given types.

        Its parameters may have another precision; arguments and results are converted.
        """
        w, parameters = self.writer, computation.parameters()
        wanted = [p.shape.element_type for p in parameters]
        given = [
            convert_value(w, v, t, k) if t is not k else v
            for v, t, k in zip(arguments, types, wanted, strict=True)
        ]
        root = computation.root
        made = [
            o.shape.element_type
            for o in (root.operands if root.opcode.name == "tuple" else (root,))
        ]
        results = self.inline_scalar_computation(computation, given)
        return [
            convert_value(w, v, k, t) if k.is_float and t is not k else v
            for v, k, t in zip(results, made, types, strict=False)
        ]

    # -- branches ----------------------------------------------------------------------------------
    def choose(
        self,
        condition: Value[Integer],
        shape: Shape,
        then: Callable[[], Scalar],
        otherwise: Callable[[], Scalar],
    ) -> Scalar:
        """Emit `condition ? then() : otherwise()` with branches.

        The side that is not executed loads nothing.
        """
        w = self.writer
        yes, no, join = w.fresh_label("then"), w.fresh_label("else"), w.fresh_label("join")
        w.branch_if(condition, yes, no)
        w.start_block(yes)
        with self.scope():
            a = then()
        a_block = w.block
        w.branch(join)
        w.start_block(no)
        with self.scope():
            b = otherwise()
        b_block = w.block
        w.branch(join)
        w.start_block(join)
        if isinstance(a, Complex):
            return Complex(
                *[w.phi(x, a_block, y, b_block) for x, y in zip(a, pair(b), strict=True)]
            )
        return w.phi(a, a_block, real(b), b_block)
