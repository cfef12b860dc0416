"""Overrides of an unmodified script: a file that `XLA_EXPLORER_XLA_OVERRIDES` names."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable

from xla_explorer.explorer.xla.overrides.hook import (
    OverrideFailedWarning,
    install_early,
    overridden,
)
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import read_requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn


def install_file(path: str) -> XlaOverrides | None:
    """Let the requests of a file act in every compile of real XLA:CPU in this process.

    The result of each request is printed to the standard error when the process ends. A file that
    cannot be used is a warning, and XLA compiles as without it.
    """
    try:
        report = XlaOverrides(read_requests(path), overridden)
        close = install_early(report)
    except XlaExplorerError as problem:
        warn(f"XLA_EXPLORER_XLA_OVERRIDES has no effect: {problem}", OverrideFailedWarning)
        return None
    atexit.register(_print, report, close)
    return report


def _print(report: XlaOverrides, close: Callable[[], None]) -> None:
    close()
    lines = [f"xla_explorer: {report.headline()}"]
    lines += [
        f"  {one.word} {' '.join(one.subjects)} in {one.program}: {one.result}, {one.reason}"
        for one in report.refused
    ]
    print("\n".join(lines), file=sys.stderr)
