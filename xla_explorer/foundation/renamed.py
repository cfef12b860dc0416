"""Old names: they keep their meaning for one release and say what replaces them."""

from __future__ import annotations

import warnings


def warn_renamed(old: str, new: str, *, frames: int = 1) -> None:
    """Warn that `old` will go and that `new` replaces it.

    Parameters
    ----------
    old, new : str
        The calls as users write them, such as ``"trace.at(i)"`` and ``"passes[k].module"``.
    frames : int
        How many frames lie between the user's line and the function that calls this one.
    """
    warnings.warn(f"{old} is deprecated and will be removed in the next release; use {new}", DeprecationWarning, stacklevel=2 + frames)
