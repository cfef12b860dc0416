"""The parts of the table of commands: a command, an argument, and arguments of several commands."""

from __future__ import annotations

import argparse
import ast
from typing import Any, NamedTuple

FILE_HELP = (
    "file of HLO or StableHLO (.hlo, .txt, .hlo.pb, .mlir, also .gz), or - for standard input"
)


def seed(text: str) -> int:
    """Return the seed of an option."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed must be an integer of at least 0, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Return a number of runs of an option."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"a number of runs must be an integer of at least 1, got {text!r}"
        )
    return int(text)


def shapes(text: str) -> list[Any]:
    """Return the shapes of an option."""
    try:
        return list(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError):
        raise argparse.ArgumentTypeError(
            f"shapes must be a list such as '[(2, 3), None]', got {text!r}"
        ) from None


Argument = tuple[tuple[str, ...], dict[str, Any]]
"""What `add_argument` takes."""


class Command(NamedTuple):
    """A command. run: the function of `commands.py` that does it."""

    name: str
    help: str
    arguments: tuple[Argument, ...]
    run: str


def argument(*names: str, **how: Any) -> Argument:
    """Return an argument: its names, and the keywords of `add_argument`."""
    return names, how


def command(name: str, help: str, *arguments: Argument, run: str = "") -> Command:
    """Return a command; its function has its name, unless `run` names another."""
    return Command(name, help, arguments, run or name.replace("-", "_"))


def common(*, backend: bool = True, json: bool = True) -> list[Argument]:
    """Return the arguments that most commands have."""
    found = [
        argument(
            "--passes",
            default="default",
            metavar="PIPELINE",
            help="default, none, or e.g. algsimp,cse,dce (default: %(default)s)",
        ),
        argument(
            "--backend",
            default="cpu",
            help="cpu, gpu, interpreter or a plug-in (default: %(default)s)",
        ),
        argument("--json", action="store_true", help="print tables as JSON"),
    ]
    return [one for one, wanted in zip(found, (True, backend, json), strict=True) if wanted]


ENTRY = (
    argument(
        "--function", metavar="NAME", help="of StableHLO with several functions, the one that runs"
    ),
    argument(
        "--shapes",
        type=shapes,
        metavar="SHAPES",
        help="of StableHLO with dynamic sizes, a shape for each argument: '[(2, 3), None]'",
    ),
)
FILE = (argument("file", help=FILE_HELP), *ENTRY)
INPUTS = (
    argument(
        "--args",
        nargs="*",
        default=[],
        metavar="FILE.npy",
        help="arguments, one .npy file per parameter (default: random)",
    ),
    argument(
        "--seed", type=seed, default=0, help="seed of random arguments (default: %(default)s)"
    ),
    argument(
        "--repeats",
        type=positive,
        default=20,
        metavar="N",
        help="timed runs (default: %(default)s)",
    ),
)
