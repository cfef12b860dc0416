"""Rewritten forms of a program that advice proposes, made of its HLO so that they can be timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from xla_explorer.explorer.xla.forms.changes import Chosen
from xla_explorer.explorer.xla.forms.dense_experts import dense_experts
from xla_explorer.explorer.xla.forms.donated import donated
from xla_explorer.explorer.xla.forms.largest import largest_by_top_k
from xla_explorer.explorer.xla.forms.one_hot import compared_one_hot, one_hot_scatters
from xla_explorer.explorer.xla.forms.small_products import multiplied_and_summed, small_products
from xla_explorer.explorer.xla.forms.stored_order import (
    left_out_transposes,
    moved_rows_first,
    rows_first,
    strewn_rows,
    without_transposes,
)
from xla_explorer.explorer.xla.forms.taken_rows import taken_rows
from xla_explorer.explorer.xla.forms.widths import halves_in_32_bits, in_32_bits
from xla_explorer.explorer.xla.places import PlacedModule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

__all__ = ["FORMS", "Form", "form_lines", "form_sentence", "rewritten"]


class Form(NamedTuple):
    """A way to rewrite a program.

    Attributes
    ----------
    rewrite : callable
        Returns the rewritten program; None if it has nothing that the form changes. Arguments keep
        their order; they may have other element types. With `changes`, it takes the names of the
        instructions to change as well.
    most_different : float or None
        The largest difference of results that rounding explains, by their largest magnitude. None:
        the elements have another order, since the form stands for data stored in that order.
    changes : callable, optional
        Returns the instructions that the form changes, the largest first.
    """

    rewrite: Callable[..., HloModule | None]
    most_different: float | None = 1e-2
    changes: Callable[[HloModule], list[HloInstruction]] | None = None


FORMS: Final[Mapping[str, Form]] = {
    "in-32-bits": Form(in_32_bits),
    "halves-in-32-bits": Form(halves_in_32_bits, 5e-2),
    "dense-experts": Form(dense_experts),
    "compared-one-hot": Form(compared_one_hot, changes=one_hot_scatters),
    "taken-rows": Form(taken_rows),
    "largest-by-top-k": Form(largest_by_top_k),
    "multiplied-and-summed": Form(multiplied_and_summed, changes=small_products),
    "rows-first": Form(rows_first, None, strewn_rows),
    "moved-rows-first": Form(moved_rows_first),
    "without-transposes": Form(without_transposes, None, left_out_transposes),
    "donated": Form(donated),
}


def rewritten(form: str, module: HloModule, chosen: Chosen = None) -> HloModule | None:
    """Return a program in the form of a name; None if it has nothing that the form changes.

    chosen: the names of the instructions to change; all by default.
    """
    rewrite = FORMS[form].rewrite
    try:
        made = rewrite(module) if chosen is None else rewrite(module, chosen)
        if made is not None:
            verify(made)
    except XlaExplorerError:  # the program has something that the form does not provide for
        return None
    return made


def form_sentence(form: str) -> str:
    """Return what a form changes: `Multiply rows by all stacked weights and select, ...`."""
    return (FORMS[form].rewrite.__doc__ or "").partition(".")[0]


def form_lines(form: str, module: HloModule) -> dict[str, list[str]]:
    """Return the instructions that a form changes by their source line, the largest line first.

    XLA's kernels have the line of their root, which can be another. Empty for a form that changes
    the whole program.
    """
    changes = FORMS[form].changes
    places = PlacedModule(module)
    lines: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for i in changes(module) if changes is not None else ():
        line = places.find(i.name)[1].line
        lines.setdefault(line, []).append(i.name)
        sizes[line] = sizes.get(line, 0) + i.shape.byte_size
    return dict(sorted(lines.items(), key=lambda one: -sizes[one[0]]))
