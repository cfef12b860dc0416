"""The answer of `xe.xla.overrides`: what became of each request in each program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.overrides.requests import Requests
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.reason import Reason

Result = Literal["granted", "refused", "dropped", "failed"]


class Outcome(NamedTuple):
    """The outcome of one request in one program.

    Attributes
    ----------
    program : str
        Name of XLA's module.
    fingerprint : str
        Twelve digits that the module's instructions determine, names left out.
    word : str
        fuse, forbid, rules, passes or schedule_order.
    subjects : tuple of str
        The instructions or rules, as the user named them.
    result : {"granted", "refused", "dropped", "failed"}
        refused: by a check here. dropped: XLA undid it before it scheduled the program. failed: an
        error of ours; XLA's module went on unchanged.
    reason : Reason or None
        Why it was not granted.
    """

    program: str
    fingerprint: str
    word: str
    subjects: tuple[str, ...]
    result: Result
    reason: Reason | None = None


class XlaOverrides(Report, ContextDecorator):
    """Requests that act in real XLA while the context is open, and their outcomes.

    Attributes
    ----------
    requests : Requests
        The changes that the user requests.
    outcomes : list of Outcome
        A row for each request and program, in the order of the compiles.
    seconds : float
        Time spent here inside XLA's compiles.
    """

    __slots__ = ("_open", "_opened", "outcomes", "requests", "seconds")

    def __init__(
        self, requests: Requests, open_hook: Callable[[XlaOverrides], AbstractContextManager[None]]
    ) -> None:
        self.requests = requests
        self.outcomes: list[Outcome] = []
        self.seconds = 0.0
        self._open = open_hook
        self._opened: list[AbstractContextManager[None]] = []

    def __enter__(self) -> XlaOverrides:
        self._opened.append(self._open(self))
        self._opened[-1].__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._opened.pop().__exit__(*problem)

    @property
    def granted(self) -> list[Outcome]:
        """The requests that XLA's program follows."""
        return [one for one in self.outcomes if one.result == "granted"]

    @property
    def refused(self) -> list[Outcome]:
        """The requests that it does not follow, each with its Reason."""
        return [one for one in self.outcomes if one.result != "granted"]

    def save(self, path: str | Path) -> Path:
        """Write the requests to a JSON file for `XLA_EXPLORER_XLA_OVERRIDES`."""
        import json

        return write_file(path, json.dumps(self.requests.to_data(), indent=1) + "\n")

    def headline(self) -> str:
        """Return how many requests were granted, in how many programs."""
        programs = len({one.fingerprint for one in self.outcomes} - {""})
        if not self.outcomes:
            return "XLA compiled nothing yet that these overrides concern"
        requests = number_of(len(self.outcomes), "request")
        return (
            f"{len(self.granted)} of {requests} granted in {number_of(programs, 'program')} of XLA"
        )

    def blocks(self) -> Blocks:
        """Yield a table with a row for each request and program."""
        if not self.outcomes:
            yield Sentence(self.headline())
            return
        yield self.records()

    def records(self) -> Table:
        """Return a row for each request and program."""
        rows = [
            (
                one.program,
                one.fingerprint,
                one.word,
                " ".join(one.subjects),
                one.result,
                one.reason.code if one.reason is not None else None,
                str(one.reason) if one.reason is not None else None,
            )
            for one in self.outcomes
        ]
        head = ["program", "fingerprint", "word", "subjects", "result", "code", "reason"]
        return Table(head, rows)
