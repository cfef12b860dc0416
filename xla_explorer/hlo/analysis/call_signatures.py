"""Signatures of known custom calls: a function of the operands gives the results.

The implementations trust the shapes, so the verifier checks them first. Sources:
jaxlib/cpu/lapack_kernels.h, jaxlib/cpu/sparse_kernels.cc and jaxlib/tridiagonal_solve_perturbed.h;
xla/service/dynamic_padder.cc; jax/_src/lax/linalg.py.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.backend_config import attribute, letter
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S32, PrimitiveType, primitive_type
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape

_LETTERS = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_REAL = {"f32": "f32", "f64": "f64", "c64": "f32", "c128": "f64"}
_COMPLEX = {"f32": "c64", "f64": "c128", "c64": "c64", "c128": "c128"}
_SPARSE_TYPES = frozenset(
    ["f32", "f64", "c64", "c128", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]
)

MARKERS = frozenset(
    [
        "Sharding",
        "annotate_device_placement",
        "MoveToHost",
        "MoveToDevice",
        "LayoutConstraint",
        "xla.sdy.FuncResultSharding",
    ]
)
"""Targets that return their operand: markers for passes or other devices."""


class _Operands:
    """The operands of a call, as its signature reads them; a ShapeError states the requirement."""

    def __init__(
        self, i: HloInstruction, count: int, element_type: PrimitiveType | None = None
    ) -> None:
        self.instruction = i
        self.shapes = [o.shape for o in i.operands]
        if len(self.shapes) != count:
            raise ShapeError(
                f"takes {count} operand{'s' if count != 1 else ''}, got {len(self.shapes)}"
            )
        for number, shape in enumerate(self.shapes):
            if not shape.is_array:
                raise ShapeError(
                    f"operand {number} must be an array, it is {shape.text_without_layout}"
                )
        self.type = element_type or self.shapes[0].element_type
        self.batch: tuple[int, ...] | None = None

    def sizes(
        self, number: int, rank: int, element_type: PrimitiveType | None = None
    ) -> tuple[int, ...]:
        """Return the last dimensions of an operand.

        Its element type and batch must be the call's.
        """
        shape, kind = self.shapes[number], element_type or self.type
        if shape.element_type is not kind or shape.rank < rank:
            what = ("scalars", "vectors", "matrices")[rank]
            raise ShapeError(
                f"operand {number} must hold {what} of {kind}, it is {shape.text_without_layout}"
            )
        batch = shape.dimensions[: shape.rank - rank]
        if self.batch is None:
            self.batch = batch
        if batch != self.batch:
            raise ShapeError(
                f"operand {number} must have the batch {list(self.batch)}, it is "
                f"{shape.text_without_layout}"
            )
        return shape.dimensions[shape.rank - rank :]

    def square(self, number: int) -> int:
        """Return the size of square matrices."""
        rows, columns = self.sizes(number, 2)
        if rows != columns:
            raise ShapeError(
                f"operand {number} must hold square matrices, it is "
                f"{self.shapes[number].text_without_layout}"
            )
        return rows

    def need(self, holds: bool, what: str) -> None:
        """Raise ShapeError unless a condition holds."""
        if not holds:
            shapes = ", ".join([s.text_without_layout for s in self.shapes])
            raise ShapeError(f"{what}, the operands are {shapes}")

    def letter(self, name: str, default: str, allowed: str) -> str:
        """Return an attribute that is a letter."""
        found = letter(self.instruction, name, default)
        if found not in allowed:
            raise ShapeError(f"{name} must be one of {', '.join(allowed)}, it is {found!r}")
        return found

    def own(self, *sizes: int) -> Shape:
        """Return arrays of the call's own element type."""
        return array_shape(self.type, (*(self.batch or ()), *sizes))

    def real(self, *sizes: int) -> Shape:
        """Return arrays of the real type of the same precision."""
        return array_shape(primitive_type(_REAL[self.type.name]), (*(self.batch or ()), *sizes))

    def complex(self, *sizes: int) -> Shape:
        """Return arrays of the complex type of the same precision."""
        return array_shape(primitive_type(_COMPLEX[self.type.name]), (*(self.batch or ()), *sizes))

    def integers(self, *sizes: int) -> Shape:
        """Return arrays of s32, LAPACK's integers."""
        return array_shape(S32, (*(self.batch or ()), *sizes))


_Results = tuple[Shape, ...]
_LapackRule = Callable[[_Operands], _Results]


def _potrf(c: _Operands) -> _Results:
    n = c.square(0)
    c.letter("uplo", "L", "LU")
    return c.own(n, n), c.integers()


def _getrf(c: _Operands) -> _Results:
    m, n = c.sizes(0, 2)
    return c.own(m, n), c.integers(min(m, n)), c.integers()


def _lu(c: _Operands) -> _Results:
    m, n = c.sizes(0, 2)
    return c.own(m, n), c.integers(min(m, n)), c.integers(m)


def _geqrf(c: _Operands) -> _Results:
    m, n = c.sizes(0, 2)
    return c.own(m, n), c.own(min(m, n))


def _geqp3(c: _Operands) -> _Results:
    m, n = c.sizes(0, 2)
    c.need(c.sizes(1, 1, S32) == (n,), "there must be a number for each column")
    return c.own(m, n), c.integers(n), c.own(min(m, n))


def _orgqr(c: _Operands) -> _Results:
    (m, n), (count,) = c.sizes(0, 2), c.sizes(1, 1)
    c.need(
        count <= n <= m,
        "there must be at most as many reflectors as columns, and as many columns as rows",
    )
    return (c.own(m, n),)


def _ormqr(c: _Operands) -> _Results:
    (rows, columns), (count,), sizes = c.sizes(0, 2), c.sizes(1, 1), c.sizes(2, 2)
    length = sizes[0] if attribute(c.instruction, "left", 1) else sizes[1]
    c.need(rows == length, "reflectors must be as long as the vectors that they are applied to")
    c.need(count <= min(rows, columns), "there must be at most as many scales as reflectors")
    return (c.own(*sizes),)


def _syevd(c: _Operands) -> _Results:
    n = c.square(0)
    c.letter("mode", "V", "VN")
    c.letter("uplo", "L", "LU")
    return c.own(n, n), c.real(n), c.integers()


def _eigh(c: _Operands) -> _Results:
    return _syevd(c)[:2]


def _svd(c: _Operands) -> _Results:
    m, n = c.sizes(0, 2)
    k = min(m, n)
    mode = c.letter("mode", "A", "ASN")
    whole = mode == "A"
    if mode == "N":  # the vectors are zeros; JAX gives them either size
        stated = [leaf.dimensions for _, leaf in c.instruction.shape.leaves()]
        whole = stated[2:4] == [c.own(m, m).dimensions, c.own(n, n).dimensions]
    u, vt = (c.own(m, m), c.own(n, n)) if whole else (c.own(m, k), c.own(k, n))
    return c.own(m, n), c.real(k), u, vt, c.integers()


def _geev(c: _Operands) -> _Results:
    n = c.square(0)
    for side in ("left", "right"):
        c.letter(f"compute_{side}", "N", "VN")
    values = (c.own(n),) if c.type.is_complex else (c.own(n), c.own(n))
    return *values, c.complex(n, n), c.complex(n, n), c.integers()


def _gees(c: _Operands) -> _Results:
    n = c.square(0)
    c.letter("mode", "V", "VN")
    values = (c.own(n),) if c.type.is_complex else (c.own(n), c.own(n))
    return c.own(n, n), c.own(n, n), *values, c.integers(), c.integers()


def _gehrd(c: _Operands) -> _Results:
    n = c.square(0)
    low, high = attribute(c.instruction, "low", 1), attribute(c.instruction, "high", n)
    c.need(
        1 <= low <= max(n, 1) and min(low, n) <= high <= n,
        f"rows {low} to {high} must be rows of the matrix",
    )
    return c.own(n, n), c.own(max(n - 1, 0)), c.integers()


def _sytrd(c: _Operands) -> _Results:
    n = c.square(0)
    c.letter("uplo", "L", "LU")
    return c.own(n, n), c.real(n), c.real(max(n - 1, 0)), c.own(max(n - 1, 0)), c.integers()


def _gtsv(c: _Operands) -> _Results:
    (lower,), (n,), (upper,), (rows, columns) = (
        c.sizes(0, 1),
        c.sizes(1, 1),
        c.sizes(2, 1),
        c.sizes(3, 2),
    )
    c.need(
        rows == n and {lower, upper} <= {n, n - 1},
        "diagonals and right sides must belong to one matrix",
    )
    return c.own(lower), c.own(n), c.own(upper), c.own(n, columns), c.integers()


def _trsm(c: _Operands) -> _Results:
    n, sizes = c.square(0), c.sizes(1, 2)
    for name, default, allowed in (
        ("uplo", "L", "LU"),
        ("trans_x", "N", "NTC"),
        ("diag", "N", "NU"),
    ):
        c.letter(name, default, allowed)
    c.need(
        sizes[c.letter("side", "L", "LR") == "R"] == n,
        "the matrix must be as large as the right side",
    )
    return (c.own(*sizes),)


# LAPACK's names without the type letter, for real and for complex matrices; operands; the rule.
_LAPACK: tuple[tuple[str, str, int, _LapackRule], ...] = (
    ("potrf", "potrf", 1, _potrf),
    ("getrf", "getrf", 1, _getrf),
    ("geqrf", "geqrf", 1, _geqrf),
    ("geqp3", "geqp3", 2, _geqp3),
    ("orgqr", "ungqr", 2, _orgqr),
    ("ormqr", "unmqr", 3, _ormqr),
    ("syevd", "heevd", 1, _syevd),
    ("gesdd", "gesdd", 1, _svd),
    ("gesvd", "gesvd", 1, _svd),
    ("geev", "geev", 1, _geev),
    ("gees", "gees", 1, _gees),
    ("gehrd", "gehrd", 1, _gehrd),
    ("sytrd", "hetrd", 1, _sytrd),
    ("gtsv", "gtsv", 4, _gtsv),
    ("trsm", "trsm", 2, _trsm),
)
# Targets of JAX's other platforms.
_ANY_TYPE: dict[str, tuple[int, _LapackRule]] = {
    "Qr": (1, _geqrf),
    "Eigh": (1, _eigh),
    "LuDecomposition": (1, _lu),
    "ProductOfElementaryHouseholderReflectors": (2, _orgqr),
}


def _lapack_rule(
    count: int, rule: _LapackRule, element_type: str
) -> Callable[[HloInstruction], _Results]:
    def results(i: HloInstruction) -> _Results:
        c = _Operands(i, count, primitive_type(element_type) if element_type else None)
        if c.type.name not in _REAL:
            raise ShapeError(
                f"takes matrices of f32, f64, c64 or c128, not {c.shapes[0].text_without_layout}"
            )
        return rule(c)

    return results


def _perturbed_solve(i: HloInstruction) -> _Results:
    c = _Operands(i, 4)
    c.need(c.type.name in _REAL, "diagonals must be of f32, f64, c64 or c128")
    (lower,), (n,), (upper,), sizes = c.sizes(0, 1), c.sizes(1, 1), c.sizes(2, 1), c.sizes(3, 2)
    c.need(
        lower == upper == n == sizes[0], "diagonals must be as long as the right sides have rows"
    )
    return (c.own(*sizes),)


def _sparse_product(i: HloInstruction) -> _Results:
    c = _Operands(i, 4)
    elements, starts, columns, dense = c.shapes
    c.need(c.type.name in _SPARSE_TYPES, "elements must be no small floats")
    c.need(dense.element_type is c.type, "the dense operand must have the type of the elements")
    kinds = {starts.element_type.name, columns.element_type.name}
    c.need(kinds in ({"s32"}, {"s64"}), "places must be of one type, s32 or s64")
    c.need(
        [s.rank for s in (elements, starts, columns)] == [1, 1, 1] and dense.rank in (1, 2),
        "rows must be compressed",
    )
    c.need(elements.dimensions == columns.dimensions, "each element must have a column")
    c.need(starts.dimensions[0] > 0, "there must be a place for the end of the last row")
    return (array_shape(c.type, (starts.dimensions[0] - 1, *dense.dimensions[1:])),)


def _top_k(i: HloInstruction) -> _Results:
    c = _Operands(i, 1)
    shape = c.shapes[0]
    c.need(shape.rank > 0, "there must be a dimension to choose along")
    stated = i.shape.tuple_shapes[0] if i.shape.is_tuple and i.shape.tuple_shapes else i.shape
    k = stated.dimensions[-1] if stated.is_array and stated.rank else 0
    c.need(k <= shape.dimensions[-1], f"at most as many as there are can be chosen, {k} are wanted")
    sizes = (*shape.dimensions[:-1], k)
    return array_shape(c.type, sizes), array_shape(S32, sizes)


def _pad_to_static(i: HloInstruction) -> _Results:
    shape = _Operands(i, 1).shapes[0]
    return array_shape(shape.element_type, shape.dimensions), *[array_shape(S32, ())] * shape.rank


def _marker(i: HloInstruction) -> _Results:
    if len(i.operands) != 1:
        raise ShapeError(f"takes 1 operand, got {len(i.operands)}")
    return (i.operands[0].shape.base,)


def _signatures() -> MappingProxyType[str, Callable[[HloInstruction], _Results]]:
    found: dict[str, Callable[[HloInstruction], _Results]] = {
        "tridiagonal_solve_perturbed_ffi": _perturbed_solve,
        "cpu_csr_sparse_dense_ffi": _sparse_product,
        "TopK": _top_k,
        "__gpu$TopK": _top_k,
        "PadToStatic": _pad_to_static,
        **dict.fromkeys(MARKERS, _marker),
        **{target: _lapack_rule(count, rule, "") for target, (count, rule) in _ANY_TYPE.items()},
    }
    for real, complex_name, count, rule in _LAPACK:
        for kind, element_type in _LETTERS.items():
            name = complex_name if kind in "cz" else real
            found[f"lapack_{kind}{name}_ffi"] = _lapack_rule(count, rule, element_type)
    return MappingProxyType(found)


CALL_SIGNATURES = _signatures()
"""Target -> function that returns a call's results.

Layouts are free, dynamic sizes compare by bounds.
"""


def signature_mismatch(i: HloInstruction) -> Reason | None:
    """Return the difference between a custom call and its target's signature.

    None if they agree, or if the target is unknown.
    """
    target = custom_call_target(i)
    signature = CALL_SIGNATURES.get(target)
    unbounded = any(
        size < 0
        for o in i.operands
        for _, leaf in o.shape.leaves()
        if leaf.is_array
        for size in leaf.dimensions
    )
    if signature is None or unbounded:
        return None
    try:
        wanted = signature(i)
    except ShapeError as problem:
        return refuse("call-operands", f"{target}: {problem}", target=target)
    found = i.shape.tuple_shapes if i.shape.is_tuple and target not in MARKERS else (i.shape,)
    alone = not i.shape.is_tuple and len(wanted) == 1
    if len(found) == len(wanted) and (alone or i.shape.is_tuple) and all(map(_same, found, wanted)):
        return None
    stated = ", ".join([s.text_without_layout for s in found])
    given = ", ".join([s.text_without_layout for s in wanted])
    return refuse(
        "call-results",
        f"{target}: the results are stated as ({stated}), the operands give ({given})",
        target=target,
    )


def _same(found: Shape, wanted: Shape) -> bool:
    if found.base is wanted.base:
        return True
    both = found.is_array and wanted.is_array and found.element_type is wanted.element_type
    return both and found.dimensions == wanted.dimensions
