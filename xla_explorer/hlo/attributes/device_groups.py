"""Replica groups as text: lists of devices, `[2,2]<=[4]` and meshes with axes. Source: hlo_parser.cc (ParseReplicaGroups ...)."""

from __future__ import annotations

import math
import re
from typing import Final

from xla_explorer.hlo.attributes.number_lists import INTEGER, LIST, LISTS, as_integers
from xla_explorer.hlo.attributes.values import ReplicaGroups

MOST_DEVICES: Final = 1 << 20  # in replica groups


def _device_count(sizes: list[int]) -> int:
    """How many devices there are; a text of a few bytes must not ask for gigabytes of their numbers."""
    count = math.prod(sizes)
    if count > MOST_DEVICES:
        raise ValueError(f"{count} devices are more than the {MOST_DEVICES} that are listed one by one")
    return count


def _mesh_groups(axes_text: str, device_ids: str | None, chosen_text: str, text: str) -> ReplicaGroups:
    """`mesh['x'=2,'y'=2]{'y'}`: devices that differ only along the chosen axes form a group."""
    import numpy as np

    axes = {name: int(size) for name, size in re.findall(r"[\"']?([^\"'=,]+)[\"']?=(\d+)", axes_text)}
    chosen = re.findall(r"[^\"',]+", chosen_text)
    names = list(axes)
    if not axes or any(name not in axes for name in chosen):
        raise ValueError(f"expects axes of the mesh ({', '.join(names)}) but sees {text}")
    count = _device_count(list(axes.values()))
    ids = np.array([int(n) for n in device_ids.split(",")]) if device_ids else np.arange(count)
    if ids.size != count:
        raise ValueError(f"the mesh has {count} places, but {ids.size} devices")
    order = [names.index(name) for name in names if name not in chosen] + [names.index(name) for name in chosen]
    width = int(np.prod([axes[name] for name in chosen])) if chosen else 1
    rows = ids.reshape(list(axes.values())).transpose(order).reshape(-1, width)
    return ReplicaGroups(tuple([tuple(map(int, row)) for row in rows]), text)


def read_replica_groups(text: str) -> ReplicaGroups:
    """The groups, with the text that says them. ValueError says what was expected."""
    text = "".join(text.split())
    mesh = re.fullmatch(r"mesh\[([^\]]*)\](?:,device_ids=\(([\d,]*)\))?\{([^{}]*)\}", text)
    if mesh:
        return _mesh_groups(mesh.group(1), mesh.group(2), mesh.group(3), text)
    iota = re.fullmatch(r"\[([\d,]+)\]\s*<=\s*\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if iota:
        import numpy as np

        shape, reshape = [int(n) for n in iota.group(1).split(",")], [int(n) for n in iota.group(2).split(",")]
        count = _device_count(reshape)
        if math.prod(shape) != count:
            raise ValueError(f"{list(shape)} has {math.prod(shape)} places for {count} devices in {text}")
        ids = np.arange(count).reshape(reshape)
        if iota.group(3):
            ids = ids.transpose([int(n) for n in iota.group(3).split(",")])
        return ReplicaGroups(tuple([tuple(map(int, row)) for row in ids.reshape(shape[0], -1)]), text)
    if not text.startswith("{"):
        raise ValueError(f"expects replica groups such as {{{{0,1}},{{2,3}}}} or [2,2]<=[4] but sees {text}")
    if LISTS.fullmatch(text) is None and LIST.fullmatch(text) is None:
        raise ValueError(f"expects lists of devices such as {{{{0,1}},{{2,3}}}} but sees {text}")
    rows = re.findall(r"\{([^{}]*)\}", text[1:-1]) if "{" in text[1:] else ([text[1:-1]] if text[1:-1].strip() else [])
    groups = tuple([as_integers(INTEGER.findall(row)) for row in rows])
    return ReplicaGroups(groups, "{" + ",".join(["{" + ",".join(map(str, g)) + "}" for g in groups]) + "}")
