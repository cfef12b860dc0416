"""Decisions of XLA:GPU's priority fusion, from `priority_fusion_dump.txt` of a dump.

A text proto whose `fusion_steps` are in the order of the decisions: a producer's estimate, a
fusion, or a reason against fusing a producer. A fusion has a name of its own and replaces its
consumer in later steps. Source: xla/service/gpu/fusion_process_dump.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_FIELD: Final = re.compile(r'\s*(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+))\s*')
_BLOCK: Final = re.compile(r"\s*(\w+):? \{\s*")


class FusionVerdict(NamedTuple):
    """The last decision about a producer.

    reason: against fusion, empty if the estimate decides. readers: the consumers of the fusion.
    us_fused, us_unfused: XLA's estimates for the producer with these readers, in microseconds; None
    if it made none.
    """

    producer: str
    reason: str
    readers: tuple[str, ...] = ()
    us_fused: float | None = None
    us_unfused: float | None = None

    @property
    def sentence(self) -> str:
        """Reason against the fusion.

        Empty if the estimate favours it, so that another reason decided.
        """
        if self.reason:
            return self.reason
        if self.us_fused is None or self.us_unfused is None or self.us_fused < self.us_unfused:
            return ""
        readers = (
            f"its {len(self.readers)} readers" if len(self.readers) != 1 else f"%{self.readers[0]}"
        )
        return (
            f"by XLA's estimate %{self.producer} and {readers} take {self.us_fused:.3g} us "
            f"fused, {self.us_unfused:.3g} us apart"
        )


def fusion_verdicts(text: str) -> dict[str, FusionVerdict]:
    """Return XLA's last decision about each instruction, by its name before the pass.

    Empty for other text.
    """
    original: dict[str, str] = {}
    found: dict[str, FusionVerdict] = {}
    for kind, fields in _steps(text):
        names = {
            key: [original.get(value, value) for value in values]
            for key, values in fields.items()
            if key.endswith("_name")
        }
        producer = next(iter(names.get("producer_name", ())), "")
        if kind == "fusion" and "consumer_name" in names and "fusion_name" in fields:
            original[fields["fusion_name"][0]] = names["consumer_name"][0]
        elif kind == "producer_ineligible" and producer:
            found[producer] = FusionVerdict(producer, " ".join(fields.get("reason", ())))
        elif kind == "update_priority" and producer:
            readers = tuple([original.get(name, name) for name in fields.get("consumer_names", ())])
            fused, apart = (_number(fields.get(key)) for key in ("us_fused", "us_unfused"))
            found[producer] = FusionVerdict(producer, "", readers, fused, apart)
    return found


def _number(values: list[str] | None) -> float | None:
    try:
        return float(values[0]) if values else None
    except ValueError:
        return None


def _steps(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield (kind, its fields) of each step."""
    around: list[str] = []
    fields: dict[str, list[str]] = {}
    for line in text.splitlines():
        if block := _BLOCK.fullmatch(line):
            around.append(block[1])
            fields = {}
        elif line.strip() == "}" and around:
            kind = around.pop()
            if around == ["fusion_steps"]:
                yield kind, fields
        elif around[:1] == ["fusion_steps"] and (field := _FIELD.fullmatch(line)):
            fields.setdefault(field[1], []).append(field[2] if field[2] is not None else field[3])
