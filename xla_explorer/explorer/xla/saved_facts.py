"""`xla-explorer check`: kernels, bytes and decisions of a compile against saved ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.compiler.decisions.recorded import decision_of
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.questions.decisions import decision_events
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    NotThereError,
    is_of_xla,
    program_steps,
)
from xla_explorer.explorer.xla.replay import replay_fusion
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_reading import read_file
from xla_explorer.foundation.file_writing import write_file
from xla_explorer.hlo.analysis.cost import module_cost

_VERSION: Final = 1
_SHOWN: Final = 40
_COUNTS: Final = ("kernels", "bytes", "flops", "instructions")


class SavedFactsError(XlaExplorerError, ValueError):
    """A file that `xla-explorer check --save` did not write."""


class Difference(NamedTuple):
    """A difference to the saved compile.

    what: a count, or a decision by its kind and instructions. saved, now: empty if only the other
    compile has it.
    """

    what: str
    saved: str
    now: str


class Check(Report):
    """The differences of a compile to a saved one; true if there are none.

    Attributes
    ----------
    counts, decisions
        The differences: of `kernels`, `bytes`, `flops`, `instructions` and kernels by opcode, and
        decisions that flipped.
    """

    def __init__(self, saved: dict[str, Any], now: dict[str, Any]) -> None:
        self.name = str(now["module"])
        self.counts = [
            Difference(what, str(saved[what]), str(now[what]))
            for what in _COUNTS
            if saved[what] != now[what]
        ]
        self.counts += _changed(saved["kernels_by_opcode"], now["kernels_by_opcode"], "kernels of ")
        self.decisions = _changed(saved["decisions"], now["decisions"])

    def __bool__(self) -> bool:
        return not (self.counts or self.decisions)

    def headline(self) -> str:
        """Return the number of differences."""
        if self:
            return f"{self.name}: kernels, bytes and decisions are as saved"
        return (
            f"{self.name}: {len(self.counts)} counts differ, {len(self.decisions)} decisions "
            "flipped, came or went"
        )

    def blocks(self) -> Blocks:
        """Yield the differences."""
        for title, rows in (("counts", self.counts), ("decisions", self.decisions)):
            if rows:
                more = f"{len(rows) - _SHOWN} more in --json" if len(rows) > _SHOWN else ""
                yield Table(Difference._fields, rows[:_SHOWN], title, more)
        if not self:
            yield Sentence(
                "if the difference is intended, save it: xla-explorer check FILE --against "
                "saved.json --save"
            )

    def records(self) -> Table:
        """Return a row for each difference."""
        return Table(Difference._fields, [*self.counts, *self.decisions])


def _changed(saved: dict[str, Any], now: dict[str, Any], prefix: str = "") -> list[Difference]:
    return [
        Difference(prefix + key, str(saved.get(key, "")), str(now.get(key, "")))
        for key in sorted({*saved, *now})
        if saved.get(key) != now.get(key)
    ]


def facts_of(session: Compilation) -> dict[str, Any]:
    """Return the saved facts of a compile as plain data; none depends on the machine."""
    cost, steps = module_cost(session.module), program_steps(session)
    return {
        "version": _VERSION,
        "module": session.source.name,
        "backend": session.backend.partition(":")[
            0
        ],  # the backend without the folder of its environment
        "kernels": len(steps),
        "kernels_by_opcode": dict(sorted(Counter(step.opcode for step in steps).items())),
        "bytes": int(cost.bytes_accessed),
        "flops": int(cost.flops + cost.transcendentals),
        "instructions": session.module.instruction_count(),
        "decisions": _decisions(session),
    }


def _decisions(session: Compilation) -> dict[str, str]:
    """Return fusion decisions by kind and instructions: the verdict, with the code of a refusal.

    XLA's are taken from its dump.
    """
    if is_of_xla(session):
        try:
            edges = replay_fusion(session).edges
        except NotThereError:
            return {}
        return {f"fusion %{edge.producer} -> %{edge.consumer}": edge.right for edge in edges}
    found = [decision_of(event, None) for event in decision_events(session.passes.record)]
    return {
        f"{one.kind} {' -> '.join(f'%{name}' for name in one.names)}": " ".join(
            [one.verdict, one.code]
        ).strip()
        for one in found
        if one.kind in FUSION_KINDS
    }


def save_facts(session: Compilation, path: str | Path) -> Path:
    """Write the facts of a compile as JSON."""
    return write_file(path, json.dumps(facts_of(session), indent=1, sort_keys=True) + "\n")


def check_against(session: Compilation, path: str | Path) -> Check:
    """Compare a compile with a saved one.

    Raises
    ------
    SavedFactsError
        The file is not one of `save_facts`, or of another backend.
    """
    hint = f"write it with: xla-explorer check FILE --against {Path(path).name} --save"
    try:
        saved = json.loads(read_file(path, hint=hint))
    except ValueError as problem:
        raise SavedFactsError(f"{Path(path).name} must be JSON, got: {problem}", hint) from None
    now = facts_of(session)
    same_form = (
        isinstance(saved, dict)
        and saved.keys() == now.keys()
        and all(isinstance(saved[key], type(now[key])) for key in now)
    )
    if not same_form or saved["version"] != _VERSION:
        raise SavedFactsError(
            f"{Path(path).name} was not written by this version's check --save", hint
        )
    if saved["backend"] != now["backend"]:
        text = f"{Path(path).name} is of the backend {saved['backend']}, got {now['backend']}"
        raise SavedFactsError(text, "give the --backend of the saved run")
    return Check(saved, now)
