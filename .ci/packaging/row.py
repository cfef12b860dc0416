"""Measures an installation and writes what a release run saw as one row of JSON lines.

`row.py ENVIRONMENT_PYTHON WHEEL JUNIT_XML ROWS KEY=VALUE ...` appends to ROWS; the caller has measured the values (end, seconds).
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SHOWN = (
    "jaxlib",
    "llvmlite",
    "jupyterlab",
    "numpy",
    "pandas",
    "ml_dtypes",
    "ipywidgets",
    "anywidget",
    "scipy-openblas32",
)
COMPILE = "import xla_explorer as xe; xe.compile('ENTRY main { x = f32[8] parameter(0) ROOT r = f32[8] negate(x) }')"


def cpu() -> str:
    """Return the name of the processor and how many of it there are."""
    lines = (
        Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if Path("/proc/cpuinfo").exists()
        else []
    )
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else platform.processor() or platform.machine()}"


def processor_seconds(python: str, code: str, repeats: int = 5) -> float:
    """Return the least processor time of a process that runs the code, without what Python itself takes to start."""

    def once(text: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [python, "-c", text], check=True, env={**os.environ, "XLA_EXPLORER_CACHE": "off"}
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    once(code)  # writes bytecode
    return round(
        min(once(code) for _ in range(repeats)) - min(once("pass") for _ in range(repeats)), 3
    )


def versions(python: str) -> dict[str, str | None]:
    """Return the version of each package of `SHOWN` in that environment; None for what is not there."""
    code = f"""import importlib.metadata as m, json, platform
found = {{d.metadata["Name"].lower().replace("-", "_"): d.version for d in m.distributions()}}
print(json.dumps({{"python": platform.python_version()}} | {{n: found.get(n.replace("-", "_")) for n in {SHOWN!r}}}))"""
    return json.loads(
        subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    )


def tests_of(junit: Path) -> dict[str, float]:
    """Return how many tests of a JUnit file passed, failed and were skipped, and their seconds."""
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None, junit
    total, failures, errors, skipped = (
        int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    return {
        "passed": total - failed - skipped,
        "failed": failed,
        "skipped": skipped,
        "tests_s": round(float(suite.attrib["time"])),
    }


def main(python: str, wheel: str, junit: str, rows: str, *given: str) -> None:
    """Measure, and append the row."""
    row = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cpu": cpu(),
        "load": round(os.getloadavg()[0], 1),
        **versions(python),
        "wheel_bytes": Path(wheel).stat().st_size,
        "import_s": processor_seconds(python, "import xla_explorer"),
        "first_compile_s": processor_seconds(python, COMPILE),
        **tests_of(Path(junit)),
        **dict(pair.split("=", 1) for pair in given),
    }
    with Path(rows).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
