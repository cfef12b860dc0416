"""The pairs that the user forbids to fuse, as a check for every fusion pass."""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


def forbidden_pairs(control: PassControl) -> str:
    """Return the number of pairs that the user forbids to share a kernel, as text of a check."""
    return f"forbidden pairs {len(control.apart.keys)}"


def kept_apart(
    control: PassControl, left: Iterable[HloInstruction], right: Iterable[HloInstruction]
) -> Reason | None:
    """Refuse if the user forbids a kernel of an instruction of each side."""
    pair = control.kept_apart(left, right)
    if pair is None:
        return None
    return refuse(
        "forbidden-by-user",
        f"the user forbids a fusion of %{pair[0]} and %{pair[1]}",
        producer=pair[0],
        consumer=pair[1],
    )
