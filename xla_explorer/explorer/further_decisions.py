"""The decisions of a session that no journal holds."""

from __future__ import annotations

from xla_explorer.explorer.code.program import NATIVE_CODE, native_code_decisions
from xla_explorer.explorer.sessions.compilation import Compilation, is_of_xla
from xla_explorer.foundation.decision import Decision


def further_decisions(session: Compilation, kind: str | None) -> list[Decision]:
    """Return the decisions of code generation, and of real XLA also its replayed decisions."""
    native = native_code_decisions(session) if kind in (None, NATIVE_CODE) else []
    if is_of_xla(session):
        # Start-up time: only a session of real XLA needs the replay.
        from xla_explorer.explorer.xla.replay.replaying import replayed_decisions

        return [*native, *replayed_decisions(session, kind)]
    return native
