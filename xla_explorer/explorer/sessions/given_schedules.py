"""Values of `schedules=` as one text.

They are a file, a text, a mapping from kernels to directives, or schedules of a session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_directives,
    parse_schedules,
    schedules_text,
)


def given_schedules(given: Any) -> str:
    """Return the text of schedules, one line per kernel.

    ScheduleError if it cannot be parsed, OSError if a file cannot be read.
    """
    if given is None:
        return ""
    if isinstance(given, Mapping):
        return schedules_text(
            {str(name).lstrip("%"): parse_directives(_text(value)) for name, value in given.items()}
        )
    if isinstance(given, os.PathLike) or (isinstance(given, str) and _is_path(given)):
        given = Path(given).read_text(encoding="utf-8")
    if isinstance(given, str):
        return schedules_text(parse_schedules(given))
    named = (
        [given]
        if isinstance(given, Schedule)
        else list(given)
        if isinstance(given, Iterable)
        else []
    )
    if not named or not all(isinstance(s, Schedule) and getattr(s, "kernel", "") for s in named):
        raise ScheduleError(
            f"schedules={given!r} cannot be read",
            "pass a file, a text, a mapping from kernels to directives or schedules",
        )
    return schedules_text({str(s.kernel): s.directives for s in named})


def _is_path(given: str) -> bool:
    """Return True if a text names a file; schedules have a colon after a kernel's name."""
    return (
        "\n" not in given
        and "{" not in given
        and (given.endswith(".sched") or (bool(given.strip()) and Path(given).is_file()))
    )


def _text(value: Any) -> str:
    if isinstance(value, str | Schedule):
        return str(value)
    return ",".join(map(str, value))
