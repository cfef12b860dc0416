"""The LAPACK routine of a custom call and its arguments: a function for each family.

The functions have LAPACK's names. Sources: jaxlib/cpu/lapack_kernels.h for operands, results and
attributes of the calls; LAPACK Users' Guide for arguments and workspaces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.backend_config import attribute, letter
from xla_explorer.hlo.analysis.call_signatures import signature_mismatch
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type
from xla_explorer.hlo.shape import Shape

_LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
_REAL = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}
_BLOCK = 32  # block size of LAPACK's blocked routines, in columns
_REFLECTORS = 65 * 64  # maximum elements of a block of reflectors


class Letter(NamedTuple):
    """A character."""

    text: str


class Number(NamedTuple):
    """An integer."""

    value: int


class Nothing(NamedTuple):
    """A null pointer, for the unused selection function of gees."""


class Work(NamedTuple):
    """Workspace of the routine."""

    element_type: PrimitiveType
    elements: int


class MatrixArgument(NamedTuple):
    """A column-major matrix or vector, initialised from an operand, stored to a result, or both.

    skips: leading elements of a vector that the routine does not use.
    """

    shape: Shape
    operand: int | None = None
    result: int | None = None
    skips: int = 0


class Status(NamedTuple):
    """An integer result of the routine, `info` or another.

    result: its result number, None if the call has none.
    """

    result: int | None
    is_info: bool = True


class RowOrder(NamedTuple):
    """The permutation of rows that results from the routine's row exchanges (pivots).

    result: the number of the result. exchanges: the number of the argument with the pivots, which
    the result of their own has counted from 0.
    """

    result: int
    exchanges: int


class Unused(NamedTuple):
    """A matrix that is not computed; the result is zeros."""

    element_type: PrimitiveType
    result: int


class Eigenvectors(NamedTuple):
    """Columns of a real matrix as complex vectors; pairs of columns are real and imaginary parts.

    imaginary: the number of the argument that has the imaginary parts of the eigenvalues.
    """

    shape: Shape
    result: int
    imaginary: int


Argument = Letter | Number | Nothing | Work | MatrixArgument | Status | Unused | Eigenvectors


class LapackCall(NamedTuple):
    """A routine with its arguments.

    symbol: of the routine. batch: leading dimensions. needs_finite: with NaN or infinity the
    routine may not terminate, or returns garbage. row_order: replaces `info` in some calls.
    """

    symbol: str
    batch: tuple[int, ...]
    arguments: tuple[Argument, ...]
    needs_finite: bool = False
    row_order: RowOrder | None = None


class _Call:
    """A custom call, as the families read it."""

    def __init__(self, i: HloInstruction, kind: str) -> None:
        self.instruction, self.kind = i, kind
        self.results = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
        self.element_type = i.operands[0].shape.element_type
        self.is_complex = self.element_type.is_complex
        self.real_type = primitive_type(_REAL[kind])
        self.int_type = primitive_type("s32")
        self.rows, self.columns = (
            i.operands[0].shape.dimensions[-2:] if i.operands[0].shape.rank > 1 else (0, 0)
        )

    def letter(self, name: str, default: str) -> Letter:
        return Letter(letter(self.instruction, name, default))

    def matrix(self, operand: int | None = None, result: int | None = None) -> MatrixArgument:
        shape = (
            self.results[result]
            if result is not None
            else self.instruction.operands[operand or 0].shape
        )
        return MatrixArgument(shape, operand, result)

    def work(self, count: int) -> tuple[Argument, ...]:
        """Return a workspace and its size."""
        return self.plain(count), Number(max(count, 1))

    def plain(self, count: int) -> Work:
        return Work(self.element_type, max(count, 1))

    def real(self, count: int) -> tuple[Argument, ...]:
        """Return the additional real workspace of routines for complex matrices."""
        return (Work(self.real_type, max(count, 1)),) if self.is_complex else ()

    def ints(self, count: int) -> Work:
        return Work(self.int_type, max(count, 1))


def _leading(rows: int) -> Number:
    return Number(max(rows, 1))


def _potrf(c: _Call) -> tuple[Argument, ...]:
    return c.letter("uplo", "L"), Number(c.rows), c.matrix(0, 0), _leading(c.rows), Status(1)


def _getrf(c: _Call) -> tuple[Argument, ...]:
    return (
        Number(c.rows),
        Number(c.columns),
        c.matrix(0, 0),
        _leading(c.rows),
        c.matrix(result=1),
        Status(2),
    )


def _geqrf(c: _Call) -> tuple[Argument, ...]:
    work = c.work(c.columns * _BLOCK)
    return (
        Number(c.rows),
        Number(c.columns),
        c.matrix(0, 0),
        _leading(c.rows),
        c.matrix(result=1),
        *work,
        Status(None),
    )


def _geqp3(c: _Call) -> tuple[Argument, ...]:
    work = (*c.work(2 * c.columns + (c.columns + 1) * _BLOCK), *c.real(2 * c.columns))
    matrix = (Number(c.rows), Number(c.columns), c.matrix(0, 0), _leading(c.rows))
    return *matrix, c.matrix(1, 1), c.matrix(result=2), *work, Status(None)


def _orgqr(c: _Call) -> tuple[Argument, ...]:
    count = c.instruction.operands[1].shape.dimensions[-1]
    sizes = (Number(c.rows), Number(c.columns), Number(count))
    return (
        *sizes,
        c.matrix(0, 0),
        _leading(c.rows),
        c.matrix(1),
        *c.work(c.columns * _BLOCK),
        Status(None),
    )


def _ormqr(c: _Call) -> tuple[Argument, ...]:
    rows, columns = c.results[0].dimensions[-2:]
    left, transposed = attribute(c.instruction, "left", 1), attribute(c.instruction, "transpose")
    how = (
        Letter("L" if left else "R"),
        Letter(("C" if c.is_complex else "T") if transposed else "N"),
    )
    sizes = (Number(rows), Number(columns), Number(c.instruction.operands[1].shape.dimensions[-1]))
    reflectors = (c.matrix(0), _leading(c.rows), c.matrix(1))
    work = c.work((columns if left else rows) * _BLOCK + _REFLECTORS)
    return *how, *sizes, *reflectors, c.matrix(2, 0), _leading(rows), *work, Status(None)


def _syevd(c: _Call) -> tuple[Argument, ...]:
    n = c.rows
    work = (
        c.work(2 * n + n * max(n, _BLOCK))
        if c.is_complex
        else c.work(1 + 6 * n + 2 * n * max(n, _BLOCK))
    )
    count = 1 + 5 * n + 2 * n * n
    reals = (*c.real(count), Number(count)) if c.is_complex else ()
    ints = (c.ints(3 + 5 * n), Number(3 + 5 * n))
    matrix = (
        c.letter("mode", "V"),
        c.letter("uplo", "L"),
        Number(n),
        c.matrix(0, 0),
        _leading(n),
        c.matrix(result=1),
    )
    return *matrix, *work, *reals, *ints, Status(2 if len(c.results) > 2 else None)


def _singular_vectors(c: _Call, mode: str) -> tuple[Argument, ...]:
    """Return values, U, its leading dimension, V transposed, its leading dimension."""
    values = c.matrix(result=1)
    if mode == "N":
        return values, Unused(c.element_type, 2), Number(1), Unused(c.element_type, 3), Number(1)
    u, vt = c.matrix(result=2), c.matrix(result=3)
    return values, u, _leading(u.shape.dimensions[-2]), vt, _leading(vt.shape.dimensions[-2])


def _gesdd(c: _Call) -> tuple[Argument, ...]:
    mode, less, more = (
        letter(c.instruction, "mode", "A"),
        min(c.rows, c.columns),
        max(c.rows, c.columns),
    )
    work = c.work(4 * less * less + 7 * less + more + _BLOCK * (less + more))
    reals = (
        7 * less
        if mode == "N"
        else max(5 * less * less + 5 * less, 2 * more * less + 2 * less * less + less)
    )
    matrix = (Letter(mode), Number(c.rows), Number(c.columns), c.matrix(0, 0), _leading(c.rows))
    return *matrix, *_singular_vectors(c, mode), *work, *c.real(reals), c.ints(8 * less), Status(4)


def _gesvd(c: _Call) -> tuple[Argument, ...]:
    mode, less, more = (
        letter(c.instruction, "mode", "A"),
        min(c.rows, c.columns),
        max(c.rows, c.columns),
    )
    work = c.work(less * less + 5 * less + more + _BLOCK * (less + more))
    matrix = (
        Letter(mode),
        Letter(mode),
        Number(c.rows),
        Number(c.columns),
        c.matrix(0, 0),
        _leading(c.rows),
    )
    return *matrix, *_singular_vectors(c, mode), *work, *c.real(5 * less), Status(4)


def _geev(c: _Call) -> tuple[Argument, ...]:
    n, first = c.rows, 1 if c.is_complex else 2
    values = tuple([c.matrix(result=k) for k in range(first)])
    sides = [letter(c.instruction, f"compute_{side}", "N") == "V" for side in ("left", "right")]
    head: list[Argument] = [
        *[Letter("V" if wanted else "N") for wanted in sides],
        Number(n),
        MatrixArgument(c.instruction.operands[0].shape, 0),
    ]
    head += [_leading(n), *values]
    for k, wanted in enumerate(sides):
        number = first + k
        if not wanted:
            head += [Unused(c.element_type, number), Number(1)]
        elif c.is_complex:
            head += [c.matrix(result=number), _leading(n)]
        else:
            head += [Eigenvectors(c.instruction.operands[0].shape, number, 6), _leading(n)]
    return *head, *c.work(4 * n + n * _BLOCK + _REFLECTORS), *c.real(2 * n), Status(first + 2)


def _gees(c: _Call) -> tuple[Argument, ...]:
    n, parts = c.rows, 1 if c.is_complex else 2
    with_vectors = letter(c.instruction, "mode", "V") == "V"
    values = tuple([c.matrix(result=2 + k) for k in range(parts)])
    vectors = (
        (c.matrix(result=1), _leading(n))
        if with_vectors
        else (Unused(c.element_type, 1), Number(1))
    )
    head = (
        Letter("V" if with_vectors else "N"),
        Letter("N"),
        Nothing(),
        Number(n),
        c.matrix(0, 0),
        _leading(n),
    )
    work = (*c.work(3 * n + n * _BLOCK + _REFLECTORS), *c.real(n), c.ints(n))
    return *head, Status(2 + parts, is_info=False), *values, *vectors, *work, Status(3 + parts)


def _gehrd(c: _Call) -> tuple[Argument, ...]:
    low, high = attribute(c.instruction, "low", 1), attribute(c.instruction, "high", c.rows)
    matrix = (
        Number(c.rows),
        Number(low),
        Number(high),
        c.matrix(0, 0),
        _leading(c.rows),
        c.matrix(result=1),
    )
    return *matrix, *c.work(c.rows * _BLOCK + _REFLECTORS), Status(2)


def _sytrd(c: _Call) -> tuple[Argument, ...]:
    results = tuple([c.matrix(result=k) for k in (1, 2, 3)])
    return (
        c.letter("uplo", "L"),
        Number(c.rows),
        c.matrix(0, 0),
        _leading(c.rows),
        *results,
        *c.work(c.rows * _BLOCK),
        Status(4),
    )


def _gtsv(c: _Call) -> tuple[Argument, ...]:
    n, columns = c.results[3].dimensions[-2:]
    lower = c.matrix(0, 0)
    # JAX passes the outer diagonals with the length of the main one: the first of the lower is
    # unused.
    lower = lower._replace(skips=int(lower.shape.dimensions[-1] == n and n > 0))
    return (
        Number(n),
        Number(columns),
        lower,
        c.matrix(1, 1),
        c.matrix(2, 2),
        c.matrix(3, 3),
        _leading(n),
        Status(4),
    )


class _Family(NamedTuple):
    """A family of routines.

    real, complex: LAPACK's names without the letter of the type.
    """

    real: str
    arguments: Callable[[_Call], tuple[Argument, ...]]
    complex: str = ""
    needs_finite: bool = False


_FAMILIES = (
    _Family("potrf", _potrf),
    _Family("getrf", _getrf),
    _Family("geqrf", _geqrf),
    _Family("geqp3", _geqp3),
    _Family("orgqr", _orgqr, "ungqr"),
    _Family("ormqr", _ormqr, "unmqr"),
    _Family("syevd", _syevd, "heevd", needs_finite=True),
    _Family("gesdd", _gesdd, needs_finite=True),
    _Family("gesvd", _gesvd, needs_finite=True),
    _Family("geev", _geev, needs_finite=True),
    _Family("gees", _gees, needs_finite=True),
    _Family("gehrd", _gehrd),
    _Family("sytrd", _sytrd, "hetrd"),
    _Family("gtsv", _gtsv),
)
_BY_NAME = {
    f"{kind}{(f.complex if kind in 'cz' else '') or f.real}": f
    for f in _FAMILIES
    for kind in "sdcz"
}
# Targets of JAX's other platforms whose operands and results are those of a LAPACK routine.
_OTHERS = {
    "Qr": "geqrf",
    "Eigh": "syevd",
    "LuDecomposition": "getrf",
    "ProductOfElementaryHouseholderReflectors": "orgqr",
}
LAPACK_SYMBOLS = tuple([f"{name}_" for name in _BY_NAME])


def _routine_name(i: HloInstruction) -> str:
    """Return LAPACK's name with the letter of the type, or an empty name for other calls."""
    target = custom_call_target(i)
    if target.startswith("lapack_") and target.endswith("_ffi"):
        return target[len("lapack_") : -len("_ffi")]
    if target not in _OTHERS or not i.operands or not i.operands[0].shape.is_array:
        return ""
    kind = _LETTERS.get(i.operands[0].shape.element_type.name, "")
    family = next(f for f in _FAMILIES if f.real == _OTHERS[target])
    return f"{kind}{(family.complex if kind in ('c', 'z') else '') or family.real}" if kind else ""


def is_lapack_call(i: HloInstruction) -> bool:
    """Return True for a custom call of one of the families."""
    return i.opcode.name == "custom-call" and _routine_name(i) in _BY_NAME


def lapack_call(i: HloInstruction) -> LapackCall | Reason:
    """Return the routine of a custom call with its arguments, or a refusal."""
    name = _routine_name(i)
    family, kind = _BY_NAME[name], name[0]
    if (mismatch := signature_mismatch(i)) is not None:
        return refuse(
            "no-blas-routine", f"%{i.name}: {mismatch.message}", target=custom_call_target(i)
        )
    if family.real == "gees" and letter(i, "sort", "N") != "N":
        return _unfit(i, "sorts eigenvalues by a function that the call does not name")
    batch = i.operands[0].shape.dimensions[: -1 if family.real == "gtsv" else -2]
    arguments = family.arguments(_Call(i, kind))
    if custom_call_target(i) == "LuDecomposition":
        return LapackCall(
            f"{name}_",
            batch,
            (*arguments[:-1], Status(None)),
            row_order=RowOrder(2, len(arguments) - 2),
        )
    return LapackCall(f"{name}_", batch, arguments, family.needs_finite)


def _unfit(i: HloInstruction, what: str) -> Reason:
    target = custom_call_target(i)
    return refuse("no-blas-routine", f"%{i.name}: {target} {what}", target=target)


def why_lapack_call(i: HloInstruction, target: Target) -> Reason:
    """Return the recorded reason for a call of LAPACK."""
    name = _routine_name(i)
    return Reason(
        "library-only",
        f"%{i.name} names the LAPACK routine {name}, and LAPACK is available",
        {"routine": name},
    )
