"""`xe.xla.run_script`: the programs of an unmodified script by time, each open to questions."""

from __future__ import annotations

import shlex
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.recorded_programs import ModuleRow, RecordedPrograms
from xla_explorer.explorer.xla.scripts.script_run import STABLEHLO, ScriptRun, recorded_run
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.frontends.xla_dump.main_program import read_module
from xla_explorer.hlo.module import HloModule

_MOST = 8  # rows that are shown


class ScriptProgram(NamedTuple):
    """A program that XLA compiled for the script.

    Attributes
    ----------
    program : str
        XLA's module, with the number of its compile if several have the name.
    total_us, per_run_us : float
        Time in kernels, in all and of the median run, as XLA's profiler recorded it.
    share : float
        Of the time in kernels of all programs.
    runs : int
        How often it ran.
    """

    program: str
    total_us: float
    per_run_us: float
    share: float
    runs: int


class ScriptReport(Report):
    """A script's run on real XLA: its programs by time.

    Attributes
    ----------
    script : str
        As the user named it.
    programs : list of ScriptProgram
        The longest first; programs that did not run are left out.
    seconds, compile_s : float
        Time of the script, and of XLA's compiles in it, without the start of Python and of jax.
    ended : bool
        False if the script was ended at the limit.
    output : str
        What the script printed.
    """

    def __init__(self, script: str, run: ScriptRun, keep: object = None) -> None:
        self.script, self.output = script, run.output
        self.seconds = float(run.record["seconds"])
        self.compile_s = float(run.record["compile_s"])
        self.ended = bool(run.record["ended"])
        self._keep = keep  # the folder lives as long as this report
        self._stablehlo = run.folder / STABLEHLO
        self._modules = RecordedPrograms(run.folder)
        rows = [row for row in self._modules.rows if row.time_us]
        if not rows:
            raise XlaExplorerError(
                f"{script} ran nothing on XLA that its profiler recorded",
                "call a jitted function in it, or record more seconds",
            )
        whole = sum([row.time_us or 0.0 for row in rows])
        names = [row.name for row in rows]
        self._rows: dict[str, ModuleRow] = {}
        self.programs = []
        for row in rows:
            name = row.name if names.count(row.name) == 1 else f"{row.name} {row.key}"
            self._rows[name] = row
            us = row.time_us or 0.0
            typical = statistics.median(self._modules.run_times(row.key))
            self.programs.append(ScriptProgram(name, us, typical, us / whole, row.runs))

    def module(self, program: str | None = None) -> HloModule:
        """Return a program as JAX gave it to XLA; by default the one with the most time.

        Raises
        ------
        XlaExplorerError
            The script has no such program.
        """
        return read_module(self._modules.before(self._row(program).key))

    def stablehlo(self, program: str | None = None) -> bytes | None:
        """Return a program as JAX gave it to XLA, as MLIR text.

        None if the files do not show which it is. Compiled again, it has the names of instructions
        that the script's own compile has.
        """
        row = self._row(program)
        keys = [one.key for one in self._modules.rows if one.name == row.name]
        alike = [key for key in keys if key.startswith("dump-")]
        if row.key not in alike:
            return None
        order = sorted(alike, key=lambda key: int(key.removeprefix("dump-")))
        files = sorted(self._stablehlo.glob(f"jax_ir*_{row.name}_compile.mlir"))
        return files[order.index(row.key)].read_bytes() if len(files) == len(alike) else None

    def run_times(self, program: str | None = None) -> list[float]:
        """Return the microseconds in kernels of each recorded run of a program."""
        return self._modules.run_times(self._row(program).key)

    def _row(self, program: str | None) -> ModuleRow:
        name = program if program is not None else self.programs[0].program
        row = self._rows.get(name)
        if row is None:
            raise XlaExplorerError(
                f"{self.script} has no program {name!r}",
                f"it has {', '.join(nearest(name, list(self._rows)) or list(self._rows)[:3])}",
            )
        return row

    def headline(self) -> str:
        """Return the time of the script and its main program."""
        first = self.programs[0]
        end = "" if self.ended else ", ended at the limit"
        return (
            f"{Path(self.script).name}: {self.seconds:.1f} s{end}, of which XLA compiled"
            f" {self.compile_s:.1f} s; {number_of(len(self.programs), 'program')} ran;"
            f" {first.program} has {first.share:.0%} of the time in kernels,"
            f" {microseconds(first.per_run_us)} a run"
        )

    def blocks(self) -> Blocks:
        """Yield the programs."""
        left = len(self.programs) - _MOST
        note = f"{left} more with less time" if left > 0 else ""
        yield Table(ScriptProgram._fields, self.programs[:_MOST], "programs", note)
        yield Sentence("as XLA's profiler recorded them with the script's own arguments")

    def records(self) -> Table:
        """Return a row for each program."""
        return Table(ScriptProgram._fields, self.programs)


def run_script(
    script: str,
    arguments: str | Sequence[str] = (),
    *,
    seconds: float = 60.0,
    variables: Mapping[str, str] | None = None,
) -> ScriptReport:
    """Run an unmodified script on real XLA, and return its programs by time.

    The script runs as `python SCRIPT` does, in a process of its own, with XLA's dumps and XLA's
    profiler. No line of it changes.

    Parameters
    ----------
    script
        A Python file that uses jax.
    arguments
        Of the script: a list, or one text as in a shell.
    seconds
        The script is ended after this time.
    variables
        Further variables of its environment.

    Returns
    -------
    ScriptReport
        Programs with the times that XLA's profiler recorded. `module()` is the main one as JAX
        gave it to XLA, for `xe.xla.why_slow`, `xe.xla.search` and `xe.compile`.

    Raises
    ------
    XlaExplorerError
        There is no such file, the script fails, or it runs nothing on XLA.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> found = xe.xla.run_script("train.py", "--steps 20")  # doctest: +SKIP
    >>> xe.xla.why_slow(found.module())  # doctest: +SKIP
    """
    given = shlex.split(arguments) if isinstance(arguments, str) else list(arguments)
    place = tempfile.TemporaryDirectory(prefix="xla-explorer-script-")
    run = recorded_run(script, given, seconds, Path(place.name) / "run", variables)
    return ScriptReport(script, run, place)
