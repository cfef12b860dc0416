"""Everything that is claimed of the GPU backend, measured on one device in one run; writes one JSON.

    python tests/performance/gpu_device.py --conformance ../shared/conformance --perf ../shared/perf --out OUT/gpu_device.json
    python tests/performance/gpu_device.py --emulate --conformance ... --perf ... --out /tmp/proof.json     # small sizes, no GPU

Sections (--sections, all by default): `environment` (versions, libraries, a first kernel: look here when all else fails), `copy` (the
bandwidth of a device-to-device copy, bytes read and written), `memory` (memory-bound programs as shares of it), `matmul` (bf16 by our own
kernel, by the library that we call, and cuBLAS through torch where that is importable), `conformance` (all cases, or every nth), `perf`
(m_* and b_* workloads, in rounds interleaved with jax where that is importable). It installs nothing. It needs numpy, ml_dtypes, llvmlite,
and cuda-bindings for a device; the corpora may lie anywhere. llvmlite from 0.45 on will do: what is on the machine is better than a wheel of
60 MB that has to be carried there.

Measurements are made in child processes: one that dies, hangs (--item-seconds) or loses the device's context is replaced by one that goes
on with the next item, and what it died of is a row. The JSON is written after every change, and no item begins after --seconds.

Times are device times by events around a run (a CUDA graph where the host decides nothing), warm, median of the repeats. jax gives no
events for its own streams: its device time is the busy time of the device in its profiler's trace (ours includes the gaps between kernels,
so the ratio is on the hard side), and both sides' wall times of pipelined runs are kept beside it. Inputs are random, on the device before.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SECTIONS = ("environment", "copy", "memory", "matmul", "conformance", "perf")
MEMORY = ("elementwise_chain", "softmax", "layernorm", "reduce_rows", "reduce_columns", "reduce_all", "transpose", "transpose_bf16", "row_moments")
MATMUL = ("own", "library", "torch")
_MOST_CHILDREN = 25
Item = tuple[str, str]


class Run:
    """All items and what is known of them. result: what the JSON holds."""

    def __init__(self, settings: dict[str, Any], items: list[Item], out: Path, result: dict[str, Any]) -> None:
        self.settings, self.items, self.out, self.result = settings, items, out, result
        self.rows: dict[Item, dict[str, Any]] = {}
        self.deadline = time.monotonic() + float(settings["seconds"])

    def measure(self) -> None:
        """Children, until every item has a row or the time is up."""
        for _ in range(_MOST_CHILDREN):
            left = [item for item in self.items if item not in self.rows]
            if not left or time.monotonic() > self.deadline:
                break
            if not self._child(left):
                break
        self.save()

    def _child(self, items: list[Item]) -> bool:
        """One child; whether another may get further."""
        with tempfile.TemporaryDirectory() as folder:
            lines, errors = Path(folder) / "lines.jsonl", Path(folder) / "errors.txt"
            lines.touch()
            task = json.dumps({"settings": self.settings, "items": items, "lines": str(lines)})
            with open(errors, "w") as stream:
                child = subprocess.Popen(
                    [sys.executable, str(HERE / "gpu_device_sections.py")], stdin=subprocess.PIPE, stderr=stream, text=True, start_new_session=True
                )
                assert child.stdin is not None
                child.stdin.write(task)
                child.stdin.close()
                begun, why = self._watch(child, lines)
            said = errors.read_text()[-1500:]
        if begun is not None and begun not in self.rows:
            self.rows[begun] = {"error": why or f"the process ended with status {child.returncode}", "said": said[-600:]}
        elif begun is None and why != "time":
            self.result.setdefault("problems", []).append({"status": child.returncode, "why": why, "said": said})
            return False
        self.save()
        return why != "time"

    def _watch(self, child: subprocess.Popen[str], lines: Path) -> tuple[Item | None, str]:
        """(the item begun last, why the child was ended): reads lines until it is done, hangs, or the time is up."""
        begun: Item | None = None
        position, since, saved = 0, time.monotonic(), time.monotonic()
        while True:
            ended = child.poll() is not None
            with open(lines) as file:
                file.seek(position)
                new = file.readlines()
                whole = [line for line in new if line.endswith("\n")]
                position += sum(len(line.encode()) for line in whole)
            for line in whole:
                found = json.loads(line)
                item, since = (found["section"], found["name"]), time.monotonic()
                begun = item
                if "row" in found:
                    self.rows[item] = found["row"]
            if whole and time.monotonic() - saved > 5:
                self.save()
                saved = time.monotonic()
            if ended:
                return begun, ""
            if time.monotonic() > self.deadline + 15:
                _end(child)
                return begun, "time"
            if time.monotonic() - since > float(self.settings["item_seconds"]):
                _end(child)
                return begun, f"no answer for {self.settings['item_seconds']} s"
            if time.monotonic() > self.deadline and begun in self.rows:
                _end(child)
                return None, "time"
            time.sleep(0.1)

    def save(self) -> None:
        """The JSON of what is known."""
        result = {**self.result, **self.tables()}
        self.out.parent.mkdir(parents=True, exist_ok=True)
        partial = self.out.with_suffix(".partial")
        partial.write_text(json.dumps(result, indent=1, default=str) + "\n")
        partial.replace(self.out)

    def tables(self) -> dict[str, Any]:
        """Sections as they are shown."""
        by: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
        for section, name in self.items:
            row = self.rows.get((section, name))
            if row is not None:
                by[section].append({"name": name, **row})
        tables: dict[str, Any] = {}
        for section in ("environment", "copy"):
            if by[section]:
                tables[section] = by[section][0]
        if by["environment"] and "device" in by["environment"][0]:
            tables["device"] = by["environment"][0]["device"]
        bandwidth = tables.get("copy", {}).get("GB/s")
        if by["memory"]:
            tables["memory"] = [
                {**row, "share_of_copy": round(row["GB/s"] / bandwidth, 4)} if bandwidth and row.get("GB/s") else row for row in by["memory"]
            ]
        if by["matmul"]:
            rows = {row["name"]: row for row in by["matmul"]}
            rival = rows.get("torch", {}).get("TFLOP/s")
            for name in ("own", "library"):
                if rival and rows.get(name, {}).get("TFLOP/s"):
                    rows[name]["share_of_cublas"] = round(rows[name]["TFLOP/s"] / rival, 4)
            tables["matmul"] = rows
        if by["conformance"]:
            failures = {row["name"]: row.get("problem") or row.get("error") for row in by["conformance"] if row.get("problem") or row.get("error")}
            run = len(by["conformance"])
            tables["conformance"] = {
                "cases": sum(section == "conformance" for section, _ in self.items), "run": run, "passed": run - len(failures),
                "share": (run - len(failures)) / max(run, 1), "failed": len(failures), "failures": dict(list(failures.items())[:60]),
            }  # fmt: skip
        if by["perf"]:
            tables["perf"] = by["perf"]
            tables["perf_summary"] = {
                "workloads": len(by["perf"]),
                "errors": [r["name"] for r in by["perf"] if "error" in r or r.get("wrong")],
                "geometric_mean_device": geometric_mean([r["ratio_device"] for r in by["perf"] if r.get("ratio_device")]),
                "geometric_mean_wall": geometric_mean([r["ratio_wall"] for r in by["perf"] if r.get("ratio_wall")]),
            }
        return tables


def _end(child: subprocess.Popen[str]) -> None:
    """End a child and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def items_of(sections: list[str], given: argparse.Namespace) -> list[Item]:
    """Every row that is to be made, in the order of the sections."""
    items: list[Item] = []
    for section in sections:
        if section in ("environment", "copy"):
            items.append((section, section))
        elif section == "memory":
            items += [(section, name) for name in MEMORY]
        elif section == "matmul":
            items += [(section, name) for name in MATMUL]
        elif getattr(given, section) is None:
            print(f"{section}: skipped, --{section} names no folder")
        elif section == "conformance":
            from gpu_device_sections import load_module

            harness = load_module(given.conformance / "conformance.py", "conformance_harness_device")
            cases = harness.load_cases(str(given.conformance / "dev"))
            items += [(section, case.name) for number, case in enumerate(cases) if number % given.every == 0]
        else:
            from gpu_device_sections import workloads_of

            for w in workloads_of(given.perf):
                if given.filter in w["name"] and w["input_bytes"] + w["output_bytes"] <= given.max_bytes:
                    items.append((section, w["name"]))
    return items


def geometric_mean(values: list[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a short table. 0 when every item that was begun has a row without an error."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--emulate", action="store_true", help="on the emulator, at small sizes: proves the script, measures nothing")
    parser.add_argument("--sections", "--section", default=",".join(SECTIONS))
    parser.add_argument("--conformance", type=Path, help="folder with conformance.py and dev/")
    parser.add_argument("--every", type=int, default=1, help="one conformance case in so many")
    parser.add_argument("--perf", type=Path, help="folder with perf.py and dev/")
    parser.add_argument("--filter", default="", help="only workloads with this in their name")
    parser.add_argument("--max-bytes", type=int, default=1 << 32, help="skip workloads with larger inputs and outputs")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the memory-bound programs' main argument")
    parser.add_argument("--matrix", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=540, help="no new item after this time")
    parser.add_argument("--item-seconds", type=float, default=120, help="a child that is silent for so long is replaced")
    parser.add_argument("--in-process", action="store_true", help="no child processes (for tests)")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    sections = given.sections.split(",")
    if wrong := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(wrong))}; there are {', '.join(SECTIONS)}")
    settings = {
        "emulate": given.emulate, "repeats": given.repeats, "rounds": given.rounds, "seconds": given.seconds,
        "item_seconds": given.item_seconds, "bytes": 1 << 16 if given.emulate else int(given.gigabytes * (1 << 30)),
        "matrix": 64 if given.emulate else given.matrix,
        "conformance": str(given.conformance), "perf": str(given.perf),
    }  # fmt: skip
    result = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv if arguments is None else ["gpu_device.py", *arguments]),
        "python": platform.python_version(),
        "commit": subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip(),
    }
    run = Run(settings, items_of(sections, given), given.out, result)
    if given.in_process:
        from gpu_device_sections import run_items

        run_items(settings, run.items, lambda line: run.rows.__setitem__((line["section"], line["name"]), line["row"]) if "row" in line else None)
        run.save()
    else:
        run.measure()
    report({**result, **run.tables()}, run)
    return int(any("error" in row for row in run.rows.values()) or not run.rows)


def report(result: dict[str, Any], run: Run) -> None:
    """The short table, the end of which a caller sees."""
    for problem in run.result.get("problems", ()):
        print(f"a child ended before its first item: {problem}")
    for (section, name), row in run.rows.items():
        if "error" in row and section not in ("conformance", "perf"):
            print(f"{section} {name}: {row['error']}")
    print(f"{result.get('device', {}).get('name', 'no device')}, driver {result.get('device', {}).get('driver')}, {result['date']}")
    if "copy" in result:
        print(f"copy {result['copy'].get('GB/s')} GB/s")
    for row in result.get("memory", []):
        print(f"{row['name']:20} {row.get('GB/s', '')} GB/s, {row.get('share_of_copy', row.get('error'))} of copy, error {row.get('relative_error')}")
    for name, row in result.get("matmul", {}).items():
        print(f"matmul {name:10} {row.get('TFLOP/s')} TFLOP/s, {row.get('share_of_cublas', row.get('error'))} of cuBLAS, error {row.get('relative_error')}")
    if "conformance" in result:
        print({key: value for key, value in result["conformance"].items() if key != "failures"})
    for row in result.get("perf", []):
        shown = ("ratio_device", "ratio_wall", "wrong", "error", "jax")
        print(f"{row['name']:34} {row.get('device', {}).get('median_us')} us", {key: row[key] for key in shown if row.get(key)})
    print(result.get("perf_summary", ""))
    done = len(run.rows)
    if done < len(run.items):
        print(f"{len(run.items) - done} of {len(run.items)} items were not begun in time: run those sections again with --sections")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
