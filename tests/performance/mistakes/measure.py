"""Count the planted mistakes that the questions name, with line, change and gain.

Run `XLA_EXPLORER_WORKER_CLOCK=process python -m tests.performance.mistakes.measure [NAME ...]`;
`--sample NAME` takes the scripts of `tests/data/mistakes/NAME`, whose gains were measured before.
For each program the four questions are put to the planted program. A mistake is named if a row has
its kind of change and its line (or argument). The promised gain is compared with the gain that is
measured on the program in which this mistake alone is mended: processor time of runs in turns,
bytes, or processor time of compiles. A row of JSON is printed for each mistake; `--summary FILE`
counts a file of rows. Time of other programs disturbs no processor time, but caches are shared.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import xla_explorer as xe
from tests.performance.mistakes.models import MODELS
from tests.performance.mistakes.numerics import NUMERICS
from tests.performance.mistakes.planted import KINDS, Mistake, Planted, Program
from tests.performance.mistakes.scripts import sample
from xla_explorer.backends.xla.host_callbacks import without_host_callbacks
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.tried_advice import changes_of, timed_trial

PROGRAMS: Final[dict[str, Planted]] = {**MODELS, **NUMERICS}
_FORMS: Final = {
    "wide": ("in-32-bits",),
    "gather": ("rows-first",),
    "reshape": ("without-transposes",),
    "one-hot": ("compared-one-hot",),
    "small-products": ("multiplied-and-summed",),
    "precision": ("halves-in-32-bits",),
}
_NOT_SLOWER: Final = 1.02
_ROUNDS: Final = 25
_COMPILES: Final = 5


def jitted(program: Program) -> Any:
    """Return the function under `jax.jit`, as its user wrote it."""
    import jax

    if hasattr(program.function, "lower"):
        return program.function
    return jax.jit(
        program.function,
        static_argnums=program.static or None,
        donate_argnums=program.donated or None,
    )


def line_of(build: Callable[..., Any], fragment: str) -> int:
    """Return the line of the file that has a fragment of a mistake's source."""
    lines, first = inspect.getsourcelines(build)
    [found] = [first + k for k, line in enumerate(lines) if fragment in line]
    return found


class Runs:
    """Processor time of runs of several programs in turns."""

    def __init__(self, programs: dict[str, Program]) -> None:
        self.calls = {name: self._call(one) for name, one in programs.items()}

    def _call(self, program: Program) -> Callable[[], float]:
        import jax
        import jax.numpy as jnp

        compiled = jitted(program).lower(*program.arrays).compile()
        dynamic = [k for k in range(len(program.arrays)) if k not in program.static]
        placed = {k: jax.device_put(program.arrays[k]) for k in dynamic}

        def run() -> float:
            given = [
                jax.tree.map(jnp.array, placed[k]) if k in program.donated else placed[k]
                for k in dynamic
            ]
            jax.block_until_ready(given)
            started = time.process_time()
            jax.block_until_ready(compiled(*given))
            return time.process_time() - started

        return run

    def medians(self) -> dict[str, float]:
        """Return the median of many short runs in turns."""
        times: dict[str, list[float]] = {name: [] for name in self.calls}
        for _ in range(_ROUNDS + 1):
            for name, run in self.calls.items():
                times[name].append(run())
        return {name: float(np.median(found[1:])) for name, found in times.items()}


def compile_seconds(programs: dict[str, Program]) -> dict[str, float]:
    """Return the processor time of a trace, lowering and compile, the median of some in turns."""
    import jax

    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(_COMPILES):
        for name, program in programs.items():
            jax.clear_caches()
            started = time.process_time()
            jitted(program).lower(*program.arrays).compile()
            times[name].append(time.process_time() - started)
    return {name: float(np.median(found)) for name, found in times.items()}


class Answers:
    """The pages of the questions about one program; each is computed once."""

    def __init__(self, planted: Planted) -> None:
        self.planted, self.program = planted, planted.build(frozenset())
        self.pages: dict[str, Any] = {}

    def page(self, question: str, mended: str = "") -> Any:
        """Return the answer of a question, about the program with a kind of mistake mended."""
        key = question + mended
        if key not in self.pages:
            program = self.planted.build(frozenset([mended])) if mended else self.program
            ask = getattr(xe.xla, question)
            if question == "why_recompiled":
                self.pages[key] = ask(
                    program.function, *program.calls, static_argnums=program.static
                )
            else:
                self.pages[key] = ask(jitted(program), *program.arrays)
        return self.pages[key]


Found = tuple[float, str] | None
"""The promised gain (a share of a run or a compile, milliseconds, or bytes) and the row's text."""


def by_form(page: Any, kind: str, place: str) -> Found:
    """Return the advice whose rewritten form mends a kind."""
    for one in page.advice:
        begins = re.search(rf"{place}\b", one.sentence) is not None  # of 64-bit values
        if one.form in _FORMS[kind] and (one.line.endswith(place) or begins):
            before, after = one.tried_us or (1.0, 1.0)
            return (before - after) / before, one.sentence
    return None


def of_host(page: Any, place: str) -> Found:
    """Return the note of calls of Python."""
    notes = [one for one in page.notes if "calls Python" in one and f"{place} " in one]
    return (page.host.share, notes[0]) if notes else None


def of_constants(page: Any, place: str) -> Found:
    """Return the captured constant of a line."""
    found = [one for one in page.captured if one.line.endswith(place)]
    return (float(found[0].bytes), f"{found[0].variable} {found[0].shape}") if found else None


def of_donations(page: Any, place: str) -> Found:
    """Return the arguments that are not donated."""
    saves = float(page.donation_saves or 0)
    return (saves, "donate_argnums") if place in [name for name, _ in page.undonated] else None


def of_blocks(page: Any, place: str) -> Found:
    """Return the repeated block with a line."""
    for one in page.causes:
        if one.kind == "repeated-block" and re.search(rf"{place}\b", f"{one.line} {one.sentence}"):
            return (one.saves_s or 0.0) / page.seconds, one.sentence
    return None


def of_calls(page: Any, place: str) -> Found:
    """Return the remedy for an argument."""
    found = [one for one in page.remedies if one.place == place]
    return (found[0].saves, f"{found[0].what}: {found[0].change}") if found else None


_NAMED: Final[dict[str, Callable[[Any, str], Found]]] = {
    "host": of_host, "captured": of_constants, "donation": of_donations, "unrolled": of_blocks,
    "recompilation": of_calls,
}  # fmt: skip


def named(answers: Answers, mistake: Mistake) -> Found:
    """Return the row that names a mistake; None if there is none."""
    kind = mistake.kind
    page = answers.page(KINDS[kind])
    place = mistake.place.removeprefix("argument ")
    if place == mistake.place:
        place = f":{mistake.line or line_of(answers.planted.build, place)}"
    if kind in _FORMS:
        return by_form(page, kind, place)
    found = _NAMED[kind](page, place)
    if kind == "donation" and found is not None:  # without the arguments that stay undonated
        kept = answers.page("why_memory", kind).donation_saves or 0
        return found[0] - kept, found[1]
    return found


def gains(answers: Answers) -> dict[str, float]:
    """Return the measured gain of each mistake, in the unit in which it is promised."""
    planted = answers.planted
    known = {m.kind: m.gain for m in planted.mistakes if m.gain is not None}
    mended = {
        m.kind: planted.build(frozenset([m.kind])) for m in planted.mistakes if m.kind not in known
    }
    timed = {k: one for k, one in mended.items() if k in _FORMS or k == "host"}
    found: dict[str, float] = dict(known)
    if timed:
        times = Runs({"": answers.program, **timed}).medians()
        found |= {kind: 1 - times[kind] / times[""] for kind in timed}
    if "unrolled" in mended:
        times = compile_seconds({"": answers.program, "unrolled": mended["unrolled"]})
        found["unrolled"] = 1 - times["unrolled"] / times[""]
    for kind in ("captured", "donation"):
        if kind in mended:
            pages = [answers.page("why_memory", one) for one in ("", kind)]
            role = [one.by_role.get("constants", 0) for one in pages]
            whole = [one.total_bytes for one in pages]
            found[kind] = float(np.subtract(*(role if kind == "captured" else whole)))
    if "recompilation" in mended:
        pages = [answers.page("why_recompiled", one) for one in ("", "recompilation")]
        spent = [sum([c.trace + c.lower + c.compile for c in one.calls[1:]]) for one in pages]
        found["recompilation"] = float(np.subtract(*spent))
    return found


def first_is_true(answers: Answers, kinds: list[str]) -> bool:
    """Apply the first proposal of `why_slow` once more: it must not be slower, or say "not tried".

    A form that stands for a planted mistake must agree with the mend by hand, too.
    """
    page = answers.page("why_slow")
    if not page.advice or page.advice[0].tried_us is None:
        return True
    first = page.advice[0]
    slower = [k for k in kinds if first.form in _FORMS.get(k, ()) and gains(answers)[k] < 0]
    return not slower and applied_again(answers.program, first) <= _NOT_SLOWER


def applied_again(program: Program, advice: Any) -> float:
    """Return the time with a proposal by the time without, in a new series of rounds."""
    module, leaves = given(jitted(program), program.arrays, {})
    module = without_host_callbacks(module)[0]
    executable = xe.compile(module, backend="xla").executable
    executable.run(leaves)
    [change] = [one for one in changes_of(advice, module) if one.line == advice.line][:1]
    trial = timed_trial(advice.flags, change.module, executable, leaves, 5)
    assert trial is not None
    return float(np.median(np.divide(trial.after, trial.before)))


def rows_of(name: str, planted: Planted) -> list[dict[str, Any]]:
    """Return a row for each mistake of a program."""
    import jax

    jax.config.update("jax_enable_x64", planted.is_wide)
    answers = Answers(planted)
    measured = gains(answers)
    is_true = first_is_true(answers, [m.kind for m in planted.mistakes])
    rows = []
    for mistake in planted.mistakes:
        found = named(answers, mistake)
        promised = found[0] if found else None
        gain = measured[mistake.kind]
        within = promised is not None and gain > 0 and 1 / 1.5 <= promised / gain <= 1.5
        rows.append({
            "program": name, "kind": mistake.kind, "named": found is not None,
            "promised": promised, "gain": gain, "within": within,
            "first_is_true": is_true, "text": found[1][:120] if found else "",
        })  # fmt: skip
    return rows


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the counts of a file of rows."""
    named_rows = [one for one in rows if one["named"]]
    false = {one["program"] for one in rows if not one["first_is_true"]}
    within = sum([one["within"] for one in named_rows])
    return (
        f"{len(rows)} mistakes, {len(named_rows)} named, {within} of them with a gain within a "
        f"factor of 1.5; a false proposal first in {len(false)} programs"
    )


def main() -> None:
    """Print a row of JSON for each mistake, and the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sample", default="")
    parser.add_argument("--summary", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    programs = sample(options.sample) if options.sample else PROGRAMS
    rows: list[dict[str, Any]] = []
    if options.summary is not None:
        rows = [json.loads(line) for line in options.summary.read_text().splitlines()]
    else:
        for name in options.names or programs:
            try:
                rows += (found := rows_of(name, programs[name]))
            except Exception as problem:  # the other programs are measured all the same
                found = [{"program": name, "error": f"{type(problem).__name__}: {problem}"[:300]}]
            for row in found:
                print(json.dumps(row), flush=True)
    print(summary([one for one in rows if "kind" in one]))


if __name__ == "__main__":
    main()
