"""A script run under several versions and flags: dumps, times and memory, joined and bisected."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from xla_explorer.backends.cpu.machine_limits import machine_limits
from xla_explorer.backends.xla.child import XlaProcessError
from xla_explorer.explorer.sessions.arguments import Signature, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.xla.flipped import differences
from xla_explorer.explorer.xla.scripts.script_run import DUMPS, require_script, runner_arguments
from xla_explorer.explorer.xla.versions.environments import Environment, environment
from xla_explorer.explorer.xla.versions.report import VersionRow, Versions
from xla_explorer.explorer.xla.what_if import TimedVariant, Variant, timed
from xla_explorer.foundation.child_python import foreign_environment
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.xla_dump import DumpFolder
from xla_explorer.frontends.xla_dump.main_program import read_module

_NOT_TIMED: Final = TimedVariant("", math.nan, math.nan, math.nan, 0.0, 0, 0.0)


class Way(NamedTuple):
    """A version with flags of XLA."""

    environment: Environment
    flags: str

    @property
    def label(self) -> str:
        """The version as the user named it, with its flags."""
        return f"{self.environment.label} {self.flags}".strip()


class VersionRun(NamedTuple):
    """A script under one version. record: what `script_runner` wrote. error: why it failed."""

    folder: Path
    record: dict[str, Any]
    error: str


class Options(NamedTuple):
    """Options of a comparison of versions.

    arguments: of the script. flags: further rows, the last version with these flags, one text each.
    repeats: timed runs of the main program by each. slower: from this ratio of times on a version
    counts as slower. bisect: run the first and the last, then only those that lead to the first
    that is worse. seconds: limit of one run of the script. environments: where versions are
    installed; None: the user's cache.
    """

    arguments: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    repeats: int = 20
    slower: float = 1.1
    bisect: bool = False
    seconds: float = 600.0
    environments: Path | None = None


def compare_versions(
    script: str,
    versions: Sequence[str],
    load: Callable[[Path], Compilation],
    options: Options,
) -> Versions:
    """Run a script under several versions of jax, and compare times, memory and decisions of XLA.

    Parameters
    ----------
    script
        A Python file that uses jax; it stays as it is.
    versions
        Versions of jaxlib, or folders of environments; the first is the base.
    load
        Returns the main compile of a folder of XLA's dumps.
    options
        Flags, repeats, limits.

    Returns
    -------
    Versions
        A row for each version that was run, and the decisions that differ at the first regression.

    Raises
    ------
    XlaExplorerError
        The script or a version does not exist, or the script fails under the first version.
    """
    require_script(script)
    ways = [Way(environment(one, options.environments), "") for one in versions]
    ways += [Way(ways[-1].environment, one) for one in options.flags]
    with tempfile.TemporaryDirectory(prefix="xla-explorer-versions-") as place:
        runs: dict[Way, VersionRun] = {}

        def compared(chosen: Sequence[Way]) -> Versions:
            for way in chosen:
                if way not in runs:
                    folder = Path(place) / str(len(runs))
                    runs[way] = _run(way, script, folder, options)
            return _joined(script, chosen, runs, options)

        if options.bisect and len(ways) > 2:
            report, chosen = _bisected(ways, compared)
        else:
            report, chosen = compared(ways), ways
        _add_flips(report, chosen, runs, load)
    return report


def _run(way: Way, script: str, folder: Path, options: Options) -> VersionRun:
    folder.mkdir()
    record = folder / "record.json"
    dump = f"--xla_dump_to={folder} {DUMPS}"
    variables = foreign_environment(
        XLA_FLAGS=f"{os.environ.get('XLA_FLAGS', '')} {way.flags} {dump}".strip(),
        JAX_PLATFORMS="cpu",
        JAX_ENABLE_COMPILATION_CACHE="false",
    )
    command = [way.environment.python, *runner_arguments(record, script, options.arguments)]
    try:
        done = subprocess.run(
            command,
            env=variables,
            capture_output=True,
            text=True,
            timeout=options.seconds,
            check=False,
        )
        lines = done.stderr.strip().splitlines()
        error = (lines[-1][:200] if lines else "no message") if done.returncode else ""
    except subprocess.TimeoutExpired:
        error = f"it took longer than {options.seconds:g} s"
    found = json.loads(record.read_text()) if record.is_file() else {}
    return VersionRun(folder, found, error)


def _joined(
    script: str, ways: Sequence[Way], runs: dict[Way, VersionRun], options: Options
) -> Versions:
    """Time the main program of the first version under all, and join the rows."""
    first = runs[ways[0]]
    if first.error:
        raise XlaExplorerError(
            f"{script} fails under {ways[0].label}: {first.error}", "run it alone first"
        )
    dumped = DumpFolder(first.folder)
    if not len(dumped):
        raise XlaExplorerError(f"{script} compiles nothing by XLA", "call a function of jax in it")
    main = dumped.module()
    module = read_module(main.before or main.passes[0].path)
    variants = [
        Variant(way.label, module, way.flags, way.environment.python)
        for way in ways
        if not runs[way].error
    ]
    leaves = Signature(module).leaves(random_arguments(module))
    try:
        measured = {row.label: row for row in timed(variants, leaves, options.repeats).rows}
    except XlaProcessError:  # a program of several devices, or with callbacks
        measured = {}
    rows = [_row(way, runs[way], measured.get(way.label, _NOT_TIMED)) for way in ways]
    return Versions(script, module.name, rows, options.slower)


def _row(way: Way, run: VersionRun, measured: TimedVariant) -> VersionRow:
    record = run.record
    return VersionRow(
        way.label,
        str(record.get("jaxlib", "")),
        float(record.get("seconds", math.nan)),
        float(record.get("compile_s", 0.0)),
        float(record.get("peak_kb", 0)) / 1024,
        measured.median_us,
        measured.ratio,
        measured.difference,
        measured.kernels,
        run.error or measured.error,
    )


def _bisected(
    ways: list[Way], compared: Callable[[Sequence[Way]], Versions]
) -> tuple[Versions, list[Way]]:
    """Return the comparison that has the first worse version, with as few runs as possible."""
    low, high = 0, len(ways) - 1
    chosen = [0, high]
    report = compared([ways[k] for k in chosen])
    while report.worse and high - low > 1:
        middle = (low + high) // 2
        chosen = sorted({*chosen, middle})
        report = compared([ways[k] for k in chosen])
        is_worse = any(row.label == ways[middle].label for row in report.worse)
        low, high = (low, middle) if is_worse else (middle, high)
    return report, [ways[k] for k in chosen]


def _add_flips(
    report: Versions,
    ways: Sequence[Way],
    runs: dict[Way, VersionRun],
    load: Callable[[Path], Compilation],
) -> None:
    """Compare the decisions of the first worse version with those of the one before it."""
    labels = [way.label for way in ways]
    worse = next(
        (row for row in report.worse if not runs[ways[labels.index(row.label)]].error), None
    )
    if worse is None:
        return
    number = labels.index(worse.label)
    pair = ways[number - 1], ways[number]
    if pair[1].flags:  # a set of flags is compared with the same version without
        pair = next(w for w in ways if w.environment == pair[1].environment), pair[1]
    first, second = [load(runs[way].folder) for way in pair]
    found = differences(first, second, machine_limits())
    report.between = pair[0].label, pair[1].label
    report.flips = sorted(found.flipped, key=lambda one: -abs(one.bytes))
