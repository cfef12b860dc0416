"""The measurements of `gpu_device.py`: each item is a row of a section, made in a child process.

A child reads a list of items from its standard input. It writes two lines of JSON for each to a
file: one at the start, one with the row. The file therefore names the item at which a child died.
After an error that cost the device's context it stops with status 3.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
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
from gpu_device_rivals import Jax, in_full_precision, median, pipelined, torch_matmul  # noqa: E402
from gpu_device_tools import counters_of, ncu_version, nvidia_smi  # noqa: E402

import xla_explorer as xe  # noqa: E402
from xla_explorer.backends.gpu.architecture import gpu_architecture  # noqa: E402
from xla_explorer.backends.gpu.libraries.shared_objects import LIBRARIES, why_missing  # noqa: E402
from xla_explorer.backends.gpu.occupancy import resource_rows  # noqa: E402
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas  # noqa: E402
from xla_explorer.backends.gpu.runtime.devices import device_executor  # noqa: E402
from xla_explorer.explorer.sessions.compilation import program_steps  # noqa: E402

CONTEXT_LOST = 3
_ROUNDS_US = 1e6  # of what is repeated in a round: a slow program is repeated less often
_BUSY_US, _MOST_RUNS = 400.0, 20  # of runs in one graph together; how many of them at most
_LONG_US = 20e3  # of a run whose steps are timed once
_SMALL = 1 << 18  # elements at which memory-bound programs are compared with the evaluator


class Bench:
    """settings: of the whole run, see `gpu_device.main`.

    say: gets what is known of a row before it is done: it stays the row when the rival does not
    answer.
    """

    def __init__(
        self, settings: dict[str, Any], say: Callable[[dict[str, Any]], None] = lambda row: None
    ) -> None:
        self.settings, self.say = settings, say
        self.emulate, self.repeats = bool(settings["emulate"]), int(settings["repeats"])
        self.device = "emulator" if self.emulate else "cuda"
        self.executor = device_executor(self.device)[0]
        self._cases: dict[str, Any] = {}
        self._jax: Jax | None = None

    def compile(self, text: str, **options: Any) -> Any:
        """Return a session for the device."""
        return xe.compile(
            text, backend="gpu", device=self.device, journal="off", verify=False, **options
        )

    def microseconds(self, launch: Callable[[], Any], repeats: int | None = None) -> list[float]:
        """Device times of a launch by events."""
        times = []
        repeats = repeats or self.repeats
        for _ in range(0 if self.emulate else min(3, repeats)):
            launch()
        for _ in range(repeats):
            first = self.executor.record_event()
            launch()
            times.append(self.executor.elapsed_us(first, self.executor.record_event()))
        return times

    # -- sections ----------------------------------------------------------------------------------
    def environment(self, _: str) -> dict[str, Any]:
        """Return the installed versions and the device: the first place to look after a failure."""
        import llvmlite
        import llvmlite.binding

        row: dict[str, Any] = {
            "device": self.executor.facts._asdict(), "numpy": np.__version__, "llvmlite": llvmlite.__version__,
            "llvm": ".".join(map(str, llvmlite.binding.llvm_version_info)), "ptxas": find_ptxas(), "nvidia_smi": nvidia_smi(), "ncu": ncu_version(),
        }  # fmt: skip
        row["libraries"] = {name: why_missing(name) or "found" for name in LIBRARIES}
        for name in ("jax", "jaxlib", "torch", "cuda.bindings"):
            try:
                row[name] = getattr(importlib.import_module(name), "__version__", "found")
            except Exception as problem:
                row[name] = f"{type(problem).__name__}: {problem}"[:200]
        session = self.compile(
            "HloModule h\nENTRY e { x = f32[1000] parameter(0) ROOT r = f32[1000] tanh(x) }"
        )
        x = np.linspace(-2, 2, 1000, dtype=np.float32)
        row["first_kernel_error"] = float(
            np.abs(session.executable.execute([x])[0] - np.tanh(x)).max()
        )
        if not self.emulate:
            row["code"] = self.executor.load_ptx(session.executable.ptx).made_by
        return row

    def sample(self, item: str) -> dict[str, Any]:
        """Run a case of the sample."""
        return self.conformance(item)

    def copy(self, _: str) -> dict[str, Any]:
        """GB/s of a copy on the device, read and written bytes together."""
        size = int(self.settings["bytes"])
        source, target = self.executor.allocate(size), self.executor.allocate(size)
        self.executor.write(source.address, np.zeros(size, np.uint8))
        times = self.microseconds(
            lambda: self.executor.copy_on_device(source.address, target.address, size)
        )
        return {
            "bytes": 2 * size,
            **spread(times),
            "GB/s": round(2 * size / median(times) / 1e3, 1),
        }

    def memory(self, item: str) -> dict[str, Any]:
        """Run a memory-bound program: values at a small size, times at the full one."""
        row_length = 128 if self.emulate else 4096
        found = {p.name: p for p in memory_bound(int(self.settings["bytes"]) // 4, row_length)}[
            item
        ]
        small = {
            p.name: p
            for p in memory_bound(min(_SMALL, int(self.settings["bytes"]) // 4), row_length)
        }[item]
        row = self.program(found)
        row["relative_error"] = self.error_of(small)
        return row

    def matmul(self, item: str) -> dict[str, Any]:
        """Measure a bf16 product: `own` kernel, `library`, or `torch` (cuBLAS)."""
        size = int(self.settings["matrix"])
        if item == "torch":
            return (
                {"TFLOP/s": torch_matmul(size, self.repeats)}
                if not self.emulate
                else {"TFLOP/s": None}
            )
        program = matrix_product(size)
        row = self.program(program, libraries="never" if item == "own" else "auto")
        row["nvidia_smi"] = nvidia_smi()  # the clocks under load, while they last
        row["relative_error"] = self.error_of(
            program, rows=8, libraries="never" if item == "own" else "auto"
        )
        return row

    def counters(self, item: str) -> dict[str, Any]:
        """Hardware counters of a program's kernels."""
        return (
            {"absent": "there is no device"}
            if self.emulate
            else counters_of(self.settings, item, 45)
        )

    def once(self, item: str) -> dict[str, Any]:
        """Run a program of `memory`, or our product, once, for external tools."""
        if item == "matmul":
            program, options = matrix_product(int(self.settings["matrix"])), {"libraries": "never"}
        else:
            program, options = (
                {p.name: p for p in memory_bound(int(self.settings["bytes"]) // 4, 4096)}[item],
                {},
            )
        with self.compile(program.text, **options).executable.start(self.arguments(program)) as run:
            run.run()
            self.executor.synchronize()
        return {}

    def arguments(self, p: Program) -> list[Any]:
        """Random ones."""
        rng = np.random.default_rng(1)
        dtype = np.dtype(ml_dtypes.bfloat16 if p.dtype == "bf16" else np.float32)
        block = rng.standard_normal(1 << 20, np.float32).astype(dtype)
        return [np.resize(block, shape) for shape in p.shapes]

    def program(self, p: Program, **options: Any) -> dict[str, Any]:
        """Return times of one generated program."""
        session = self.compile(p.text, **options)
        executable = session.executable
        row: dict[str, Any] = {
            "bytes": p.bytes,
            "kernels": len(executable.steps),
            "steps": [s.function for s in executable.steps],
        }
        row["emitters"] = [f"{k.emitter} {k.launch}" for k in executable.program.kernels]
        if find_ptxas() is not None and executable.program.kernels:
            ptx = executable.ptx
            report = assemble_ptx(ptx.text, ptx.architecture)
            row["ptxas"] = resource_rows(
                executable.program.kernels, report, gpu_architecture(ptx.architecture)
            )
        with executable.start(self.arguments(p)) as run:
            times = self.microseconds(run.launcher())
        row.update(spread(times))
        if p.flops:
            row["TFLOP/s"] = p.flops / median(times) / 1e6
        else:
            row["GB/s"] = round(p.bytes / median(times) / 1e3, 1)
        return row

    def error_of(self, p: Program, rows: int | None = None, **options: Any) -> float:
        """Return ‖ours − reference‖ / ‖reference‖; with `rows`, of some rows of a product in f64.

        Without `rows` the reference is the evaluator's value.

        The reference is the evaluator's value.
        """
        arrays = self.arguments(p)
        ours = self.compile(p.text, **options).executable.execute(arrays)
        if rows is None:
            want = leaves(xe.evaluate(xe.parse_hlo(p.text), *arrays))
        else:
            chosen = np.linspace(0, len(arrays[0]) - 1, rows).astype(int)
            want = [arrays[0][chosen].astype(np.float64) @ arrays[1].astype(np.float64)]
            ours = [ours[0][chosen]]
        return relative_error(ours, want)

    def conformance(self, item: str) -> dict[str, Any]:
        """Return the result of one case."""
        folder = Path(self.settings["conformance"])
        if not self._cases:
            self._harness = load_module(folder / "conformance.py", "conformance_harness_device")
            self._cases = {
                case.name: case for case in self._harness.load_cases(str(folder / "dev"))
            }
        case = self._cases[item]
        good, problem, _ = self._harness.compare_case(
            self.compile(case.hlo).run_flat(case.inputs), case
        )
        return {} if good else {"problem": str(problem)[:300]}

    def perf(self, item: str) -> dict[str, Any]:
        """One workload: values against jax (or the evaluator), then rounds of ours and theirs."""
        folder = Path(self.settings["perf"])
        harness = load_module(folder / "perf.py", "perf_harness_device")
        base = folder / "dev"
        w = {w["name"]: w for w in workloads_of(folder)}[item]
        text, inputs = harness.load_text(str(base), w), harness.make_inputs(w["inputs"])
        row: dict[str, Any] = {
            "bytes": w["input_bytes"] + w["output_bytes"],
            "flops": w.get("flops"),
        }
        rival = self._rival(row)
        started = time.perf_counter()
        session = self.compile(text)
        with session.executable.start(inputs) as run:
            launch = run.launcher()
            launch()
            row["compile_and_first_run_s"] = round(time.perf_counter() - started, 3)
            steps = program_steps(session)
            row["steps"] = {
                kind: sum(s.runs_on == kind for s in steps)
                for kind in sorted({s.runs_on for s in steps})
            }
            ours = run.results()
            (first,) = self.microseconds(launch, 1)
            repeats = min(max(int(_ROUNDS_US / first), 1), self.repeats)
            self.say(
                {
                    **row,
                    "device": spread(self.microseconds(launch, repeats)),
                    "jax": "the comparison with it did not end",
                }
            )
            theirs = self._prepared(rival, text, inputs, row)
            want = self._reference(rival if theirs else None, text, inputs, theirs)
            row["wrong"] = harness.compare(want, self._exact(session, text, inputs, ours), w)
            row["relative_error"] = relative_error(ours, want)
            their_repeats = repeats
            if rival and theirs:
                their_repeats = min(max(int(_ROUNDS_US / rival.wall(theirs, 1)), 1), repeats)
            device, wall, their_wall = [], [], []
            rounds = int(self.settings["rounds"])
            for _ in range(rounds):
                device += self.microseconds(launch, max(repeats // rounds, 1))
                wall.append(pipelined(launch, self.executor.synchronize, repeats))
                if rival and theirs:
                    their_wall.append(rival.wall(theirs, their_repeats))
            row["busy_us"] = self._busy(run, median(device))
        row["device"], row["wall_us"] = spread(device), median(wall)
        row["GB/s"] = round(row["bytes"] / median(device) / 1e3, 1)
        if row["flops"]:
            row["TFLOP/s"] = round(row["flops"] / median(device) / 1e6, 3)
        asked = any(
            thunk.kind == "while" and thunk.trips is None
            for thunk in session.executable.program.walk()
        )
        row["work"] = (
            []
            if asked
            else longest_steps(
                session.executable, inputs, 1 if self.emulate or median(device) > _LONG_US else 5
            )
        )
        if rival and theirs:
            row["jax_wall_us"], row["ratio_wall"] = (
                median(their_wall),
                median(wall) / median(their_wall),
            )
            try:
                busy = rival.busy(theirs, their_repeats)
            except Exception as problem:
                row["jax_profiler"] = f"{type(problem).__name__}: {str(problem)[:300]}"
            else:
                if busy:
                    row["jax_device_us"], row["ratio_device"], row["ratio_busy"] = (
                        busy,
                        median(device) / busy,
                        row["busy_us"] / busy,
                    )
                else:
                    row["jax_profiler"] = "its trace has no device"
        return row

    def _busy(self, run: Any, median_us: float) -> float:
        """Return microseconds of one run of several in one graph, which share its launch."""
        times = min(max(int(_BUSY_US / median_us), 1), _MOST_RUNS)
        return median(self.microseconds(run.launcher(times))) / times

    @staticmethod
    def _reference(rival: Jax | None, text: str, inputs: list[Any], theirs: Any) -> list[Any]:
        """Return values in full precision, jax's or the evaluator's.

        By default jax computes f32 products in TF32.
        """
        if rival is None:
            return leaves(xe.evaluate(xe.parse_hlo(text), *inputs))
        full = in_full_precision(text)
        return rival.values(theirs if full == text else rival.prepare(full, inputs))

    def _exact(self, session: Any, text: str, inputs: list[Any], ours: list[Any]) -> list[Any]:
        """Our values, those without TF32 where the timed program takes it."""
        calls = [thunk.call for thunk in session.executable.program.walk()]
        if not any(getattr(call, "compute", "") == "tf32" for call in calls):
            return ours
        return self.compile(text, tf32=False).executable.execute(inputs)

    @staticmethod
    def _prepared(rival: Jax | None, text: str, inputs: list[Any], row: dict[str, Any]) -> Any:
        """Return the rival's executable and arguments; None if it does not compile the module.

        `row` then has the reason, and the module is measured without the rival.

        The module is then measured without the rival.
        """
        try:
            return rival.prepare(text, inputs) if rival else None
        except Exception as problem:
            row["jax"] = f"{type(problem).__name__}: {str(problem)[:300]}"
            return None

    def _rival(self, row: dict[str, Any]) -> Jax | None:
        """Return jax on the same device; a row without it has the reason."""
        if self.emulate:
            return None
        if self._jax is None:
            try:
                self._jax = Jax()
            except Exception as problem:
                row["jax"] = f"{type(problem).__name__}: {str(problem)[:300]}"
        return self._jax


def relative_error(ours: list[Any], want: list[Any]) -> float:
    """‖ours − reference‖ / ‖reference‖ of all leaves together; of finite elements."""
    a, b = [
        np.concatenate([np.asarray(x).astype(np.complex128).reshape(-1) for x in part])
        for part in (ours, want)
    ]
    finite = np.isfinite(a) & np.isfinite(b)
    return float(np.linalg.norm((a - b)[finite]) / max(float(np.linalg.norm(b[finite])), 1e-30))


def longest_steps(executable: Any, inputs: list[Any], repeats: int) -> list[dict[str, Any]]:
    """Return the eight longest steps: name, executor, emitter, microseconds a run, calls."""
    emitters = {kernel.name: kernel.emitter for kernel in executable.program.kernels}
    rows = []
    for timing in executable.profile(inputs, repeats=repeats).kernels:
        name = timing.step.function
        row = {
            "name": name,
            "runs_on": timing.step.runs_on,
            "us": round(median(list(timing.samples_us)) * timing.calls, 3),
            "calls": timing.calls,
        }
        rows.append({**row, "emitter": emitters[name]} if name in emitters else row)
    return sorted(rows, key=lambda row: -row["us"])[:8]


def workloads_of(folder: Path) -> list[dict[str, Any]]:
    """Return the m_* and b_* workloads."""
    listed = json.loads((folder / "dev" / "workloads.json").read_text())
    found = listed["workloads"] if isinstance(listed, dict) else listed
    return [w for w in found if w["name"].startswith(("m_", "b_"))]


def leaves(value: Any) -> list[Any]:
    """Return a nested tuple as a flat list."""
    return (
        [x for part in value for x in leaves(part)]
        if isinstance(value, tuple)
        else [np.asarray(value)]
    )


def load_module(path: Path, name: str) -> Any:
    """Return a module by its file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def spread(values: list[float]) -> dict[str, Any]:
    """n, median and interquartile range in microseconds."""
    low, high = np.percentile(values, [25, 75])
    return {
        "n": len(values),
        "median_us": round(median(values), 3),
        "iqr_us": round(float(high - low), 3),
    }


def run_items(
    settings: dict[str, Any], items: list[tuple[str, str]], write: Callable[[dict[str, Any]], None]
) -> int:
    """Every (section, item): a line when it begins and one with its row or error.

    0, or CONTEXT_LOST.
    """
    at = ["", ""]
    bench = Bench(settings, lambda row: write({"section": at[0], "name": at[1], "row": row}))
    for section, item in items:
        at[:] = section, item
        write({"section": section, "name": item, "begin": True})
        row: dict[str, Any] = {}
        lost = False
        try:
            row = getattr(bench, section)(item)
        except Exception as error:
            traceback.print_exc()
            row = {"error": f"{type(error).__name__}: {str(error)[:400]}"}
            lost = bool(getattr(error, "fatal", False) or getattr(error.__cause__, "fatal", False))
        write({"section": section, "name": item, "row": row})
        if lost:
            return CONTEXT_LOST
    return 0


def main() -> int:
    """Run the child: items on standard input, lines to the file named there."""
    task = json.load(sys.stdin)
    with open(task["lines"], "a") as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(line, default=str) + "\n")
            file.flush()

        return run_items(task["settings"], [tuple(item) for item in task["items"]], write)


if __name__ == "__main__":
    sys.exit(main())
