"""Classes of differences from the evaluator, as data: each has its reason and its elements.

There is no tolerance. The evaluator runs again with every rounding disturbed as far as HLO leaves
it open (`NOISE` has the amount by operation). A class explains an element if that moves the
reference as far as the answer lies away. A chain of exact operations moves nothing, so that not a
bit may differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.properties.noisy_evaluator import NOISE, NoisyEvaluator, reference
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.combiner import combiner_of
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]


def _epsilon(dtype: np.dtype[Any]) -> float:
    return float(ml_dtypes.finfo(dtype).eps)


_FLOAT_OF_BITS = {
    f"{sign}int{bits}": f"f{bits // 8}" for sign in ("", "u") for bits in (16, 32, 64)
}
_WITHOUT_NAN = frozenset(("f4e2m1fn", "f6e2m3fn", "f6e3m2fn"))


# -- the classes -----------------------------------------------------------------------------------
class Question(NamedTuple):
    """A leaf that differs. wrong: where. hostile: whether arguments hold extremes."""

    module: HloModule
    want: Array
    got: Array
    wrong: Array
    hostile: bool


class ValueClass(NamedTuple):
    """explains: the elements of which this class is the explanation."""

    name: str
    reason: str
    explains: Callable[[Question], Array]


def _opcodes(module: HloModule) -> set[str]:
    return {i.opcode.name for i in module.instructions()}


def _not_finite(array: Array) -> Array:
    with np.errstate(all="ignore"):
        return ~np.isfinite(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def _floating(array: Array) -> bool:
    return (
        array.dtype.kind == "c"
        or array.dtype.kind == "f"
        or (array.dtype.kind == "V" and "float" in array.dtype.name)
    )


def _accumulations(module: HloModule) -> list[HloInstruction]:
    """Return the instructions that sum or multiply, not those that take a maximum."""
    found = [
        i
        for i in module.instructions()
        if (noise := NOISE.get(i.opcode.name)) and noise.operands and not i.opcode.elementwise
    ]
    return [
        i
        for i in found
        if not i.called
        or any(
            x.opcode.name in ("add", "multiply", "subtract")
            for c in i.called
            for x in c.instructions.values()
        )
    ]


def _indexed_twice(q: Question) -> Array:
    found = [
        i.attributes for i in q.module.instructions() if i.opcode.name in ("gather", "scatter")
    ]
    pairs = [
        (
            a.get("start_index_map", ()) or a.get("scatter_dims_to_operand_dims", ()),
            a.get("operand_batching_dims", ()) or a.get("input_batching_dims", ()),
        )
        for a in found
    ]
    return np.full(q.want.shape, any(set(one or ()) & set(other or ()) for one, other in pairs))


def _range_inside_an_accumulation(q: Question) -> Array:
    wide = [
        i
        for i in _accumulations(q.module)
        if any(
            leaf.is_array and (leaf.element_type.is_float or leaf.element_type.is_complex)
            for _, leaf in i.shape.leaves()
        )
    ]
    if not wide:
        return np.zeros(q.want.shape, bool)
    if q.hostile or not _floating(q.want):
        return np.full(
            q.want.shape, q.hostile
        )  # what leaves the range may come back, as one over it or as an integer
    return _not_finite(q.want) | _not_finite(q.got)


def _is_strict(comparator: HloComputation, floats_too: bool) -> bool:
    """Return True if a comparator computes `a < b` or `a > b` of numbers that are all ordered."""
    root = comparator.root
    if root.opcode.name != "compare" or root.attributes["direction"] not in ("LT", "GT"):
        return False
    if any(o.opcode.name != "parameter" for o in root.operands) or {
        int(o.payload) // 2 for o in root.operands
    } not in [{k} for k in range(16)]:
        return False
    kind = root.operands[0].shape.element_type
    return root.operands[0] is not root.operands[1] and (
        floats_too or not kind.is_float or root.attributes.value("type") == "TOTALORDER"
    )


def _no_order(q: Question) -> Array:
    sorts = [i for i in q.module.instructions() if i.opcode.name == "sort"]
    odd = any(not _is_strict(i.called[0], floats_too=not q.hostile) for i in sorts)
    return np.full(q.want.shape, odd)


def _complex_extremes(q: Question) -> Array:
    if not q.hostile or not any(
        leaf.is_array and leaf.element_type.is_complex
        for i in q.module.instructions()
        for _, leaf in i.shape.leaves()
    ):
        return np.zeros(q.want.shape, bool)
    return np.ones(q.want.shape, bool)


def _contracted_product(q: Question) -> Array:
    names = _opcodes(q.module)
    if (
        not q.hostile
        or not _floating(q.want)
        or "multiply" not in names
        or not names & {"add", "subtract"}
    ):
        return np.zeros(q.want.shape, bool)
    return _not_finite(q.want) | _not_finite(q.got) | np.asarray((q.want == 0) & (q.got == 0))


def _nan_without_a_nan(q: Question) -> Array:
    kinds = {
        leaf.element_type.name
        for i in q.module.instructions()
        for _, leaf in i.shape.leaves()
        if leaf.is_array
    }
    if not kinds & _WITHOUT_NAN or not _floating(q.want):
        return np.zeros(q.want.shape, bool)
    return np.asarray((q.want == 0) & (q.got == 0))


_REDUCING = frozenset(("reduce", "reduce-window", "all-reduce", "reduce-scatter", "scan"))
_CHOOSING = frozenset(
    (
        "parameter",
        "constant",
        "compare",
        "select",
        "tuple",
        "and",
        "or",
        "xor",
        "maximum",
        "minimum",
        "not",
        "convert",
        "copy",
    )
)


def _orders_nan(reducer: HloComputation) -> bool:
    """Return True if its comparisons of floats give NaN a place.

    They do by a total order, or by a test whether a number equals itself.
    """
    compares = [
        i
        for i in reducer.instructions.values()
        if i.opcode.name == "compare" and i.operands[0].shape.element_type.is_float
    ]
    total = all(i.attributes.value("type") == "TOTALORDER" for i in compares)
    return total or any(
        i.attributes["direction"] == "NE" and i.operands[0] is i.operands[1] for i in compares
    )


def _is_associative(reducer: HloComputation, hostile: bool) -> bool:
    """Return True if a reducer is one operation on its two parameters, or selects among records.

    With NaN among the records, the order must have a place for NaN.
    """
    if combiner_of(reducer) is not None:
        return True
    names = {i.opcode.name for i in reducer.instructions.values()}
    return (
        len(reducer.parameters()) > 2
        and names <= _CHOOSING
        and (not hostile or _orders_nan(reducer))
    )


def _odd_reducer(q: Question) -> Array:
    odd = any(
        not _is_associative(i.called[0], q.hostile)
        for i in q.module.instructions()
        if i.opcode.name in _REDUCING and i.called
    )
    return np.full(q.want.shape, odd)


def _unstable(q: Question) -> Array:
    sorts = [i for i in q.module.instructions() if i.opcode.name == "sort" and len(i.operands) > 1]
    return np.full(q.want.shape, any(not i.attributes.get("is_stable", False) for i in sorts))


def _sign_of_nan(q: Question) -> Array:
    names = _opcodes(q.module)
    kinds = {
        leaf.element_type.name
        for i in q.module.instructions()
        for _, leaf in i.shape.leaves()
        if leaf.is_array
    }
    if not q.hostile:
        return np.zeros(q.want.shape, bool)
    if names & {"topk", "sort"} and any(kind.endswith("fnuz") for kind in kinds):
        return np.ones(q.want.shape, bool)
    if not names & {"bitcast", "bitcast-convert"} or q.want.dtype.name not in _FLOAT_OF_BITS:
        return np.zeros(q.want.shape, bool)
    want, got = (
        q.want.view(_FLOAT_OF_BITS[q.want.dtype.name]),
        q.got.view(_FLOAT_OF_BITS[q.want.dtype.name]),
    )
    return np.isnan(want) & (np.abs(want).view(q.want.dtype) == np.abs(got).view(q.want.dtype))


def _behind_a_dynamic_size(q: Question) -> Array:
    def leaves_it(i: HloInstruction) -> bool:
        dynamic = [
            any(leaf.dynamic) for o in i.operands for _, leaf in o.shape.leaves() if leaf.is_array
        ]
        return any(dynamic) and not any(
            any(leaf.dynamic) for _, leaf in i.shape.leaves() if leaf.is_array
        )

    reads = any(
        i.opcode.name in ("slice", "dynamic-slice", "gather") and leaves_it(i)
        for i in q.module.instructions()
    )
    return np.full(q.want.shape, reads)


def _combines_in_another_type(q: Question) -> Array:
    def other(i: HloInstruction) -> bool:
        given = {
            leaf.element_type
            for o in i.operands
            for _, leaf in o.shape.leaves()
            if leaf.is_array and leaf.element_type.is_float
        }
        return bool(given) and any(
            p.shape.is_array and p.shape.element_type.is_float and p.shape.element_type not in given
            for p in i.called[0].parameters()
        )

    combining = (
        "reduce",
        "scatter",
        "reduce-window",
        "select-and-scatter",
        "all-reduce",
        "reduce-scatter",
    )
    return np.full(
        q.want.shape, any(i.opcode.name in combining and other(i) for i in q.module.instructions())
    )


def _group_sizes(q: Question) -> Array:
    return np.full(q.want.shape, "ragged-dot" in _opcodes(q.module))


STATED = (
    ValueClass(
        "contracted-product",
        "a product that overflows alone, or underflows to a zero, does not where the sum that it goes into is rounded with it",
        _contracted_product,
    ),
    ValueClass(
        "nan-in-a-type-without",
        "f4 and f6 have no NaN: what would be one becomes a zero of either sign",
        _nan_without_a_nan,
    ),
    ValueClass(
        "reducer-without-an-order",
        "a reduction may combine in any order and begin anywhere: by what is not associative (`x + 2 y`, `a <= b ? a : b` with NaN) it has no meaning",
        _odd_reducer,
    ),
    ValueClass(
        "indexed-twice",
        "a dimension of a gather or scatter that is both in the index map and a batching one has two indices",
        _indexed_twice,
    ),
    ValueClass(
        "unstable-sort",
        "records whose keys are equal come in any order out of a sort that is not stable",
        _unstable,
    ),
    ValueClass(
        "sign-of-nan",
        "the sign of a NaN that an operation makes is open (IEEE 754, 6.3), and bits are looked at; the one NaN of a type without a negative "
        "zero has the bits of -0: on which side of the numbers a total order has it is open too",
        _sign_of_nan,
    ),
    ValueClass(
        "behind-a-dynamic-size",
        "elements behind a dynamic size have no value: a slice of static shape may read them",
        _behind_a_dynamic_size,
    ),
    ValueClass(
        "combines-in-another-type",
        "a reducer of another float type than what it is given may compute in either: the evaluator takes what is given, code the reducer's",
        _combines_in_another_type,
    ),
    ValueClass(
        "group-sizes",
        "a ragged-dot whose group sizes are negative or add up to more than the dimension has no meaning",
        _group_sizes,
    ),
    ValueClass(
        "range-inside-an-accumulation",
        "the evaluator sums and multiplies in f64 and rounds once, code in the type: what comes to be between two terms may leave the range of it",
        _range_inside_an_accumulation,
    ),
    ValueClass(
        "comparator-without-an-order",
        "a sort by what is no strict weak order (`<=`, NaN among numbers, something else) may leave any order",
        _no_order,
    ),
    ValueClass(
        "complex-extremes",
        "HLO does not say how products, quotients and functions of complex numbers treat parts that overflow, are infinite or NaN",
        _complex_extremes,
    ),
)
REASONS = {
    "rounding": "the reference moves as far when every rounding that HLO leaves open is disturbed by the ulps of its operation",
    "rewrites-over-the-reals": "a number is another one, or a number where NaN was, and is not when the rules that claim roundings only are left out",
    "discrete-after-rounding": "an integer, a predicate or an order was decided by a float that a rounding moves to the other side",
    **{found.name: found.reason for found in STATED},
}  # fmt: skip


def differing(want: Array, got: Array) -> Array:
    """Return where two leaves differ: NaN equals NaN, and a zero has its sign."""
    if want.dtype.kind == "c":
        return differing(np.asarray(want.real), np.asarray(got.real)) | differing(
            np.asarray(want.imag), np.asarray(got.imag)
        )
    with np.errstate(all="ignore"):
        if not _floating(want):
            return np.asarray(want != got)
        same = (want == got) & (np.signbit(want) == np.signbit(got))
        return np.asarray(~(same | ((want != want) & (got != got))))


def rounds_only(want: Array, got: Array) -> Array:
    """Return where both values are finite, or the first is NaN.

    A number is never rounded to NaN, nor an infinity to another value.
    """
    if want.dtype.kind == "c":
        return rounds_only(np.asarray(want.real), np.asarray(got.real)) & rounds_only(
            np.asarray(want.imag), np.asarray(got.imag)
        )
    if not _floating(want):
        return np.ones(want.shape, bool)
    a, b = _as_numbers(want), _as_numbers(got)
    return np.asarray(np.isnan(a) | (np.isfinite(a) & np.isfinite(b)))


def _as_numbers(array: Array) -> Array:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if _floating(array) else array


def explain(
    module: HloModule,
    arguments: Sequence[Any],
    expected: Sequence[Array],
    actual: Sequence[Array],
    *,
    hostile: bool,
    loose: bool,
    seconds: float,
) -> list[str] | None:
    """Return the names of the classes that explain all differences; None if one is left.

    ReferenceTooLongError after `seconds`.
    """
    wrong = [differing(a, b) for a, b in zip(expected, actual, strict=True)]
    used: set[str] = set()
    for found in STATED:
        for number, mask in enumerate(wrong):
            if mask.any():
                explained = mask & found.explains(
                    Question(module, expected[number], actual[number], mask, hostile)
                )
                if explained.any():
                    used.add(found.name)
                    wrong[number] = mask & ~explained
    moved = [np.zeros(mask.shape, np.float64) for mask in wrong]
    changes = [np.zeros(mask.shape, bool) for mask in wrong]
    deadline = time.process_time() + seconds
    for run in range(16):
        if not any(mask.any() for mask in wrong):
            return sorted(used)
        noisy = reference(module, arguments, NoisyEvaluator(run, loose=loose, deadline=deadline))
        for number, (want, got, other) in enumerate(zip(expected, actual, noisy, strict=True)):
            if not wrong[number].any():
                continue
            floating = _floating(want)
            name = "rounding" if floating else "discrete-after-rounding"
            a, b, c = _as_numbers(want), _as_numbers(got), _as_numbers(other)
            with np.errstate(all="ignore"):
                if floating:
                    finite = np.isfinite(a) & np.isfinite(c)
                    moved[number] = np.maximum(
                        moved[number], np.where(finite, np.abs(np.where(finite, c - a, 0)), 0)
                    )
                    changes[number] |= (
                        (np.isfinite(a) != np.isfinite(c))
                        | (np.isnan(a) != np.isnan(c))
                        | (~np.isfinite(a) & (differing(a, c)))
                    )
                    changes[number] |= (a == 0) & (c == 0) & differing(a, c)
                    # Where no digit is left (near a pole, after a cancellation) what moves it is
                    # not what it moves by.
                    reach = np.where(moved[number] > 0.1 * np.abs(a), 100, 3) * moved[number]
                    # Sixteen draws may leave one of many thousand elements nearly where it was.
                    last_digit = (
                        np.abs(a) * _epsilon(want.dtype)
                        if (moved[number] > 0).sum() > 0.1 * finite.sum()
                        else 0
                    )
                    explained = wrong[number] & (
                        changes[number]
                        | ((np.abs(b - a) <= np.maximum(reach, last_digit)) & (moved[number] > 0))
                    )
                else:
                    changes[number] |= differing(want, other)
                    explained = wrong[number] & changes[number]
            if explained.any():
                used.add(name)
                wrong[number] &= ~explained
    return sorted(used) if not any(mask.any() for mask in wrong) else None
