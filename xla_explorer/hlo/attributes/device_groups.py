"""Replica groups as text: lists of devices, `[2,2]<=[4]` and meshes with axes.

Source: hlo_parser.cc (ParseReplicaGroups ...).
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any, Final

from xla_explorer.hlo.attributes.mesh_axes import part_problem
from xla_explorer.hlo.attributes.number_lists import INTEGER, LIST, LISTS, as_integers
from xla_explorer.hlo.attributes.values import ReplicaGroups

MOST_DEVICES: Final = 1 << 20  # in replica groups
_CHOSEN = re.compile(r"[\"']?([^\"',:]+)[\"']?(?::\((\d+)\)(\d+))?")
_IOTA = re.compile(r"\[([\d,]+)\](?:T\(([\d,]+)\))?")


def _device_count(sizes: list[int]) -> int:
    """Return the number of devices; ValueError if they are too many to list.

    A text of a few bytes must not allocate gigabytes of device numbers.
    """
    count = math.prod(sizes)
    if count > MOST_DEVICES:
        raise ValueError(
            f"{count} devices are more than the {MOST_DEVICES} that are listed one by one"
        )
    return count


def _mesh_groups(
    axes_text: str, device_ids: str | None, chosen_text: str, text: str
) -> ReplicaGroups:
    """Return the groups of `mesh['x'=2,'y'=4]{'y':(2)2}`.

    Devices that differ only along the chosen axes, or parts of axes, form a group. The part (2)2 of
    an axis of 12 is the middle one of [2, 2, 3].
    """
    axes = {
        name: int(size) for name, size in re.findall(r"[\"']?([^\"'=,]+)[\"']?=(\d+)", axes_text)
    }
    if not axes or any(size < 1 for size in axes.values()):
        raise ValueError(f"expects a mesh with axes but sees {text}")
    chosen: list[tuple[str, int, int]] = []
    for name, before, size in _CHOSEN.findall(chosen_text):
        if name not in axes:
            raise ValueError(f"expects axes of the mesh ({', '.join(axes)}) but sees {text}")
        first, last = (int(before), int(before) * int(size)) if size else (1, axes[name])
        if part_problem(
            name,
            axes[name],
            first,
            last,
            [(begin, end) for one, begin, end in chosen if one == name],
        ):
            raise ValueError(f"expects parts of axes that do not overlap but sees {text}")
        chosen.append((name, first, last))
    parts: list[tuple[str, int, int]] = []
    for name, size in axes.items():
        ends = sorted({1, size, *[end for one, *both in chosen if one == name for end in both]})
        parts += [(name, first, last) for first, last in pairwise(ends)] or [(name, 1, 1)]
    ids = _mesh_devices(device_ids, _device_count(list(axes.values())))
    order = [number for number, part in enumerate(parts) if part not in chosen] + [
        parts.index(part) for part in chosen
    ]
    width = math.prod([last // first for _, first, last in chosen])
    rows = (
        ids.reshape([last // first for _, first, last in parts]).transpose(order).reshape(-1, width)
    )
    return ReplicaGroups(tuple([tuple(map(int, row)) for row in rows]), text)


def _mesh_devices(text: str | None, count: int) -> Any:
    """Return the devices of a mesh in its order: `0,2,1,3`, `[4]` or `[2,2]T(1,0)`."""
    import numpy as np

    if not text:
        return np.arange(count)
    iota = _IOTA.fullmatch(text)
    if iota is None:
        ids = np.array([int(n) for n in text.split(",")])
    else:
        sizes = [int(n) for n in iota.group(1).split(",")]
        ids = np.arange(_device_count(sizes)).reshape(sizes)
        if iota.group(2):
            ids = ids.transpose([int(n) for n in iota.group(2).split(",")])
    if ids.size != count:
        raise ValueError(f"the mesh has {count} places, but {ids.size} devices")
    return ids


def read_replica_groups(text: str) -> ReplicaGroups:
    """Return the groups and their text. ValueError names the expected form."""
    text = "".join(text.split())
    mesh = re.fullmatch(
        r"mesh\[([^\]]*)\](?:,device_ids=\(([\d,]*|\[[\d,]+\](?:T\([\d,]+\))?)\))?\{([^{}]*)\}",
        text,
    )
    if mesh:
        return _mesh_groups(mesh.group(1), mesh.group(2), mesh.group(3), text)
    iota = re.fullmatch(r"\[([\d,]+)\]\s*<=\s*\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if iota:
        import numpy as np

        shape, reshape = (
            [int(n) for n in iota.group(1).split(",")],
            [int(n) for n in iota.group(2).split(",")],
        )
        count = _device_count(reshape)
        if math.prod(shape) != count:
            raise ValueError(
                f"{list(shape)} has {math.prod(shape)} places for {count} devices in {text}"
            )
        ids = np.arange(count).reshape(reshape)
        if iota.group(3):
            ids = ids.transpose([int(n) for n in iota.group(3).split(",")])
        return ReplicaGroups(
            tuple([tuple(map(int, row)) for row in ids.reshape(shape[0], -1)]), text
        )
    if not text.startswith("{"):
        raise ValueError(
            f"expects replica groups such as {{{{0,1}},{{2,3}}}} or [2,2]<=[4] but sees {text}"
        )
    if LISTS.fullmatch(text) is None and LIST.fullmatch(text) is None:
        raise ValueError(f"expects lists of devices such as {{{{0,1}},{{2,3}}}} but sees {text}")
    rows = (
        re.findall(r"\{([^{}]*)\}", text[1:-1])
        if "{" in text[1:]
        else ([text[1:-1]] if text[1:-1].strip() else [])
    )
    groups = tuple([as_integers(INTEGER.findall(row)) for row in rows])
    return ReplicaGroups(
        groups, "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}"
    )
