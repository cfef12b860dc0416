"""The search for the operation and the pass that make two compiles differ."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from xla_explorer.backends.xla.child import XlaProcessError
from xla_explorer.explorer.questions.minimization import minimize
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.xla.differences.excerpt import (
    Part,
    all_values,
    alone,
    flattened,
    with_results,
)
from xla_explorer.explorer.xla.differences.report import CauseOfDifference
from xla_explorer.explorer.xla.differences.ways import (
    Array,
    Runner,
    Stage,
    Way,
    evaluated,
    in_width,
    way_of,
)
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.explorer.xla.what_if import largest_difference
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.hlo.module import HloModule

_NOTABLE: Final = 0.1  # of the whole difference, from which a value is its origin


@default_floating_point()
def cause_of_difference(
    program: Any, *arrays: Any, other: Any, seconds: float = 60.0, **keywords: Any
) -> CauseOfDifference:
    """Find why real XLA computes other values with other flags, another version or precision.

    The program is run both ways with all intermediate values as results. The first operation that
    differs from equal operands is the origin. It is compiled alone both ways, and the evaluator
    computes its program after each pass of XLA: a pass after which the value differs is the cause.
    If none does, code generation or a library is.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments that show the difference.
    other : str or dict
        Flags of XLA, the folder of an environment with another jax, or a type: "float64".
    seconds
        Time for making the program minimal, if no single operation shows the difference.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    CauseOfDifference
        Operation, source line, pass, rewrite, and a minimal program.

    Raises
    ------
    XlaProcessError
        XLA refuses the program, or the flags.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> xe.xla.cause_of_difference(
    ...     loss, x, other={"xla_allow_excess_precision": False}
    ... ).pass_name  # doctest: +SKIP
    'algsimp'
    """
    began = time.monotonic()
    way = way_of(other)
    module, leaves = given(program, arrays, keywords)
    values = [np.asarray(leaf) for leaf in leaves]
    with Runner(Way("as it is")) as first, Runner(way) as second:
        error = _difference(first, second, Part(module, values))
        report = CauseOfDifference(module.name, way.label, error)
        if error:
            part, name = _origin(first, second, flattened(module), values, error, seconds)
            _describe(report, module, part, name)
            report.operation_error = _difference(first, second, part)
            report.nearer = _nearer(first, second, part)
    if error:
        _explain(report, part, way)
    report.seconds = time.monotonic() - began
    return report


def _difference(first: Runner, second: Runner, part: Part) -> float:
    results = [one.results(part.module, part.arrays) for one in (first, second)]
    return largest_difference(*results)


def _origin(
    first: Runner,
    second: Runner,
    module: HloModule,
    arrays: Sequence[Array],
    error: float,
    seconds: float,
) -> tuple[Part, str]:
    """Return a minimal program that differs, and the name of its operation in the whole."""
    known = all_values(module, arrays)
    every, names = with_results(module)
    try:
        pairs = [one.results(every, arrays) for one in (first, second)]
        errors = {
            name: largest_difference([a], [b]) for name, a, b in zip(names, *pairs, strict=True)
        }
    except XlaProcessError:  # so many results can be too much
        errors = {}
    found = _single(first, second, module, known, errors, error)
    if found is not None:
        return found
    # Together, fused, they differ; alone none of them does.
    least = _NOTABLE * error

    def still(smaller: HloModule) -> bool:
        return _difference(first, second, _with_values(smaller, known)) >= least

    small = minimize(module, still, seconds=seconds)
    return _with_values(small, known), small.entry.root.name


def _single(
    first: Runner,
    second: Runner,
    module: HloModule,
    known: dict[str, Array],
    errors: dict[str, float],
    error: float,
) -> tuple[Part, str] | None:
    """Return the one operation that differs from equal operands, followed back from the first."""
    inside = {i.name: i for i in module.entry.instructions.values()}
    name = next((n for n, one in errors.items() if one >= _NOTABLE * error), None)
    tried: set[str] = set()
    while name is not None and name not in tried:
        tried.add(name)
        part = alone(module, name, known)
        # Alone it can differ by one rounding, where with its neighbours it differs by more.
        least = _NOTABLE * min(errors[name], error)
        if part is not None and _difference(first, second, part) >= least:
            return part, name
        before = [o.name for o in inside[name].operands if errors.get(o.name, 0.0) > 0]
        name = max(before, key=lambda one: errors[one], default=None)
    return None


def _with_values(module: HloModule, known: dict[str, Array]) -> Part:
    random = random_arguments(module)
    arrays = [
        known.get(p.name, np.asarray(made))
        for p, made in zip(module.entry.parameters(), random, strict=True)
    ]
    return Part(module, arrays)


def _describe(report: CauseOfDifference, module: HloModule, part: Part, name: str) -> None:
    report.program, report.arrays = part.module, list(part.arrays)
    root = part.module.entry.root
    report.instruction, report.opcode = name, root.opcode.name
    places = PlacedModule(module)
    found, place = places.find(name)
    report.line = short_place(place.line if found is not None else "")


def _nearer(first: Runner, second: Runner, part: Part) -> str:
    """Return the way whose value is nearer to the evaluator's in 64 bits."""
    try:
        wide = in_width(part.module, "f64")
        kinds = [p.shape.element_type.dtype for p in wide.entry.parameters()]
        exact = evaluated(wide, [a.astype(k) for a, k in zip(part.arrays, kinds, strict=True)])
    except XlaExplorerError:
        return ""
    distances = [
        largest_difference(exact, one.results(part.module, part.arrays)) for one in (first, second)
    ]
    if distances[0] == distances[1]:
        return ""
    return (first if distances[0] < distances[1] else second).way.label


def _explain(report: CauseOfDifference, part: Part, way: Way) -> None:
    """Find the pass of either way after which the evaluator's value of the program differs."""
    steps: list[list[Stage]] = []
    for one in (Way("as it is"), way):
        with Runner(one, dumps=True) as runner:
            runner.results(part.module, part.arrays)
            steps.append(runner.stages())
    changes = [_changing(stages, part.arrays) for stages in steps]
    if not way.width and _are_alike(changes):  # both ways make the same rewrite: not the cause
        changes = [None, None]
    for label, found in zip(("as it is", way.label), changes, strict=True):
        if found is not None and (way.width == "" or label == way.label):
            before, after = found
            report.pass_name, report.in_way = after.pass_name, label
            report.before, report.after = _rewrite(before.module, after.module)
            report.cause = (
                f"the pass {after.pass_name} ({label}) rewrites {report.opcode} to other values"
            )
            return
    if way.width:
        report.cause = f"{report.opcode} rounds to other values in {way.width}"
        return
    last = [stages[-1].module.to_text() if stages else "" for stages in steps]
    decided = _first_apart(*steps) if last[0] != last[1] else ""
    if decided:
        report.pass_name = decided
        report.cause = (
            f"from the pass {decided} on XLA has another program for {report.opcode}; each step "
            "keeps the values up to rounding, the kernels round differently"
        )
    else:
        report.cause = (
            f"XLA's programs for {report.opcode} are equal: its code generation or a library "
            "computes the operation differently"
        )


def _changing(stages: list[Stage], arrays: Sequence[Array]) -> tuple[Stage, Stage] | None:
    """Return the stages around the first pass that changes the evaluator's value."""
    base: list[Array] | None = None
    for before, after in zip([stages[0], *stages], stages, strict=False) if stages else ():
        try:
            kinds = [p.shape.element_type.dtype for p in after.module.entry.parameters()]
            given_arrays = [a.astype(k, copy=False) for a, k in zip(arrays, kinds, strict=True)]
            now = evaluated(after.module, given_arrays)
        except (XlaExplorerError, ValueError):  # a library call without a meaning in HLO
            return None
        if base is not None and largest_difference(base, now) > 0:
            return before, after
        base = now
    return None


def _are_alike(changes: Sequence[tuple[Stage, Stage] | None]) -> bool:
    """Return True if both ways change the value by one pass that writes the same operations."""
    written = [
        (found[1].pass_name, sorted([i.opcode.name for i in found[1].module.instructions()]))
        for found in changes
        if found is not None
    ]
    return len(written) == 2 and written[0] == written[1]


def _rewrite(before: HloModule, after: HloModule) -> tuple[str, str]:
    """Return the instructions that only one of two programs has, as text."""
    texts = [
        {str(i).split(", metadata=")[0].strip() for i in one.instructions()}
        for one in (before, after)
    ]
    return "\n".join(sorted(texts[0] - texts[1])[:8]), "\n".join(sorted(texts[1] - texts[0])[:8])


def _first_apart(first: list[Stage], second: list[Stage]) -> str:
    """Return the first pass after which the programs of two ways differ, or that one way lacks."""
    names = [{stage.pass_name for stage in stages} for stages in (first, second)]
    for one, two in zip(first, second, strict=False):
        if one.pass_name != two.pass_name:
            return one.pass_name if one.pass_name not in names[1] else two.pass_name
        if one.module.to_text() != two.module.to_text():
            return one.pass_name
    shorter, longer = sorted((first, second), key=len)
    return longer[len(shorter)].pass_name if len(longer) > len(shorter) else ""
