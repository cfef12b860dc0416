"""Forms of a program with other widths of its floats."""

from __future__ import annotations

import re
from typing import Final

from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

_KEEPS_WIDTH: Final = frozenset({"custom-call", "bitcast-convert", "infeed", "outfeed", "rng"})
_HALF: Final = re.compile(r"\b(?:bf16|f16)\[")


def in_32_bits(module: HloModule) -> HloModule | None:
    """Return the program with 32 bits in place of each 64-bit float."""
    text = module.to_text()
    if _keeps_width(module) or not ("f64[" in text or "c128[" in text):
        return None
    return parse_hlo(text.replace("f64[", "f32[").replace("c128[", "c64["))


def halves_in_32_bits(module: HloModule) -> HloModule | None:
    """Return the program with 32 bits in place of each 16-bit float."""
    text = module.to_text()
    if _keeps_width(module) or not _HALF.search(text):
        return None
    return parse_hlo(_HALF.sub("f32[", text))


def _keeps_width(module: HloModule) -> bool:
    return not _KEEPS_WIDTH.isdisjoint({i.opcode.name for i in module.instructions()})
