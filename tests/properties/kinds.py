"""Runs random programs of `kind_programs.py` by the hundred thousand.

    python -m tests.properties.kinds --programs 100000 --seed 0 --workers 1 [--report FILE]
    python -m tests.properties.kinds --programs 5000 --seed 0 --beside-xla   # extra `jax`
    python -m tests.properties.kinds --show SEED   # one program and its findings

The evaluator, native code between guard pages, PTX on the emulator and real XLA run them. Several
programs share a module. If one has a finding, or its process dies, each program of its module runs
alone. The last lines count programs by result and by class of difference, and list each finding
once by its cause.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tests.properties.kind_programs import Program, module_text, program
from xla_explorer.hlo.module import HloModule

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOGETHER = 8  # programs of a module
RANGE = 400  # programs of a child process
STUCK_SECONDS = 180.0
BACKENDS = ("cpu", "gpu")


# -- one module ------------------------------------------------------------------------------------
def settings_of(seed: int, backends: tuple[str, ...]) -> list[Any]:
    """Return how the module of a seed is compiled and run on each backend."""
    from tests.properties.text_checks import Setting

    found = []
    for backend in backends:
        setting = Setting.of(seed, guards=backend == "cpu")
        found.append(
            setting
            if backend == "cpu"
            else setting._replace(backend=backend, threads=1, guard="", large=False)
        )
    return found


@contextlib.contextmanager
def contraction_of(backend: str) -> Iterator[None]:
    """Add the noise of a GPU's contraction, which rounds a product and its sum once (`fma.rn`).

    16-bit types are contracted too. The difference of two equal products need not be 0.

    16-bit types are contracted too. The difference of two equal products need not be 0.
    """
    from tests.properties.noisy_evaluator import NOISE

    before = {name: NOISE[name] for name in ("add", "subtract", "multiply")}
    if backend == "gpu":
        NOISE.update(
            {
                name: noise._replace(narrow=1, operands=name != "multiply")
                for name, noise in before.items()
            }
        )
    try:
        yield
    finally:
        NOISE.update(before)


def check_programs(
    programs: list[Program],
    backends: tuple[str, ...] = BACKENDS,
    step: Callable[[str], None] = lambda _: None,
) -> list[Any]:
    """(backend, outcome) of the module of some programs; the text is checked before."""
    from tests.properties.text_checks import check_run, check_text

    seed = programs[0].seed
    outcome, module = check_text(module_text(programs, seed), step)
    if outcome.kind != "printed" or module is None:
        return [
            ("text", outcome._replace(detail=outcome.detail or "the generator's text is refused"))
        ]
    found = []
    for setting in settings_of(seed, backends):
        step(f"on {setting.backend}")
        with contraction_of(setting.backend):
            found.append((setting.backend, check_run(module, setting, seed, step)))
    if len(programs) == 1 and any(outcome.kind == "no-reference" for _, outcome in found):
        return [*found, ("evaluator", evaluated(module, seed, outcome))]
    return found


def evaluated(module: Any, seed: int, outcome: Any) -> Any:
    """Return the evaluator's values; None if it takes too long. Its error is a finding."""
    from tests.properties.hostile_arguments import KINDS, arguments
    from tests.properties.noisy_evaluator import reference

    for kind in KINDS:
        try:
            reference(module, arguments(module, kind, seed))
        except Exception as problem:
            return outcome._replace(
                kind="evaluator-error", detail=f"{type(problem).__name__}: {problem}"[:200]
            )
    return outcome._replace(kind="too-long-to-explain", detail="")


def check_module(
    seeds: list[int], backends: tuple[str, ...], step: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[int, str, str, Any]]:
    """Yield (seed, kind, backend, outcome) per program; after a finding each program runs alone."""
    programs = [program(seed, number) for number, seed in enumerate(seeds)]
    found = check_programs(programs, backends, step)
    if (
        not any(outcome.is_finding or outcome.kind == "no-reference" for _, outcome in found)
        or len(programs) == 1
    ):
        yield from [
            (p.seed, p.kind, backend, outcome) for p in programs for backend, outcome in found
        ]
        return
    alone = [
        (p, backend, outcome)
        for p in programs
        for backend, outcome in check_programs([program(p.seed)], backends, step)
    ]
    yield from [(p.seed, p.kind, backend, outcome) for p, backend, outcome in alone]
    if not any(outcome.is_finding for _, _, outcome in alone):
        yield from [
            (seeds[0], "together", backend, outcome)
            for backend, outcome in found
            if outcome.is_finding
        ]


# -- a child ---------------------------------------------------------------------------------------
def serve(first: int, last: int, together: int, backends: tuple[str, ...]) -> None:
    """Check the programs of seeds first ... last - 1; each step and result is a line."""
    import faulthandler
    import resource

    from tests.properties.text_checks import MEMORY, kind_of

    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.dup(1)
    for start in range(first, last, together):
        seeds = list(range(start, min(start + together, last)))
        os.write(out, f"S {start} {seeds[-1] + 1}\n".encode())
        for seed, kind, backend, outcome in check_module(
            seeds, backends, lambda name: os.write(out, f"P {name}\n".encode()) and None
        ):
            row = [
                seed,
                kind,
                backend,
                outcome.kind,
                outcome.classes,
                outcome.detail,
                kind_of(outcome) if outcome.is_finding else "",
            ]
            os.write(out, ("R " + json.dumps(row) + "\n").encode())
        os.write(out, b"D\n")


class Tally:
    """Results of many programs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.classes: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.findings: dict[str, list[tuple[int, str]]] = {}
        self.lock = threading.Lock()
        self.started, self.programs = time.monotonic(), 0

    def row(
        self,
        seed: int,
        kind: str,
        backend: str,
        outcome: str,
        classes: list[str],
        detail: str,
        cause: str,
    ) -> None:
        with self.lock:
            self.counts[f"{backend} {outcome}"] += 1
            self.classes.update(classes)
            self.kinds[kind] += backend in ("cpu", "xla")
            if cause:
                seen = self.findings.setdefault(f"{backend} {cause}", [])
                if not seen:
                    print(f"FOUND seed {seed} {kind} on {backend}: {outcome}: {detail}", flush=True)
                seen.append((seed, detail))

    def report(self) -> str:
        seconds = time.monotonic() - self.started
        lines = [
            f"{self.programs} programs in {seconds:.0f} s, {self.programs / max(seconds, 1e-9):.1f} a second"
        ]
        lines += [f"  {count:7d} {name}" for name, count in sorted(self.counts.items())]
        lines += [
            f"  kinds: {', '.join(f'{name} {count}' for name, count in self.kinds.most_common())}"
        ]
        lines += [
            f"  classes: {', '.join(f'{name} {count}' for name, count in self.classes.most_common()) or 'none'}"
        ]
        lines += [
            f"  {sum(map(len, self.findings.values()))} findings of {len(self.findings)} causes"
        ]
        lines += [
            f"    {len(seen):5d} {cause} seeds {[s for s, _ in seen[:6]]}"
            for cause, seen in self.findings.items()
        ]
        return "\n".join(lines)


def check_range(
    first: int, last: int, tally: Tally, together: int, backends: tuple[str, ...]
) -> None:
    """Check a range in child processes.

    A child that dies or hangs is followed by one behind its module, whose programs run alone.
    """
    done = first
    while done < last:
        command = [
            sys.executable,
            "-m",
            "tests.properties.kinds",
            "--serve",
            str(done),
            str(last),
            "--together",
            str(together),
            "--backends",
            ",".join(backends),
        ]
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                text=True,
            )
            at, step, rows = (done, min(done + together, last)), "", list[Any]()
            alarm = threading.Timer(STUCK_SECONDS, child.kill)
            alarm.start()
            for line in child.stdout or ():
                alarm.cancel()
                alarm = threading.Timer(STUCK_SECONDS, child.kill)
                alarm.start()
                if line.startswith("S "):
                    a, b = line.split()[1:]
                    at, rows = (int(a), int(b)), []
                elif line.startswith("P "):
                    step = line[2:].strip()
                elif line.startswith("R "):
                    rows.append(json.loads(line[2:]))
                elif line.startswith("D"):
                    for row in rows:
                        tally.row(*row)
                    done = at[1]
                    tally.programs += at[1] - at[0]
            alarm.cancel()
            status = child.wait()
            errors.seek(0)
            said = errors.read()[-300:].decode(errors="replace")
        if done >= last and not status:
            return
        if status == 1 and not step:
            raise SystemExit(said)
        if at[1] - at[0] > 1:
            check_range(*at, tally, 1, backends)
        else:
            died = (
                f"process ended by {-status} in {step}"
                if status < 0
                else f"exit status {status} in {step}"
            )
            tally.row(at[0], program(at[0]).kind, "process", "died", [], f"{died}: {said!r}", died)
            tally.programs += 1
        done = at[1]


# -- beside real XLA -------------------------------------------------------------------------------
_FUSION = re.compile(r"fusion\(([^)]*)\), kind=\w+, calls=(\w+)")


def text_for_xla(p: Program) -> str:
    """Return the program as for jaxlib's importer: a fusion is a call."""
    return _FUSION.sub(r"call(\1), to_apply=\2", module_text([p], p.seed, aliases=False))


# Deviations of XLA, by HLO: (class, predicate of a module).
XLA_CLASSES: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    (
        "gather-of-empty-slices",  # an element of the result lies in no slice: undefined; XLA reads a neighbour, the evaluator gives 0
        lambda i: (
            i.opcode.name == "gather"
            and 0 in i.attributes.value("slice_sizes")
            and i.shape.element_count > 0
        ),
    ),
    (
        "xla-scatter-without-components",  # index vectors without components name place 0, where XLA drops all updates but one
        lambda i: (
            i.opcode.name == "scatter"
            and i.operands[1].shape.element_count == 0 < i.operands[2].shape.element_count
        ),
    ),
    (
        "xla-select-and-scatter",  # of equal elements, and beside padding, XLA chooses another one than the specification's order does
        lambda i: i.opcode.name == "select-and-scatter",
    ),
)


def without_flushes(module: HloModule, want: Any, got: Any) -> Any:
    """Return XLA's values, with those of `want` where XLA's CPU flushed a subnormal to zero.

    A subnormal f32 is an ordinary number in f64, which shows the zero as well.
    """
    if want.dtype.kind != "f":
        return got
    narrow = any(
        leaf.is_array and leaf.element_type.name in ("f32", "bf16")
        for i in module.instructions()
        for _, leaf in i.shape.leaves()
    )
    least = np.finfo(np.float32 if narrow else want.dtype).tiny
    return np.where((np.abs(want) < least) & (got == 0), want, got)


def beside_xla(first: int, count: int, tally: Tally) -> None:
    """Compare the evaluator with real XLA on ordinary and hostile arguments; class differences."""
    import xla_explorer as xe
    from tests.oracle.test_the_evaluator_agrees_with_xla import run_on_xla
    from tests.properties.hostile_arguments import KINDS, arguments
    from tests.properties.noisy_evaluator import ReferenceTooLongError, reference
    from tests.properties.value_classes import differing, explain
    from xla_explorer.hlo.evaluator import flatten_value

    warnings.simplefilter("ignore")
    for start in range(first, first + count, 100):
        cases, made = [], []
        for seed in range(start, min(start + 100, first + count)):
            p = program(seed)
            module = xe.parse_hlo(text_for_xla(p))
            given = arguments(module, KINDS[seed % 2], seed)
            made.append((p, module, given, KINDS[seed % 2] == "hostile"))
            cases.append((module.to_text(), flatten_value(given)))
        with tempfile.TemporaryDirectory() as folder:
            rows = run_on_xla(cases, Path(folder), timeout=1200)
        for (p, module, given, hostile), (what, outputs) in zip(made, rows, strict=True):
            tally.programs += 1
            if what != "values":
                said = re.sub(r"[0-9]+|%\S+", "#", str(outputs))[:90]
                tally.row(p.seed, p.kind, "xla", f"{what}: {said}", [], "", "")
                continue
            expected, actual = reference(module, given), [np.asarray(o) for o in outputs]
            if not any(differing(a, b).any() for a, b in zip(expected, actual, strict=True)):
                tally.row(p.seed, p.kind, "xla", "equal", [], "", "")
                continue
            known = [name for name, has in XLA_CLASSES if any(map(has, module.instructions()))]
            actual = [without_flushes(module, a, b) for a, b in zip(expected, actual, strict=True)]
            if not any(differing(a, b).any() for a, b in zip(expected, actual, strict=True)):
                known = ["xla-flushes-subnormals"]
            if known:
                tally.row(p.seed, p.kind, "xla", "explained", known[:1], "", "")
                continue
            try:
                classes = explain(
                    module, given, expected, actual, hostile=hostile, loose=True, seconds=5
                )
            except ReferenceTooLongError:
                classes = ["reference-too-long"]
            if classes is not None:
                tally.row(p.seed, p.kind, "xla", "explained", classes, "", "")
                continue
            leaf = next(
                k
                for k, (a, b) in enumerate(zip(expected, actual, strict=True))
                if differing(a, b).any()
            )
            detail = f"leaf {leaf}: {actual[leaf].ravel()[:6]} is XLA's, {expected[leaf].ravel()[:6]} the evaluator's"
            tally.row(
                p.seed,
                p.kind,
                "xla",
                "differs",
                [],
                detail,
                f"{p.kind} {expected[leaf].dtype.name}{' hostile' if hostile else ''}",
            )


def show(seed: int, backends: tuple[str, ...]) -> None:
    """Print the program of a seed and what is found of it."""
    warnings.simplefilter("ignore")
    print(module_text([program(seed)], seed))
    for backend, outcome in check_programs(
        [program(seed)], backends, lambda name: print(f"-- {name}", flush=True)
    ):
        print(backend, outcome)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--together", type=int, default=TOGETHER)
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--beside-xla", action="store_true")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--show", type=int)
    parser.add_argument("--serve", type=int, nargs=2)
    given = parser.parse_args()
    backends = tuple(given.backends.split(","))
    if given.serve:
        serve(*given.serve, given.together, backends)
        return
    if given.show is not None:
        show(given.show, backends)
        return
    tally = Tally()
    ranges = [
        (at, min(at + RANGE, given.seed + given.programs))
        for at in range(given.seed, given.seed + given.programs, RANGE)
    ]

    def one(part: tuple[int, int]) -> None:
        if given.beside_xla:
            beside_xla(part[0], part[1] - part[0], tally)
        else:
            check_range(*part, tally, given.together, backends)
        if given.report:
            given.report.write_text(tally.report() + "\n")

    with ThreadPoolExecutor(given.workers) as pool:
        list(pool.map(one, ranges))
    print(tally.report())
    raise SystemExit(bool(tally.findings))


if __name__ == "__main__":
    main()
