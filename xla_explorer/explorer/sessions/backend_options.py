"""Keywords of `xe.compile` that only some backends read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xla_explorer.backends.interfaces import Platform
from xla_explorer.backends.registry import platform
from xla_explorer.foundation.keywords import check_keywords


def platform_with_options(
    backend: str, given: Mapping[str, Any], keywords: Sequence[str] = ()
) -> Platform:
    """Return the platform of a backend, after a check that the backend reads the given options.

    A platform without `option_names` checks its options itself. keywords: the options of every
    backend, for the nearest name.

    Raises
    ------
        UnknownBackendError: with near names.
        UnknownOptionError: with the nearest option of the backend or of `xe.compile`.
    """
    found = platform(backend)
    known: Sequence[str] | None = getattr(found, "option_names", None)
    if known is not None and (unknown := [name for name in given if name not in known]):
        listed = (
            f"options of {backend} alone: {', '.join(known) or 'none'}; help(xe.compile) lists "
            "those of every backend"
        )
        check_keywords(
            f"neither xe.compile nor the backend {backend} has an",
            unknown[:1],
            [*known, *keywords],
            listed,
        )
    return found
