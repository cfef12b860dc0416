"""Single rewrites and rules as the views draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.pictures.picture import PictureGraph


class RewriteStep(NamedTuple):
    """One application of one rule.

    before, after: the lines around what it changed. picture_before, picture_after: the
    neighbourhood. added, removed, changed: instructions of the whole module, of which the pictures
    show a part.
    """

    before: Sequence[TextLine]
    after: Sequence[TextLine]
    picture_before: PictureGraph
    picture_after: PictureGraph
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()


class RuleText(NamedTuple):
    """A rewrite rule as it is written. location: folder/file.py:line."""

    sentence: str
    location: str
    code: str
