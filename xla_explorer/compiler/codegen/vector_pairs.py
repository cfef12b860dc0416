"""Two elements of 16 bits in a word of 32: the even elements of a run of memory as one vector, the odd ones as another.

bf16 is computed in f32, whose upper half it is. Elements in order must be spread over twice the lanes, which takes shuffles on both ways;
a word holds the even one in its lower and the odd one in its upper half, so that a shift makes an f32 of the one and a mask of the other
(LLVM finds these in the truncations and extensions written here). On little-endian processors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.vector_instructions import VALUE, match_cast, match_load, match_store


class Words(NamedTuple):
    """lines: that make them. value: their name."""

    lines: tuple[str, ...]
    value: str


def come_in_pairs(lines: Sequence[str], addresses: Mapping[str, tuple[str, str, int]], linear: Collection[str],
                  slots: Collection[str]) -> bool:
    """Whether a loop may take two elements as a word: all that it reads and writes has 16 bits and is no float of LLVM's, nothing is read
    where it has written before, and no element depends on its number. addresses: element type, base and stride by pointer; linear: i64
    values that grow with the number."""
    written: set[str] = set()
    found = False
    for line in lines:
        store, value = match_store(line), VALUE.fullmatch(line)
        load = match_load(value[2]) if value is not None else None
        if store is not None or load is not None:
            pointer = (store[3] if store is not None else None) or (load[2] if load is not None else "")
            if pointer in slots or pointer not in addresses or addresses[pointer][0] != "i16":
                return False
            base = addresses[pointer][1]
            if store is not None:
                written.add(base)
                found = True
            elif base in written:
                return False
        cast = match_cast(value[2]) if value is not None else None
        if cast is not None and cast[4] in linear:
            return False
    return found


def half_of_words(name: str, load: str, copy: int, lanes: int) -> tuple[str, str]:
    """(a line to write first, the expression of the half): even elements are copy 0, odd ones copy 1. load: of <lanes x i32>."""
    words, odd = f"{name}.words", f"{name}.odd"
    if copy == 0:
        return f"  {words} = {load}", f"trunc <{lanes} x i32> {words} to <{lanes} x i16>"
    return f"  {odd} = lshr <{lanes} x i32> {words}, splat (i32 16)", f"trunc <{lanes} x i32> {odd} to <{lanes} x i16>"


def words_of_halves(name: str, even: str, odd: str, lanes: int) -> Words:
    """Both halves, <lanes x i16> each, as <lanes x i32>. name: of the result, free with any ending."""
    wide, half = f"<{lanes} x i32>", f"<{lanes} x i16>"
    lines = (
        f"  {name}.low = zext {half} {even} to {wide}",
        f"  {name}.odd = zext {half} {odd} to {wide}",
        f"  {name}.high = shl {wide} {name}.odd, splat (i32 16)",
        f"  {name} = or {wide} {name}.low, {name}.high",
    )
    return Words(lines, name)
