"""The sweep: tasks from modules and options, rows from an executor, a frame in task order."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.comparisons.sweep.executors import choose
from xla_explorer.explorer.comparisons.sweep.task import Task
from xla_explorer.explorer.display import wide_frame
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.explorer.sessions.progress import counted
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    "module",
    "option",
    "backend",
    "status",
    "error",
    "note",
    "instructions",
    "kernels",
    "flops",
    "bytes",
    "peak_bytes",
    "compile_seconds",
    "median_us",
    "iqr_us",
    "n",
    "max_error",
    "host",
    "load",
    "process",
    "xla_explorer",
    "python",
    "numpy",
    "when",
    "key",
]


class SweepError(XlaExplorerError, ValueError):
    """Modules or options that cannot be swept."""


@explains_arguments
def sweep(
    modules: Any,
    options: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    executor: Any = None,
    *,
    repeats: int = 10,
    check: bool = True,
    seed: int = 0,
    store: str | Path | None = None,
    retries: int = 2,
) -> pandas.DataFrame:
    """Compile, check and time every module with every option; failures are rows too.

    Rows are in order. Compiles run in parallel; timings of one machine never do.

    Parameters
    ----------
    modules
        A mapping from names, or a sequence, of modules, HLO texts, paths or traced functions.
    options
        A sequence (or a mapping from names) of keyword arguments of `xe.compile`, such as
        `[{"passes": "default"}, {"passes": "none"}]`; or a mapping from a keyword to a list of its
        values; every combination is run.
    executor
        None for this process; a number of child processes; a `concurrent.futures` executor; a
        `dask.distributed.Client` (extra `sweep`).
    repeats
        Timed runs (0: none).
    check
        Compare with the evaluator.
    seed
        Of the random arguments.
    store
        A file of finished rows. The same sweep with the same file continues where it ended, and
        repeats nothing.
    retries
        How often a task is tried again after its worker died.

    Returns
    -------
    pandas.DataFrame
        Columns: module, option, backend, status (`ok`, `values differ`, `failed`, `crashed`),
        error, note, instructions, kernels, flops, bytes, peak_bytes (estimates and sizes of the
        result), compile_seconds, median_us, iqr_us, n, max_error, and host, load, versions and
        time.

    Raises
    ------
    SweepError
        There is nothing to sweep, or options cannot be written as plain data.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> frame = xe.sweep({"gelu": text}, {"passes": ["default", "none"]}, repeats=0)
    >>> list(frame["status"])
    ['ok', 'ok']
    """
    tasks = [
        Task(name, text, option, settings, repeats, check, seed)
        for name, text in _named_texts(modules)
        for option, settings in named_options(options)
    ]
    if not tasks:
        raise SweepError("nothing to sweep: no module or no option", "pass at least one of each")
    kept = RowStore(Path(store) if store is not None else None)
    keys = [task.key for task in tasks]
    missing = [k for k, key in enumerate(keys) if key not in kept.rows]
    for number, row in counted(
        choose(executor, retries)([tasks[k] for k in missing]), "sweep", len(missing), "tasks"
    ):
        kept.add({**row, "key": keys[missing[number]]})
    # Equal tasks under two names share a row's facts, not its names.
    rows = [
        {**kept.rows[key], "module": task.module, "option": task.option}
        for task, key in zip(tasks, keys, strict=True)
    ]
    return wide_frame([[row.get(column) for column in COLUMNS] for row in rows], COLUMNS)


def _named_texts(modules: Any) -> list[tuple[str, str]]:
    pairs: Iterable[tuple[str | None, Any]]
    if isinstance(modules, Mapping):
        pairs = modules.items()
    elif isinstance(modules, Sequence) and not isinstance(modules, str | bytes):
        pairs = [(None, given) for given in modules]
    else:
        pairs = [(None, modules)]
    found, taken = [], set[str]()
    for name, given in pairs:
        module = as_module(given)
        stem = name or (given.stem if isinstance(given, Path) else module.name)
        unique = next(
            n
            for n in itertools.chain([stem], (f"{stem}.{k}" for k in itertools.count(2)))
            if n not in taken
        )
        taken.add(unique)
        found.append((unique, module.to_text()))
    return found


def named_options(options: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return names and keyword arguments, from any of the three forms that `sweep` takes."""
    named: list[tuple[str, dict[str, Any]]]
    if options is None:
        named = [("default", {})]
    elif isinstance(options, Mapping) and all(
        isinstance(value, Mapping) for value in options.values()
    ):
        named = [(str(name), dict(value)) for name, value in options.items()]
    elif isinstance(options, Mapping):
        grid = [value if isinstance(value, list | tuple) else [value] for value in options.values()]
        named = [
            ("", dict(zip(options, values, strict=True))) for values in itertools.product(*grid)
        ]
    else:
        settings_of_each = list(options)
        for value in settings_of_each:
            if not isinstance(value, Mapping):
                raise SweepError(
                    f"options must list mappings of keyword arguments, got {type(value).__name__}",
                    'write options=[{"passes": "none"}, {"passes": "default"}]',
                )
        named = [("", dict(value)) for value in settings_of_each]
    made = []
    for name, settings in named:
        try:
            text = json.dumps(settings, sort_keys=True)
        except TypeError as problem:
            hint = "use strings, numbers, lists: pipelines as text"
            raise SweepError(f"the option {settings} is not plain data: {problem}", hint) from None
        made.append(
            (name or ", ".join([f"{k}={v}" for k, v in settings.items()]) or text, settings)
        )
    return made


class RowStore:
    """A file to which rows are appended; `rows` by key are those of earlier runs.

    A line torn by a kill is dropped, and so is a row without a status.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path is None or not path.exists():
            return
        whole = path.read_bytes()
        for line in whole.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and all(
                isinstance(row.get(name), str) for name in ("key", "status", "module", "option")
            ):
                self.rows[row["key"]] = row
        if whole and not whole.endswith(b"\n"):
            with open(path, "ab") as file:
                file.write(b"\n")

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row; it is on disk when this returns."""
        self.rows[row["key"]] = row
        if self.path is not None:
            with open(self.path, "a") as file:
                file.write(json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())
