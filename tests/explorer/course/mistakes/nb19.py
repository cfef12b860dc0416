"""Wrong answers to the exercises of notebook 19."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from tests.explorer.course.mistakes import mistake

mistake("nb19.sectors", "another-count")(lambda addresses: len(addresses))
mistake("nb19.sectors", "another-count")(lambda addresses: len(set(addresses)))
mistake("nb19.sectors", "another-count")(
    lambda addresses: -(-4 * len(addresses) // 32)
)  # as if all were neighbours
mistake("nb19.sectors", "another-count")(
    lambda addresses: len({a // 128 for a in addresses})
)  # lines
mistake("nb19.sectors", "another-count")(lambda addresses: len({a % 32 for a in addresses}))
mistake("nb19.sectors", "another-count")(
    lambda addresses: (max(addresses) - min(addresses)) // 32 + 1 if addresses else 0
)
mistake("nb19.sectors", "another-count")(
    lambda addresses: max(1, len({a // 32 for a in addresses}))
)
mistake("nb19.sectors", "no-number")(lambda addresses: {a // 32 for a in addresses})


def busiest(bank: Any, words: Any = set) -> Any:
    return lambda addresses: max(Counter([bank(a) for a in words(addresses)]).values(), default=0)


mistake("nb19.passes", "another-count")(
    busiest(lambda a: a // 4 % 32, list)
)  # the same word counts twice
mistake("nb19.passes", "another-count")(busiest(lambda a: a % 32))  # bytes for words
mistake("nb19.passes", "another-count")(busiest(lambda a: a // 4 % 16))
mistake("nb19.passes", "another-count")(
    lambda addresses: len({a // 4 % 32 for a in addresses})
)  # banks, not passes
mistake("nb19.passes", "another-count")(
    lambda addresses: busiest(lambda a: a // 4 % 32)(addresses) - 1
)  # conflicts
mistake("nb19.passes", "another-count")(
    lambda addresses: max(1, busiest(lambda a: a // 4 % 32)(addresses))
)
mistake("nb19.passes", "another-count")(
    lambda addresses: 32 if len({a // 4 % 32 for a in addresses}) == 1 else 1
)
mistake("nb19.passes", "no-number")(lambda addresses: None)


def tiles(plain: Any) -> Any:
    return plain.split("i", 32).split("j", 32).reorder("ii", "jo").block("io").block("jo")


def stored(schedule: Any) -> Any:
    return schedule.split("ii", 8).unroll("iio").thread("iii").warp("ji")


mistake("nb19.transpose", "many-sectors")(lambda plain: stored(tiles(plain)))  # no shared memory
mistake("nb19.transpose", "conflicts")(
    lambda plain: stored(
        tiles(plain)
        .stage("x", "jo", "shared", 32)
        .split("jis", 8)
        .unroll("jiso")
        .thread("jisi")
        .warp("iis")
    )
)
mistake("nb19.transpose", "conflicts")(
    lambda plain: stored(
        tiles(plain)
        .stage("x", "jo", "shared", 34)
        .split("jis", 8)
        .unroll("jiso")
        .thread("jisi")
        .warp("iis")
    )
)
mistake("nb19.transpose", "many-sectors")(  # copies columns
    lambda plain: stored(
        tiles(plain)
        .stage("x", "jo", "shared", 33)
        .split("iis", 8)
        .unroll("iiso")
        .thread("iisi")
        .warp("jis")
    )
)
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(tiles(plain).stage("y", "jo", "shared", 33))
)
mistake("nb19.transpose", "raised-ScheduleError")(lambda plain: plain.warp("k"))
mistake("nb19.transpose", "no-schedule")(lambda plain: "split{i,32}")
mistake("nb19.fragment", "another-element")(
    lambda lane, number: (lane // 4, 2 * (lane % 4) + number % 2)
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: (lane // 4 + 8 * (number % 2), 2 * (lane % 4) + number // 2)
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: (lane % 8 + 8 * (number // 2), 2 * (lane // 8) + number % 2)
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: (lane // 2, 4 * (lane % 2) + number)
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: [lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2]
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: (2 * (lane % 4) + number % 2, lane // 4 + 8 * (number // 2))
)


mistake("nb19.sectors", "another-count")(
    lambda addresses: len({a // 4 for a in addresses})
)  # words
mistake("nb19.sectors", "another-count")(lambda addresses: len({a // 8 for a in addresses}))
mistake("nb19.sectors", "another-count")(
    lambda addresses: len({a // 32 for a in addresses}) // 4
)  # lines of four sectors
mistake("nb19.sectors", "another-count")(lambda addresses: len({round(a / 32) for a in addresses}))
mistake("nb19.sectors", "another-count")(
    lambda addresses: len({a // 32 for a in addresses} | {(a + 3) // 32 for a in addresses})
)  # the word's end
mistake("nb19.sectors", "another-count")(
    lambda addresses: len({a // 4 % 32 for a in addresses})
)  # banks
mistake("nb19.sectors", "another-count")(
    lambda addresses: sum(1 for a, b in pairwise(addresses) if a // 32 != b // 32) + 1
)
mistake("nb19.sectors", "another-count")(
    lambda addresses: 32 * len({a // 32 for a in addresses})
)  # bytes
mistake("nb19.sectors", "another-count")(
    lambda addresses: len({(a - min(addresses)) // 32 for a in addresses})
)  # from the first lane
mistake("nb19.sectors", "another-count")(lambda addresses: len({a >> 4 for a in addresses}))
mistake("nb19.sectors", "no-number")(lambda addresses: len({a // 32 for a in addresses}) / 1)
mistake("nb19.sectors", "no-number")(lambda addresses: str(len({a // 32 for a in addresses})))

mistake("nb19.passes", "another-count")(busiest(lambda a: a // 4 // 32))  # rows of banks
mistake("nb19.passes", "another-count")(busiest(lambda a: a // 128))
mistake("nb19.passes", "another-count")(
    lambda addresses: sum(
        n - 1 for n in Counter({a // 4: a // 4 % 32 for a in addresses}.values()).values()
    )
)
mistake("nb19.passes", "another-count")(lambda addresses: len({a // 4 for a in addresses}))  # words
mistake("nb19.passes", "another-count")(
    lambda addresses: -(-len(set(addresses)) // 32)
)  # words by 32
mistake("nb19.passes", "another-count")(lambda addresses: 1 if addresses else 0)
mistake("nb19.passes", "another-count")(
    lambda addresses: len({a // 128 for a in addresses})
)  # lines
mistake("nb19.passes", "another-count")(
    lambda addresses: min(
        Counter({a // 4: a // 4 % 32 for a in addresses}.values()).values(), default=0
    )
)
mistake("nb19.passes", "raised-ValueError")(
    lambda addresses: max(Counter({a // 4: a // 4 % 32 for a in addresses}.values()).values())
)
mistake("nb19.passes", "no-number")(
    lambda addresses: Counter([a // 4 % 32 for a in addresses]).most_common(1)
)
mistake("nb19.passes", "another-count")(busiest(lambda a: a // 8 % 32))
mistake("nb19.passes", "another-count")(
    lambda addresses: len(addresses) - len({a // 4 % 32 for a in addresses}) + 1 if addresses else 0
)


def staged(pad: int = 33, array: str = "x", at: str = "jo", memory: str = "shared") -> Any:
    return lambda plain: tiles(plain).stage(array, at, memory, pad)


def copied(schedule: Any, lanes: str = "iis", others: str = "jis", each: int = 8) -> Any:
    return schedule.split(others, each).unroll(f"{others}o").thread(f"{others}i").warp(lanes)


mistake("nb19.transpose", "conflicts")(lambda plain: stored(copied(staged(40)(plain))))
mistake("nb19.transpose", "conflicts")(lambda plain: stored(copied(staged(36)(plain))))
mistake("nb19.transpose", "conflicts")(lambda plain: stored(copied(staged(48)(plain))))
mistake("nb19.transpose", "conflicts")(lambda plain: stored(copied(staged(64)(plain))))
mistake("nb19.transpose", "many-sectors")(  # the store runs down columns
    lambda plain: copied(staged()(plain)).split("ji", 8).unroll("jio").thread("jii").warp("ii")
)
mistake("nb19.transpose", "many-sectors")(lambda plain: plain)
mistake("nb19.transpose", "many-sectors")(
    lambda plain: plain.split("j", 32).warp("ji")
)  # warps, no blocks
mistake("nb19.transpose", "many-sectors")(  # lanes on the other side
    lambda plain: tiles(plain).split("ji", 8).unroll("jio").thread("jii").warp("ii")
)
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(copied(staged(31)(plain)))
)  # one word shorter
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(copied(staged(memory="fast")(plain)))
)
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(copied(staged(at="jj")(plain)))
)
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(copied(staged()(plain), "ii", "ji"))
)  # the axes of the copy have other names
mistake("nb19.transpose", "raised-ScheduleError")(
    lambda plain: stored(
        plain.split("i", 32).split("j", 32).stage("x", "jo", "shared", 33).block("jo")
    )
)
mistake("nb19.transpose", "no-schedule")(lambda plain: None)


def held(row: Any, column: Any) -> Any:
    return lambda lane, number: (row(lane, number), column(lane, number))


def right_row(lane: int, number: int) -> int:
    return lane // 4 + 8 * (number // 2)


def right_column(lane: int, number: int) -> int:
    return 2 * (lane % 4) + number % 2


mistake("nb19.fragment", "another-element")(held(lambda lane, number: lane // 4, right_column))
mistake("nb19.fragment", "another-element")(
    held(lambda lane, number: lane // 4 + 8 * (number % 2), right_column)
)
mistake("nb19.fragment", "another-element")(
    held(lambda lane, number: lane // 4 + number, right_column)
)
mistake("nb19.fragment", "another-element")(
    held(lambda lane, number: lane // 4 + 4 * (number // 2), right_column)
)
mistake("nb19.fragment", "another-element")(held(lambda lane, number: lane // 2, right_column))
mistake("nb19.fragment", "another-element")(
    held(lambda lane, number: lane % 8 + 8 * (number // 2), right_column)
)
mistake("nb19.fragment", "another-element")(
    held(lambda lane, number: 2 * (lane // 4) + number // 2, right_column)
)
mistake("nb19.fragment", "another-element")(held(right_row, lambda lane, number: lane % 4))
mistake("nb19.fragment", "another-element")(
    held(right_row, lambda lane, number: lane % 4 + 4 * (number % 2))
)  # four columns apart
mistake("nb19.fragment", "another-element")(held(right_row, lambda lane, number: 2 * (lane % 4)))
mistake("nb19.fragment", "another-element")(held(right_row, lambda lane, number: lane % 8))
mistake("nb19.fragment", "another-element")(
    held(right_row, lambda lane, number: 2 * (lane % 4) + number // 2)
)
mistake("nb19.fragment", "another-element")(
    lambda lane, number: divmod(4 * lane + number, 8)
)  # in the order of memory
mistake("nb19.fragment", "another-element")(
    lambda lane, number: 8 * right_row(lane, number) + right_column(lane, number)
)  # the number, not the pair
