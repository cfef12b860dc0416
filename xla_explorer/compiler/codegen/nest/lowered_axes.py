"""Decisions of the lowering about axes, which the text of a nest shows."""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.hlo.analysis.indexing import IndexExpression


class AxisForm(NamedTuple):
    """The form of an axis.

    Attributes
    ----------
    number : IndexExpression, optional
        The step that a thread runs, by the numbers of its launch.
    branches : bool
        The guards of the loop are a branch around its body. If not, they are conditions of the
        accesses and reductions inside.
    stride : int
        The loop counts in steps of this factor, which all indices have in common.
    written_out : bool
        Each step of the loop has code of its own.
    one_by_one : bool
        The unrolled instances of the reduction are written one after the other.
    """

    number: IndexExpression | None = None
    branches: bool = False
    stride: int = 1
    written_out: bool = False
    one_by_one: bool = False

    @property
    def text(self) -> str:
        """The decisions after the kind of the axis."""
        number = f" = {self.number}" if self.number is not None else ""
        stride = f" by {self.stride}" if self.stride > 1 else ""
        order = " one-by-one" if self.one_by_one else ""
        return f"{' written-out' if self.written_out else ''}{order}{stride}{number}"


UNCHANGED = AxisForm()


class WideAccess(NamedTuple):
    """An access that moves several instances at once.

    Attributes
    ----------
    form : str
        See the step `wide-memory`: `contiguous`, `strided`, `square` and so on.
    axis : str
        The axis whose lanes or unrolled instances it moves.
    width : int
        How many elements.
    """

    form: str
    axis: str
    width: int
