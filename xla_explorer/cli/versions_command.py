"""`xla-explorer versions`: one script under several versions of jax."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path

from xla_explorer.cli.output import print_report
from xla_explorer.cli.terminal import say
from xla_explorer.explorer.loading import load
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.xla.versions import Options, compare_versions
from xla_explorer.explorer.xla_dump import XlaDump
from xla_explorer.foundation.file_writing import write_file


def versions(given: Namespace) -> int:
    """Compare versions; the exit code is 1 if one is worse than the first."""
    options = Options(
        tuple(shlex.split(given.script_args)),
        tuple(given.flags),
        given.repeats,
        given.slower,
        given.bisect,
        given.seconds,
    )
    report = compare_versions(given.script, given.jaxlib, _main_compile, options)
    print_report(report, as_json=given.json)
    if given.output is not None:
        title = f"versions of {Path(given.script).name}"
        head = f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1>"
        write_file(given.output, f"{head}<p>{report.headline()}</p>{report.to_html()}\n")
        say(f"written: {given.output}")
    return 1 if report.worse else 0


def _main_compile(folder: Path) -> Compilation:
    dump = load(folder)
    assert isinstance(dump, XlaDump)
    return dump.session()
