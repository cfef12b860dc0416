"""The opcode sort: row by row along one dimension, in scratch memory.

Radix sort if the comparator orders by keys, else merge sort.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.index_arithmetic import Word
from xla_explorer.compiler.codegen.ir.values import Integer, Value
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import (
    Before,
    RadixKey,
    Record,
    RowSort,
    integer_key,
)
from xla_explorer.compiler.codegen.llvm_types import real, value_type
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.sorting import SortKey, comparator_keys
from xla_explorer.hlo.instruction import HloInstruction


def sort_is_emitted(i: HloInstruction) -> Reason | None:
    """Return a refusal unless positions in a row fit into 31 bits."""
    if i.operands[0].shape.dimensions and max(i.operands[0].shape.dimensions) >= 1 << 31:
        text = (
            f"rows that %{i.name} sorts must have fewer than 2**31 elements, got "
            f"{max(i.operands[0].shape.dimensions)}"
        )
        return refuse("row-too-long", text)
    return None


def _radix_keys(context: KernelContext, comparator: HloComputation) -> list[RadixKey] | None:
    """Return the comparator's keys as integers, or None if it has another form."""
    found = comparator_keys(comparator)
    if found is None:
        return None
    keys = []
    for key in found:
        element_type = key.side.shape.element_type
        if element_type.is_complex:
            return None
        compared = next(u for u in key.side.users if u.opcode.name == "compare")
        order = compared.attributes.get("type")
        if order in ("SIGNED", "UNSIGNED") and (order == "SIGNED") != element_type.is_signed:
            return None
        bits = 8 if element_type.is_pred else value_type(element_type).bits
        keys.append(RadixKey(bits, _key_function(context, comparator, key)))
    return keys


def key_of_record(
    w: FunctionWriter, comparator: HloComputation, key: SortKey, record: Record
) -> Scalar:
    """Return the key of a record, as the left side of the comparator."""

    def reader(value: Scalar) -> Callable[[IndexTuple], Scalar]:
        return lambda _index: value

    parameters = comparator.parameters()
    sources = {parameters[2 * k]: reader(value) for k, value in enumerate(record)}
    return ElementalEmitter(w, sources).element(key.side, ())


def _key_function(
    context: KernelContext, comparator: HloComputation, key: SortKey
) -> Callable[[Record], Value[Integer]]:
    w = context.writer

    def of(record: Record) -> Value[Integer]:
        value = key_of_record(w, comparator, key, record)
        element_type = key.side.shape.element_type
        return integer_key(w, value, element_type, key.ascending, key.total_order)

    return of


def as_written(context: KernelContext, comparator: HloComputation) -> Before:
    """Return the comparator as a function of two records."""
    emitter = context.emitter()

    def before(a: Record, b: Record) -> Value[Integer]:
        (result,) = emitter.inline_scalar_computation(
            comparator, [x for pair in zip(a, b, strict=True) for x in pair]
        )
        return real(result)

    return before


def write_sort_kernel(context: KernelContext) -> None:
    """Emit the copy of a row to scratch memory, the sort, and the copy back."""
    root, w = context.roots[0], context.writer
    first = root.operands[0].shape
    if 0 in first.dimensions:
        return
    dimensions = root.attributes.get("dimensions")
    axis = dimensions[0] if dimensions else first.rank - 1
    length = first.dimensions[axis] if first.rank else 1
    comparator = root.to_apply
    sources = [context.arrays[o] for o in root.operands]
    sort = RowSort(context, [o.shape.element_type for o in root.operands], length)
    keys, before = _radix_keys(context, comparator), as_written(context, comparator)
    others = [n for d, n in enumerate(first.dimensions) if d != axis]
    with context.iterate(others) as index:

        def place(position: Word, index: IndexTuple = index) -> IndexTuple:
            return (*index[:axis], position, *index[axis:]) if first.rank else ()

        sort.begin()
        buffers = sort.arrays()
        with w.loop(length, stem="take") as j:
            for buffer, source in zip(buffers, sources, strict=True):
                buffer.store_linear(w, j, source.load(w, place(j)))
        if length > 1:
            sort.sort(keys or (), before)
        buffers = sort.arrays()
        with w.loop(length, stem="give") as j:
            for buffer, output in zip(buffers, context.outputs, strict=True):
                output.store(w, place(j), buffer.load_linear(w, j))
