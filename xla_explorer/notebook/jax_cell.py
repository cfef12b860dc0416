"""`%%jax`: run a cell and keep a session for every program that JAX compiled in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_explorer.explorer.display.display import table_html, table_text
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.visible_text import cleaned

COLUMNS = ["number", "program", "backend", "instructions", "after passes", "kernels"]
_NOTHING = "JAX reuses what it compiled before; call jax.clear_caches() to compile again"


class JaxPrograms:
    """The programs of a cell, in the order in which JAX compiled them. `programs[0]`, `programs["train_step"]` (the last of that name),
    `programs.largest`."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.sessions = list(sessions)

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.sessions)

    def __getitem__(self, which: int | str) -> Session:
        if isinstance(which, int):
            return self.sessions[which]
        found = [session for session in self.sessions if session.source.name == which]
        if not found:
            names = ", ".join(dict.fromkeys(session.source.name for session in self.sessions))
            raise XlaExplorerError(f"JAX compiled no program named {which!r} in that cell", f"it compiled: {names or 'nothing'}")
        return found[-1]

    @property
    def largest(self) -> Session:
        """The program with the most instructions: mostly the function that was jitted, among the small ones around it."""
        if not self.sessions:
            raise XlaExplorerError("JAX compiled nothing in that cell", _NOTHING)
        return max(self.sessions, key=lambda session: session.source.instruction_count())

    def _rows(self) -> list[tuple[int, str, str, int, int, int]]:
        return [
            (k, s.source.name, s.backend, s.source.instruction_count(), s.module.instruction_count(), len(s.program_steps))
            for k, s in enumerate(self.sessions)
        ]

    @cleaned
    def __repr__(self) -> str:
        if not self.sessions:
            return f"JAX compiled nothing in that cell. {_NOTHING}"
        return table_text(COLUMNS, self._rows(), limit=30)

    @cleaned
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        if not self.sessions:
            return {"text/plain": repr(self)}
        return {"text/plain": repr(self), "text/html": table_html("Programs that JAX compiled", COLUMNS, self._rows(), limit=30)}
