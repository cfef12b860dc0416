"""`xla-explorer hosts`: profiles of several hosts on one clock, with stragglers and slow links."""

from __future__ import annotations

from argparse import Namespace

from xla_explorer.cli.output import print_report
from xla_explorer.cli.terminal import say
from xla_explorer.explorer.real_xla import join_profiles


def hosts(given: Namespace) -> int:
    """Print the joined profiles; write a page with --output."""
    report = join_profiles(*given.profiles)
    print_report(report, as_json=given.json)
    if given.output is not None:
        say(f"written: {report.save(given.output)}")
    return 0
