"""An unmodified script run in a process of its own, recorded by XLA's dumps and profiler."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from xla_explorer.foundation.child_python import script_command
from xla_explorer.foundation.diagnostic import XlaExplorerError

STABLEHLO: Final = "stablehlo"
"""The folder of programs as JAX gave them to XLA, in a run's folder."""
_RUNNER: Final = Path(__file__).with_name("script_runner.py")
DUMPS: Final = "--xla_dump_hlo_as_text --xla_dump_hlo_pass_re=dot-library-rewriter|fusion"
_TO_END: Final = 120.0  # seconds after its limit for the profile of a script to be written


class ScriptRun(NamedTuple):
    """A recorded run.

    folder: of dump and profile. record: what `script_runner` wrote. output: what the script
    printed.
    """

    folder: Path
    record: Mapping[str, Any]
    output: str


def require_script(script: str) -> None:
    """Raise XlaExplorerError if there is no such file."""
    if not Path(script).is_file():
        raise XlaExplorerError(f"cannot read the script {script}: no such file", "check the path")


def runner_arguments(
    record: Path, script: str, arguments: Sequence[str], trace: str = "", seconds: float = 0.0
) -> list[str]:
    """Return the arguments of a Python that runs a script and writes what it took."""
    return [str(_RUNNER), str(record), trace, str(seconds), script, *arguments]


def recorded_run(
    script: str,
    arguments: Sequence[str],
    seconds: float,
    folder: Path,
    variables: Mapping[str, str] | None = None,
) -> ScriptRun:
    """Run a script with this Python, XLA's dumps and XLA's profiler; end it after `seconds`.

    Raises
    ------
    XlaExplorerError
        There is no such file, or the script failed: the message has its last line.
    """
    require_script(script)
    folder.mkdir(parents=True)
    record, printed = folder / "record.json", folder / "output.txt"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder / 'dump'} {DUMPS}"
    environment = {
        **os.environ,
        "JAX_ENABLE_COMPILATION_CACHE": "false",  # a cached program is not compiled, so not dumped
        "JAX_DUMP_IR_TO": str(folder / STABLEHLO),
        "JAX_DUMP_IR_MODES": "stablehlo",
        **(variables or {}),
        "XLA_FLAGS": flags.strip(),
    }
    command = script_command(*runner_arguments(record, script, arguments, str(folder), seconds))
    code: int | None = None
    with open(printed, "wb") as file, suppress(subprocess.TimeoutExpired):
        code = subprocess.run(
            command,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            timeout=seconds + _TO_END,
            check=False,
        ).returncode
    output = printed.read_text(encoding="utf-8", errors="replace")
    if code is None:
        raise XlaExplorerError(
            f"{script} wrote no profile within {seconds + _TO_END:g} s",
            "give fewer seconds, or fewer steps in the script's arguments",
        )
    if code or not record.is_file():
        last = [line for line in output.splitlines() if line.strip()][-1:] or ["no message"]
        raise XlaExplorerError(
            f"{script} ended with the exit code {code}: {last[0][:300]}", "run it alone first"
        )
    return ScriptRun(folder, json.loads(record.read_text(encoding="utf-8")), output)
