"""Compares the page of `why_slow` with JAX's own reading of XLA's profiler.

`python -m tests.performance.jax_programs.against_jax_profiler [NAME ...]`

Two independent readings. `same` reads the bytes of the page's recording by
`jax.profiler.ProfileData`, kernel by kernel. It leaves out the first run and takes the median of
the others. `apart` runs the function under `jax.jit` in another process, recorded by
`jax.profiler.trace`, in turns with the page's process. It leaves out the first turn. For the five
kernels of the page, by name, it takes the ratio of the shortest times: other jobs make none
shorter. It reports the median of the turns' ratios. The range is half of that in which the median
lies in 95 of 100 samples of as many turns. Seconds are elapsed and of all processors.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from xla_explorer.explorer.xla.flag_sweeps import given

PROGRAMS = (
    "gpt_training",
    "resnet_training",
    "unet_training",
    "vit_inference",
    "nuts_step",
    "diffrax_gradient",
)
TOP, TURNS, SAMPLES = 5, 11, 2000


def microseconds_a_run(data: Any) -> dict[str, float]:
    """Return instruction -> exclusive microseconds a run on its thread, of `ProfileData`.

    It is the median of runs, without the first if there are several.
    """
    total: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for plane in data.planes:
        if plane.name.startswith("/host:CPU"):
            for line in plane.lines:
                for name, run, own in _own_times(line):
                    total[name][run] += own / 1e3
    runs = sorted({run for of_runs in total.values() for run in of_runs})
    later = runs[1:] or runs
    kept = {
        name: [us for run, us in of_runs.items() if run in later] for name, of_runs in total.items()
    }
    return {name: float(np.median(found)) for name, found in kept.items() if found}


def _own_times(line: Any) -> Iterator[tuple[str, int, float]]:
    found = []
    for event in line.events:
        said = dict(event.stats)
        if "hlo_op" in said:
            found.append(
                (
                    event.start_ns,
                    -event.duration_ns,
                    str(said["hlo_op"]),
                    int(said.get("run_id", 0)),
                )
            )
    around: list[list[Any]] = []  # [end, name, run, nanoseconds]
    for start, negative, name, run in sorted(found):
        while around and around[-1][0] <= start:
            _, *done = around.pop()
            yield tuple(done)
        if around:
            around[-1][3] += negative
        around.append([start - negative, name, run, -negative])
    for _, *done in around:
        yield tuple(done)


def answer_recordings(name: str) -> None:
    """Answer each line of input with the times of `jax.jit` here: instruction -> microseconds.

    It is the child of `row`; times are microseconds a run.
    """
    import jax

    function, arguments = importlib.import_module(f"tests.performance.jax_programs.{name}").make()
    jitted = jax.jit(function)
    jax.block_until_ready(jitted(*arguments))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    for _ in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, profiler_options=options):
                jax.block_until_ready(jitted(*arguments))
            (path,) = Path(folder).rglob("*.xplane.pb")
            print(
                json.dumps(microseconds_a_run(jax.profiler.ProfileData.from_file(str(path)))),
                flush=True,
            )


def used_seconds() -> float:
    """Processor time of this process and of its children, those that run too."""
    found = time.process_time()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            if int(words[1]) == os.getpid():
                found += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found + usage.ru_utime + usage.ru_stime


def row(name: str) -> None:
    """Print the comparison of one program."""
    import jax

    import xla_explorer as xe
    from xla_explorer.backends.xla.child import XlaChild

    kept: list[bytes] = []
    ask = XlaChild.ask

    def listening(self: XlaChild, *request: Any) -> Any:
        answer = ask(self, *request)
        if request[0] == "profile":
            kept.append(answer)
        return answer

    XlaChild.ask = listening  # type: ignore[method-assign]
    function, arguments = importlib.import_module(f"tests.performance.jax_programs.{name}").make()
    started, used = time.perf_counter(), used_seconds()
    page = xe.xla.why_slow(function, *arguments)
    text = str(page)
    seconds, used = time.perf_counter() - started, used_seconds() - used
    restored = page.profile.session.executable.restored
    theirs = {
        restored.get(key.rpartition("/")[2], key.rpartition("/")[2]): value
        for key, value in microseconds_a_run(
            jax.profiler.ProfileData.from_serialized_xspace(kept[-1])
        ).items()
    }
    shown = [(kernel.kernel.removeprefix("%"), kernel.us) for kernel in page.kernels[:TOP]]
    first = sorted(theirs, key=lambda key: -theirs[key])[:TOP]
    same_five = {kernel for kernel, _ in shown} == set(first)
    worst = max(abs(us / theirs.get(kernel, float("nan")) - 1) for kernel, us in shown)
    apart = beside_a_recording_apart(name, page, [kernel for kernel, _ in shown])
    five = " ".join(f"{us:.0f}" for _, us in shown)
    ratios = " ".join(f"{least:.2f} ({ratio:.2f}±{half:.2f})" for least, ratio, half in apart)
    near = sum([abs(least - 1) <= 0.1 for least, _, _ in apart])
    possible = sum([abs(ratio - 1) <= 0.1 + half for _, ratio, half in apart])
    print(f"| {name} | {seconds:.0f} | {used:.0f} | {page.profile.joined_share:.1%} | {page.profile.lines_share:.1%} | {five} | {same_five} | {worst:.2%} | "
          f"{ratios} | {near} | {possible} | {len(page.advice)} | {len(text.splitlines())} |", flush=True)  # fmt: skip


def beside_a_recording_apart(
    name: str, page: Any, kernels: list[str]
) -> list[tuple[float, float, float]]:
    """Return our recordings over JAX's in another process, by kernel.

    Numbers: the shortest, the median of rounds, half of its range.
    """
    executable = page.profile.session.executable
    leaves = given(*importlib.import_module(f"tests.performance.jax_programs.{name}").make())[1]
    theirs = {ours: name for name, ours in executable.restored.items()}
    command = [sys.executable, "-m", __spec__.name, "--own", name]
    samples: list[tuple[dict[str, float], dict[str, float]]] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        for _ in range(TURNS):
            child.stdin.write("\n")
            child.stdin.flush()
            other = json.loads(child.stdout.readline())
            mine: defaultdict[str, float] = defaultdict(float)
            for event in executable.record(leaves, 1):
                mine[event.op] += event.self_ps / 1e6
            samples.append((dict(mine), {key.rpartition("/")[2]: us for key, us in other.items()}))
        child.stdin.close()
    found = []
    for kernel in kernels:
        times = np.array(
            [
                (mine.get(kernel, np.nan), other.get(theirs.get(kernel, kernel), np.nan))
                for mine, other in samples[1:]
            ]
        )
        ratios, least = times[:, 0] / times[:, 1], times.min(axis=0)
        drawn = np.random.default_rng(0).choice(ratios, (SAMPLES, len(ratios)))
        low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
        found.append((float(least[0] / least[1]), float(np.median(ratios)), float(high - low) / 2))
    return found


def main(arguments: list[str]) -> None:
    """Print a row for each program, each from a process of its own."""
    if arguments[:1] == ["--own"]:
        answer_recordings(arguments[1])
    elif arguments[:1] == ["--row"]:
        row(arguments[1])
    else:
        print("| program | page, s | of processors, s | joined | with lines | top five, us a run | same five | worst difference | "
              "page : apart, shortest (median) | shortest within 10 % | median within 10 % and its range | proposed | lines |")  # fmt: skip
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for name in arguments or PROGRAMS:
            subprocess.run([sys.executable, "-m", __spec__.name, "--row", name], check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
