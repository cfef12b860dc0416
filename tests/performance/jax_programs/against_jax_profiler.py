"""The page of `why_slow` against JAX's own reading of XLA's profiler: `python -m tests.performance.jax_programs.against_jax_profiler [NAME ...]`.

Two independent readings. `same`: the bytes that the page was made of, read by `jax.profiler.ProfileData`, kernel by kernel. `own`: the function
under `jax.jit` in a process without our code's backend, recorded by `jax.profiler.trace`; there the five longest times are compared by rank.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def own_recording(name: str) -> list[float]:
    """The longest times of `jax.jit` in this process, longest first."""
    import jax

    function, arguments = importlib.import_module(f"tests.performance.jax_programs.{name}").make()
    jitted = jax.jit(function)
    jax.block_until_ready(jitted(*arguments))
    with tempfile.TemporaryDirectory() as folder:
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        with jax.profiler.trace(folder, profiler_options=options):
            for _ in range(RUNS):
                jax.block_until_ready(jitted(*arguments))
        (path,) = Path(folder).rglob("*.xplane.pb")
        return sorted(microseconds_a_run(jax.profiler.ProfileData.from_file(str(path)), RUNS).values(), reverse=True)[:TOP]


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
    started, used = time.perf_counter(), time.process_time()
    page = xe.xla.why_slow(function, *arguments)
    text = str(page)
    seconds, used = time.perf_counter() - started, time.process_time() - used
    restored = page.profile.session.executable.restored
    theirs = {
        restored.get(key.rpartition("/")[2], key.rpartition("/")[2]): value
        for key, value in microseconds_a_run(jax.profiler.ProfileData.from_serialized_xspace(kept[-1]), RUNS).items()
    }
    shown = [(kernel.kernel.removeprefix("%"), kernel.us) for kernel in page.kernels[:TOP]]
    first = sorted(theirs, key=lambda key: -theirs[key])[:TOP]
    same_five = {kernel for kernel, _ in shown} == set(first)
    worst = max(abs(us / theirs.get(kernel, float("nan")) - 1) for kernel, us in shown)
    command = [sys.executable, "-m", __spec__.name, "--own", name]
    own = [float(us) for us in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]
    ranks = " ".join(f"{us / one:.2f}" for (_, us), one in zip(shown, own, strict=False))
    five = " ".join(f"{us:.0f}" for _, us in shown)
    print(f"| {name} | {seconds:.0f} | {used:.0f} | {page.profile.joined_share:.1%} | {page.profile.lines_share:.1%} | {five} | {same_five} | {worst:.2%} | "
          f"{ranks} | {len(text.splitlines())} |", flush=True)  # fmt: skip


def main(arguments: list[str]) -> None:
    """A row a program, each in a process of its own."""
    if arguments[:1] == ["--own"]:
        print(*own_recording(arguments[1]))
    elif arguments[:1] == ["--row"]:
        row(arguments[1])
    else:
        print("| program | page, s | of this process, s | joined | with lines | top five, us a run | same five | worst difference | page : own run, by rank | lines |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for name in arguments or PROGRAMS:
            subprocess.run([sys.executable, "-m", __spec__.name, "--row", name], check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
