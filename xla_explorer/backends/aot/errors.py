"""Why a module has no ahead-of-time program."""

from __future__ import annotations

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason


class AheadOfTimeError(XlaExplorerError, ValueError):
    """The module has no ahead-of-time program. `reasons` say why, each with the instruction."""

    def __init__(
        self,
        reasons: list[Reason],
        hint: str = "the backends cpu and interpreter evaluate such instructions in Python, which an "
        "object file cannot",
    ) -> None:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        super().__init__(f"no ahead-of-time program: {reasons[0].message}{more}", hint)
        self.reasons = reasons


class ElidedConstantsError(AheadOfTimeError):
    """The values of constants are not known: the module's text left them out (`{...}`)."""
