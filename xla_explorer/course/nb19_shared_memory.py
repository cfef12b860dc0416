"""Notebook 19, shared memory and tensor cores: sectors, banks, transposed tiles, fragments."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.programs import Array
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.course.ptx_run import run_ptx
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.session import Session

SECTOR, BANKS, WORD = 32, 32, 4
_PRODUCT = """
.visible .entry product(.param .u64 given, .param .u64 result) {
  .reg .b32 %r<12>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [given];
  ld.param.u64 %rd2, [result];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 24;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.b32 %r2, [%rd4];
  ld.global.b32 %r3, [%rd4+4];
  ld.global.b32 %r4, [%rd4+8];
  ld.global.b32 %r5, [%rd4+12];
  ld.global.b32 %r6, [%rd4+16];
  ld.global.b32 %r7, [%rd4+20];
  mov.f32 %f1, 0f00000000;
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f1, %f1, %f1, %f1};
  mul.wide.u32 %rd5, %r1, 16;
  add.u64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f2;
  st.global.f32 [%rd6+4], %f3;
  st.global.f32 [%rd6+8], %f4;
  st.global.f32 [%rd6+12], %f5;
  ret;
}"""


def transposed(rows: int, columns: int) -> Session:
    """Return the session of a transpose of f32 on the emulator."""
    return compile(f"""HloModule transposed
ENTRY main {{ x = f32[{rows},{columns}] parameter(0)  ROOT t = f32[{columns},{rows}] transpose(x), dimensions={{1,0}} }}""",
                   backend="gpu", device="emulator")  # fmt: skip


def plain_transpose(rows: int, columns: int) -> KernelSchedule:
    """Return the schedule of a transpose without directives: one element after the other."""
    session = transposed(rows, columns)
    return session.schedule(f"%{session.module.entry.root.name}").plain()


def fragments() -> Array:
    """Return the fragments of a 16 x 8 product in 32 lanes after one `mma`, an array of 32 x 4.

    The element in row r and column c is 8 r + c. The emulator runs the product.
    """
    a, b = np.zeros((16, 8), np.float32), np.zeros((8, 8), np.float32)
    a[:, 0], a[:, 1] = np.arange(16), 1
    b[0], b[1] = 8, np.arange(8)
    lane = np.arange(32)
    group, member = lane // 4, lane % 4
    given = [
        a[group, member],
        a[group + 8, member],
        a[group, member + 4],
        a[group + 8, member + 4],
        b[member, group],
        b[member + 4, group],
    ]
    return run_ptx(_PRODUCT, np.stack(given, axis=1), outputs=128).output.reshape(32, 4)


def _warps() -> list[tuple[str, list[int]]]:
    lanes = range(32)
    made = [
        ("neighbours", [4 * lane for lane in lanes]), ("all the same", [64] * 32), ("every second", [8 * lane for lane in lanes]),
        ("a column of 32", [128 * lane for lane in lanes]), ("a column of 33", [132 * lane for lane in lanes]),
        ("a column of 36", [144 * lane for lane in lanes]), ("backwards", [4 * (31 - lane) for lane in lanes]),
        ("two halves", [4 * (lane % 16) for lane in lanes]), ("two rows", [4 * (lane % 16) + 128 * (lane // 16) for lane in lanes]),
        ("shifted by one", [4 * lane + 4 for lane in lanes]), ("four lanes", [0, 128, 0, 128]), ("one lane", [12]), ("none", []),
    ]  # fmt: skip
    made += [
        ("bytes", list(lanes)),
        ("across a border", [30, 31, 32, 33]),
        ("an odd start", [4 * lane + 17 for lane in lanes]),
    ]
    for seed in range(30):
        choice = random.Random(seed)
        made.append(
            (
                f"random {seed}",
                [WORD * choice.randrange(8 << seed % 6) for _ in range(choice.choice((1, 7, 32)))],
            )
        )
    return made


def _counts(
    function: Callable[[list[int]], Any], counted: Callable[[list[int]], int], hint: str
) -> Cases:
    for name, addresses in _warps():
        want, got = counted(addresses), function(list(addresses))
        if isinstance(got, bool) or not isinstance(got, (int, np.integer)):
            raise WrongAnswerError(
                Failure(
                    "no-number",
                    "The answer is a number.",
                    str(want),
                    repr(got),
                    arguments=(addresses,),
                )
            )
        yield (
            None
            if got == want
            else Failure(
                "another-count",
                f"The lanes read: {name}.",
                str(want),
                str(got),
                None,
                (addresses,),
                hint,
            )
        )


@exercise(
    "nb19.sectors",
    "Write sectors(addresses): how many sectors of 32 bytes the lanes of a warp touch.",
    "Two addresses are in the same sector if address // 32 is the same.",
    hints=(
        "A sector that several lanes touch is fetched once.",
        "address // 32 is the number of a sector: count the different ones.",
    ),
)
def sectors(function: Callable[[list[int]], Any]) -> Cases:
    """Check contiguous accesses, columns, equal words, random words, single bytes."""
    yield from _counts(
        function,
        lambda addresses: len({a // SECTOR for a in addresses}),
        "Write down the sector of each lane.",
    )


@exercise(
    "nb19.passes",
    "Write passes(addresses): how many passes shared memory needs for the words of a warp.",
    "The word at an address is in bank (address // 4) % 32. A bank returns one word at a time.",
    hints=(
        "Lanes that read the same word of a bank all get it at once.",
        "For each bank: how many *different* words are read? The busiest bank decides.",
        "No lane reads: no pass.",
    ),
)
def passes(function: Callable[[list[int]], Any]) -> Cases:
    """Check the passes (bank conflicts) of the same lanes, as words of shared memory."""

    def busiest(addresses: list[int]) -> int:
        words = {a // WORD for a in addresses}
        return max([sum([word % BANKS == bank for word in words]) for bank in range(BANKS)])

    yield from _counts(
        function, busiest, "Write down the bank of each lane, then strike out equal words."
    )


@exercise(
    "nb19.transpose",
    "Write turned(plain): a schedule of the transpose that touches each sector once, and without "
    "conflicts of banks.",
    "Blocks of 32 x 32; stage copies the elements that a block reads to shared memory.",
    hints=(
        (
            "plain.split('i', 32).split('j', 32).reorder('ii', 'jo').block('io').block('jo') "
            "makes a block of each tile."
        ),
        (
            "then .stage('x', 'jo', 'shared', 33): rows of the tile are 33 words long, so that a "
            "column covers 32 banks."
        ),
        (
            "The copy has axes of its own, iis and jis: 32 lanes along iis read contiguous "
            "elements of x. The store is contiguous along ji."
        ),
        (
            "Of the 32 steps of the other axis some are threads, some are unrolled: split('jis', "
            "8).unroll('jiso').thread('jisi').warp('iis')."
        ),
    ),
)
def transpose(function: Callable[[KernelSchedule], Any]) -> Cases:
    """Check three sizes, on the emulator with counters."""
    for rows, columns in ((64, 64), (64, 96), (96, 64)):
        with answering():
            got = function(plain_transpose(rows, columns))
        if not isinstance(got, KernelSchedule):
            raise WrongAnswerError(
                Failure("no-schedule", "The answer is a schedule.", "a KernelSchedule", repr(got))
            )
        what, least = f"f32[{rows},{columns}]", 2 * rows * columns * WORD // SECTOR
        with answering():
            row = got.run(repeats=1).to_frame().iloc[-1]
        touched, conflicts = int(row["sectors"]), int(row["conflicts"])
        if touched > least:
            yield Failure(
                "many-sectors",
                f"{what}: sectors are touched several times.",
                f"{least} sectors",
                str(touched),
                hint="The 32 lanes of a warp must read contiguous elements of x, and store "
                "contiguous "
                "elements of the result.",
            )
        elif conflicts:
            yield Failure("conflicts", f"{what}: lanes wait for the same bank.", "0 conflicts", str(conflicts),
                          hint="How far apart are the words that a warp reads of the tile? Make its rows one word longer.")  # fmt: skip
        else:
            yield None


@exercise(
    "nb19.fragment",
    "Write element_of(lane, number): (row, column) of the product that a lane holds in its "
    "register of that number.",
    "fragments()[lane, number] is 8 * row + column, as the emulator computed it.",
    hints=(
        "Look at the first four lanes: they share a row.",
        "Numbers 0 and 1 are adjacent in a row; 2 and 3 are eight rows below.",
    ),
)
def fragment(function: Callable[[int, int], Any]) -> Cases:
    """Check all lanes and registers against the emulator."""
    held = fragments()
    for lane in range(32):
        for number in range(4):
            row, column = divmod(int(held[lane, number]), 8)
            got = function(lane, number)
            if not isinstance(got, tuple) or tuple(got) != (row, column):
                what = f"Lane {lane} holds another element in register {number}."
                raise WrongAnswerError(Failure("another-element", what, repr((row, column)), repr(got), arguments=(lane, number),
                                          hint="fragments() shows all of them."))  # fmt: skip
        yield None
