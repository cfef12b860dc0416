"""Checks of forwarded keyword arguments: an unknown one is an error with the nearest name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest


class UnknownOptionError(XlaExplorerError, TypeError):
    """A keyword that a call does not read."""


def check_keywords(
    who: str, given: Iterable[str], known: Sequence[str], otherwise: str = ""
) -> None:
    """Check that each keyword is known.

    Parameters
    ----------
    who : str
        Start of the message: ``"xe.evaluate has no"``.
    given : iterable of str
        The keywords.
    known : sequence of str
        The valid keywords.
    otherwise : str
        The hint if no name is near; by default the list of all.

    Raises
    ------
    UnknownOptionError
        A keyword is unknown; with the nearest name.

    Examples
    --------
    >>> check_keywords("xe.evaluate has no", ["max_element"], ["host", "max_elements"])
    Traceback (most recent call last):
        ...
    xla_explorer.foundation.keywords.UnknownOptionError: xe.evaluate has no option 'max_element'
      hint: did you mean 'max_elements'?
    """
    for name in given:
        if name not in known:
            near = nearest(name, known, 1, 0.7)
            all_of_them = otherwise or f"options: {', '.join(known) or 'none'}"
            raise UnknownOptionError(
                f"{who} option {name!r}", f"did you mean {near[0]!r}?" if near else all_of_them
            )
