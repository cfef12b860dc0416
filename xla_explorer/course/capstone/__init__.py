"""The two final projects: attention in blocks, a backend of tiles."""

from __future__ import annotations

from xla_explorer.course.capstone.accelerator_checks import cycles_of, tile_programs
from xla_explorer.course.capstone.attention_checks import attention_module
from xla_explorer.course.capstone.attention_programs import attention_text, largest_array
from xla_explorer.course.capstone.tile_backend import register_tiles
from xla_explorer.course.capstone.tile_machine import SIDE, TILES, TileMachine, TileMachineError

__all__ = [
    "SIDE",
    "TILES",
    "TileMachine",
    "TileMachineError",
    "attention_module",
    "attention_text",
    "cycles_of",
    "largest_array",
    "register_tiles",
    "tile_programs",
]
