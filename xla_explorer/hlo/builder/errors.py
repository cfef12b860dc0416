"""The error of the builder: raised where the wrong thing is typed, with both sides named and the next step."""

from __future__ import annotations

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.shape import ShapeError


class HloBuilderError(XlaExplorerError, ShapeError):
    """Operands that do not go together, or a value where none can be. `hint` says what to write instead."""
