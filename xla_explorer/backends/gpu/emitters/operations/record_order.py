"""Which of two records of a sort comes first: by the comparator, or by its keys where NaN would upset it.

`a < b` is no order among floats with NaN, which equals everything without everything being equal: merging by ranks would then put two
records into one place and lose others. Where the comparator orders by keys, NaN comes after the numbers instead, and equals itself; numbers
are ordered as they were. XLA leaves the order open, too, but keeps all records, since it sorts bitonically.
"""

from __future__ import annotations

from xla_explorer.backends.gpu.emitters.operations.block_sort import Before, Record
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.sorting.row_sort import integer_key
from xla_explorer.compiler.codegen.kernels.sorting.sort import key_of_record
from xla_explorer.compiler.codegen.llvm_types import real, register_type, type_bits
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.sorting import SortKey, comparator_keys


def order_of_records(context: KernelContext, comparator: HloComputation) -> Before:
    """A strict weak order wherever the comparator orders by keys; else the comparator."""
    w, emitter = context.writer, context.emitter()

    def as_written(a: Record, b: Record) -> str:
        (result,) = emitter.inline_scalar_computation(comparator, [x for pair in zip(a, b, strict=True) for x in pair])
        return str(result)

    keys = comparator_keys(comparator)
    if keys is None or not any(map(_has_unordered, keys)) or any(key.side.shape.element_type.is_complex for key in keys):
        return as_written

    def less(key: SortKey, a: Record, b: Record) -> str:
        kind = key.side.shape.element_type
        x, y = [key_of_record(w, comparator, key, record) for record in (a, b)]
        if not _has_unordered(key):
            keys = [integer_key(w, value, kind, key.ascending, key.total_order) for value in (x, y)]
            return w.test("ult", keys[0], keys[1], 'i8' if kind.is_pred else f'i{type_bits(register_type(kind))}')
        first, second = [w.widen(real(value)) for value in (x, y)]
        # True of a number and NaN as well.
        behind = w.compare("ugt" if key.ascending else "ult", second, first)
        return w.both(behind, w.compare("ord", first, first)).name

    def before(a: Record, b: Record) -> str:
        result = less(keys[-1], a, b)
        for key in reversed(keys[:-1]):
            not_after = w.operation("xor", less(key, b, a), "true", "i1")
            result = w.operation("or", less(key, a, b), w.operation("and", not_after, result, "i1"), "i1")
        return result

    return before


def _has_unordered(key: SortKey) -> bool:
    return key.side.shape.element_type.is_float and not key.total_order
