"""NVIDIA's tools: the device by nvidia-smi, Nsight Compute's counters. They change nothing."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_FACTS = (
    "driver_version", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem", "power.draw", "power.limit", "temperature.gpu",
    "utilization.gpu", "memory.used",
)  # fmt: skip
_METRICS = (
    "gpu__time_duration.sum", "dram__bytes.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__data_bank_conflicts_pipe_lsu.sum", "launch__registers_per_thread",
)  # fmt: skip


def _tool(name: str) -> str | None:
    """On the path, or where images with CUDA have it."""
    return shutil.which(name) or shutil.which(
        name, path="/usr/local/cuda/bin:/usr/local/nvidia/bin:/usr/bin"
    )


def nvidia_smi() -> dict[str, str]:
    """Facts of the first device now; or `absent`, and why."""
    tool = _tool("nvidia-smi")
    if tool is None:
        return {"absent": "nvidia-smi is not on the path"}
    try:
        run = subprocess.run(
            [tool, f"--query-gpu={','.join(_FACTS)}", "--format=csv,noheader", "--id=0"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return {"absent": str(problem)[:200]}
    values = run.stdout.strip().split(", ")
    return (
        dict(zip(_FACTS, values, strict=True))
        if len(values) == len(_FACTS)
        else {"absent": (run.stdout + run.stderr).strip()[:200]}
    )


def ncu_version() -> str:
    """Nsight Compute's, or that it is not there."""
    tool = _tool("ncu")
    if tool is None:
        return "not on the path"
    try:
        run = subprocess.run(
            [tool, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)[:200]
    return (run.stdout.strip().splitlines() or ["no answer"])[-1]


def counters_of(settings: dict[str, Any], item: str, seconds: float) -> dict[str, Any]:
    """Counters of every kernel that a program launches once; or `absent`, and why.

    A process of its own runs it under ncu.
    """
    tool = _tool("ncu")
    if tool is None:
        return {"absent": "ncu is not on the path"}
    script = Path(__file__).resolve().parent / "gpu_device_sections.py"
    command = [
        tool,
        "--csv",
        "--clock-control",
        "none",
        "--metrics",
        ",".join(_METRICS),
        sys.executable,
        str(script),
    ]
    with tempfile.TemporaryDirectory() as folder:
        task = json.dumps(
            {"settings": settings, "items": [("once", item)], "lines": f"{folder}/lines.jsonl"}
        )
        try:
            run = subprocess.run(
                command, input=task, capture_output=True, text=True, timeout=seconds, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return {"absent": str(problem)[-200:]}
    rows = counter_rows(run.stdout)
    return {"kernels": rows} if rows else {"absent": (run.stdout + run.stderr).strip()[-400:]}


def counter_rows(text: str) -> list[dict[str, str]]:
    """Return a row per launch from ncu's CSV among other lines: kernel, metrics with units."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(
        io.StringIO("\n".join(line for line in lines[start:] if line.startswith('"')))
    ):
        if row.get("Metric Name"):
            found = rows.setdefault(str(row["ID"]), {"kernel": str(row["Kernel Name"])})
            found[str(row["Metric Name"])] = f"{row['Metric Value']} {row['Metric Unit']}".strip()
    return list(rows.values())
