"""`ReasonCode`: the meaning of a code, an example of a recorded message, and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ReasonCode(NamedTuple):
    """One code of the registry.

    Attributes
    ----------
    sentence : str
        The meaning of the code, for any subject.
    example : str
        A message as a compile records it.
    remedy : str
        How to get the other answer, or where to look.
    """

    sentence: str
    example: str
    remedy: str


ReasonTable = Mapping[str, ReasonCode]

COMMON: dict[str, ReasonCode] = {
    code: ReasonCode(*texts)
    for code, texts in {
        "control-dependency": (
            "a control dependency fixes the instruction's place in the order of execution",
            "%add has control dependencies, which a fusion would lose",
            "remove the control dependency from the program if the order does not matter",
        ),
        "dynamic-dimension": (
            "sizes inside a kernel must be constants",
            "%add has a dynamic dimension: f32[<=8]",
            "compile for fixed sizes: pad the array, or keep one program a size",
        ),
        "layout-differs": (
            "the array's memory layout is not the required one",
            "%p has layout {0,1} outside and {1,0} inside",
            "use the row-major layout, or transpose where the array is computed",
        ),
        "no-elements": (
            "an array is empty",
            "%dot has an empty operand",
            "nothing to do: an empty array takes no time",
        ),
        "shape-differs": (
            "the replacement has another shape",
            "%copy is f32[8], %reshape is f32[4,2]",
            "give both the same shape",
        ),
        "side-effect": (
            "an instruction with a side effect must run exactly once, at its place",
            "a branch of %conditional has side effects",
            "move the side effect (infeed, outfeed, custom call) out",
        ),
        "too-many-instructions": (
            "the program would exceed the limit of instructions",
            (
                "inlining every call, %call among them, would make 9,000,000 instructions of the "
                "program (limit 1,000,000)"
            ),
            "call a computation fewer times, or make it smaller",
        ),
    }.items()
}
"""Codes that several kinds of decision share, with one meaning."""


def table(rows: Mapping[str, tuple[str, str, str]], *common: str) -> dict[str, ReasonCode]:
    """Return a table of its own rows and of shared codes."""
    return {
        **{code: ReasonCode(*texts) for code, texts in rows.items()},
        **{code: COMMON[code] for code in common},
    }
