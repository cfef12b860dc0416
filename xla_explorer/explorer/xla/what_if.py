"""Variants of a program on real XLA, by flags, text or version, each in its own child process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild, XlaProcessError
from xla_explorer.backends.xla.flag_text import flag_text
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.display.report import Report
from xla_explorer.frontends.xla_dump import DumpFolder
from xla_explorer.frontends.xla_dump.main_program import read_module
from xla_explorer.hlo.analysis.call_graph import sequential_computations
from xla_explorer.hlo.module import HloModule

ROUNDS = 5
Array = np.ndarray[Any, Any]
Flags = Mapping[str, Any] | Sequence[str]
_NO_KERNEL = frozenset(
    {
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "while",
        "conditional",
        "call",
    }
)


class Variant(NamedTuple):
    """One way to compile.

    label: for people; flags: of XLA, separated by blanks; python: of another environment, else
    None.
    """

    label: str
    module: HloModule
    flags: str = ""
    python: str | None = None


class TimedVariant(NamedTuple):
    """The result of one way to compile.

    Attributes
    ----------
    label : str
        The flags, the text or the version.
    median_us, min_us : float
        Of whole runs, arguments in place; NaN if it failed.
    ratio : float
        The first's time over this one's, by rounds, the median: above 1 this one is faster.
    compile_s : float
        XLA's compile time.
    kernels : int
        Kernels of one pass through the program, without loops and calls themselves.
    difference : float
        The largest difference of any result from the first's, by the largest magnitude of that
        result; 0 if every bit is the same.
    error : str
        XLA's message if it failed.
    """

    label: str
    median_us: float
    min_us: float
    ratio: float
    compile_s: float
    kernels: int
    difference: float
    error: str = ""


class WhatIf(Report):
    """Ways to compile a program by real XLA, timed in alternating runs; results are compared.

    Attributes
    ----------
    rows : list of TimedVariant
        In the order given; the first is the base of the comparison.
    samples : dict
        Label -> microseconds of each run.
    """

    def __init__(
        self, name: str, rows: list[TimedVariant], samples: dict[str, list[float]]
    ) -> None:
        self.name, self.rows, self.samples = name, rows, samples

    @property
    def best(self) -> TimedVariant:
        """The fastest."""
        return max([row for row in self.rows if not row.error], key=lambda row: row.ratio)

    @property
    def median_us(self) -> float:
        """The median time of the first."""
        return self.rows[0].median_us

    def headline(self) -> str:
        """Return the first time, and the fastest if that is another."""
        first, best = self.rows[0], self.best
        text = f"{self.name} on real XLA: {microseconds(first.median_us)} a run ({first.label})"
        return text if best is first else f"{text}; {best.label}: {best.ratio:.2f} times as fast"

    def blocks(self) -> Blocks:
        """Yield a row for each variant."""
        yield Table(
            TimedVariant._fields,
            self.rows,
            "ways to compile",
            "ratio: of the first's time to this one's; timed in turns",
        )
        wrong = [row.label for row in self.rows if row.difference > 1e-3]
        if wrong:
            yield Sentence(
                f"other results than the first's (by more than 0.1 %): {', '.join(wrong)}"
            )


def flag_variants(module: HloModule, flags: Flags) -> list[Variant]:
    """Return the program as it is, and with each setting of the flags.

    Of a mapping, flag -> value or values, one at a time; else each text is a setting.
    """
    settings: list[str] = []
    if isinstance(flags, Mapping):
        for name, values in flags.items():
            several = isinstance(values, Sequence) and not isinstance(values, str)
            settings += [flag_text(name, value) for value in (values if several else [values])]
    else:
        settings = [flags] if isinstance(flags, str) else list(flags)
    if not settings:
        raise ValueError(
            "flags must name at least one setting: flags={'xla_cpu_enable_fast_math': [True]}"
        )
    return [Variant("default", module), *[Variant(text, module, text) for text in settings]]


def timed(variants: Sequence[Variant], leaves: Sequence[Any], repeats: int) -> WhatIf:
    """Compile each in a child process, alternate their runs, compare results.

    XlaProcessError if the first fails.
    """
    with ExitStack() as stack:
        children: list[XlaChild | None] = []
        results: list[list[Array]] = []
        seconds, kernels, errors = [0.0] * len(variants), [0] * len(variants), [""] * len(variants)
        for number, variant in enumerate(variants):
            child = XlaChild(flags=variant.flags, python=variant.python, dumped="")
            stack.callback(child.close)
            try:
                seconds[number] = float(child.ask(*SourceNames(variant.module).request)["xla"])
                results.append(list(child.ask("run", [np.asarray(leaf) for leaf in leaves])))
                children.append(child)
                kernels[number] = _kernels(child)
            except XlaProcessError as problem:
                if number == 0:
                    raise
                errors[number] = _error_text(problem, variant)
                children.append(None)
                results.append([])
        samples: list[list[float]] = [[] for _ in variants]
        for _ in range(ROUNDS):  # alternating, so that a change of the machine's speed affects all
            for number, one in enumerate(children):
                if one is not None:
                    samples[number] += [
                        float(us) for us in one.ask("time", leaves, max(repeats // ROUNDS, 1))
                    ]
    medians = [float(np.median(found)) if found else float("nan") for found in samples]
    rows = [
        TimedVariant(variant.label, medians[k], min(samples[k], default=float("nan")), _ratio(samples[0], samples[k]), seconds[k],
                     kernels[k], largest_difference(results[0], results[k]), errors[k])
        for k, variant in enumerate(variants)
    ]  # fmt: skip
    return WhatIf(
        variants[0].module.name,
        rows,
        {variant.label: found for variant, found in zip(variants, samples, strict=True)},
    )


def _ratio(first: Sequence[float], other: Sequence[float]) -> float:
    """Return the speedup of the other, the median over rounds.

    A disturbance of the machine then affects both.
    """
    if not other:
        return float("nan")
    rounds = [np.median(np.asarray(found).reshape(ROUNDS, -1), axis=1) for found in (first, other)]
    return float(np.median(rounds[0] / rounds[1]))


def _error_text(problem: XlaProcessError, variant: Variant) -> str:
    """Return the error in a line, with the likely cause if XLA's process ended at once."""
    text = str(problem).splitlines()[0]
    if variant.flags and "ended during 'compile'" in text:
        return (
            f"{text}; XLA ends its process at an unknown flag: does this version have "
            f"{variant.flags.split('=')[0]}?"
        )
    return text


def _kernels(child: XlaChild) -> int:
    """Return the number of kernels in XLA's dump after its last pass."""
    after = DumpFolder(child.folder).module().after
    if after is None:
        return 0
    module = read_module(after)
    run = [
        i
        for computation in sequential_computations(module)
        for i in computation.instructions.values()
    ]
    return sum([i.opcode.name not in _NO_KERNEL for i in run])


def largest_difference(first: Sequence[Array], other: Sequence[Array]) -> float:
    """Return the largest difference over the largest magnitude; NaN without results."""
    if len(first) != len(other):
        return float("nan")
    worst = 0.0
    for one, two in zip(first, other, strict=True):
        a, b = [
            np.asarray(x).astype(np.complex128 if np.iscomplexobj(x) else np.float64)
            for x in (one, two)
        ]
        if a.shape != b.shape:
            return float("inf")
        if a.size and not np.array_equal(a, b, equal_nan=True):
            scale = float(np.nanmax(np.abs(a))) or 1.0
            distance = np.abs(a - b)
            worst = max(
                worst, float("inf") if np.isnan(distance).any() else float(distance.max()) / scale
            )
    return worst
