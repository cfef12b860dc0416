"""The command line: argument parsing, exit codes, diagnostics.

Exit codes: 0 done; 1 it did not work (a compile failed, values differ, something is not there yet); 2 bad input (the text, a name, a
file, an option), with one diagnostic on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from xla_explorer import __version__
from xla_explorer.cli.terminal import cleaned_output, say
from xla_explorer.foundation.collector import end_without_collecting
from xla_explorer.foundation.diagnostic import XlaExplorerError

FILE_HELP = "file of HLO text (.hlo, .txt, also .gz), or - for standard input"


def _common(parser: argparse.ArgumentParser, *, backend: bool = True, json: bool = True) -> None:
    parser.add_argument(
        "--passes", default="default", metavar="PIPELINE", help="default, none, or e.g. algsimp,cse,dce (default: %(default)s)"
    )
    if backend:
        parser.add_argument("--backend", default="cpu", help="cpu, gpu, interpreter or a plug-in (default: %(default)s)")
    if json:
        parser.add_argument("--json", action="store_true", help="print tables as JSON")


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--args", nargs="*", default=[], metavar="FILE.npy", help="arguments, one .npy file per parameter (default: random)"
    )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of random arguments (default: %(default)s)")
    parser.add_argument("--repeats", type=_positive, default=20, metavar="N", help="timed runs (default: %(default)s)")


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed must be an integer of at least 0, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of runs must be an integer of at least 1, got {text!r}")
    return int(text)


def make_parser() -> argparse.ArgumentParser:
    """The parser of `xla-explorer`."""
    parser = argparse.ArgumentParser(prog="xla-explorer", description="Explore what an XLA-like compiler does to a program, and why.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    sub = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = sub.add_parser("tour", help="the whole path on two real modules; writes one HTML page")
    one.add_argument("-o", "--output", default="xla-explorer-tour.html", metavar="FILE", help="the page (default: %(default)s)")
    one.add_argument("--repeats", type=_positive, default=20, metavar="N", help="timed runs (default: %(default)s)")
    one.add_argument("--all", action="store_true", help="print every row of the tables")
    one.set_defaults(run="tour")

    one = sub.add_parser("lab", help="JupyterLab on copies of the tour and the course")
    one.add_argument("folder", nargs="?", default="xla-explorer-notebooks", help="where to put the copies (default: ./%(default)s)")
    one.add_argument("--no-browser", action="store_true", help="do not open a browser")
    one.add_argument("--port", type=int, default=None, help="port of the server")
    one.add_argument(
        "--jupyter", action="append", default=[], metavar="OPTION", help="further option of jupyter lab: --jupyter=--allow-root"
    )
    one.set_defaults(run="lab")

    one = sub.add_parser("run", help="compile and run a module")
    one.add_argument("file", help=FILE_HELP)
    _common(one)
    _inputs(one)
    one.add_argument("--check", action="store_true", help="compare with the numpy evaluator; exit code 1 when they differ")
    one.add_argument("--time", action="store_true", help="print a profile instead of the result")
    one.add_argument("-o", "--output", metavar="FILE.npz", help="write the results")
    one.set_defaults(run="run")

    one = sub.add_parser("opt", help="run passes and print the module")
    one.add_argument("file", help=FILE_HELP)
    _common(one, backend=False)
    one.add_argument("--trace", action="store_true", help="print what each pass did instead of the module")
    one.add_argument(
        "--format",
        default="default",
        choices=["default", "elided", "short-parsable", "canonical", "fingerprint", "long"],
        help="how to print (default: %(default)s)",
    )
    one.add_argument("-o", "--output", metavar="FILE", help="write the module")
    one.set_defaults(run="opt")

    one = sub.add_parser("explain", help="why: an instruction, a fusion (two instructions), or all decisions (none)")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("instruction", nargs="?", help="%%name: its life, code and decisions; with CONSUMER: why (not) fused into it")
    one.add_argument("consumer", nargs="?", help="%%name of the consumer")
    one.add_argument("--kind", default=None, help="only decisions of this kind: fusion, native-code, rule")
    _common(one)
    one.set_defaults(run="explain")

    one = sub.add_parser("compare", help="one module on several backends, one table")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("--backends", default="cpu,interpreter", help="names with commas (default: %(default)s)")
    _common(one, backend=False)
    _inputs(one)
    one.set_defaults(run="compare")

    one = sub.add_parser("bench", help="time modules on random arguments")
    one.add_argument("files", nargs="+", metavar="file", help=FILE_HELP)
    _common(one)
    one.add_argument("--seed", type=_seed, default=0)
    one.add_argument(
        "--repeats", type=_positive, default=None, metavar="N", help="timed runs (default: what fits in a quarter of a second)"
    )
    one.set_defaults(run="bench")

    one = sub.add_parser("why-slow", help="where the time goes on real XLA: of a module that runs now, or of a recorded profile")
    one.add_argument("file", help=f"{FILE_HELP}; or an *.xplane.pb file or the folder of jax.profiler.trace")
    one.add_argument("--json", action="store_true", help="print as JSON")
    one.add_argument("--hide-paths", action="store_true", help="of source files print the names alone, without their folders")
    _inputs(one)
    one.set_defaults(run="why_slow")

    one = sub.add_parser("schedule", help="the schedule of a kernel's loop nest: look at it, change it, run it beside the default kernel")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("--kernel", metavar="NAME", help="%%name of a kernel (default: a table of all kernels)")
    one.add_argument("--with", dest="text", metavar="TEXT", help="directives instead, from the plain nest: split{j,16},vectorize{ji}")
    one.add_argument("--run", dest="timed", action="store_true", help="compile the kernel alone, check and time it; 1 when values differ")
    one.add_argument("--threads", type=_positive, default=1, metavar="N", help="threads of the program (default: %(default)s)")
    one.add_argument("--repeats", type=_positive, default=21, metavar="N", help="timed rounds (default: %(default)s)")
    _common(one, backend=False)
    one.set_defaults(run="schedule")

    one = sub.add_parser("tune", help="search schedules of kernels that are faster than the default ones")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("--kernel", metavar="NAME", help="%%name of one kernel (default: all that have a loop nest)")
    one.add_argument("--budget", type=float, default=8.0, metavar="SECONDS", help="for each kernel (default: %(default)s)")
    one.add_argument("--threads", type=_positive, default=1, metavar="N", help="threads of the program (default: %(default)s)")
    one.add_argument("-o", "--output", metavar="FILE.sched", help="write the schedules, for xe.compile(..., schedules=FILE)")
    _common(one, backend=False)
    one.set_defaults(run="tune")

    one = sub.add_parser("check", help="hold kernels, bytes and fusion decisions against saved ones; exit code 1 when they differ")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("--against", required=True, metavar="SAVED.json", help="what an earlier check saved")
    one.add_argument("--save", action="store_true", help="write SAVED.json instead of reading it")
    _common(one)
    one.set_defaults(run="check")

    one = sub.add_parser("open", help="a folder of XLA's dumps or profiles in the browser: its modules by time, a page for each")
    one.add_argument("folder", help="what --xla_dump_to or a profiler wrote, or a folder that holds both")
    one.add_argument("--against", default=None, metavar="FOLDER", help="another such folder: what XLA decided otherwise there")
    one.add_argument("--save", default=None, metavar="PAGE.html", help="write the page of the longest module, serve nothing")
    one.add_argument("--port", type=int, default=0, help="port of the loopback interface (default: any that is free)")
    one.add_argument("--no-browser", action="store_true", help="print the address only")
    one.set_defaults(run="open_recorded")

    one = sub.add_parser("aot", help="object file, C header and examples for programs without Python")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("--triple", default="x86_64-linux-gnu", help="LLVM's name of the target (default: %(default)s)")
    one.add_argument("--cpu", default=None, help="x86-64-v3, neoverse-v1 ..., or native (default: the triple's baseline)")
    one.add_argument("--features", default=None, metavar="LIST", help="such as +v or +sve")
    one.add_argument("--prefix", default=None, metavar="NAME", help="begins every name in the header (default: the module's name)")
    one.add_argument("--libraries", action="store_true", help="the code may call CBLAS and LAPACK, which you link")
    one.add_argument("--weights", default="embed", choices=["embed", "pass"], help="constants in the object, or in a file (default: embed)")
    one.add_argument("-o", "--output", default=None, metavar="DIR", help="folder for the files (default: ./NAME)")
    _common(one, backend=False)
    one.set_defaults(run="aot")

    one = sub.add_parser("pjrt-plugin", help="a shared object with GetPjrtApi, for Python hosts that load a PJRT plugin from a file")
    one.add_argument("-o", "--output", default="libxla_explorer_pjrt.so", metavar="FILE", help="the file (default: %(default)s)")
    one.set_defaults(run="pjrt_plugin")

    one = sub.add_parser("new-backend", help="write an installable package with a backend to start from, and its tests")
    one.add_argument("name", help="name of the backend: lower case, digits, hyphens")
    one.add_argument("--scenario", type=int, choices=[1, 2, 3], required=True, help="1: another CPU by its LLVM triple; "
                     "2: no CPU, with an LLVM backend; 3: no LLVM")  # fmt: skip
    one.add_argument("-o", "--output", default=None, metavar="DIR", help="where to put it (default: ./xla_explorer_NAME)")
    one.set_defaults(run="new_backend")

    one = sub.add_parser("report", help="the exploration of a module as one HTML file")
    one.add_argument("file", help=FILE_HELP)
    one.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the page (default: %(default)s)")
    one.add_argument("--time", action="store_true", help="profile it too")
    _common(one, json=False)
    _inputs(one)
    one.set_defaults(run="report")

    one = sub.add_parser("grade", help="run course notebooks, each in a process of its own with limits, and judge their answers")
    one.add_argument("files", nargs="+", metavar="notebook", help="an .ipynb file")
    one.add_argument("--hidden", default=None, metavar="FILE.py", help="further checks, declared with xe.course.hidden")
    one.add_argument("--variant", type=_seed, default=0, metavar="N", help="judge on other random programs: those of this number")
    one.add_argument("--seconds", type=float, default=60.0, help="what one cell may take (default: %(default)s)")
    one.add_argument("--memory", type=_positive, default=4096, metavar="MIB", help="what a notebook may use (default: %(default)s)")
    one.add_argument("--json", action="store_true", help="print as JSON")
    one.set_defaults(run="grade")

    one = sub.add_parser("doctor", help="what this machine can do, and what adds the rest")
    one.add_argument("--json", action="store_true", help="print as JSON")
    one.add_argument("--measure-again", action="store_true", help="measure bandwidth and arithmetic peak again, keep what is higher")
    one.set_defaults(run="doctor")
    return parser


def _show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """A warning is one line for a reader, without the place in our code that gave it."""
    say(f"note: {message}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code."""
    if arguments is None:  # the program itself, not a call from Python
        end_without_collecting()
    given = make_parser().parse_args(arguments)
    from xla_explorer.cli import commands  # here, so that --help and a misspelt option answer at once

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
