"""Overrides of an unmodified script: a file that `XLA_EXPLORER_XLA_OVERRIDES` names."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from importlib.metadata import version

from xla_explorer.backends.xla.flag_text import flag_text
from xla_explorer.explorer.xla.overrides.hook import (
    OverrideFailedWarning,
    install_early,
    overridden,
)
from xla_explorer.explorer.xla.overrides.report import XlaOverrides
from xla_explorer.explorer.xla.overrides.requests import Requests, read_requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.warning import warn


def install_file(path: str) -> XlaOverrides | None:
    """Let the requests of a file act in every compile of real XLA:CPU in this process.

    The result of each request is printed to the standard error when the process ends. A file that
    cannot be used is a warning, and XLA compiles as without it.
    """
    try:
        requests = read_requests(path)
        _set_flags(requests)
        report = XlaOverrides(requests, overridden)
        close = install_early(report)
    except XlaExplorerError as problem:
        warn(f"XLA_EXPLORER_XLA_OVERRIDES has no effect: {problem}", OverrideFailedWarning)
        return None
    atexit.register(_print, report, close)
    return report


def _set_flags(requests: Requests) -> None:
    """Add the flags to XLA_FLAGS, which XLA reads at its first compile.

    XLA ends a process whose flags it does not know, so that they act with one version of jaxlib.
    """
    if not requests.flags:
        return
    here = version("jaxlib")
    if requests.jaxlib != here:
        raise XlaExplorerError(
            f"its flags are for jaxlib {requests.jaxlib or '(not named)'}, this is {here}",
            "search again with this jaxlib",
        )
    given = [os.environ.get("XLA_FLAGS", ""), *[flag_text(*one) for one in requests.flags]]
    os.environ["XLA_FLAGS"] = " ".join(given).strip()


def _print(report: XlaOverrides, close: Callable[[], None]) -> None:
    close()
    flags = [flag_text(*one) for one in report.requests.flags]
    head = f"with {' '.join(flags)}; " if flags else ""
    lines = [f"xla_explorer: {head}{report.headline()}"]
    lines += [
        f"  {one.word} {' '.join(one.subjects)} in {one.program}: {one.result}, {one.reason}"
        for one in report.refused
    ]
    print("\n".join(lines), file=sys.stderr)
