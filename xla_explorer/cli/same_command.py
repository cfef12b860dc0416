"""`xla-explorer same`: whether two modules give the same results."""

from __future__ import annotations

from argparse import Namespace

from xla_explorer.cli.output import print_report
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.sameness.same import same as compared
from xla_explorer.explorer.sessions.loading import EntryChoice, load_module


def same(given: Namespace) -> int:
    """Compare two modules; the exit code is 1 if they differ."""
    entry = EntryChoice(given.function, given.shapes)
    first, second = load_module(given.first, entry), load_module(given.second, entry)
    candidate = compile(second, given.backend or "cpu") if given.compiled else second
    verdict = compared(
        first,
        candidate,
        claim=given.claim,
        backend=None if given.compiled else given.backend,
        seed=given.seed,
        seconds=given.seconds,
    )
    print_report(verdict, as_json=given.json)
    return 0 if verdict else 1
