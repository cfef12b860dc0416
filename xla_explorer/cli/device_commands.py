"""The commands about programs on several devices."""

from __future__ import annotations

from xla_explorer.cli.command_parts import FILE, argument, command

PARTITIONS = argument(
    "--partitions",
    type=int,
    metavar="N",
    help="run on N virtual devices by the module's shardings; arguments and results are whole",
)
SHARD = command(
    "shard",
    "a program on several devices: its collectives, why they are there, what would change them",
    *FILE,
    argument("--mesh", metavar="AXES", help="data=2,model=4 (default: the module's)"),
    argument(
        "--set",
        dest="shardings",
        action="append",
        default=[],
        metavar="VALUE=AXES",
        help="annotate an argument or instruction: x=data,- (axes of each dimension); repeatable",
    ),
    argument(
        "--topology",
        default="h100",
        metavar="MACHINE",
        help="a100, h100, b200, tpu-v4 to tpu-v6e or cpu (default: %(default)s)",
    ),
    argument(
        "--policy",
        default="cost",
        choices=["cost", "xla"],
        help="the fewest bytes, or XLA's order of choices (default: %(default)s)",
    ),
    argument("--why", metavar="%NAME", help="why this collective is there"),
    argument("--search", action="store_true", help="search the shardings that --set leaves free"),
    argument(
        "--beside-xla", action="store_true", help="compare with the XLA of jaxlib (extra jax)"
    ),
    argument("--memory", metavar="SIZE", help="of a device for --search: 80GB (the machine's)"),
    argument("--shardings-of-values", action="store_true", help="print every value's sharding"),
    argument("--json", action="store_true", help="print as JSON"),
)
HOSTS = command(
    "hosts",
    "profiles of several hosts of one job on one clock: late hosts, stragglers, slow links",
    argument(
        "profiles",
        nargs="+",
        metavar="profile",
        help="an *.xplane.pb file or the folder of jax.profiler.trace for each host",
    ),
    argument("--json", action="store_true", help="print as JSON"),
    argument("-o", "--output", metavar="PAGE.html", help="write a page with a lane a device"),
)
