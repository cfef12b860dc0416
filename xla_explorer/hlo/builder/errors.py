"""The error of the builder, raised at the faulty call, with both sides and the next step."""

from __future__ import annotations

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.shape import ShapeError


class HloBuilderError(XlaExplorerError, ShapeError):
    """Operands do not fit together, or a value is not possible. `hint` suggests a correction."""
