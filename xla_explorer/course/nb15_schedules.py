"""Notebook 15, schedules: a matrix product from scalar code to a register tile.

Its values stay the same.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import host_target
from xla_explorer.compiler.codegen.nest.ir import AxisKind, Load, Store, walk
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session
from xla_explorer.hlo.analysis.indexing import Axis

PRODUCT = """
HloModule product
ENTRY main {{
  a = f32[{rows},{depth}] parameter(0)
  b = f32[{depth},{columns}] parameter(1)
  ROOT c = f32[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""


class RegisterTile(NamedTuple):
    """The register tile of a scheduled product.

    It has rows * vectors accumulators of `lanes` numbers each.
    """

    rows: int
    vectors: int
    lanes: int

    @property
    def registers(self) -> int:
        """The sums, a vector of each column of b, and one element of a in all lanes."""
        return self.rows * self.vectors + self.vectors + 1

    @property
    def loads(self) -> float:
        """Loads for each multiply-add of vectors."""
        return (self.rows + self.vectors) / (self.rows * self.vectors)


def product(rows: int = 256, columns: int = 256, depth: int = 256) -> Session:
    """Return the session of a product of two f32 matrices, on one thread."""
    return compile(PRODUCT.format(rows=rows, columns=columns, depth=depth), threads=1)


def peak() -> float:
    """Return the measured peak of f32 multiply-adds of one core, in operations a second.

    A multiply-add is two operations.
    """
    return machine_limits().f32_flops


def lanes_of_this_machine() -> int:
    """Return the number of f32 lanes in a vector register of this machine."""
    return host_target().vector_register_bits // 32


def registers_of_this_machine() -> int:
    """Return the number of architectural vector registers of this machine."""
    return described_cpu(host_target()).vector.registers


def register_tile(schedule: KernelSchedule) -> RegisterTile:
    """Return the register tile of a scheduled product, read off its loop nest."""
    bound = schedule.nest.axes()
    statements = [s for s, _ in walk(schedule.nest.body)]
    of_result = _names(next(s for s in statements if isinstance(s, Store)).place)
    first, second = [_names(s.place) & of_result for s in statements if isinstance(s, Load)]

    def extent(axes: set[str], kind: AxisKind) -> int:
        return prod([bound[name].axis.extent for name in axes if bound[name].kind is kind])

    return RegisterTile(
        extent(first, AxisKind.UNROLLED),
        extent(second, AxisKind.UNROLLED),
        extent(second, AxisKind.VECTOR),
    )


def _names(place: Any) -> set[str]:
    return {term.name for index in place for term, _ in index.terms if isinstance(term, Axis)}


@exercise(
    "nb15.tile",
    "Write best_tile(registers): (rows, vectors) with the fewest loads for a multiply-add that "
    "fits.",
    "A tile needs rows * vectors + vectors + 1 registers and makes rows + vectors loads for rows "
    "* vectors multiply-adds.",
    hints=(
        "Try all pairs: there are few.",
        "The smaller (rows + vectors) / (rows * vectors), the better. Is a square the best one?",
    ),
)
def tile(function: Callable[[int], Any]) -> Cases:
    """Register files of 3 to 64."""
    for registers in (8, 16, 32, 64, 4, 24, 3):
        fits = [
            RegisterTile(rows, vectors, 1) for rows in range(1, registers) for vectors in range(1, registers)
            if RegisterTile(rows, vectors, 1).registers <= registers
        ]  # fmt: skip
        best = min(one.loads for one in fits)
        got = function(registers)
        if not (
            isinstance(got, tuple)
            and len(got) == 2
            and all(isinstance(n, int | np.integer) and n > 0 for n in got)
        ):
            raise WrongAnswerError(
                Failure(
                    "no-tile",
                    "The answer is a pair.",
                    "(rows, vectors)",
                    repr(got),
                    arguments=(registers,),
                )
            )
        found = RegisterTile(*got, 1)
        if found.registers > registers:
            yield Failure("does-not-fit", f"{got} needs {found.registers} registers of {registers}.", f"at most {registers}",
                          str(found.registers), hint="The vectors of b and the element of a need registers, too.")  # fmt: skip
        elif found.loads > best * (1 + 1e-9):
            yield Failure("more-loads", f"With {registers} registers a tile can do with {best:.3f} loads for each "
            "multiply-add.",
                          f"{best:.3f}", f"{found.loads:.3f} of {got}", hint="Compare all pairs that fit.")  # fmt: skip
        else:
            yield None


@exercise(
    "nb15.schedule",
    "Write scheduled(plain, lanes, rows, vectors): the plain schedule with a register tile of "
    "rows x vectors.",
    "One split and vectorize first: plain.split(axis, factor).vectorize(axis).",
    hints=(
        (
            "Split j by lanes * vectors, then its inner part by lanes: three loops, of which the "
            "innermost is the vector."
        ),
        "split names the parts <axis>o and <axis>i: j becomes jo and ji, ji becomes jio and jii.",
        (
            "unroll the loops whose values are in registers at once: the inner part of i, and "
            "the middle one of j."
        ),
    ),
)
def schedule(function: Callable[[KernelSchedule, int, int, int], Any]) -> Cases:
    """Check products of several shapes, one of them without suitable divisors."""
    for (rows, columns, depth), wanted in (
        ((64, 96, 32), RegisterTile(6, 2, 8)), ((64, 64, 16), RegisterTile(4, 1, 16)), ((8, 256, 8), RegisterTile(1, 4, 4)),
        ((50, 70, 30), RegisterTile(4, 2, 8)), ((1024, 1024, 1024), RegisterTile(8, 2, 16)),
    ):  # fmt: skip
        plain = product(rows, columns, depth).schedule("%c").plain()
        what = f"f32[{rows},{depth}] times f32[{depth},{columns}]"
        with answering():
            got = function(plain, wanted.lanes, wanted.rows, wanted.vectors)
        if not isinstance(got, KernelSchedule):
            raise WrongAnswerError(Failure("no-schedule", "The answer is a schedule.", "a KernelSchedule", repr(got),
                                      hint="Each call, such as plain.split(...), returns a new one: return the last."))  # fmt: skip
        found = register_tile(got)
        if found != wanted:
            yield Failure("another-tile", f"{what}: the tile in registers is another one.", _words(wanted), _words(found),
                          hint=_tile_hint(found, wanted))  # fmt: skip
        else:
            yield None


def _words(tile: RegisterTile) -> str:
    return f"{tile.rows} rows x {tile.vectors} vectors of {tile.lanes} numbers"


def _tile_hint(found: RegisterTile, wanted: RegisterTile) -> str:
    if found.lanes != wanted.lanes:
        return (
            "The vector lies along j, where b and the result are contiguous, and has `lanes` "
            "numbers."
        )
    if found.rows != wanted.rows:
        return "unroll the inner part of i, which has `rows` steps."
    return (
        "Between the loop over j and the vector there is one more loop, of `vectors` steps, "
        "unrolled."
    )


@exercise(
    "nb15.blocks",
    "Write blocks(n, cache): (t, elements) for a product of n x n in square blocks of t.",
    "Three blocks of t x t numbers of 4 bytes must fit into the cache; t divides n.",
    hints=(
        "For each of the (n / t) ** 3 products of blocks, a block of a and one of b are read.",
        (
            "A block of the result stays in the cache until it is finished, and is written once: "
            "n * n elements in all."
        ),
    ),
)
def blocks(function: Callable[[int, int], Any]) -> Cases:
    """Check sizes and caches, from a cache of three numbers to one that holds everything."""
    for n, cache in (
        (256, 32768),
        (256, 1 << 20),
        (1024, 1 << 20),
        (960, 48 * 1024),
        (8, 1 << 30),
        (12, 12),
        (100, 2000),
    ):
        t = max(t for t in range(1, n + 1) if n % t == 0 and 12 * t * t <= cache)
        want = (t, 2 * t * t * (n // t) ** 3 + n * n)
        got = function(n, cache)
        if not (isinstance(got, tuple) and len(got) == 2):
            raise WrongAnswerError(
                Failure(
                    "no-pair",
                    "The answer is a pair.",
                    "(t, elements)",
                    repr(got),
                    arguments=(n, cache),
                )
            )
        if got[0] != t:
            hint = (
                "t must divide n."
                if n % max(int(got[0]), 1)
                else "3 * t * t * 4 bytes must fit; take the largest such t."
            )
            yield Failure(
                "another-block",
                "The largest block that fits is another one.",
                str(t),
                str(got[0]),
                None,
                (n, cache),
                hint,
            )
        elif got[1] != want[1]:
            message = "The number of elements moved between memory and cache is another one."
            hint = "2 * t * t for each product of two blocks, and the result once."
            yield Failure(
                "other-traffic", message, str(want[1]), str(got[1]), None, (n, cache), hint
            )
        else:
            yield None
