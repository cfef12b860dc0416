"""Pages of measured rows: they state the rows' numbers, and rows their place and time."""

from __future__ import annotations

from notebooks.book.measured import (
    BENCHMARKS,
    FIELDS,
    RELEASES,
    benchmark_row,
    compatibility_page,
    history_page,
    pages,
    rows_of,
)

RUN = {
    "python": "3.12.1", "end": "newest", "jaxlib": None, "llvmlite": "0.50.0", "jupyterlab": "4.6.6", "numpy": "2.4.6", "pandas": "3.1.1",
    "ml_dtypes": "0.6.0", "ipywidgets": "8.1.9", "anywidget": "0.11.0", "scipy-openblas32": "0.3.34", "passed": 8, "failed": 0, "skipped": 1,
    "tests_s": 70, "wheel_bytes": 2_345_678, "import_s": 0.05, "first_compile_s": 0.5, "install_cold_s": "33.4", "install_cold_cpu_s": "20.2",
    "install_warm_s": "21", "install_warm_cpu_s": "18", "date": "2026-11-23", "commit": "abcdefab", "cpu": "2 x a CPU", "load": 9.1,
}  # fmt: skip


def test_the_pages_say_what_the_rows_say() -> None:
    assert [
        path.name for path, text in pages().items() if path.read_text(encoding="utf-8") != text
    ] == []


def test_every_row_says_where_and_when() -> None:
    rows = rows_of(BENCHMARKS)
    assert rows and all(set(row) == FIELDS for row in rows)
    assert all(row["cpu"] and row["date"] and row["commit"] and row["values"] for row in rows)
    assert {row["end"] for row in rows_of(RELEASES)} <= {"oldest", "newest"}


def test_the_newest_run_of_a_python_is_shown_and_what_is_not_installed_is_said() -> None:
    oldest = {key: value for key, value in RUN.items() if not key.startswith("install_")} | {
        "end": "oldest",
        "numpy": "2.0.0",
    }
    page = compatibility_page([{**RUN, "passed": 5}, RUN, oldest, {**RUN, "python": "3.9.1"}])
    assert "| | 3.9 newest | 3.12 oldest | 3.12 newest |" in page
    assert "| tests passed | 8 | 8 | 8 |" in page and "| numpy | 2.4.6 | 2.0.0 | 2.4.6 |" in page
    assert (
        "| jaxlib | not installed |" in page
        and "| 33 (20) | not measured | 33 (20) |" in page
        and "loaded (9 runnable)" in page
    )


def test_a_series_is_a_table_with_a_column_a_run() -> None:
    run = {
        "series": "speed",
        "date": "2026-11-23",
        "commit": "a",
        "cpu": "C",
        "state": "idle",
        "unit": "s",
        "command": "go",
        "remark": "",
    }
    page = history_page(
        [
            {**run, "values": {"x": 1.5}},
            {**run, "commit": "b", "remark": "warm", "values": {"x": 2, "y": 3}},
        ]
    )
    assert (
        "| x | 1.5 | 2 |" in page
        and "| y |  | 3 |" in page
        and "- `b`: C; machine idle; `go`; warm" in page
    )


def test_a_new_row_takes_the_unit_of_its_series() -> None:
    series = rows_of(BENCHMARKS)[0]["series"]
    row = benchmark_row(series, "loaded", "go", "", "", ["a=b=2"])
    assert (
        set(row) == FIELDS
        and row["values"] == {"a=b": 2.0}
        and row["unit"] == rows_of(BENCHMARKS)[0]["unit"]
    )
