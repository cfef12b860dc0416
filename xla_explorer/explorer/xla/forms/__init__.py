"""Rewritten forms of a program that advice proposes, made of its HLO so that they can be timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from xla_explorer.explorer.xla.forms.dense_experts import dense_experts
from xla_explorer.explorer.xla.forms.donated import donated
from xla_explorer.explorer.xla.forms.largest import largest_by_top_k
from xla_explorer.explorer.xla.forms.one_hot import compared_one_hot
from xla_explorer.explorer.xla.forms.small_products import multiplied_and_summed
from xla_explorer.explorer.xla.forms.stored_order import (
    left_out_transposes,
    moved_rows_first,
    rows_first,
    without_transposes,
)
from xla_explorer.explorer.xla.forms.taken_rows import taken_rows
from xla_explorer.explorer.xla.forms.widths import halves_in_32_bits, in_32_bits
from xla_explorer.explorer.xla.places import PlacedModule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

__all__ = ["FORMS", "Form", "form_line", "form_sentence", "rewritten"]


class Form(NamedTuple):
    """A way to rewrite a program.

    Attributes
    ----------
    rewrite : callable
        Returns the rewritten program; None if it has nothing that the form changes. Arguments keep
        their order; they may have other element types.
    most_different : float or None
        The largest difference of results that rounding explains, by their largest magnitude. None:
        the elements have another order, since the form stands for data stored in that order.
    changes : callable, optional
        Returns the instructions that the form changes, the largest first.
    """

    rewrite: Callable[[HloModule], HloModule | None]
    most_different: float | None = 1e-2
    changes: Callable[[HloModule], list[HloInstruction]] | None = None


FORMS: Final[Mapping[str, Form]] = {
    "in-32-bits": Form(in_32_bits),
    "halves-in-32-bits": Form(halves_in_32_bits, 5e-2),
    "dense-experts": Form(dense_experts),
    "compared-one-hot": Form(compared_one_hot),
    "taken-rows": Form(taken_rows),
    "largest-by-top-k": Form(largest_by_top_k),
    "multiplied-and-summed": Form(multiplied_and_summed),
    "rows-first": Form(rows_first, None),
    "moved-rows-first": Form(moved_rows_first),
    "without-transposes": Form(without_transposes, None, left_out_transposes),
    "donated": Form(donated),
}


def rewritten(form: str, module: HloModule) -> HloModule | None:
    """Return a program in the form of a name; None if it has nothing that the form changes."""
    try:
        made = FORMS[form].rewrite(module)
        if made is not None:
            verify(made)
    except XlaExplorerError:  # the program has something that the form does not provide for
        return None
    return made


def form_sentence(form: str) -> str:
    """Return what a form changes: `Multiply rows by all stacked weights and select, ...`."""
    return (FORMS[form].rewrite.__doc__ or "").partition(".")[0]


def form_line(form: str, module: HloModule) -> str:
    """Return the source line of the largest instruction that a form changes; empty if unknown.

    XLA's kernels have the line of their root, which can be another.
    """
    changes = FORMS[form].changes
    found = changes(module) if changes is not None else []
    return PlacedModule(module).find(found[0].name)[1].line if found else ""
