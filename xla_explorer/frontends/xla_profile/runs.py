"""Run numbers for profiles without them: TensorFlow's, and those of jaxlib before 0.7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from xla_explorer.frontends.xla_profile.kernels import KernelEvent
from xla_explorer.hlo.module import HloModule

_NO_RUN: Final = (None, -1)  # TensorFlow writes -1


def with_runs(
    events: Sequence[KernelEvent], module_of: Callable[[str, int | None], HloModule | None]
) -> list[KernelEvent]:
    """Return the events, with run numbers for those that lack one.

    The entry runs each of its instructions once, so a new run begins with each event of its first
    instruction. If the module is unavailable, a loop looks like a new run, and the events stay
    unchanged.
    """
    firsts: dict[tuple[str, str, int | None], str | None] = {}
    begun: dict[tuple[str, str, int | None], int] = {}
    entries: dict[tuple[str, int | None], frozenset[str]] = {}
    found = []
    for event in events:
        if event.run in _NO_RUN and event.op:
            program, group = (
                (event.module, event.program),
                (event.device, event.module, event.program),
            )
            if program not in entries:
                module = module_of(*program)
                entries[program] = frozenset(
                    [i.name for i in module.entry.instructions.values()]
                    if module is not None
                    else ()
                )
            if event.op in entries[program]:
                firsts.setdefault(group, event.op)
                begun[group] = begun.get(group, 0) + (event.op == firsts[group])
            event = event._replace(run=begun.get(group))
        found.append(event)
    return found
