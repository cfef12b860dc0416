"""`%%jax`: run a cell and keep a session for every program that JAX compiled in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xla_explorer.explorer.display import Blocks, Report, Sentence, Table, named_data
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError

COLUMNS = ["number", "program", "backend", "instructions", "after_passes", "kernels"]
_NOTHING = "JAX reuses what it compiled before; call jax.clear_caches() to compile again"


class JaxPrograms(Report):
    """The programs of a cell, in the order in which JAX compiled them.

    `programs[0]`, `programs["train_step"]` (the last of that name), `programs.largest`.
    """

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
            raise XlaExplorerError(
                f"JAX compiled no program named {which!r} in that cell",
                f"choose from: {names or 'none'}",
            )
        return found[-1]

    @property
    def largest(self) -> Session:
        """The program with the most instructions, mostly the function that was jitted."""
        if not self.sessions:
            raise XlaExplorerError("JAX compiled nothing in that cell", _NOTHING)
        return max(self.sessions, key=lambda session: session.source.instruction_count())

    def blocks(self) -> Blocks:
        """Yield a row per program, or a sentence if there is none."""
        yield (
            self.records()
            if self.sessions
            else Sentence(f"JAX compiled nothing in that cell. {_NOTHING}")
        )

    def records(self) -> Table:
        """Return a row per program."""
        rows = [
            (
                k,
                s.source.name,
                s.backend,
                s.source.instruction_count(),
                s.module.instruction_count(),
                len(program_steps(s)),
            )
            for k, s in enumerate(self.sessions)
        ]
        return Table(COLUMNS, rows, limit=30, printed=30)

    def json_data(self) -> Any:
        """Return the rows of `to_frame()`."""
        return named_data(self.to_frame())
