"""`xe.xla.risks`: operations of a program whose results are probably not those that were meant."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.tables.code_rows import Risk
from xla_explorer.explorer.xla.first_nan import Search, cause_at, operands_at
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.index_risks import INDEX_CHECKS, indexed_sizes
from xla_explorer.explorer.xla.number_risks import LOST_DIGITS, NUMBER_CHECKS, Array, Finding
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.hlo.analysis.cost import instruction_cost
from xla_explorer.hlo.evaluator.arguments import evaluate_here
from xla_explorer.hlo.evaluator.registry import Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_FIRST_RUNS: Final = 8
_EVERY: Final = 64
"""Executions of an operation in a loop that are checked: the first ones, then one in `_EVERY`."""
_MOST_SECONDS: Final = 120.0
_MOST_BYTES: Final = 1 << 29
_MOST_FLOPS: Final = 5e10
"""Bounds of one operation, which cannot be interrupted."""
_ORDER: Final = (
    *("NaN", "infinity", "index-out-of-range", "dropped-update", "overwritten-update"),
    *("integer-overflow", "cancellation", "absorption", "narrow-sum", "all-pairs"),
)
"""Kinds of risks, those that change most elements first."""
_NOT_FINITE: Final = ("NaN", "infinity")
_WHOLE: Final = frozenset({"constant", "fusion", "call", "conditional", "while"})
_SAME: Final = frozenset({"broadcast", "reshape", "convert", "bitcast", "copy"})
_PAIRED: Final = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum"})


class Risks(Report):
    """The risks of a program, the most severe first.

    Attributes
    ----------
    program : str
        Name of the module.
    risks : list of Risk
        One row per operation and kind.
    note : str
        A remark on what was not searched; empty if everything was.
    """

    def __init__(self, program: str, risks: Sequence[Risk], note: str = "") -> None:
        self.program, self.risks, self.note = program, list(risks), note

    def headline(self) -> str:
        """Return the first risk, or that there is none."""
        if not self.risks:
            return f"{self.program}: no operation with a known risk ran"
        one = self.risks[0]
        place = f"{one.line} " if one.line else ""
        return f"{self.program}: {one.kind} at {place}%{one.instruction}: {one.reason}; {one.fix}"

    def blocks(self) -> Blocks:
        """Yield the risks."""
        if self.risks:
            yield self.records()
        if self.note:
            yield Sentence(self.note)

    def records(self) -> Table:
        """Return a row per risk."""
        return Table(Risk._fields, [(row[0], f"%{row[1]}", *row[2:]) for row in self.risks])


@question("xla", cost=Cost.RUNS, noun="risk")
@default_floating_point()
def risks(program: Any, *arrays: Any, seconds: float = 30.0, **keywords: Any) -> Risks:
    """Find operations of a program whose results are probably not those that were meant.

    The evaluator runs the program as JAX lowers it, and checks each operation: NaN and infinities
    that it makes from finite operands, indices out of range, updates that are dropped or
    overwritten, integers that overflow, digits that a difference or a sum loses, and two vectors
    that are combined to all pairs. Without arguments it runs on random ones, whose integers are
    indices; for infinities and NaN also on ten times larger ones and on zeros.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments; random ones by default.
    seconds
        Time for the search.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    Risks
        A row per operation with its source line, the evidence and a change to try.

    Raises
    ------
    XlaExplorerError
        An operation is too large for the evaluator.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[2] parameter(0) l = f32[2] log(x)
    ...   ROOT d = f32[2] add(l, x) }'''
    >>> found = xe.xla.risks(text, np.array([1.0, 0.0], np.float32))
    >>> [(one.kind, one.instruction) for one in found.risks]
    [('infinity', 'l')]
    """
    written = getattr(program, "source", None)  # of a session: before its passes
    program = written if isinstance(written, HloModule) else program
    if isinstance(program, HloModule):
        _check_size(program)  # before random arguments are made
    module, leaves = given(program, arrays, keywords)
    _check_size(module)
    deadline = time.monotonic() + min(seconds, _MOST_SECONDS)
    places, note = PlacedModule(module), ""
    tries: list[tuple[str, list[Any], tuple[str, ...]]]
    tries = [("the given arguments", leaves, _ORDER)]
    if not arrays:
        leaves = _as_indices(module, leaves)
        tries = [
            ("random arguments", leaves, _ORDER),
            ("ten times larger ones", _scaled(leaves, 10), _NOT_FINITE),
            ("zeros", _scaled(leaves, 0), _NOT_FINITE),
        ]
    found: dict[tuple[str, str], Risk] = {}
    for words, values, kinds in tries:
        if kinds is _NOT_FINITE and any(risk.kind in kinds for risk in found.values()):
            continue
        watch = _Watch(module, deadline)
        try:
            evaluate_here(module, values, evaluator=watch)
        except XlaExplorerError as problem:
            note = problem.message
        for risk in watch.risks(places, words):
            if risk.kind in kinds:
                found.setdefault((risk.kind, risk.line or risk.instruction), risk)
    for risk in _all_pairs(module, places):
        found.setdefault((risk.kind, risk.line), risk)
    return Risks(module.name, sorted(found.values(), key=_severity), note)


def _check_size(module: HloModule) -> None:
    """Raise XlaExplorerError for an operation that the evaluator would compute for too long."""
    for i in module.instructions():
        if i.opcode.name in _WHOLE:
            continue
        cost = instruction_cost(i)
        if i.shape.byte_size > _MOST_BYTES or cost.flops + cost.transcendentals > _MOST_FLOPS:
            raise XlaExplorerError(
                f"%{i.name} makes {i.shape.byte_size:,} bytes with {cost.flops:,.0f} operations, "
                "too many for the evaluator",
                "give a program with smaller arguments; the risks are the same",
            )


def _severity(risk: Risk) -> tuple[bool, int]:
    """Return the sort key of a risk; risks that are not finite keep the order of execution."""
    place = 0 if risk.kind in _NOT_FINITE else _ORDER.index(risk.kind)
    return risk.argument in ("ten times larger ones", "zeros"), place


def _as_indices(module: HloModule, leaves: Sequence[Any]) -> list[Any]:
    """Return arguments whose integers are indices of the shortest dimension that is indexed."""
    n = min([n for i in module.instructions() for n in indexed_sizes(i)], default=0)
    numbers = np.random.default_rng(0)
    arrays = [np.asarray(leaf) for leaf in leaves]
    return [
        numbers.integers(0, n, a.shape).astype(a.dtype)
        if n and a.dtype.kind in "iu" and np.iinfo(a.dtype).max > n
        else a
        for a in arrays
    ]


def _scaled(leaves: Sequence[Any], factor: float) -> list[Any]:
    """Return arguments whose floats are multiplied by a number."""
    arrays = [np.asarray(leaf) for leaf in leaves]
    return [a if a.dtype.kind in "biu" else (a * factor).astype(a.dtype) for a in arrays]


class _Watch(Search):
    """An evaluator that checks the result of each operation."""

    def __init__(self, module: HloModule, deadline: float) -> None:
        super().__init__(module, deadline)
        self._runs: dict[HloInstruction, int] = {}
        self._worst: dict[tuple[str, HloInstruction], tuple[Finding, int]] = {}
        self._looked: Counter[HloInstruction] = Counter()
        self._found: Counter[tuple[str, HloInstruction]] = Counter()

    def _look(self, i: HloInstruction, operands: tuple[Value, ...], value: Array) -> None:
        """Record what the checks find, for an operation of a loop in some of its executions."""
        run = self._runs[i] = self._runs.get(i, 0) + 1
        if i.opcode.name in _WHOLE or (run > _FIRST_RUNS and run % _EVERY):
            return
        arrays = [one for one in operands if isinstance(one, np.ndarray)]
        if len(arrays) != len(operands):
            return
        self._looked[i] += 1
        with np.errstate(all="ignore"):
            for check in (_not_finite, *NUMBER_CHECKS, *INDEX_CHECKS):
                finding = check(i, arrays, value)
                if finding is not None:
                    self._found[finding.kind, i] += 1
                    known = self._worst.get((finding.kind, i))
                    worse = known is None or finding.weight > known[0].weight
                    kept = (finding, run) if worse or known is None else known
                    self._worst[finding.kind, i] = kept

    def risks(self, places: PlacedModule, words: str) -> Iterator[Risk]:
        """Yield the findings with their source lines.

        The last steps of a loop that converges subtract equal values: lost digits count if most
        executions lose them.
        """
        for (kind, i), (finding, run) in self._worst.items():
            if kind in LOST_DIGITS and 2 * self._found[kind, i] <= self._looked[i]:
                continue
            _, place = places.find(i.name)
            often = f", execution {run}" if run > 1 else ""
            line = short_place(place.line)
            reason = f"{finding.reason}{often}"
            yield Risk(kind, i.name, i.opcode.name, line, reason, finding.fix, words)


def _not_finite(i: HloInstruction, operands: Sequence[Array], value: Array) -> Finding | None:
    """Return the first NaN or infinity that an operation makes."""
    if value.dtype.kind in "biu" or np.isfinite(wide := _wide(value)).all():
        return None
    floats = [_wide(one) for one in operands if one.dtype.kind not in "biu"]
    bad = np.isnan(wide)
    kind = "NaN" if bad.any() and not any(np.isnan(one).any() for one in floats) else "infinity"
    if kind == "infinity":
        if not all(np.isfinite(one).all() for one in floats):
            return None
        bad = np.isinf(wide)
    index = tuple(map(int, np.argwhere(bad)[0])) if value.ndim else ()
    text, _, fix = cause_at(kind, i, operands_at(i, tuple(operands), index)).partition("; ")
    return Finding(kind, f"{text}, {int(bad.sum())} of {bad.size} elements", fix, float(bad.sum()))


def _wide(value: Array) -> Array:
    return np.abs(value) if value.dtype.kind == "c" else value.astype(np.float64)


def _all_pairs(module: HloModule, places: PlacedModule) -> Iterator[Risk]:
    """Yield operations that combine two vectors of one length to a square of all pairs."""
    for i in module.instructions():
        if i.opcode.name not in _PAIRED or not i.shape.is_array:
            continue
        ends = [_source(operand) for operand in i.operands]
        sizes = {end.shape.element_count for end in ends}
        n = min(sizes)
        if len(sizes) != 1 or n < 2 or i.shape.element_count != n * n or ends[0] is ends[1]:
            continue
        if any(end.opcode.name in ("iota", "constant") for end in ends):
            continue
        _, place = places.find(i.name)
        shapes = " and ".join([end.shape.text_without_layout for end in ends])
        yield Risk(
            "all-pairs",
            i.name,
            i.opcode.name,
            short_place(place.line),
            f"{shapes} become all pairs, {i.shape.text_without_layout}",
            "if pairs of equal places are meant, give both one shape (squeeze or reshape)",
            "any arguments",
        )


def _source(i: HloInstruction) -> HloInstruction:
    """Return the instruction whose values a broadcast or reshape repeats."""
    while i.opcode.name in _SAME:
        i = i.operands[0]
    return i
