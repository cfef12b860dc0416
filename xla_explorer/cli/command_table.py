"""The commands of `xla-explorer` and their arguments, a row each."""

from __future__ import annotations

from xla_explorer.cli.command_parts import (
    ENTRY,
    FILE,
    FILE_HELP,
    INPUTS,
    argument,
    command,
    common,
    positive,
    seed,
)
from xla_explorer.cli.device_commands import HOSTS, PARTITIONS, SHARD
from xla_explorer.cli.xla_commands import XLA_COMMANDS

COMMANDS = (
    command(
        "tour",
        "the whole path on two real modules; writes one HTML page and opens it",
        argument(
            "-o",
            "--output",
            default="xla-explorer-tour.html",
            metavar="FILE",
            help="the page (default: %(default)s)",
        ),
        argument(
            "--repeats",
            type=positive,
            default=20,
            metavar="N",
            help="timed runs (default: %(default)s)",
        ),
        argument("--no-browser", action="store_true", help="do not open the page"),
        argument("--all", action="store_true", help="print every row of the tables"),
    ),
    command(
        "lab",
        "JupyterLab on copies of the tour and the course",
        argument(
            "folder",
            nargs="?",
            default="xla-explorer-notebooks",
            help="where to put the copies (default: ./%(default)s)",
        ),
        argument("--no-browser", action="store_true", help="do not open a browser"),
        argument("--port", type=int, default=None, help="port of the server"),
        argument(
            "--jupyter",
            action="append",
            default=[],
            metavar="OPTION",
            help="further option of jupyter lab: --jupyter=--allow-root",
        ),
    ),
    command(
        "run",
        "compile and run a module",
        *FILE,
        *common(),
        *INPUTS,
        argument(
            "--check",
            action="store_true",
            help="compare with the numpy evaluator; exit code 1 when they differ",
        ),
        argument("--time", action="store_true", help="print a profile instead of the result"),
        PARTITIONS,
        argument("-o", "--output", metavar="FILE.npz", help="write the results"),
    ),
    command(
        "opt",
        "run passes and print the module",
        *FILE,
        *common(backend=False),
        argument(
            "--trace", action="store_true", help="print what each pass did instead of the module"
        ),
        argument(
            "--format",
            default="default",
            choices=["default", "elided", "short-parsable", "canonical", "fingerprint", "long"],
            help="how to print (default: %(default)s)",
        ),
        argument("-o", "--output", metavar="FILE", help="write the module"),
    ),
    command(
        "explain",
        "why: an instruction, a fusion (two instructions), or all decisions (none)",
        *FILE,
        argument(
            "instruction",
            nargs="?",
            help="%%name: its life, code and decisions; with CONSUMER: why (not) fused into it",
        ),
        argument("consumer", nargs="?", help="%%name of the consumer"),
        argument(
            "--kind", default=None, help="only decisions of this kind: fusion, native-code, rule"
        ),
        *common(),
    ),
    command(
        "ask",
        'one question of a compile, as in Python: "decisions(\'fusion\')", "passes[3].text"',
        *FILE,
        argument(
            "call",
            nargs="?",
            help="a method of a session with its arguments; [20:40] behind it: those rows alone. "
            "Without: all questions",
        ),
        argument("--rows", type=positive, default=None, metavar="N", help="the most rows or lines"),
        argument(
            "--tokens",
            type=positive,
            default=None,
            metavar="N",
            help="the most tokens of a language model that the answer may have",
        ),
        argument(
            "--page",
            default="",
            metavar="PAGE.html",
            help="a page of `report`: add a link to the place in it that shows the first row",
        ),
        *common(),
    ),
    SHARD,
    HOSTS,
    command(
        "compare",
        "one module on several backends, one table",
        *FILE,
        argument(
            "--backends", default="cpu,interpreter", help="names with commas (default: %(default)s)"
        ),
        *common(backend=False),
        *INPUTS,
    ),
    command(
        "bench",
        "time modules on random arguments",
        argument("files", nargs="+", metavar="file", help=FILE_HELP),
        *ENTRY,
        *common(),
        argument("--seed", type=seed, default=0),
        argument(
            "--repeats",
            type=positive,
            default=None,
            metavar="N",
            help="timed runs (default: what fits in a quarter of a second)",
        ),
    ),
    command(
        "schedule",
        "the schedule of a kernel's loop nest: look at it, change it, run it beside the default "
        "kernel",
        *FILE,
        argument(
            "--kernel", metavar="NAME", help="%%name of a kernel (default: a table of all kernels)"
        ),
        argument(
            "--with",
            dest="text",
            metavar="TEXT",
            help="directives instead, from the plain nest: split{j,16},vectorize{ji}",
        ),
        argument(
            "--run",
            dest="timed",
            action="store_true",
            help="compile the kernel alone, check and time it; 1 when values differ",
        ),
        argument(
            "--threads",
            type=positive,
            default=1,
            metavar="N",
            help="threads of the program (default: %(default)s)",
        ),
        argument(
            "--repeats",
            type=positive,
            default=21,
            metavar="N",
            help="timed rounds (default: %(default)s)",
        ),
        *common(backend=False),
    ),
    command(
        "tune",
        "search schedules of kernels that are faster than the default ones",
        *FILE,
        argument(
            "--kernel",
            metavar="NAME",
            help="%%name of one kernel (default: all that have a loop nest)",
        ),
        argument(
            "--budget",
            type=float,
            default=8.0,
            metavar="SECONDS",
            help="for each kernel (default: %(default)s)",
        ),
        argument(
            "--threads",
            type=positive,
            default=1,
            metavar="N",
            help="threads of the program (default: %(default)s)",
        ),
        argument(
            "-o",
            "--output",
            metavar="FILE.sched",
            help="write the schedules, for xe.compile(..., schedules=FILE)",
        ),
        *common(backend=False),
    ),
    command(
        "bisect",
        "the first pass, and its first rewrite, after which values differ; exit code 1 when some "
        "do",
        *FILE,
        *INPUTS[:2],
        *common(),
    ),
    command(
        "same",
        "whether two modules give the same results, on arguments chosen to show that not; 1 if not",
        argument("first", help=f"the reference: {FILE_HELP}"),
        argument("second", help="the candidate, of the same parameters"),
        *ENTRY,
        argument(
            "--claim",
            default="real",
            metavar="CLAIM",
            help="bitwise, numeric, a number of ulps, real or fast (default: %(default)s)",
        ),
        argument(
            "--backend",
            default=None,
            help="compile both for this backend (default: the reference evaluator)",
        ),
        argument(
            "--compiled",
            action="store_true",
            help="compile the candidate alone, for the backend (default: cpu)",
        ),
        argument("--seed", type=seed, default=0, help="seed of random arguments"),
        argument(
            "--seconds",
            type=float,
            default=60.0,
            metavar="N",
            help="time after which no new arguments are tried (default: %(default)s)",
        ),
        argument("--json", action="store_true", help="print as JSON"),
    ),
    command(
        "mcp",
        "tools for agents by the Model Context Protocol, over stdio or HTTP (extra mcp)",
        argument(
            "folders",
            nargs="*",
            default=["."],
            metavar="folder",
            help="the folders whose modules may be read (default: this one)",
        ),
        argument(
            "--http",
            type=int,
            default=None,
            metavar="PORT",
            help="serve HTTP on this port of 127.0.0.1, 0 for a free one (default: stdio); the "
            "token "
            "is printed, or that of XLA_EXPLORER_MCP_TOKEN",
        ),
        argument("--no-run", action="store_true", help="refuse tools that run the program"),
        argument(
            "--seconds",
            type=float,
            default=120.0,
            metavar="N",
            help="limit of a compile or a run (default: %(default)s)",
        ),
        argument("--skill", action="store_true", help="print the skill text for agents"),
    ),
    command(
        "minimize",
        "minimize a module while a command finds that it still fails",
        *FILE,
        argument(
            "--test",
            required=True,
            metavar="COMMAND",
            help="gets the path of a smaller module; exit code 0: it still fails",
        ),
        argument(
            "--seconds",
            type=float,
            default=60.0,
            metavar="S",
            help="when to stop (default: %(default)s)",
        ),
        argument(
            "-o",
            "--output",
            metavar="FILE.hlo",
            help="write the smallest module here (default: print it)",
        ),
    ),
    command(
        "check",
        "hold kernels, bytes and fusion decisions against saved ones; exit code 1 when they differ",
        *FILE,
        argument(
            "--against", required=True, metavar="SAVED.json", help="what an earlier check saved"
        ),
        argument("--save", action="store_true", help="write SAVED.json instead of reading it"),
        *common(),
    ),
    command(
        "open",
        "a folder of XLA's dumps or profiles in the browser: its modules by time, a page for each",
        argument(
            "folder", help="what --xla_dump_to or a profiler wrote, or a folder that holds both"
        ),
        argument(
            "--against",
            default=None,
            metavar="FOLDER",
            help="another such folder: what XLA decided otherwise there",
        ),
        argument(
            "--save",
            default=None,
            metavar="PAGE.html",
            help="write the page of the longest module, serve nothing",
        ),
        argument(
            "--port",
            type=int,
            default=0,
            help="port of the loopback interface (default: any that is free)",
        ),
        argument("--no-browser", action="store_true", help="print the address only"),
        run="open_recorded",
    ),
    command(
        "aot",
        "object file, C header and examples for programs without Python",
        *FILE,
        argument(
            "--triple",
            default="x86_64-linux-gnu",
            help="LLVM's name of the target (default: %(default)s)",
        ),
        argument(
            "--cpu",
            default=None,
            help="x86-64-v3, neoverse-v1 ..., or native (default: the triple's baseline)",
        ),
        argument("--features", default=None, metavar="LIST", help="such as +v or +sve"),
        argument(
            "--prefix",
            default=None,
            metavar="NAME",
            help="begins every name in the header (default: the module's name)",
        ),
        argument(
            "--libraries",
            action="store_true",
            help="the code may call CBLAS and LAPACK, which you link",
        ),
        argument(
            "--weights",
            default="embed",
            choices=["embed", "pass"],
            help="constants in the object, or in a file (default: embed)",
        ),
        argument(
            "-o",
            "--output",
            default=None,
            metavar="DIR",
            help="folder for the files (default: ./NAME)",
        ),
        *common(backend=False),
    ),
    command(
        "pjrt-plugin",
        "a shared object with GetPjrtApi, for Python hosts that load a PJRT plugin from a file",
        argument(
            "-o",
            "--output",
            default="libxla_explorer_pjrt.so",
            metavar="FILE",
            help="the file (default: %(default)s)",
        ),
    ),
    command(
        "new-backend",
        "write an installable package with a backend to start from, and its tests",
        argument("name", help="name of the backend: lower case, digits, hyphens"),
        argument(
            "--scenario",
            type=int,
            choices=[1, 2, 3],
            required=True,
            help="1: another CPU by its LLVM triple; 2: no CPU, with an LLVM backend; 3: no LLVM",
        ),
        argument(
            "-o",
            "--output",
            default=None,
            metavar="DIR",
            help="where to put it (default: ./xla_explorer_NAME)",
        ),
    ),
    command(
        "report",
        "the exploration of a module as one HTML file",
        *FILE,
        argument(
            "-o",
            "--output",
            default="report.html",
            metavar="FILE",
            help="the page (default: %(default)s)",
        ),
        argument("--time", action="store_true", help="profile it too"),
        *common(json=False),
        *INPUTS,
    ),
    command(
        "grade",
        "run course notebooks, each in a process of its own with limits, and judge their answers",
        argument("files", nargs="+", metavar="notebook", help="an .ipynb file"),
        argument(
            "--hidden",
            default=None,
            metavar="FILE.py",
            help="further checks, declared with xe.course.hidden",
        ),
        argument(
            "--variant",
            type=seed,
            default=0,
            metavar="N",
            help="judge on other random programs: those of this number",
        ),
        argument(
            "--seconds",
            type=float,
            default=60.0,
            help="what one cell may take (default: %(default)s)",
        ),
        argument(
            "--memory",
            type=positive,
            default=4096,
            metavar="MIB",
            help="what a notebook may use (default: %(default)s)",
        ),
        argument("--json", action="store_true", help="print as JSON"),
    ),
    *XLA_COMMANDS,
    command(
        "doctor",
        "what this machine can do, and what adds the rest",
        argument("--json", action="store_true", help="print as JSON"),
        argument(
            "--measure-again",
            action="store_true",
            help="measure bandwidth and arithmetic peak again, keep what is higher",
        ),
    ),
)
