"""The JSON of `gpu_device.py`: its fields, and the tables made of its rows.

`SCHEMA` is the description; a name with a slash is a field of a row (or of the object) of that
section.
"""

from __future__ import annotations

import math
from typing import Any

Item = tuple[str, str]
SECTIONS = ("environment", "sample", "copy", "memory", "matmul", "counters", "perf", "conformance")
_TIMES = {
    "n": "timed runs",
    "median_us": "median of them, microseconds",
    "iqr_us": "interquartile range, microseconds",
}
_PROGRAM = {
    **_TIMES, "name": "of the program", "bytes": "of arguments and results, each once", "kernels": "steps of the program", "steps": "their functions",
    "emitters": "who wrote each kernel, and its launch", "ptxas": "registers, shared memory, spills and occupancy by kernel",
    "GB/s": "bytes over the median", "TFLOP/s": "operations over the median", "relative_error": "norm of the difference over norm of the reference",
    "error": "why there is no measurement",
}  # fmt: skip
SCHEMA: dict[str, dict[str, str]] = {
    "": {
        "date": "UTC, when the (last) call began", "command": "as it was called", "python": "version", "commit": "of the repository, where git says",
        "device": "facts as the driver has them: `DeviceFacts`", "problems": "children that ended before their first item",
        "left_out": "items that were not begun in time, by section", "calls": "of a merged file: date, command, commit of each",
    },
    "environment": {
        "device": "see above", "numpy": "version", "llvmlite": "version", "llvm": "version", "ptxas": "its path", "jax": "version, or why not",
        "jaxlib": "version, or why not", "torch": "version, or why not", "cuda.bindings": "version, or why not", "libraries": "NVIDIA's: found, or why not",
        "first_kernel_error": "largest difference of tanh",
        "code": "the way from PTX to machine code: ptxas, nvjitlink or driver", "nvidia_smi": "clocks (MHz), driver, power, temperature before the work",
        "ncu": "version of Nsight Compute, or why not", "name": "environment", "error": "why nothing works",
    },
    "copy": {**_TIMES, "name": "copy", "bytes": "read and written", "GB/s": "those over the median", "error": "why there is no measurement"},
    "memory": {**_PROGRAM, "share_of_copy": "its GB/s over those of the copy"},
    "matmul": {**_PROGRAM, "share_of_cublas": "its TFLOP/s over those of torch", "nvidia_smi": "clocks and power right after the runs"},
    "counters": {
        "name": "of the program", "kernels": "a row per launch: kernel, and each metric with its unit", "absent": "why there are no counters",
        "error": "what went wrong",
    },
    "perf": {
        "name": "of the workload", "compile_and_first_run_s": "seconds", "steps": "how many run where: kernel (ours), library, copy, evaluator",
        "wrong": "difference in values from jax or the evaluator, all without TF32; empty when right",
        "relative_error": "of the timed program, with TF32 where it takes it: norm of the difference over norm of the reference",
        "busy_us": "ours, of a run among several in one graph: without what launching takes", "ratio_busy": "that over XLA's busy time", "device": "our device times: n, median_us, iqr_us",
        "wall_us": "ours, runs queued one after the other, by the host's clock", "jax_wall_us": "XLA's, the same way",
        "ratio_wall": "ours over XLA's", "jax_device_us": "XLA's busy time on the device by its profiler", "ratio_device": "ours over XLA's",
        "jax": "why there is no rival", "jax_profiler": "why there is no device time of XLA", "work": "the steps that take longest: ours or a library's, "
        "emitter, microseconds, calls; none where the host would have to ask a loop's condition", "bytes": "of arguments and results", "flops": "of the workload", "GB/s": "bytes over our median",
        "TFLOP/s": "operations over our median", "share_of_copy": "its GB/s over those of the copy", "error": "why there is no measurement",
        "said": "the end of what the process wrote before it died",
    },
    "perf_summary": {
        "workloads": "rows", "errors": "names of rows with an error or wrong values", "geometric_mean_device": "of ratio_device",
        "geometric_mean_busy": "of ratio_busy",
        "geometric_mean_wall": "of ratio_wall",
    },
    "conformance": {
        "cases": "chosen", "run": "with a row", "passed": "without a problem", "share": "passed over run", "failed": "others",
        "failures": "the first 60: name and problem",
    },
}  # fmt: skip
SCHEMA["sample"] = SCHEMA["conformance"]


def tables(items: list[Item], rows: dict[Item, dict[str, Any]]) -> dict[str, Any]:
    """Return the sections of the JSON."""
    by: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
    chosen: dict[str, int] = dict.fromkeys(SECTIONS, 0)
    for section, name in items:
        chosen[section] += 1
        row = rows.get((section, name))
        if row is not None:
            by[section].append({"name": name, **row})
    result: dict[str, Any] = {
        section: by[section][0] for section in ("environment", "copy") if by[section]
    }
    if "device" in result.get("environment", {}):
        result["device"] = result["environment"]["device"]
    bandwidth = result.get("copy", {}).get("GB/s")
    for section in ("memory", "perf"):
        if by[section]:
            result[section] = [_with_share(row, bandwidth) for row in by[section]]
    if by["counters"]:
        result["counters"] = by["counters"]
    if by["matmul"]:
        result["matmul"] = _with_cublas_share({row["name"]: row for row in by["matmul"]})
    for section in ("sample", "conformance"):
        if by[section]:
            result[section] = _conformance(by[section], chosen[section])
    if by["perf"]:
        result["perf_summary"] = _perf_summary(by["perf"])
    left = {
        section: chosen[section] - len(by[section])
        for section in SECTIONS
        if chosen[section] > len(by[section])
    }
    return {**result, "left_out": left} if left else result


def _with_share(row: dict[str, Any], bandwidth: float | None) -> dict[str, Any]:
    return (
        {**row, "share_of_copy": round(row["GB/s"] / bandwidth, 4)}
        if bandwidth and row.get("GB/s")
        else row
    )


def _with_cublas_share(products: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Add to our products their share of cuBLAS's speed, if torch ran it."""
    rival = products.get("torch", {}).get("TFLOP/s")
    for name in ("own", "library"):
        if rival and products.get(name, {}).get("TFLOP/s"):
            products[name]["share_of_cublas"] = round(products[name]["TFLOP/s"] / rival, 4)
    return products


def _perf_summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the failed workloads and the geometric mean of each ratio."""
    means = {
        f"geometric_mean_{kind}": geometric_mean(
            [row[f"ratio_{kind}"] for row in rows if row.get(f"ratio_{kind}")]
        )
        for kind in ("device", "busy", "wall")
    }
    errors = [row["name"] for row in rows if "error" in row or row.get("wrong")]
    return {"workloads": len(rows), "errors": errors, **means}


def _conformance(rows: list[dict[str, Any]], cases: int) -> dict[str, Any]:
    failures = {
        row["name"]: row.get("problem") or row.get("error")
        for row in rows
        if row.get("problem") or row.get("error")
    }
    passed = len(rows) - len(failures)
    return {
        "cases": cases, "run": len(rows), "passed": passed, "share": passed / len(rows), "failed": len(failures),
        "failures": dict(list(failures.items())[:60]),
    }  # fmt: skip


def geometric_mean(values: list[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def unknown_fields(result: dict[str, Any]) -> list[str]:
    """Fields of a result that `SCHEMA` does not describe."""
    found = [name for name in result if name not in SCHEMA and name not in SCHEMA[""]]
    for section, known in SCHEMA.items():
        value = result.get(section)
        rows = (
            value
            if isinstance(value, list)
            else list(value.values())
            if section == "matmul" and value
            else [value or {}]
        )
        found += [f"{section}/{field}" for row in rows for field in row if field not in known]
    return list(dict.fromkeys(found))


def markdown(result: dict[str, Any]) -> str:
    """Return the measurements as Markdown tables, without absent sections."""
    device, copy = result.get("device", {}), result.get("copy", {})
    lines = [f"## {device.get('name', 'no device')}, {str(result.get('date', ''))[:10]}", ""]
    if device.get("driver") == 0:
        lines += [
            "**Emulated: these figures prove the script and say nothing about a device.**",
            "",
        ]
    for section, words in (
        ("sample", "a sample of the conformance cases"),
        ("conformance", "all conformance cases"),
    ):
        if section in result:
            found = result[section]
            lines.append(
                f"- {words}: {found['passed']} of {found['run']} pass ({_percent(found['share'])})"
            )
    if copy.get("GB/s"):
        lines.append(f"- copy on the device: {copy['GB/s']:,} GB/s, read and written")
    summary = result.get("perf_summary", {})
    if summary.get("geometric_mean_device"):
        lines.append(
            f"- beside XLA, geometric mean of device times: {summary['geometric_mean_device']:.3f} (below 1: ours is faster)"
        )
    if summary.get("geometric_mean_busy"):
        lines.append(f"- the same of times without launching: {summary['geometric_mean_busy']:.3f}")
    for section, count in result.get("left_out", {}).items():
        lines.append(f"- {section}: {count} not begun in time")
    lines += _table("Bound by memory", ("program", "us", "GB/s", "share of the copy", "error"), [
        (r["name"], _number(r.get("median_us")), _number(r.get("GB/s")), _percent(r.get("share_of_copy")), _error(r)) for r in result.get("memory", ())
    ])  # fmt: skip
    lines += _table("Product of bf16 matrices", ("by", "us", "TFLOP/s", "share of cuBLAS", "error"), [
        (name, _number(r.get("median_us")), _number(r.get("TFLOP/s")), _percent(r.get("share_of_cublas")), _error(r))
        for name, r in result.get("matmul", {}).items()
    ])  # fmt: skip
    lines += _table("Beside XLA", ("workload", "ours, us", "busy, us", "XLA's, us", "ratio", "busy ratio", "GB/s", "share of the copy", "TFLOP/s", "runs as"), [
        (r["name"], _number(r.get("device", {}).get("median_us")), _number(r.get("busy_us")), _number(r.get("jax_device_us")),
         _number(r.get("ratio_device")), _number(r.get("ratio_busy")),
         _number(r.get("GB/s")), _percent(r.get("share_of_copy")), _number(r.get("TFLOP/s")),
         r.get("error") or r.get("wrong") or ", ".join(f"{count} {kind}" for kind, count in r.get("steps", {}).items()))
        for r in result.get("perf", ())
    ])  # fmt: skip
    return "\n".join(lines) + "\n"


def _table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    cells = [
        [str(cell).replace("|", "\\|").replace("\n", " ")[:120] for cell in row] for row in rows
    ]
    return [
        "",
        f"### {title}",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *[f"| {' | '.join(row)} |" for row in cells],
    ]


def _number(value: Any) -> str:
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _percent(value: Any) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _error(row: dict[str, Any]) -> str:
    return (
        row["error"]
        if "error" in row
        else ""
        if row.get("relative_error") is None
        else f"{row['relative_error']:.1e}"
    )


def print_report(
    result: dict[str, Any], items: list[Item], rows: dict[Item, dict[str, Any]]
) -> None:
    """Print the short table; callers see its end."""
    for problem in result.get("problems", ()):
        print(f"a child ended before its first item: {problem}")
    for (section, name), row in rows.items():
        if "error" in row and section not in ("sample", "conformance", "perf"):
            print(f"{section} {name}: {row['error']}")
    print(
        f"{result.get('device', {}).get('name', 'no device')}, driver {result.get('device', {}).get('driver')}, {result.get('date')}"
    )
    if "copy" in result:
        print(f"copy {result['copy'].get('GB/s')} GB/s")
    for row in result.get("memory", []):
        print(
            f"{row['name']:20} {row.get('GB/s', '')} GB/s, {row.get('share_of_copy', row.get('error'))} of copy, error {row.get('relative_error')}"
        )
    for name, row in result.get("matmul", {}).items():
        print(
            f"matmul {name:10} {row.get('TFLOP/s')} TFLOP/s, {row.get('share_of_cublas', row.get('error'))} of cuBLAS, error {row.get('relative_error')}"
        )
    for section in ("sample", "conformance"):
        if section in result:
            found = result[section]
            print(section, {key: value for key, value in found.items() if key != "failures"})
            for name, problem in list(found["failures"].items())[:5]:
                print(f"  {name}: {str(problem)[:160]}")
    for row in result.get("perf", []):
        shown = (
            "busy_us",
            "ratio_busy",
            "ratio_device",
            "ratio_wall",
            "wrong",
            "error",
            "jax",
            "jax_profiler",
        )
        print(
            f"{row['name']:34} {row.get('device', {}).get('median_us')} us",
            {key: row[key] for key in shown if row.get(key)},
        )
    print(result.get("perf_summary", ""))
    if len(rows) < len(items):
        print(
            f"{len(items) - len(rows)} of {len(items)} items were not begun in time: run those sections again with --sections"
        )
