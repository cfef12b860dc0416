"""Notebook 08, buffer assignment: live ranges, and offsets that do not collide."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.buffers.packing import aligned, pack
from xla_explorer.course.checking.programs import random_program
from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, exercise, looking_at
from xla_explorer.course.checking.result import Failure
from xla_explorer.hlo.analysis.liveness import LiveRange
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

Range = tuple[int, int, int]
FIXED = (
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  ROOT r = f32[2] negate(p) }",
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] abs(a)  ROOT r = f32[2] add(a, b) }",
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] abs(a)  c = f32[2] abs(b)  ROOT r = "
    "f32[2] add(a, c) }",
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  ROOT r = f32[2] abs(p) }",
    "HloModule m\nENTRY main { p = f32[2] parameter(0)  a = f32[2] negate(p)  b = f32[2] abs(p)  ROOT r = (f32[2], f32[2]) tuple(a, b) }",
)


@exercise(
    "nb08.liveness",
    "Write live_ranges(computation): {instruction: (first, last)}.",
    "The position of an instruction in computation.post_order() is where it begins to live.",
    hints=(
        "An instruction lives until its last user's position.",
        (
            "The root is read by the caller: it lives to the end. So does what nothing may "
            "overwrite before."
        ),
    ),
)
def liveness(function: Callable[[HloComputation], Any]) -> Cases:
    """Check the live ranges of every computed array."""

    def test(module: HloModule) -> Failure | None:
        # The live arrays at each position; the first and last positions are the range.
        order, root = module.entry.post_order(), module.entry.root
        results = root.operands if root.opcode.name == "tuple" else (root,)
        alive: dict[HloInstruction, list[int]] = {}
        for number, here in enumerate(order):
            for i in order[: number + 1]:
                owns = i.opcode.name not in ("parameter", "constant", "tuple")
                if owns and (
                    i is here or i in results or any(later in i.users for later in order[number:])
                ):
                    alive.setdefault(i, []).append(number)
        want = {i: (places[0], places[-1]) for i, places in alive.items()}
        with looking_at(module):
            got = {i: tuple(r) for i, r in dict(function(module.entry)).items()}
        if got == want:
            return None
        wrong = next((i for i in want if got.get(i) != want[i]), None)
        hint = "Parameters, constants and tuples own no memory here: leave them out."
        code = "too-many"
        if wrong is not None:
            ends = wrong.parent.root is wrong or (
                wrong in wrong.parent.root.operands and wrong.parent.root.opcode.name == "tuple"
            )
            code = "result-freed" if ends else "wrong-range"
            hint = (
                "A result is read by the caller, after the last instruction: it lives to the end."
                if ends
                else "It lives up to its last user, and without users only at its own position."
            )
        return Failure(
            code,
            f"Live ranges differ{f', first at %{wrong.name}' if wrong is not None else ''}.",
            ", ".join([f"%{i.name}: {r}" for i, r in want.items()]),
            ", ".join([f"%{i.name}: {r}" for i, r in got.items()]),
            module,
            hint=hint,
        )

    yield from cases_of(
        [*map(parse_hlo, FIXED), *[random_program(seed) for seed in range(30)]], test, alive=True
    )


def peak(ranges: Sequence[Range], offsets: Sequence[int]) -> int:
    """Return the size of the arena that offsets need, in bytes."""
    return max(
        [offset + size for offset, (size, _, _) in zip(offsets, ranges, strict=True)], default=0
    )


def reference_peak(ranges: Sequence[Range]) -> int:
    """Return the larger of our own packing's sizes, forwards and backwards in time.

    Ties may be broken either way.
    """
    forwards = pack([LiveRange(first, last, size) for size, first, last in ranges])[1]
    return max(forwards, pack([LiveRange(-last, -first, size) for size, first, last in ranges])[1])


def collision(ranges: Sequence[Range], offsets: Sequence[int]) -> tuple[int, int] | None:
    """Return two ranges that live together and share a byte, or None."""
    for a in range(len(ranges)):
        for b in range(a):
            (size_a, first_a, last_a), (size_b, first_b, last_b) = ranges[a], ranges[b]
            together = first_a <= last_b and first_b <= last_a
            if together and offsets[a] < offsets[b] + size_b and offsets[b] < offsets[a] + size_a:
                return b, a
    return None


def _range_lists() -> list[list[Range]]:
    lists: list[list[Range]] = [
        [],
        [(64, 0, 1)],
        [(64, 0, 1), (64, 2, 3)],
        [(64, 0, 1), (64, 1, 2)],
        [(64, 0, 1), (128, 1, 2), (64, 2, 3)],
        [(128, 0, 0), (64, 0, 3), (192, 1, 3)],
        [(64, 0, 5), (64, 1, 2), (128, 3, 5), (64, 4, 5)],
    ]
    for seed in range(30):
        choice = random.Random(seed)
        made = []
        for _ in range(choice.randint(2, 12)):
            first = choice.randint(0, 12)
            made.append((64 * choice.randint(1, 6), first, first + choice.randint(0, 5)))
        lists.append(sorted(made, key=lambda r: r[1]))
    return lists


@exercise(
    "nb08.assign",
    "Write assign(ranges): an offset for each (size, first, last).",
    "Start with offsets one after the other: that is right, and wastes memory.",
    hints=(
        "Two ranges overlap if each begins before the other ends.",
        (
            "Place the large ones first: at the lowest offset at which nothing that is alive at "
            "the same time overlaps."
        ),
        "The lowest offset is 0 or the end of an overlapping array.",
    ),
)
def assign(function: Callable[[list[Range]], Any]) -> Cases:
    """Check that living arrays share no byte, and that the arena is as small as our packing."""

    def test(ranges: list[Range]) -> Failure | None:
        offsets = list(function(list(ranges)))
        shown = "\n".join(
            [
                f"array {k}: {size} bytes, alive from {first} to {last}"
                + (f", at {offsets[k]}" if k < len(offsets) else "")
                for k, (size, first, last) in enumerate(ranges)
            ]
        )
        if len(offsets) != len(ranges) or not all(
            isinstance(o, int | np.integer) and o >= 0 for o in offsets
        ):
            return Failure(
                "no-offsets",
                "The answer is a list with an offset (an integer, 0 or more) for each range.",
                f"{len(ranges)} offsets",
                repr(offsets),
                hint="Keep the order in which the ranges came.",
            )
        if any(o != aligned(o) for o in offsets):
            return Failure(
                "not-aligned",
                "Offsets are multiples of 64: vector loads and cache lines begin there.",
                "multiples of 64",
                shown,
                hint="All sizes are multiples of 64 here: end where another array begins or ends.",
            )
        pair = collision(ranges, offsets)
        if pair is not None:
            return Failure(
                "overlap",
                f"Arrays {pair[0]} and {pair[1]} live together and share bytes.",
                "no byte shared",
                shown,
                hint="Both ends of a range are included: alive from 0 to 1 and from 1 to 2 means "
                "together at 1.",
            )
        mine, limit = peak(ranges, offsets), reference_peak(ranges)
        if mine > limit:
            return Failure(
                "too-large",
                f"The arena has {mine} bytes; {limit} are enough.",
                f"at most {limit}",
                shown,
                hint="Place large arrays first; for each, the lowest gap between those that live "
                "at the same time and are placed.",
            )
        return None

    def fewest(ranges: Any, failure: Failure) -> Failure:
        """Return the same failure with as few arrays as possible."""
        for k in range(len(ranges)):
            fewer = ranges[:k] + ranges[k + 1 :]
            found = test(fewer)
            if found is not None and found.code == failure.code:
                return fewest(fewer, found)
        return failure

    for ranges in _range_lists():
        failure = test(ranges)
        yield failure and fewest(ranges, failure)
