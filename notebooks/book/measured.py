"""Write the pages of measured rows: `python -m notebooks.book.measured`.

`tests/data/release_runs.jsonl` has a row for each run of `.ci/release`,
`tests/data/benchmark_history.jsonl` one for each benchmark. Rows are only added:

    python -m notebooks.book.measured --releases dist/release_runs.jsonl
    python -m notebooks.book.measured --series 'Continuous integration (.ci/run)' --state idle
        --command .ci/run 'the suite=359' 'set-up=57'

Date, commit and processor of a benchmark are the present ones.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RELEASES = ROOT / "tests" / "data" / "release_runs.jsonl"
BENCHMARKS = ROOT / "tests" / "data" / "benchmark_history.jsonl"
FIELDS = {"series", "date", "commit", "cpu", "state", "unit", "command", "remark", "values"}

Row = dict[str, Any]

COMPATIBILITY = """# Versions that work together

`.ci/release` installs and tests the package for each Python, with the oldest versions that
`pyproject.toml` allows and with the newest of the package index. A cell is the installed version.
The tests are those that `.ci/release` names, from the unpacked sdist, without the corpora. On a
loaded machine, compare the seconds of processor time.

"""

HISTORY = """# Benchmarks, one commit after another

Every figure was measured on the commit of its column with the stated command. Columns of different
processors are not comparable. Ratios to XLA were measured in turns on the same machine. The rows
are in `tests/data/benchmark_history.jsonl`; `python -m notebooks.book.measured` adds a row and
writes this page.

"""


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file of JSON lines."""
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        if path.is_file()
        else []
    )


def compatibility_page(rows: list[Row]) -> str:
    """Return the page of the newest run for each Python and end."""
    newest: dict[tuple[str, str], Row] = {}
    for row in rows:
        newest[(".".join(row["python"].split(".")[:2]), row["end"])] = row
    runs = [
        newest[key]
        for key in sorted(newest, key=lambda key: (int(key[0].split(".")[1]), key[1] != "oldest"))
    ]
    versions = {
        "Python": "python", "jaxlib": "jaxlib", "llvmlite": "llvmlite", "JupyterLab": "jupyterlab", "numpy": "numpy", "pandas": "pandas",
        "ml_dtypes": "ml_dtypes", "ipywidgets": "ipywidgets", "anywidget": "anywidget", "scipy-openblas32": "scipy-openblas32",
    }  # fmt: skip
    if not runs:
        return COMPATIBILITY + "No run is recorded yet.\n"
    lines = [
        COMPATIBILITY.rstrip(),
        "",
        *_table(versions, runs, lambda row, key: row[key] or "not installed"),
        "",
        "## The runs",
        "",
    ]
    measured = {
        "tests passed": "passed",
        "tests failed": "failed",
        "tests skipped": "skipped",
        "seconds of the tests": "tests_s",
        "wheel, KB": "wheel_bytes",
        "`import xla_explorer`, processor s": "import_s",
        "import and first compile, processor s": "first_compile_s",
        "install, cache of pip empty: s (processor s)": "install_cold",
        "install, cache of pip full: s (processor s)": "install_warm",
        "date": "date",
        "commit": "commit",
        "processor": "cpu",
        "machine": "load",
    }
    lines += [
        *_table(measured, runs, _measured),
        "",
        "The rows of all runs are in `tests/data/release_runs.jsonl`.",
        "",
    ]
    return "\n".join(lines)


def _measured(row: Row, key: str) -> str:
    if key == "wheel_bytes":
        return f"{row[key] / 1000:.0f}"
    if key == "load":
        return f"loaded ({row[key]:.0f} runnable)" if row[key] > 2 else "idle"
    if key.startswith("install_"):
        if f"{key}_s" not in row:
            return "not measured"  # seconds of an installation are those of the newest versions
        return f"{float(row[key + '_s']):.0f} ({float(row[key + '_cpu_s']):.0f})"
    return str(row[key])


def _table(names: dict[str, str], runs: list[Row], cell: Any) -> list[str]:
    heads = [f"{'.'.join(run['python'].split('.')[:2])} {run['end']}" for run in runs]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(runs)]
    return lines + [
        f"| {name} | " + " | ".join(cell(run, key) for run in runs) + " |"
        for name, key in names.items()
    ]


def history_page(rows: list[Row]) -> str:
    """Return a table for each series, with a column per run and a row per value."""
    lines = [HISTORY.rstrip(), ""]
    for series in dict.fromkeys(row["series"] for row in rows):
        runs = [row for row in rows if row["series"] == series]
        names = list(dict.fromkeys(name for row in runs for name in row["values"]))
        heads = [f"{run['date']}, `{run['commit']}`" for run in runs]
        lines += [
            f"## {series}",
            "",
            f"Unit: {runs[-1]['unit']}.",
            "",
            f"| | {' | '.join(heads)} |",
            "|---|" + "--:|" * len(runs),
        ]
        for name in names:
            lines.append(
                f"| {name} | "
                + " | ".join(
                    f"{run['values'][name]:g}" if name in run["values"] else "" for run in runs
                )
                + " |"
            )
        lines += [
            "",
            *[
                f"- `{run['commit']}`: {run['cpu']}; machine {run['state']}; `{run['command']}`{_remark(run)}"
                for run in runs
            ],
            "",
        ]
    return "\n".join(lines)


def _remark(run: Row) -> str:
    return f"; {run['remark']}" if run["remark"] else ""


def pages() -> dict[Path, str]:
    """Return the text of each page by its file."""
    return {
        ROOT / "notebooks" / "compatibility.md": compatibility_page(rows_of(RELEASES)),
        ROOT / "notebooks" / "benchmark_history.md": history_page(rows_of(BENCHMARKS)),
    }


def benchmark_row(
    series: str, state: str, command: str, unit: str, remark: str, values: list[str]
) -> Row:
    """Return the row of a benchmark of the checked-out commit, measured now on this machine."""
    specification = importlib.util.spec_from_file_location(
        "row", ROOT / ".ci" / "packaging" / "row.py"
    )
    assert specification is not None and specification.loader is not None
    row = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(row)
    known = [old for old in rows_of(BENCHMARKS) if old["series"] == series]
    if not unit and not known:
        raise SystemExit(f"the series {series!r} is new: pass its unit with --unit")
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    figures = {name: float(value) for name, _, value in (text.rpartition("=") for text in values)}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    about = {"series": series, "date": today, "commit": commit, "cpu": row.cpu(), "state": state}
    return {
        **about,
        "unit": unit or known[-1]["unit"],
        "command": command,
        "remark": remark,
        "values": figures,
    }


def main() -> None:
    """Add rows, if any are given, and write the pages."""
    parser = argparse.ArgumentParser(
        prog="python -m notebooks.book.measured", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--releases", type=Path, help="rows that .ci/release wrote")
    parser.add_argument("--series", help="the series that a benchmark belongs to")
    parser.add_argument("--state", choices=("idle", "loaded"), help="other load of the machine")
    parser.add_argument("--command", help="the command of the benchmark")
    parser.add_argument(
        "--unit", default="", help="the unit of the values (default: that of the series)"
    )
    parser.add_argument("--remark", default="", help="a remark for readers")
    parser.add_argument("values", nargs="*", metavar="NAME=NUMBER", help="the figures")
    given = parser.parse_args()
    if given.releases:
        with RELEASES.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows_of(given.releases))
    if given.series:
        if not (given.state and given.command and given.values):
            parser.error("a benchmark needs --state, --command and NAME=NUMBER")
        row = benchmark_row(
            given.series, given.state, given.command, given.unit, given.remark, given.values
        )
        with BENCHMARKS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
