"""Copies of a module in which chosen instructions are written in another form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Chosen = Collection[str] | None
"""Names of the instructions to change; None for each that has the form."""


def changed_copy(
    module: HloModule,
    found: Sequence[HloInstruction],
    change: Callable[[HloInstruction], bool],
    chosen: Chosen = None,
) -> HloModule | None:
    """Return a copy in which the found instructions are changed; None if none was."""
    copy = module.clone()
    names = {i.name for i in found if chosen is None or i.name in chosen}
    made = [change(i) for i in list(copy.instructions()) if i.name in names]
    return copy if any(made) else None
