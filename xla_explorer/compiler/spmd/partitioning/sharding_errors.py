"""Errors of shardings that do not fit their values or the devices, with the place in the text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_explorer.compiler.spmd.partitioning.shardings import sharding_texts
from xla_explorer.foundation.diagnostic import SourceSpan
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.attributes.sharding_error import ShardingError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_ATTRIBUTE = "sharding="


def sharding_error(i: HloInstruction, problem: str, hint: str) -> ShardingError:
    """Return the error about an instruction, with a caret at its sharding."""
    text, place = i.parent.module.source_text, ""
    if text and i.line:
        start = sum([len(line) + 1 for line in text.split("\n")[: i.line - 1]])
        end = text.find("\n", start)
        at = text.find(_ATTRIBUTE, start, end if end >= 0 else len(text))
        length = len(_ATTRIBUTE) if at >= 0 else max(end - start, 1)
        place = (
            SourceSpan.from_offset(
                text, at if at >= 0 else start, length, i.parent.module.filename
            ).caret()
            + "\n"
        )
    return ShardingError(f"{place}%{i.name}: {problem}", hint)


def check_shardings(module: HloModule, count: int) -> None:
    """Raise ShardingError for the first sharding that does not fit; nothing is changed."""
    for i, text in sharding_texts(module):
        try:
            found = Sharding.read_all(text)
        except ValueError as problem:
            raise sharding_error(
                i, str(problem), "write for instance sharding={devices=[2,1]<=[2]}"
            ) from None
        leaves = [shape for _, shape in i.shape.leaves()]
        if len(found) not in (1, len(leaves)):
            raise sharding_error(
                i,
                f"{len(found)} shardings for the {len(leaves)} arrays of "
                f"{i.shape.text_without_layout}",
                "give one sharding for each array of the tuple",
            )
        for sharding, shape in zip(
            found * (len(leaves) if len(found) == 1 else 1), leaves, strict=False
        ):
            _check(i, sharding, shape, count, len(leaves))


def _check(i: HloInstruction, sharding: Sharding, shape: Shape, count: int, leaves: int) -> None:
    problem = _problem(sharding, shape, count, leaves)
    if problem is not None:
        raise sharding_error(i, *problem)


def _problem(sharding: Sharding, shape: Shape, count: int, leaves: int) -> tuple[str, str] | None:
    if sharding.kind == "maximal" and sharding.devices[0] >= count:
        return (
            f"{sharding} names device {sharding.devices[0]} of {count}",
            f"devices are numbered from 0 to {count - 1}",
        )
    if sharding.kind != "tiled":
        return None
    if not shape.is_array or (leaves > 1 and not shape.rank):
        return None
    if sharding.rank != shape.rank:
        return (
            (
                f"{sharding} splits {sharding.rank} dimensions, {shape.text_without_layout} has "
                f"{shape.rank}"
            ),
            "give a number of tiles for each dimension of the array",
        )
    return _device_problem(sharding.tiles, sharding, count)


def _device_problem(tiles: Sequence[int], sharding: Sharding, count: int) -> tuple[str, str] | None:
    size = math.prod(tiles)
    if size != count:
        return (
            f"{sharding} has {size} tiles, the program has {count} devices",
            "the product of the tiles must be the number of devices; "
            "add last_tile_dim_replicate for copies, or change num_partitions",
        )
    if sorted(sharding.devices) != list(range(count)):
        twice = [d for d in set(sharding.devices) if sharding.devices.count(d) > 1 or d >= count]
        return (
            f"{sharding} does not name each of {count} devices once: see device {min(twice)}",
            f"list the devices from 0 to {count - 1}, each once",
        )
    return None


def header_error(module: HloModule, words: str, problem: str, hint: str) -> ShardingError:
    """Return the error about words of a module's header, with a caret if the text is known."""
    text = module.source_text or ""
    at = text.find(words)
    place = (
        SourceSpan.from_offset(text, at, len(words), module.filename).caret() + "\n"
        if at >= 0
        else ""
    )
    return ShardingError(f"{place}{problem}", hint)
