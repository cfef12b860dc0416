"""Everything that is claimed of the GPU backend, measured on one device in one run; writes one JSON.

    python tests/performance/gpu_device.py --conformance ../shared/conformance --perf ../shared/perf --out OUT/gpu_device.json
    python tests/performance/gpu_device.py --emulate --conformance ... --perf ... --out /tmp/proof.json     # small sizes, no GPU

Sections (--sections, all by default): `copy` (the bandwidth of a device-to-device copy, bytes read and written), `memory` (memory-bound
programs as shares of it), `matmul` (bf16 by our own tensor-core kernel, beside cuBLAS through torch where that is importable), `conformance` (all cases, or every nth),
`perf` (m_* and b_* workloads, in rounds interleaved with jax where that is importable). It installs nothing. It needs numpy, ml_dtypes,
llvmlite, and cuda-bindings for a device; the corpora may lie anywhere.

Times are device times by events around a run (a CUDA graph where the host decides nothing), warm, median of the repeats. jax gives no
events for its own streams: its device time is the busy time of the device in its profiler's trace (ours includes the gaps between kernels,
so the ratio is on the hard side), and both sides' wall times of pipelined runs are kept beside it. Inputs are random, on the device before.
"""

from __future__ import annotations

import argparse
import datetime
import glob
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]
# jax would take most of the device's memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from gpu_device_programs import Program, matrix_product, memory_bound  # noqa: E402

import xla_explorer as xe  # noqa: E402
from xla_explorer.backends.gpu.ptx_assembler import find_ptxas  # noqa: E402
from xla_explorer.backends.gpu.runtime.cuda_executor import CudaExecutor  # noqa: E402
from xla_explorer.backends.gpu.runtime.devices import device_executor  # noqa: E402

SECTIONS = ("copy", "memory", "matmul", "conformance", "perf")


class Bench:
    """device: `cuda` or `emulator`. repeats: of each measurement."""

    def __init__(self, emulate: bool, repeats: int, budget_s: float) -> None:
        self.device = "emulator" if emulate else "cuda"
        self.emulate, self.repeats = emulate, repeats
        self.executor = device_executor(self.device)[0]
        self.deadline = time.monotonic() + budget_s
        self.result: dict[str, Any] = {}

    @property
    def late(self) -> bool:
        """Whether the time for this run is used up."""
        return time.monotonic() > self.deadline

    def compile(self, text: str) -> Any:
        """A session for the device."""
        return xe.compile(text, backend="gpu", device=self.device, journal="off", verify=False)

    def microseconds(self, launch: Callable[[], Any], repeats: int | None = None) -> list[float]:
        """Device times of a launch by events."""
        times = []
        for _ in range(0 if self.emulate else 3):
            launch()
        for _ in range(repeats or self.repeats):
            first = self.executor.record_event()
            launch()
            times.append(self.executor.elapsed_us(first, self.executor.record_event()))
        return times

    def launcher(self, run: Any) -> Callable[[], Any]:
        """How a prepared run is started: as a graph where it can be one."""
        return run.as_graph() if isinstance(self.executor, CudaExecutor) and run.can_be_graph else run.run

    # -- sections ------------------------------------------------------------------------------------------------------
    def copy(self, size: int) -> None:
        """GB/s of a copy of so many bytes, read and written bytes together."""
        source, target = self.executor.allocate(size), self.executor.allocate(size)
        times = self.microseconds(lambda: self.executor.copy_on_device(source.address, target.address, size))
        for memory in (source, target):
            self.executor.deallocate(memory)
        self.result["copy"] = {"bytes": 2 * size, **spread(times), "GB/s": round(2 * size / median(times) / 1e3, 1)}

    def program(self, p: Program) -> dict[str, Any]:
        """Times of one generated program, and how far its values are from f64 on the host (at small sizes)."""
        rng = np.random.default_rng(1)
        dtype = np.dtype(ml_dtypes.bfloat16 if p.dtype == "bf16" else np.float32)
        block = rng.standard_normal(1 << 20, np.float32).astype(dtype)
        arrays = [np.resize(block, shape) for shape in p.shapes]
        session = self.compile(p.text)
        executable = session.executable
        row: dict[str, Any] = {"name": p.name, "bytes": p.bytes, "kernels": len(executable.steps)}
        row["emitters"] = [f"{k.emitter} {k.launch}" for k in executable.program.kernels]
        if find_ptxas() is not None:
            row["ptxas"] = session.ptxas_report().to_dict("records")
        with executable.start(arrays) as run:
            times = self.microseconds(self.launcher(run))
            if self.emulate:
                parts = [leaves(tuple(run.results())), leaves(xe.evaluate(xe.parse_hlo(p.text), *arrays))]
                got, want = [np.concatenate([np.asarray(x, np.float64).reshape(-1) for x in part]) for part in parts]
                row["relative_error"] = float(np.linalg.norm(got - want) / max(float(np.linalg.norm(want)), 1e-30))
        row.update(spread(times))
        if p.flops:
            row["TFLOP/s"] = p.flops / median(times) / 1e6
        else:
            row["GB/s"] = round(p.bytes / median(times) / 1e3, 1)
            if "copy" in self.result:
                row["share_of_copy"] = round(row["GB/s"] / self.result["copy"]["GB/s"], 4)
        return row

    def memory(self, elements: int) -> None:
        """The memory-bound programs."""
        rows = self.result["memory"] = []
        for p in memory_bound(elements, 128 if self.emulate else 4096):
            rows.append(attempt(p.name, lambda p=p: self.program(p)))

    def matmul(self, size: int) -> None:
        """Our own product, and cuBLAS by torch."""
        row = attempt("matmul_bf16", lambda: self.program(matrix_product(size)))
        if not self.emulate:
            rival = row["cublas_TFLOP/s"] = attempt("torch", lambda: {"value": torch_matmul(size, self.repeats)})
            if "value" in rival and "TFLOP/s" in row:
                row["share_of_cublas"] = round(row["TFLOP/s"] / rival["value"], 4)
        self.result["matmul"] = row

    def conformance(self, folder: Path, every: int) -> None:
        """How many cases pass."""
        harness = load_module(folder / "conformance.py", "conformance_harness_device")
        cases = [case for number, case in enumerate(harness.load_cases(str(folder / "dev"))) if number % every == 0]
        passed, done, failures = 0, 0, {}
        for case in cases:
            if self.late:
                break
            done += 1
            try:
                good, problem, _ = harness.compare_case(self.compile(case.hlo).run_flat(case.inputs), case)
            except Exception as error:
                good, problem = False, f"{type(error).__name__}: {error}"
                if getattr(error.__cause__, "fatal", False):
                    failures[case.name] = problem
                    break
            passed += bool(good)
            if not good:
                failures[case.name] = str(problem)[:300]
        shown = dict(list(failures.items())[:60])
        self.result["conformance"] = {
            "cases": len(cases), "run": done, "passed": passed, "share": passed / max(done, 1), "failures": shown, "failed": len(failures)
        }  # fmt: skip

    def perf(self, folder: Path, pattern: str, rounds: int, limit: int) -> None:
        """Workloads beside jax."""
        harness = load_module(folder / "perf.py", "perf_harness_device")
        base = folder / "dev"
        listed = json.loads((base / "workloads.json").read_text())
        workloads = listed["workloads"] if isinstance(listed, dict) else listed
        jax = None if self.emulate else attempt("jax", lambda: {"value": Jax()})
        rows = self.result["perf"] = []
        if jax is not None and "error" in jax:
            self.result["jax"] = jax["error"]
        rival = jax.get("value") if jax else None
        for w in workloads:
            if not w["name"].startswith(("m_", "b_")) or pattern not in w["name"] or w["input_bytes"] + w["output_bytes"] > limit or self.late:
                continue
            rows.append(attempt(w["name"], lambda w=w: self.workload(harness, base, w, rounds, rival)))
        ratios = [r["ratio_device"] for r in rows if r.get("ratio_device")]
        walls = [r["ratio_wall"] for r in rows if r.get("ratio_wall")]
        self.result["perf_summary"] = {
            "workloads": len(rows),
            "errors": [r["name"] for r in rows if "error" in r or r.get("wrong")],
            "geometric_mean_device": geometric_mean(ratios),
            "geometric_mean_wall": geometric_mean(walls),
        }

    def workload(self, harness: Any, base: Path, w: Any, rounds: int, rival: Any) -> dict[str, Any]:
        """One workload: values against jax (or the evaluator), then rounds of ours and theirs."""
        text, inputs = harness.load_text(str(base), w), harness.make_inputs(w["inputs"])
        row: dict[str, Any] = {"name": w["name"]}
        started = time.perf_counter()
        session = self.compile(text)
        with session.executable.start(inputs) as run:
            launch = self.launcher(run)
            launch()
            row["compile_and_first_run_s"] = round(time.perf_counter() - started, 3)
            steps = session.program_steps
            row["steps"] = {kind: sum(s.runs_on == kind for s in steps) for kind in sorted({s.runs_on for s in steps})}
            ours = run.results()
            theirs = rival.prepare(text, inputs) if rival else None
            want = rival.values(theirs) if rival else leaves(xe.evaluate(xe.parse_hlo(text), *inputs))
            row["wrong"] = harness.compare(want, ours, w)
            device, wall, their_wall = [], [], []
            for _ in range(rounds):
                device += self.microseconds(launch, max(self.repeats // rounds, 1))
                wall.append(pipelined(launch, self.executor.synchronize, self.repeats))
                if rival:
                    their_wall.append(rival.wall(theirs, self.repeats))
        row["device"], row["wall_us"] = spread(device), median(wall)
        if rival:
            row["jax_wall_us"], row["ratio_wall"] = median(their_wall), median(wall) / median(their_wall)
            busy = rival.busy(theirs, self.repeats)
            if busy:
                row["jax_device_us"], row["ratio_device"] = busy, median(device) / busy
        return row


class Jax:
    """Real XLA on the same device."""

    def __init__(self) -> None:
        import jax
        from jaxlib import _hlo, _jax, xla_client

        jax.config.update("jax_enable_x64", True)
        self.jax, self._hlo, self._jax, self._xla = jax, _hlo, _jax, xla_client
        self.device = jax.devices("gpu")[0]

    def prepare(self, text: str, inputs: list[Any]) -> tuple[Any, list[Any]]:
        """An executable and its arguments on the device."""
        proto = self._hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        module = self._jax.mlir.hlo_to_stablehlo(proto)
        devices = self._jax.DeviceList((self.device,))
        executable = self.device.client.compile_and_load(module, devices, self._xla.CompileOptions())
        arrays = [self.jax.device_put(x, self.device) for x in inputs]
        self.jax.block_until_ready(arrays)
        return executable, arrays

    def values(self, prepared: tuple[Any, list[Any]]) -> list[Any]:
        """Result leaves on the host."""
        return [np.asarray(x) for x in prepared[0].execute(prepared[1])]

    def wall(self, prepared: tuple[Any, list[Any]], repeats: int) -> float:
        """Microseconds a run, runs queued one after the other."""
        last: list[Any] = []
        return pipelined(lambda: last.__setitem__(slice(None), prepared[0].execute(prepared[1])), lambda: self.jax.block_until_ready(last), repeats)

    def busy(self, prepared: tuple[Any, list[Any]], repeats: int) -> float | None:
        """Microseconds a run that the device was busy, by the profiler; None when its trace has no device."""
        from jax.profiler import ProfileData

        with tempfile.TemporaryDirectory() as folder:
            with self.jax.profiler.trace(folder):
                for _ in range(repeats):
                    out = prepared[0].execute(prepared[1])
                self.jax.block_until_ready(out)
            files = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
            if not files:
                return None
            spans = []
            for plane in ProfileData.from_file(files[0]).planes:
                if not plane.name.startswith("/device:GPU"):
                    continue
                for line in plane.lines:
                    if line.name.startswith("Stream"):
                        spans += [(e.start_ns, e.start_ns + e.duration_ns) for e in line.events]
        return covered(spans) / 1e3 / repeats if spans else None


def covered(spans: list[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    total, end = 0.0, -math.inf
    for first, last in sorted(spans):
        total += max(last - max(first, end), 0.0)
        end = max(end, last)
    return total


def pipelined(launch: Callable[[], Any], wait: Callable[[], Any], repeats: int) -> float:
    """Microseconds a run of several queued at once, by the host's clock."""
    launch()
    wait()
    started = time.perf_counter()
    for _ in range(repeats):
        launch()
    wait()
    return (time.perf_counter() - started) * 1e6 / repeats


def torch_matmul(size: int, repeats: int) -> float:
    """TFLOP/s of torch's (cuBLAS') bf16 product."""
    import torch

    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    times = []
    for k in range(repeats + 3):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        torch.matmul(a, b)
        last.record()
        last.synchronize()
        if k >= 3:
            times.append(first.elapsed_time(last) * 1e3)
    return 2 * size**3 / median(times) / 1e6


def attempt(name: str, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A row, or the error that came instead of it."""
    try:
        return action()
    except Exception as error:
        traceback.print_exc()
        return {"name": name, "error": f"{type(error).__name__}: {str(error)[:400]}"}


def leaves(value: Any) -> list[Any]:
    """A nested tuple as a flat list."""
    return [x for part in value for x in leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


def load_module(path: Path, name: str) -> Any:
    """A module by its file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def median(values: list[float]) -> float:
    """The middle."""
    return float(np.median(values))


def spread(values: list[float]) -> dict[str, Any]:
    """n, median and interquartile range in microseconds."""
    low, high = np.percentile(values, [25, 75])
    return {"n": len(values), "median_us": round(median(values), 3), "iqr_us": round(float(high - low), 3)}


def geometric_mean(values: list[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a short table, write the JSON after every section."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--emulate", action="store_true", help="on the emulator, at small sizes: proves the script, measures nothing")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--conformance", type=Path, help="folder with conformance.py and dev/")
    parser.add_argument("--every", type=int, default=1, help="one conformance case in so many")
    parser.add_argument("--perf", type=Path, help="folder with perf.py and dev/")
    parser.add_argument("--filter", default="", help="only workloads with this in their name")
    parser.add_argument("--max-bytes", type=int, default=1 << 32, help="skip workloads with larger inputs and outputs")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the memory-bound programs' main argument")
    parser.add_argument("--matrix", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=540, help="no new conformance case or workload after this time")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    sections = given.sections.split(",")
    if wrong := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(wrong))}; there are {', '.join(SECTIONS)}")
    bench = Bench(given.emulate, given.repeats, given.seconds)
    facts = bench.executor.facts
    bench.result.update(
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        device=facts._asdict(),
        command=" ".join(sys.argv if arguments is None else ["gpu_device.py", *arguments]),
        python=platform.python_version(),
        commit=subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip(),
    )
    size = 1 << 16 if given.emulate else int(given.gigabytes * (1 << 30))
    todo: dict[str, Callable[[], None]] = {
        "copy": lambda: bench.copy(size),
        "memory": lambda: bench.memory(size // 4),
        "matmul": lambda: bench.matmul(64 if given.emulate else given.matrix),
        "conformance": lambda: bench.conformance(given.conformance, given.every),
        "perf": lambda: bench.perf(given.perf, given.filter, given.rounds, given.max_bytes),
    }
    for name in sections:
        if name in ("conformance", "perf") and getattr(given, name) is None:
            print(f"{name}: skipped, --{name} names no folder")
            continue
        started = time.monotonic()
        try:
            todo[name]()
        except Exception as error:
            traceback.print_exc()
            bench.result[f"{name}_error"] = f"{type(error).__name__}: {error}"
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(bench.result, indent=1) + "\n")
        print(f"{name}: {time.monotonic() - started:.0f} s")
    report(bench.result)
    return 0


def report(result: dict[str, Any]) -> None:
    """The short table."""
    print(f"{result['device']['name']}, driver {result['device']['driver']}, {result['date']}")
    if "copy" in result:
        print(f"copy {result['copy'].get('GB/s')} GB/s")
    for row in result.get("memory", []):
        print(f"{row['name']:20} {row.get('GB/s', '')} GB/s, {row.get('share_of_copy', row.get('error'))} of copy")
    if "matmul" in result:
        print(f"matmul {result['matmul']}")
    if "conformance" in result:
        print({key: value for key, value in result["conformance"].items() if key != "failures"})
    for row in result.get("perf", []):
        shown = ("ratio_device", "ratio_wall", "wrong", "error")
        print(f"{row['name']:34} {row.get('device', {}).get('median_us')} us", {key: row[key] for key in shown if row.get(key)})
    print(result.get("perf_summary", ""))


if __name__ == "__main__":
    sys.exit(main())
