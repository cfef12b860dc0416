"""The answer of `xe.xla.overrides`: what became of each request in each program."""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ContextDecorator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.overrides.requests import Requests
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.foundation.reason import Reason
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.hlo.text.print_options import PrintOptions
from xla_explorer.hlo.text.printer import module_text

_NAMELESS: Final = PrintOptions.fingerprint.but(header=False)
_MOST_KEPT: Final = 1 << 28  # bytes of modules whose fingerprints are not read yet
_keys = itertools.count()
_lock = threading.Lock()  # XLA compiles in several threads

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
    seconds : float
        Time spent here inside XLA's compiles.
    """

    __slots__ = ("_modules", "_open", "_opened", "_rows", "requests", "seconds")

    def __init__(
        self, requests: Requests, open_hook: Callable[[XlaOverrides], AbstractContextManager[None]]
    ) -> None:
        self.requests = requests
        self.seconds = 0.0
        self._rows: list[Outcome] = []
        self._modules: dict[str, bytes] = {}  # of keys that stand for fingerprints
        self._open = open_hook
        self._opened: list[AbstractContextManager[None]] = []

    def __enter__(self) -> XlaOverrides:
        self._opened.append(self._open(self))
        self._opened[-1].__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._opened.pop().__exit__(*problem)

    @property
    def outcomes(self) -> list[Outcome]:
        """A row for each request and program, in the order of the compiles."""
        with _lock:
            if self._modules:
                known = {key: fingerprint_of(data) for key, data in self._modules.items()}
                self._rows = [
                    one._replace(fingerprint=known.get(one.fingerprint, one.fingerprint))
                    for one in self._rows
                ]
                self._modules.clear()
            return list(self._rows)

    def keep(self, data: bytes) -> str:
        """Return a key that stands for a module's fingerprint until somebody reads it.

        XLA waits while a row is added, and a fingerprint needs the whole module.
        """
        with _lock:
            if sum(map(len, self._modules.values())) + len(data) > _MOST_KEPT:
                return fingerprint_of(data)
            key = f"?{next(_keys)}"
            self._modules[key] = data
            return key

    def add(self, rows: Iterable[Outcome]) -> None:
        """Add rows."""
        with _lock:
            self._rows += rows

    def drop(
        self, name: str, key: str, undone: Mapping[tuple[str, tuple[str, ...]], Reason]
    ) -> None:
        """Turn granted requests of a module into dropped ones."""
        with _lock:
            for k, one in enumerate(self._rows):
                reason = undone.get((one.word, one.subjects))
                is_of_this = (one.program, one.fingerprint) == (name, key)
                if is_of_this and one.result == "granted" and reason is not None:
                    self._rows[k] = one._replace(result="dropped", reason=reason)

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


def fingerprint_of(data: bytes) -> str:
    """Return twelve digits that the instructions of a module determine, whatever their names."""
    text = module_text(read_hlo_proto(data).module, _NAMELESS)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
