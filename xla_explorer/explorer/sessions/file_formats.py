"""The files that this package reads and writes.

What `xe.load` takes for a path, and the reference of the book, follow from this table.
"""

from __future__ import annotations

from typing import NamedTuple


class FileFormat(NamedTuple):
    """A kind of file.

    suffixes: of file names. holds: the contents. read_by, written_by: calls, commands, others'
    programs; or none.
    """

    suffixes: tuple[str, ...]
    holds: str
    read_by: str
    written_by: str


FORMATS: dict[str, FileFormat] = {
    "HLO text": FileFormat(
        (".hlo", ".txt"),
        "one module, as XLA prints it",
        "`xe.load`, every command",
        "`xla-explorer opt`, `module.to_text()`, XLA",
    ),
    "StableHLO or MHLO text": FileFormat(
        (".mlir", ".stablehlo", ".mhlo"),
        "one module of MLIR",
        "`xe.load`",
        "JAX, PyTorch, TensorFlow",
    ),
    "MLIR bytecode": FileFormat(
        (".mlirbc",),
        "one module of StableHLO, or `jax.export`'s container of it",
        "`xe.load` (extra `jax`)",
        "JAX",
    ),
    "HLO proto": FileFormat(
        (".pb",), "HloModuleProto, HloProto or HloSnapshot", "`xe.load`", "XLA"
    ),
    "gzip": FileFormat((".gz",), "any of the above, packed", "`xe.load`", "gzip"),
    "XLA's dump": FileFormat(
        (),
        "a folder of modules between passes",
        "`xe.load`, `xla-explorer open`",
        "`XLA_FLAGS=--xla_dump_to`",
    ),
    "saved model": FileFormat(
        (),
        "a folder of TensorFlow's SavedModel or torch_xla's `save_as_stablehlo`",
        "`xe.load`",
        "TensorFlow, torch_xla",
    ),
    "profile of XLA": FileFormat(
        (".xplane.pb",),
        "planes, lines and events",
        "`xe.xla.read_profile`, `xla-explorer why-slow`",
        "`jax.profiler.trace`",
    ),
    "page": FileFormat(
        (".html",),
        "a compile with all of its steps, for a browser, without a network",
        "",
        "`session.save`, `xla-explorer report`",
    ),
    "timeline": FileFormat(
        (".json",), "a Chrome trace", "`xe.read_timeline`, Perfetto", "`session.timeline`"
    ),
    "saved check": FileFormat(
        (".json",),
        "kernels, bytes and fusion decisions of a compile",
        "`xla-explorer check`",
        "`xla-explorer check --save`",
    ),
    "schedules": FileFormat(
        (".sched",),
        "a line a kernel: its name and its schedule",
        "`xe.compile(..., schedules=FILE)`",
        "`xla-explorer tune -o`",
    ),
    "sweep": FileFormat(
        (".jsonl",),
        "one row per line, so that a stopped sweep continues there",
        "`xe.sweep(store=...)`",
        "`xe.sweep(store=...)`",
    ),
    "program without Python": FileFormat(
        (".o", ".h"),
        "an object file and its C header",
        "C and C++ compilers",
        "`xe.aot`, `xla-explorer aot`",
    ),
    "arguments": FileFormat((".npy",), "one array", "`--args` of commands", "numpy"),
    "results": FileFormat((".npz",), "arrays", "numpy", "`xla-explorer run -o`"),
    "picture": FileFormat((".svg",), "a graph", "browsers", "`xe.graph(session).save`"),
}
MLIR_SUFFIXES = frozenset(
    [
        suffix
        for name in ("StableHLO or MHLO text", "MLIR bytecode")
        for suffix in FORMATS[name].suffixes
    ]
)
MODULE_SUFFIXES = (
    *FORMATS["HLO text"].suffixes,
    *sorted(MLIR_SUFFIXES),
    *FORMATS["HLO proto"].suffixes,
    *FORMATS["gzip"].suffixes,
)
"""How names of files end that hold a module."""
