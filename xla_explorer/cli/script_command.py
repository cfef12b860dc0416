"""`xla-explorer why-slow train.py`: an unmodified script on real XLA."""

from __future__ import annotations

from argparse import Namespace

from xla_explorer.cli.output import print_json, print_report
from xla_explorer.explorer.real_xla import run_script, speed_up_script, why_slow


def why_slow_script(given: Namespace) -> int:
    """Print a script's programs and its main one's kernels, or search a faster compile."""
    if given.search is not None:
        gain = speed_up_script(
            given.file,
            given.script_args,
            path=given.output,
            search_seconds=given.search,
            seconds=given.seconds,
        )
        print_report(gain, as_json=given.json)
        return 0
    found = run_script(given.file, given.script_args, seconds=given.seconds)
    page = why_slow(found.module(), repeats=given.repeats)
    if given.json:
        print_json({"script": found.to_json(), "program": page.to_json()})
        return 0
    print_report(found, as_json=False)
    print(f"\n{found.programs[0].program}, on random arguments:")
    print_report(page, as_json=False, hide_paths=given.hide_paths)
    return 0
