"""Passes that never end, exhaust memory or fail, and a text that never ends.

A test and its child process import them.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.explorer.sessions.isolation import worker
from xla_explorer.hlo.module import HloModule

_read = worker.source_of


def _source_of(given: Any, filename: str | None, verify: bool) -> HloModule:
    while isinstance(given, str) and given.startswith("HloModule endless"):
        time.sleep(0.01)
    return _read(given, filename, verify)


worker.source_of = _source_of


class PlantedError(ValueError):
    """With something of its own, and something that cannot travel."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.number, self.function = number, lambda: number


@register_pass()
@dataclasses.dataclass(frozen=True)
class Sleeper:
    name: ClassVar[str] = "sleeper"

    def run(self, module: HloModule, context: PassContext) -> bool:
        while True:
            time.sleep(0.01)


@register_pass()
@dataclasses.dataclass(frozen=True)
class Eater:
    name: ClassVar[str] = "eater"

    def run(self, module: HloModule, context: PassContext) -> bool:
        kept = []
        while True:
            kept.append(bytearray(1 << 20))


@register_pass()
@dataclasses.dataclass(frozen=True)
class Failer:
    name: ClassVar[str] = "failer"

    def run(self, module: HloModule, context: PassContext) -> bool:
        raise PlantedError("planted", 7)
