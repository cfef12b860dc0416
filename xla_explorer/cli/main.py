"""The command line: argument parsing, exit codes, diagnostics.

Exit codes: 0 done; 1 it did not work (a compile failed, values differ, something is missing);
2 bad input (the text, a name, a file, an option), with one diagnostic on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from xla_explorer import __version__
from xla_explorer.cli.command_table import COMMANDS
from xla_explorer.cli.terminal import cleaned_output, say
from xla_explorer.foundation.collector import end_without_collecting
from xla_explorer.foundation.diagnostic import XlaExplorerError


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of `xla-explorer`."""
    parser = argparse.ArgumentParser(
        prog="xla-explorer",
        description="Explore what an XLA-like compiler does to a program, and why.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    sub = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        one = sub.add_parser(command.name, help=command.help)
        for names, how in command.arguments:
            one.add_argument(*names, **how)
        one.set_defaults(run=command.run)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: Any = None,
) -> None:
    """Print a warning as one line, without its place in our code."""
    say(f"note: {message}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code."""
    if arguments is None:  # the program itself, not a call from Python
        end_without_collecting()
    given = make_parser().parse_args(arguments)
    from xla_explorer.cli import (
        commands,
    )  # here, so that --help and a misspelt option answer at once

    try:
        with warnings.catch_warnings(), cleaned_output():
            warnings.showwarning = _show_warning
            status: int = getattr(commands, given.run)(given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read our output has enough; do not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except XlaExplorerError as problem:
        text, name = str(problem), type(problem).__name__
        say(text if name in text else f"{name}: {text}")
        return commands.exit_code(problem)
    except OSError as problem:
        say(f"xla-explorer: {problem}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
