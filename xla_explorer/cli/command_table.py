"""The commands of `xla-explorer` and their arguments, a row each."""

from __future__ import annotations

import argparse
import ast
from typing import Any, NamedTuple

_FILE_HELP = (
    "file of HLO or StableHLO (.hlo, .txt, .hlo.pb, .mlir, also .gz), or - for standard input"
)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed must be an integer of at least 0, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"a number of runs must be an integer of at least 1, got {text!r}"
        )
    return int(text)


def _shapes(text: str) -> list[Any]:
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


def _argument(*names: str, **how: Any) -> Argument:
    return names, how


def _command(name: str, help: str, *arguments: Argument, run: str = "") -> Command:
    return Command(name, help, arguments, run or name.replace("-", "_"))


def _common(*, backend: bool = True, json: bool = True) -> list[Argument]:
    found = [
        _argument(
            "--passes",
            default="default",
            metavar="PIPELINE",
            help="default, none, or e.g. algsimp,cse,dce (default: %(default)s)",
        ),
        _argument(
            "--backend",
            default="cpu",
            help="cpu, gpu, interpreter or a plug-in (default: %(default)s)",
        ),
        _argument("--json", action="store_true", help="print tables as JSON"),
    ]
    return [one for one, wanted in zip(found, (True, backend, json), strict=True) if wanted]


_ENTRY = (
    _argument(
        "--function", metavar="NAME", help="of StableHLO with several functions, the one that runs"
    ),
    _argument(
        "--shapes",
        type=_shapes,
        metavar="SHAPES",
        help="of StableHLO with dynamic sizes, a shape for each argument: '[(2, 3), None]'",
    ),
)
_FILE = (_argument("file", help=_FILE_HELP), *_ENTRY)
_INPUTS = (
    _argument(
        "--args",
        nargs="*",
        default=[],
        metavar="FILE.npy",
        help="arguments, one .npy file per parameter (default: random)",
    ),
    _argument(
        "--seed", type=_seed, default=0, help="seed of random arguments (default: %(default)s)"
    ),
    _argument(
        "--repeats",
        type=_positive,
        default=20,
        metavar="N",
        help="timed runs (default: %(default)s)",
    ),
)


COMMANDS = (
    _command(
        "tour",
        "the whole path on two real modules; writes one HTML page and opens it",
        _argument(
            "-o",
            "--output",
            default="xla-explorer-tour.html",
            metavar="FILE",
            help="the page (default: %(default)s)",
        ),
        _argument(
            "--repeats",
            type=_positive,
            default=20,
            metavar="N",
            help="timed runs (default: %(default)s)",
        ),
        _argument("--no-browser", action="store_true", help="do not open the page"),
        _argument("--all", action="store_true", help="print every row of the tables"),
    ),
    _command(
        "lab",
        "JupyterLab on copies of the tour and the course",
        _argument(
            "folder",
            nargs="?",
            default="xla-explorer-notebooks",
            help="where to put the copies (default: ./%(default)s)",
        ),
        _argument("--no-browser", action="store_true", help="do not open a browser"),
        _argument("--port", type=int, default=None, help="port of the server"),
        _argument(
            "--jupyter",
            action="append",
            default=[],
            metavar="OPTION",
            help="further option of jupyter lab: --jupyter=--allow-root",
        ),
    ),
    _command(
        "run",
        "compile and run a module",
        *_FILE,
        *_common(),
        *_INPUTS,
        _argument(
            "--check",
            action="store_true",
            help="compare with the numpy evaluator; exit code 1 when they differ",
        ),
        _argument("--time", action="store_true", help="print a profile instead of the result"),
        _argument("-o", "--output", metavar="FILE.npz", help="write the results"),
    ),
    _command(
        "opt",
        "run passes and print the module",
        *_FILE,
        *_common(backend=False),
        _argument(
            "--trace", action="store_true", help="print what each pass did instead of the module"
        ),
        _argument(
            "--format",
            default="default",
            choices=["default", "elided", "short-parsable", "canonical", "fingerprint", "long"],
            help="how to print (default: %(default)s)",
        ),
        _argument("-o", "--output", metavar="FILE", help="write the module"),
    ),
    _command(
        "explain",
        "why: an instruction, a fusion (two instructions), or all decisions (none)",
        *_FILE,
        _argument(
            "instruction",
            nargs="?",
            help="%%name: its life, code and decisions; with CONSUMER: why (not) fused into it",
        ),
        _argument("consumer", nargs="?", help="%%name of the consumer"),
        _argument(
            "--kind", default=None, help="only decisions of this kind: fusion, native-code, rule"
        ),
        *_common(),
    ),
    _command(
        "compare",
        "one module on several backends, one table",
        *_FILE,
        _argument(
            "--backends", default="cpu,interpreter", help="names with commas (default: %(default)s)"
        ),
        *_common(backend=False),
        *_INPUTS,
    ),
    _command(
        "bench",
        "time modules on random arguments",
        _argument("files", nargs="+", metavar="file", help=_FILE_HELP),
        *_ENTRY,
        *_common(),
        _argument("--seed", type=_seed, default=0),
        _argument(
            "--repeats",
            type=_positive,
            default=None,
            metavar="N",
            help="timed runs (default: what fits in a quarter of a second)",
        ),
    ),
    _command(
        "why-slow",
        "where the time goes on real XLA, of a module or of a recorded profile",
        _argument(
            "file", help=f"{_FILE_HELP}; or an *.xplane.pb file or the folder of jax.profiler.trace"
        ),
        *_ENTRY,
        _argument("--json", action="store_true", help="print as JSON"),
        _argument(
            "--hide-paths",
            action="store_true",
            help="of source files print the names alone, without their folders",
        ),
        *_INPUTS,
    ),
    _command(
        "schedule",
        "the schedule of a kernel's loop nest: look at it, change it, run it beside the default kernel",
        *_FILE,
        _argument(
            "--kernel", metavar="NAME", help="%%name of a kernel (default: a table of all kernels)"
        ),
        _argument(
            "--with",
            dest="text",
            metavar="TEXT",
            help="directives instead, from the plain nest: split{j,16},vectorize{ji}",
        ),
        _argument(
            "--run",
            dest="timed",
            action="store_true",
            help="compile the kernel alone, check and time it; 1 when values differ",
        ),
        _argument(
            "--threads",
            type=_positive,
            default=1,
            metavar="N",
            help="threads of the program (default: %(default)s)",
        ),
        _argument(
            "--repeats",
            type=_positive,
            default=21,
            metavar="N",
            help="timed rounds (default: %(default)s)",
        ),
        *_common(backend=False),
    ),
    _command(
        "tune",
        "search schedules of kernels that are faster than the default ones",
        *_FILE,
        _argument(
            "--kernel",
            metavar="NAME",
            help="%%name of one kernel (default: all that have a loop nest)",
        ),
        _argument(
            "--budget",
            type=float,
            default=8.0,
            metavar="SECONDS",
            help="for each kernel (default: %(default)s)",
        ),
        _argument(
            "--threads",
            type=_positive,
            default=1,
            metavar="N",
            help="threads of the program (default: %(default)s)",
        ),
        _argument(
            "-o",
            "--output",
            metavar="FILE.sched",
            help="write the schedules, for xe.compile(..., schedules=FILE)",
        ),
        *_common(backend=False),
    ),
    _command(
        "bisect",
        "the first pass, and its first rewrite, after which values differ; exit code 1 when some do",
        *_FILE,
        *_INPUTS[:2],
        *_common(),
    ),
    _command(
        "minimize",
        "minimize a module while a command finds that it still fails",
        *_FILE,
        _argument(
            "--test",
            required=True,
            metavar="COMMAND",
            help="gets the path of a smaller module; exit code 0: it still fails",
        ),
        _argument(
            "--seconds",
            type=float,
            default=60.0,
            metavar="S",
            help="when to stop (default: %(default)s)",
        ),
        _argument(
            "-o",
            "--output",
            metavar="FILE.hlo",
            help="write the smallest module here (default: print it)",
        ),
    ),
    _command(
        "check",
        "hold kernels, bytes and fusion decisions against saved ones; exit code 1 when they differ",
        *_FILE,
        _argument(
            "--against", required=True, metavar="SAVED.json", help="what an earlier check saved"
        ),
        _argument("--save", action="store_true", help="write SAVED.json instead of reading it"),
        *_common(),
    ),
    _command(
        "open",
        "a folder of XLA's dumps or profiles in the browser: its modules by time, a page for each",
        _argument(
            "folder", help="what --xla_dump_to or a profiler wrote, or a folder that holds both"
        ),
        _argument(
            "--against",
            default=None,
            metavar="FOLDER",
            help="another such folder: what XLA decided otherwise there",
        ),
        _argument(
            "--save",
            default=None,
            metavar="PAGE.html",
            help="write the page of the longest module, serve nothing",
        ),
        _argument(
            "--port",
            type=int,
            default=0,
            help="port of the loopback interface (default: any that is free)",
        ),
        _argument("--no-browser", action="store_true", help="print the address only"),
        run="open_recorded",
    ),
    _command(
        "aot",
        "object file, C header and examples for programs without Python",
        *_FILE,
        _argument(
            "--triple",
            default="x86_64-linux-gnu",
            help="LLVM's name of the target (default: %(default)s)",
        ),
        _argument(
            "--cpu",
            default=None,
            help="x86-64-v3, neoverse-v1 ..., or native (default: the triple's baseline)",
        ),
        _argument("--features", default=None, metavar="LIST", help="such as +v or +sve"),
        _argument(
            "--prefix",
            default=None,
            metavar="NAME",
            help="begins every name in the header (default: the module's name)",
        ),
        _argument(
            "--libraries",
            action="store_true",
            help="the code may call CBLAS and LAPACK, which you link",
        ),
        _argument(
            "--weights",
            default="embed",
            choices=["embed", "pass"],
            help="constants in the object, or in a file (default: embed)",
        ),
        _argument(
            "-o",
            "--output",
            default=None,
            metavar="DIR",
            help="folder for the files (default: ./NAME)",
        ),
        *_common(backend=False),
    ),
    _command(
        "pjrt-plugin",
        "a shared object with GetPjrtApi, for Python hosts that load a PJRT plugin from a file",
        _argument(
            "-o",
            "--output",
            default="libxla_explorer_pjrt.so",
            metavar="FILE",
            help="the file (default: %(default)s)",
        ),
    ),
    _command(
        "new-backend",
        "write an installable package with a backend to start from, and its tests",
        _argument("name", help="name of the backend: lower case, digits, hyphens"),
        _argument(
            "--scenario",
            type=int,
            choices=[1, 2, 3],
            required=True,
            help="1: another CPU by its LLVM triple; 2: no CPU, with an LLVM backend; 3: no LLVM",
        ),
        _argument(
            "-o",
            "--output",
            default=None,
            metavar="DIR",
            help="where to put it (default: ./xla_explorer_NAME)",
        ),
    ),
    _command(
        "report",
        "the exploration of a module as one HTML file",
        *_FILE,
        _argument(
            "-o",
            "--output",
            default="report.html",
            metavar="FILE",
            help="the page (default: %(default)s)",
        ),
        _argument("--time", action="store_true", help="profile it too"),
        *_common(json=False),
        *_INPUTS,
    ),
    _command(
        "grade",
        "run course notebooks, each in a process of its own with limits, and judge their answers",
        _argument("files", nargs="+", metavar="notebook", help="an .ipynb file"),
        _argument(
            "--hidden",
            default=None,
            metavar="FILE.py",
            help="further checks, declared with xe.course.hidden",
        ),
        _argument(
            "--variant",
            type=_seed,
            default=0,
            metavar="N",
            help="judge on other random programs: those of this number",
        ),
        _argument(
            "--seconds",
            type=float,
            default=60.0,
            help="what one cell may take (default: %(default)s)",
        ),
        _argument(
            "--memory",
            type=_positive,
            default=4096,
            metavar="MIB",
            help="what a notebook may use (default: %(default)s)",
        ),
        _argument("--json", action="store_true", help="print as JSON"),
    ),
    _command(
        "doctor",
        "what this machine can do, and what adds the rest",
        _argument("--json", action="store_true", help="print as JSON"),
        _argument(
            "--measure-again",
            action="store_true",
            help="measure bandwidth and arithmetic peak again, keep what is higher",
        ),
    ),
)
