"""The page of `why_slow` against JAX's own reading of XLA's profiler: `python -m tests.performance.jax_programs.against_jax_profiler [NAME ...]`.

Two independent readings. `same`: the bytes that the page was made of, read by `jax.profiler.ProfileData`, kernel by kernel. `own`: the function
under `jax.jit` in another process, recorded there by `jax.profiler.trace` in turns with recordings of the page's process; the five kernels of the
page by their names, the median of both, and the median of the five ratios. Seconds are elapsed and of all processors.
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

PROGRAMS = ("gpt_training", "resnet_training", "unet_training", "vit_inference", "nuts_step", "diffrax_gradient")
TOP, RUNS = 5, 5


def microseconds_a_run(data: Any, runs: int) -> dict[str, float]:
    """Instruction -> microseconds a run without what ran inside of it on its thread, of JAX's `ProfileData`."""
    total: defaultdict[str, float] = defaultdict(float)
    for plane in data.planes:
        if plane.name.startswith("/host:CPU"):
            for line in plane.lines:
                for name, own in _own_times(line):
                    total[name] += own / 1e3 / runs
    return dict(total)


def _own_times(line: Any) -> Iterator[tuple[str, float]]:
    found = []
    for event in line.events:
        name = next((value for key, value in event.stats if key == "hlo_op"), None)
        if name is not None:
            found.append((event.start_ns, -event.duration_ns, str(name)))
    around: list[list[Any]] = []  # [end, name, nanoseconds]
    for start, negative, name in sorted(found):
        while around and around[-1][0] <= start:
            yield around[-1][1], around.pop()[2]
        if around:
            around[-1][2] += negative
        around.append([start - negative, name, -negative])
    for _, name, own in around:
        yield name, own


def answer_recordings(name: str) -> None:
    """The child of `row`: for each line of the input a line with the times of `jax.jit` in this process, instruction -> microseconds a run."""
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
            print(json.dumps(microseconds_a_run(jax.profiler.ProfileData.from_file(str(path)), 1)), flush=True)


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
        for key, value in microseconds_a_run(jax.profiler.ProfileData.from_serialized_xspace(kept[-1]), len(page.profile.runs())).items()
    }
    shown = [(kernel.kernel.removeprefix("%"), kernel.us) for kernel in page.kernels[:TOP]]
    first = sorted(theirs, key=lambda key: -theirs[key])[:TOP]
    same_five = {kernel for kernel, _ in shown} == set(first)
    worst = max(abs(us / theirs.get(kernel, float("nan")) - 1) for kernel, us in shown)
    apart = beside_a_recording_apart(name, page, [kernel for kernel, _ in shown])
    five = " ".join(f"{us:.0f}" for _, us in shown)
    ratios = " ".join(f"{ratio:.2f}" for ratio in apart)
    print(f"| {name} | {seconds:.0f} | {used:.0f} | {page.profile.joined_share:.1%} | {page.profile.lines_share:.1%} | {five} | {same_five} | {worst:.2%} | "
          f"{ratios} | {np.median(apart):.2f} | {len(page.advice)} | {len(text.splitlines())} |", flush=True)  # fmt: skip


def beside_a_recording_apart(name: str, page: Any, kernels: list[str]) -> list[float]:
    """For each kernel the median of our recordings over that of JAX's own in another process, recorded in turns."""
    executable = page.profile.session.executable
    leaves = given(*importlib.import_module(f"tests.performance.jax_programs.{name}").make())[1]
    theirs = {ours: name for name, ours in executable.restored.items()}
    command = [sys.executable, "-m", __spec__.name, "--own", name]
    samples: list[tuple[dict[str, float], dict[str, float]]] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        for _ in range(RUNS):
            child.stdin.write("\n")
            child.stdin.flush()
            other = json.loads(child.stdout.readline())
            mine: defaultdict[str, float] = defaultdict(float)
            for event in executable.record(leaves, 1):
                mine[event.op] += event.self_ps / 1e6
            samples.append((dict(mine), {key.rpartition("/")[2]: us for key, us in other.items()}))
        child.stdin.close()
    return [float(np.median([mine.get(kernel, np.nan) for mine, _ in samples])
                  / np.median([other.get(theirs.get(kernel, kernel), np.nan) for _, other in samples])) for kernel in kernels]  # fmt: skip


def main(arguments: list[str]) -> None:
    """A row a program, each in a process of its own."""
    if arguments[:1] == ["--own"]:
        answer_recordings(arguments[1])
    elif arguments[:1] == ["--row"]:
        row(arguments[1])
    else:
        print("| program | page, s | of processors, s | joined | with lines | top five, us a run | same five | worst difference | "
              "page : apart | median | proposed | lines |")  # fmt: skip
        print("|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for name in arguments or PROGRAMS:
            subprocess.run([sys.executable, "-m", __spec__.name, "--row", name], check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
