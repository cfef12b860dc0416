"""Single rewrites and rules as the views draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.pictures.picture import PictureGraph


class RewriteStep(NamedTuple):
    """One application of one rule.

    Attributes
    ----------
    before, after : sequence of TextLine
        The lines around the change.
    picture_before, picture_after : PictureGraph
        The neighbourhood.
    added, removed, changed : tuple of int
        Ids of the whole module; the pictures show a part of it.
    """

    before: Sequence[TextLine]
    after: Sequence[TextLine]
    picture_before: PictureGraph
    picture_after: PictureGraph
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()


class RuleText(NamedTuple):
    """A rewrite rule as it is written. place: folder/file.py:line."""

    sentence: str
    place: str
    code: str
