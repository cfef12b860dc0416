"""The commands about other compilers: real XLA, versions of it, and plugins of PJRT."""

from __future__ import annotations

from xla_explorer.cli.command_parts import (
    ENTRY,
    FILE_HELP,
    INPUTS,
    argument,
    command,
    positive,
    seed,
)

XLA_COMMANDS = (
    command(
        "why-slow",
        "where the time goes on real XLA, of a script, a module or a recorded profile",
        argument(
            "file",
            help=f"a Python script that uses jax; {FILE_HELP}; or an *.xplane.pb file or the "
            "folder of jax.profiler.trace",
        ),
        argument(
            "--script-args", default="", metavar="TEXT", help="arguments of the script, one text"
        ),
        argument(
            "--seconds",
            type=float,
            default=60.0,
            help="the script is ended after this time (default: %(default)s)",
        ),
        argument(
            "--search",
            type=float,
            default=None,
            metavar="SECONDS",
            help="of a script: try changes for so long, and time the script with them",
        ),
        argument(
            "-o",
            "--output",
            default="overrides.json",
            metavar="FILE.json",
            help="of --search: the changes that were faster (default: %(default)s)",
        ),
        *ENTRY,
        argument("--json", action="store_true", help="print as JSON"),
        argument(
            "--hide-paths",
            action="store_true",
            help="of source files print the names alone, without their folders",
        ),
        *INPUTS,
    ),
    command(
        "versions",
        "one script under several versions of jax: times, memory, decisions; exit code 1 when worse",
        argument("script", help="a Python file that uses jax; it stays as it is"),
        argument(
            "--jaxlib",
            nargs="+",
            required=True,
            metavar="VERSION",
            help="versions (0.10.2, 0.11), installed by pip once, or folders of environments",
        ),
        argument(
            "--flags",
            action="append",
            default=[],
            metavar="FLAGS",
            help="the last version with these flags of XLA too: --flags=--xla_x=1; may be repeated",
        ),
        argument(
            "--bisect",
            action="store_true",
            help="run the first and the last, then only those that lead to the first that is worse",
        ),
        argument(
            "--slower",
            type=float,
            default=1.1,
            metavar="RATIO",
            help="from this ratio of times on a version is worse (default: %(default)s)",
        ),
        argument(
            "--repeats",
            type=positive,
            default=20,
            metavar="N",
            help="timed runs of the main program (default: %(default)s)",
        ),
        argument(
            "--script-args", default="", metavar="TEXT", help="arguments of the script, one text"
        ),
        argument(
            "--seconds",
            type=float,
            default=600.0,
            help="limit of one run of the script (default: %(default)s)",
        ),
        argument("-o", "--output", default=None, metavar="PAGE.html", help="write a page"),
        argument("--json", action="store_true", help="print as JSON"),
    ),
    command(
        "conform",
        "run the conformance programs on a PJRT plugin; exit code 1 when one is wrong or crashes",
        argument("plugin", help="a shared object with GetPjrtApi, or `jaxlib` for JAX's own CPU"),
        argument("--opcodes", default="", metavar="LIST", help="only these, with commas"),
        argument("--types", default="", metavar="LIST", help="only these, such as f32,s32"),
        argument("--seed", type=seed, default=0, help="of the arguments (default: %(default)s)"),
        argument(
            "--harnesses",
            type=positive,
            default=None,
            metavar="N",
            help="run about N of JAX's own test programs, too (extra jax, absl-py)",
        ),
        argument(
            "--most",
            type=positive,
            default=10,
            metavar="N",
            help="failures that are minimised, one for each opcode (default: %(default)s)",
        ),
        argument("-o", "--output", default=None, metavar="PAGE.html", help="write a page"),
        argument("--badge", default=None, metavar="FILE.svg", help="write a badge"),
        argument("--json", action="store_true", help="print the rows as JSON"),
    ),
)
