"""Keywords of `xe.compile` that only some backends read."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from xla_explorer.backends.interfaces import Platform
from xla_explorer.backends.registry import platform
from xla_explorer.foundation.diagnostic import XlaExplorerError


class UnknownOptionError(XlaExplorerError, TypeError):
    """A keyword that neither `xe.compile` nor the backend reads."""


def platform_with_options(backend: str, given: Mapping[str, Any], keywords: Sequence[str] = ()) -> Platform:
    """The platform of a backend, once it is clear that the backend reads the options given.

    A platform without `option_names` judges its options itself. keywords: those of every backend, for the nearest name.

    Raises:
        UnknownBackendError: with near names.
        UnknownOptionError: with the nearest option of the backend or of `xe.compile`.
    """
    found = platform(backend)
    known: Sequence[str] | None = getattr(found, "option_names", None)
    unknown = next((name for name in given if known is not None and name not in known), None)
    if unknown is None:
        return found
    near = difflib.get_close_matches(unknown, [*(known or ()), *keywords], 1, 0.7)
    listed = f"options of {backend} alone: {', '.join(known or ()) or 'none'}; help(xe.compile) tells those of every backend"
    raise UnknownOptionError(
        f"neither xe.compile nor the backend {backend} has an option {unknown!r}", f"did you mean {near[0]!r}?" if near else listed
    )
