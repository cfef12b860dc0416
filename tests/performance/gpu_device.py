"""Measure all claims about the GPU backend on one device; each call writes one JSON.

A call takes at most nine minutes.

Before: on any machine, prove the script and collect the corpora (about 3 MB; `.device/` is ignored
by git, so it has to be carried along):

    python tests/performance/gpu_device.py --emulate --call 1 --out /tmp/proof.json
    python tests/performance/gpu_device.py --pack .device/corpora.tar.gz --conformance
        ../shared/conformance --perf ../shared/perf

On the machine with the device, in the repository (with .device/ if it gets nothing else), one
after the other:

    python3 tests/performance/gpu_device.py --call 1 --corpora .device/corpora.tar.gz --out
        $OUT/call1.json
    python3 tests/performance/gpu_device.py --call 2 --corpora .device/corpora.tar.gz --out
        $OUT/call2.json
    python3 tests/performance/gpu_device.py --call 3 --corpora .device/corpora.tar.gz --out
        $OUT/call3.json

After: one file of the three, to be kept with date and device in its name:

    python tests/performance/gpu_device.py --merge call1.json call2.json call3.json --out
        tests/data/device/DATE_DEVICE.json

and its tables in Markdown (`gpu_device_report.py` describes every field of the JSON):

    python tests/performance/gpu_device.py --report tests/data/device/DATE_DEVICE.json --out
        tables.md

The sections in order, the most valuable first, with the minutes that they took on an H200 beside
16 cores (--jobs 15) and their limits. Every call begins with `environment`.

    call  section        took  limit  content
    1     `environment`   0.1    1.5  versions, libraries, nvidia-smi, the way from PTX to code
    1     `sample`        0.1    1.5  120 conformance cases, evenly drawn
    1     `copy`          0.1    0.5  bandwidth of a device-to-device copy, bytes read and written
    1     `memory`        0.2    2.5  nine memory-bound programs of 1 GB as shares of `copy`, ptxas
    1     `matmul`        0.1    2.5  bf16 8192: our kernel, our library call, cuBLAS through torch
    1     `counters`      0.3    1.5  Nsight Compute's counters of those kernels and our product
    2     `copy`          0.1    0.5  again, for the shares of this call
    2     `perf`            3      8  m_* and b_* workloads in rounds interleaved with jax; kernels
    3     `conformance`   0.5    8.5  1,800 cases in --jobs processes; compiling is all the work

No item begins after its section's time or after --seconds (540), and the JSON is written after
every change, so a call that is cut off loses only its last item. `left_out` has the other items.

When a section fails:
- `environment`: nothing else can work. `first_kernel_error` or `error` there says why: no driver
  (cuda-bindings is missing, or no libcuda), no way to load the code (its text lists what ptxas,
  nvJitLink and the driver each answered), or llvmlite is older than 0.45: carry a wheel.
- `copy`: out of memory means that somebody else is on the device, or --gigabytes is too much.
  Without it `memory` has no shares.
- `memory`, `matmul`: rows are independent. A wrong result is in `relative_error` (above 1e-5, for
  matmul 1e-2), a slow one is explained by `emitters`, `steps` and `ptxas` in its row. `matmul
  torch` without torch is a row with an error; the others stand.
- `sample`, `conformance`: `failures` names the cases. One again, with everything said: --sections
  conformance --filter NAME --jobs 1. Sticky errors of a kernel end the process and cost the one
  case; a hundred failures of one kind are one bug, so look at the first.
- `perf`: `wrong` is a difference in values (TF32 forbidden on both sides), `jax` in a row is why
  there is no rival (then only our times are there). Some again: --filter.
- `counters`: a row with `absent` is no failure: there is no ncu, or it may not read the counters
  here.
- A child that dies, hangs (--item-seconds) or loses the device's context is replaced by one that
  goes on with the next item; what it died of is the row. `problems` in the JSON are children that
  died before their first item: an import that fails, most likely.
- Time ran out: the last line says how many items are left; run that section alone (--sections),
  with --every for a sample of the cases.

It installs nothing. It needs numpy, ml_dtypes, llvmlite, and cuda-bindings for a device; what is on
the machine is better than a wheel of 60 MB that has to be carried there. torch and jax are used
where they can be imported.

Times are device times by events around a run (a CUDA graph where the host computes nothing), warm,
median of the repeats. jax gives no events for its own streams: its device time is the busy time of
the device in its profiler's trace. Ours includes what launching a graph and its events take, some 8
us; `busy_us` is that of a run among several in one graph, with the gaps between kernels alone, and
`ratio_busy` compares it. Both sides' wall times of pipelined runs are kept beside them. Inputs are
random, on the device before.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from gpu_device_report import SECTIONS, Item, markdown, print_report, tables  # noqa: E402

CALLS = {
    1: ("environment", "sample", "copy", "memory", "matmul", "counters"), 2: ("environment", "copy", "perf"), 3: ("environment", "conformance"),
}  # fmt: skip
# Seconds after which no further item of a section begins.
SECTION_SECONDS = {
    "environment": 90, "sample": 90, "copy": 30, "memory": 150, "matmul": 150, "counters": 90, "perf": 480, "conformance": 510,
}  # fmt: skip
MEMORY = (
    "elementwise_chain",
    "softmax",
    "layernorm",
    "reduce_rows",
    "reduce_columns",
    "reduce_all",
    "transpose",
    "transpose_bf16",
    "row_moments",
)
MATMUL = ("own", "library", "torch")
COUNTED = ("softmax", "reduce_rows", "reduce_columns", "transpose", "matmul")
_SAMPLE = 120
_MOST_CHILDREN = 25


class Run:
    """All items and what is known of them. result: what the JSON holds."""

    def __init__(
        self, settings: dict[str, Any], items: list[Item], out: Path, result: dict[str, Any]
    ) -> None:
        self.settings, self.items, self.out, self.result = settings, items, out, result
        self.rows: dict[Item, dict[str, Any]] = {}
        self.end = time.monotonic() + float(settings["seconds"])
        self._writing = threading.Lock()

    def measure(self) -> None:
        """Measure the sections in order, each until every item has a row or its time is up.

        Cases run side by side, what is timed alone.
        """
        for section in dict.fromkeys(section for section, _ in self.items):
            chosen = [item for item in self.items if item[0] == section]
            deadline = min(self.end, time.monotonic() + SECTION_SECONDS[section])
            jobs = max(int(self.settings["jobs"]), 1) if section in ("sample", "conformance") else 1
            with ThreadPoolExecutor(jobs) as threads:
                list(
                    threads.map(
                        lambda items, deadline=deadline: self._children(items, deadline),
                        [chosen[n::jobs] for n in range(jobs)],
                    )
                )
            self.save()

    def _children(self, items: list[Item], deadline: float) -> None:
        """One child after the other, until every one of these items has a row or the time is up."""
        for _ in range(_MOST_CHILDREN):
            left = [item for item in items if item not in self.rows]
            if not left or time.monotonic() > deadline or not self._child(left, deadline):
                break

    def _child(self, items: list[Item], deadline: float) -> bool:
        """One child; whether another may get further."""
        with tempfile.TemporaryDirectory() as folder:
            lines, errors = Path(folder) / "lines.jsonl", Path(folder) / "errors.txt"
            lines.touch()
            task = json.dumps({"settings": self.settings, "items": items, "lines": str(lines)})
            with open(errors, "w") as stream:
                child = subprocess.Popen(
                    [sys.executable, str(HERE / "gpu_device_sections.py")],
                    stdin=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                    start_new_session=True,
                )
                assert child.stdin is not None
                child.stdin.write(task)
                child.stdin.close()
                begun, why = self._watch(child, lines, deadline)
            said = errors.read_text()[-1500:]
        if begun is not None and begun not in self.rows and why != "time":
            self.rows[begun] = {
                "error": why or f"the process ended with status {child.returncode}",
                "said": said[-600:],
            }
        elif begun is None and why != "time":
            self.result.setdefault("problems", []).append(
                {"status": child.returncode, "why": why, "said": said}
            )
            return False
        self.save()
        return why != "time"

    def _watch(
        self, child: subprocess.Popen[str], lines: Path, deadline: float
    ) -> tuple[Item | None, str]:
        """Return (last begun item, why the child was ended) after reading lines to end or limit."""
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
            if time.monotonic() > deadline + 15:
                _end(child)
                return begun, "time"
            if time.monotonic() - since > float(self.settings["item_seconds"]):
                _end(child)
                return begun, f"no answer for {self.settings['item_seconds']} s"
            if time.monotonic() > deadline and begun in self.rows:
                _end(child)
                return None, "time"
            time.sleep(0.1)

    def save(self) -> None:
        """Write the JSON of all rows so far."""
        with self._writing:
            write_json(self.out, {**self.result, **tables(self.items, self.rows)})


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Replace the file once the whole text is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result, indent=1, default=str) + "\n")
    partial.replace(path)


def merged(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge several calls: each section from the last call with it, missing items, call times."""
    calls = [
        {key: r.get(key) for key in ("date", "command", "commit", "problems") if r.get(key)}
        for r in results
    ]
    whole: dict[str, Any] = {}
    left: dict[str, int] = {}
    for r in results:
        for section in SECTIONS:
            if section in r:
                left.pop(section, None)
            if r.get("left_out", {}).get(section) and (section in r or section not in whole):
                left[section] = r["left_out"][section]
        whole.update(
            {
                key: value
                for key, value in r.items()
                if key not in ("command", "problems", "left_out")
            }
        )
    return {**whole, "calls": calls, **({"left_out": left} if left else {})}


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
        elif section == "counters":
            items += [(section, name) for name in COUNTED]
        elif getattr(given, folder := "conformance" if section == "sample" else section) is None:
            print(f"{section}: skipped, --{folder} names no folder")
        elif section in ("sample", "conformance"):
            from gpu_device_sections import load_module

            harness = load_module(
                given.conformance / "conformance.py", "conformance_harness_device"
            )
            cases = harness.load_cases(str(given.conformance / "dev"))
            named = [case.name for case in cases if re.search(given.filter, case.name)]
            items += [
                (section, name)
                for name in named[
                    :: max(len(named) // _SAMPLE, 1) if section == "sample" else given.every
                ]
            ]
        else:
            from gpu_device_sections import workloads_of

            for w in workloads_of(given.perf):
                if (
                    re.search(given.filter, w["name"])
                    and w["input_bytes"] + w["output_bytes"] <= given.max_bytes
                ):
                    items.append((section, w["name"]))
    return items


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a short table. 0 when every item that was begun has a row without an error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--emulate",
        action="store_true",
        help="on the emulator, at small sizes: proves the script, measures nothing",
    )
    parser.add_argument(
        "--call", type=int, choices=CALLS, help="the sections of one of the three calls"
    )
    parser.add_argument(
        "--sections",
        "--section",
        help="these sections, separated by commas (default: those of --call, or all)",
    )
    parser.add_argument(
        "--pack",
        type=Path,
        metavar="ARCHIVE",
        help="collect what --conformance and --perf name into an archive, and end",
    )
    parser.add_argument(
        "--corpora", type=Path, metavar="ARCHIVE", help="read the corpora from such an archive"
    )
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        metavar="JSON",
        help="write several calls' results as one, and end",
    )
    parser.add_argument(
        "--report", type=Path, metavar="JSON", help="write a result's tables in Markdown, and end"
    )
    parser.add_argument(
        "--jobs", type=int, default=4, help="processes that run conformance cases side by side"
    )
    parser.add_argument("--conformance", type=Path, help="folder with conformance.py and dev/")
    parser.add_argument("--every", type=int, default=1, help="one conformance case in so many")
    parser.add_argument("--perf", type=Path, help="folder with perf.py and dev/")
    parser.add_argument(
        "--filter",
        default="",
        help="only cases and workloads in whose name this regular expression is found",
    )
    parser.add_argument(
        "--max-bytes",
        type=int,
        default=1 << 32,
        help="skip workloads with larger inputs and outputs",
    )
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--gigabytes",
        type=float,
        default=1.0,
        help="size of the memory-bound programs' main argument",
    )
    parser.add_argument("--matrix", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=540, help="no new item after this time")
    parser.add_argument(
        "--item-seconds",
        type=float,
        default=120,
        help="a child that is silent for so long is replaced",
    )
    parser.add_argument("--in-process", action="store_true", help="no child processes (for tests)")
    parser.add_argument("--out", type=Path, help="the JSON to write")
    given = parser.parse_args(arguments)
    if given.pack is not None:
        from gpu_device_corpora import pack

        print(f"{given.pack}: {pack(given.pack, given.conformance, given.perf)} bytes")
        return 0
    if given.out is None:
        parser.error("--out names the JSON to write")
    if given.merge is not None:
        write_json(given.out, merged([json.loads(path.read_text()) for path in given.merge]))
        return 0
    if given.report is not None:
        given.out.write_text(markdown(json.loads(given.report.read_text())))
        return 0
    if given.corpora is None:
        return measure(parser, given, arguments)
    from gpu_device_corpora import unpack

    with tempfile.TemporaryDirectory() as folder:
        vars(given).update(unpack(given.corpora, Path(folder)))
        return measure(parser, given, arguments)


def measure(
    parser: argparse.ArgumentParser, given: argparse.Namespace, arguments: list[str] | None
) -> int:
    """Run `main`, with the corpora at the paths of `given`."""
    sections = (
        given.sections.split(",") if given.sections else list(CALLS.get(given.call, SECTIONS))
    )
    if wrong := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(wrong))}; there are {', '.join(SECTIONS)}")
    settings = {
        "emulate": given.emulate, "repeats": given.repeats, "rounds": given.rounds, "seconds": given.seconds,
        "item_seconds": given.item_seconds, "jobs": given.jobs, "bytes": 1 << 16 if given.emulate else int(given.gigabytes * (1 << 30)),
        "matrix": 64 if given.emulate else given.matrix,
        "conformance": str(given.conformance), "perf": str(given.perf),
    }  # fmt: skip
    result = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv if arguments is None else ["gpu_device.py", *arguments]),
        "python": platform.python_version(),
        "commit": subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
        ).stdout.strip(),
    }
    run = Run(settings, items_of(sections, given), given.out, result)
    if given.in_process:
        from gpu_device_sections import run_items

        run_items(
            settings,
            run.items,
            lambda line: (
                run.rows.__setitem__((line["section"], line["name"]), line["row"])
                if "row" in line
                else None
            ),
        )
        run.save()
    else:
        run.measure()
    print_report({**result, **tables(run.items, run.rows)}, run.items, run.rows)
    return int(any("error" in row for row in run.rows.values()) or not run.rows)


if __name__ == "__main__":
    sys.exit(main())
