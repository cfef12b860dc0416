"""The environment variables that this package reads.

The reference of the book is made of this table; `xe.doctor` finds names in the environment that
look like one of them and are none.

Those of the plugin for JAX, `XLA_EXPLORER_PJRT_...`, are the options of `pjrt/plugin_options.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from xla_explorer.foundation.suggestions import nearest

OURS = "XLA_EXPLORER_"
OF_THE_PLUGIN = "XLA_EXPLORER_PJRT_"


class Variable(NamedTuple):
    """An environment variable.

    meaning: its effect, as a phrase. values: the possible ones. default: the behaviour without it.
    """

    meaning: str
    values: str
    default: str


VARIABLES: dict[str, Variable] = {
    "XLA_EXPLORER_BLAS_CORETYPE": Variable(
        "the kernels of our copy of OpenBLAS; OPENBLAS_CORETYPE is for other copies",
        "a core as OpenBLAS spells it: `Haswell`",
        "by CPU",
    ),
    "XLA_EXPLORER_CACHE": Variable(
        "whether native code, measured limits and schedules are kept on disk",
        "`off`, `0`, `no`, `false`",
        "on",
    ),
    "XLA_EXPLORER_EMULATED_INSTRUCTIONS": Variable(
        "PTX instructions that a batch of blocks may execute on the emulator",
        "an integer above 0",
        "as `xe.options` shows",
    ),
    "XLA_EXPLORER_ISOLATE": Variable(
        "whether compiles and runs go into a child process", "`1`, or `0`", "0"
    ),
    "XLA_EXPLORER_LARGEST_FILE": Variable(
        "bytes that a gzipped file may become when it is read", "an integer above 0", "1 GiB"
    ),
    "XLA_EXPLORER_MCP_TOKEN": Variable(
        "the token that clients of `xla-explorer mcp --http` send", "a text", "a random one"
    ),
    "XLA_EXPLORER_MEMORY_LIMIT": Variable(
        "bytes that an isolated compile or run may take", "an integer above 0", "no limit"
    ),
    "XLA_EXPLORER_NVDISASM": Variable(
        "the program that disassembles machine code of NVIDIA",
        "a path",
        "PATH, CUDA, NVIDIA's wheels",
    ),
    "XLA_EXPLORER_PJRT_TRACEBACKS": Variable(
        "whether the plugin prints the traceback behind an error that JAX shows", "`1`", "not"
    ),
    "XLA_EXPLORER_PTXAS": Variable(
        "the program that assembles PTX", "a path", "PATH, CUDA, NVIDIA's wheels"
    ),
    "XLA_EXPLORER_TARGET": Variable(
        "the CPU, vectors and cores that programs are made for",
        "`x86-64-v4,prefer-256,cores=1`, each part by itself too",
        "this machine",
    ),
    "XLA_EXPLORER_TIMEOUT": Variable(
        "seconds that an isolated compile or run may take, or a run on the emulator",
        "a number above 0",
        "no end",
    ),
    "XLA_EXPLORER_WORKER_CLOCK": Variable(
        "the clock of timed runs of real XLA; set for comparisons on a machine with other work",
        "`process`: the processor time of all threads (recordings keep wall time)",
        "wall time",
    ),
    "XLA_EXPLORER_WORKER_DEVICES": Variable(
        "the platform whose first device a child with real XLA uses; set for comparisons of devices",
        "a platform as JAX names it: `cuda`",
        "cpu",
    ),
    "XLA_EXPLORER_XLA_OVERRIDES": Variable(
        "the overrides that act in real XLA's compiles of this process",
        "a file that `xe.xla.overrides(...).save` wrote",
        "none",
    ),
    "CUDA_HOME": Variable("the folder of CUDA; `CUDA_PATH` is read too", "a folder", "PATH"),
    "JAX_PLATFORMS": Variable(
        "on which platforms JAX runs a program; `xla_explorer` is ours",
        "names with commas",
        "JAX's own",
    ),
    "XDG_CACHE_HOME": Variable(
        "where caches are kept on Linux; on Windows `LOCALAPPDATA`", "a folder", "`~/.cache`"
    ),
    "XLA_FLAGS": Variable(
        "flags of real XLA, which its child processes get too",
        "`--xla_dump_to=folder` and others",
        "none",
    ),
}


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """Return variables with our prefix that nothing reads, each with the nearest name that is read.

    The nearest name is empty if none is near.
    """
    strange = sorted(
        name
        for name in environment
        if name.startswith(OURS) and name not in VARIABLES and not name.startswith(OF_THE_PLUGIN)
    )
    return [(name, next(iter(nearest(name, VARIABLES, 1)), "")) for name in strange]
