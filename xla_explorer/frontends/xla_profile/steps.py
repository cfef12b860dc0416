"""Steps that a program marked, by JAX's `StepTraceAnnotation` or a `StepMarker`.

TensorFlow and PyTorch/XLA have a `StepMarker`.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.frontends.xla_profile.space import Space


class StepEvent(NamedTuple):
    """A step, as the host saw it. number: the program's own."""

    name: str
    number: int
    start_ps: int
    duration_ps: int


def step_events(space: Space) -> list[StepEvent]:
    """Return the steps of a profile by their starts."""
    found = []
    for plane in space.planes:
        if plane.name.startswith("/host:CPU"):
            for line in plane.lines():
                for event in line.events():
                    number = event.stat("step_num")
                    if isinstance(number, int) or (
                        isinstance(number, str) and number.isdecimal() and len(number) < 20
                    ):
                        found.append(
                            StepEvent(
                                event.kind.name, int(number), event.start_ps, event.duration_ps
                            )
                        )
    return sorted(found, key=lambda one: one.start_ps)
