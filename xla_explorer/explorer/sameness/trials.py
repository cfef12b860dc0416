"""The calls that compare two sides: repeated, in other orders, on changed and on shared arrays.

The candidate runs before the reference, and the allocator's free memory is filled with a pattern
before each call. So an uninitialised result cannot contain an earlier right one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.compiler.rewriting.exactness import Exactness, float_limits
from xla_explorer.explorer.sameness.arrays import (
    SLACK,
    bytes_of,
    equal,
    magnitude,
    moved,
    of_rows,
    permuted,
    poison,
    poison_free_memory,
    units_moved,
    widened,
    without_subnormals,
)
from xla_explorer.explorer.sameness.measures import (
    Tiers,
    is_float,
    keeps,
    loses_special_values,
    ulps_apart,
)
from xla_explorer.explorer.sameness.sides import SameArgumentError, Side, type_text
from xla_explorer.explorer.sameness.values import Batch, Values
from xla_explorer.explorer.sessions.arguments import Array
from xla_explorer.foundation.diagnostic import XlaExplorerError

_MOST_KEPT = 256
CROSSED = "special values of all arguments"
"""The batches whose elements have different magnitudes side by side."""
_RESPONSES = (8, 3)
"""Perturbed runs that measure how much roundings of the arguments change a result.

The second number is for large results, of which a row measures together.
"""
_LARGE = 4096

# The kinds of findings, the most telling first.
KINDS = (
    "reference", "type", "raises", "untouched", "argument", "constant", "in place", "calls",
    "shared", "later", "value",
)  # fmt: skip


class Finding(NamedTuple):
    """One broken rule: its kind, the arguments as lists, both results, and a sentence."""

    kind: str
    sentence: str
    leaves: list[Array]
    expected: list[Array]
    actual: list[Array]
    ulps: float = 0.0
    batch: str = ""


class Trials:
    """Both sides, and the findings so far."""

    def __init__(self, sides: tuple[Side, Side], claim: Exactness, values: Values) -> None:
        self.reference, self.candidate, self.claim, self.values = *sides, claim, values
        self.tiers, self.findings = Tiers(), list[Finding]()
        self.runs = self.points = self.refused = self.compared = self.failed = 0
        self.floor: list[float] = []
        self._round = 0
        self._outputs: set[bytes] = set()
        self._expected: set[bytes] = set()
        self._kept: list[tuple[list[Array], list[bytes], list[Array]]] = []

    @property
    def flushes(self) -> bool:
        """True if a side has no subnormal numbers."""
        return self.reference.flushes or self.candidate.flushes

    # The two sides

    def own(self, leaves: Sequence[Array]) -> list[Array]:
        """Return copies; the output buffer gets a pattern, another one in each call."""
        copies = [leaf.copy() for leaf in leaves]
        for side in (self.reference, self.candidate):
            if side.buffer is not None:
                poison(copies[side.buffer], self._round)
        return copies

    def expected(self, leaves: Sequence[Array]) -> list[Array] | None:
        """Return copies of the reference's results; None if it refuses the arguments."""
        with np.errstate(all="ignore"):
            try:
                return [one.copy() for one in self.reference.run(self.own(leaves))]
            except (XlaExplorerError, ArithmeticError, ValueError, LookupError):
                return None

    def actual(self, leaves: list[Array]) -> list[Array]:
        """Return copies of the candidate's results on these very arrays."""
        self.runs += 1
        with np.errstate(all="ignore"):
            return [one.copy() for one in self.candidate.run(leaves)]

    # Single calls

    def call(self, batch: Batch, kind: str = "value", shared: list[Array] | None = None) -> bool:
        """Compare one call; True if the claim is kept.

        shared: arrays into which the arguments are written, which keep their identity.
        """
        self._round += 1
        own = self.own(batch.leaves)
        if shared is not None:
            for mine, new in zip(shared, own, strict=True):
                mine[...] = new
            own = shared
        before = [leaf.tobytes() for leaf in own]
        poison_free_memory(self._kept[-1][0] if self._kept else own)
        try:
            with np.errstate(all="ignore"):
                raw = self.candidate.run(own)
            problem = None
        except Exception as error:
            raw, problem = [], error
        self.runs += 1
        actual = [one.copy() for one in raw]
        expected = self.expected(batch.leaves)
        if expected is None:
            self.refused += 1
            return True
        if problem is not None:
            said = (
                f"{type(problem).__name__}: "
                f"{str(problem).splitlines()[0][:120] if str(problem) else ''}"
            )
            return self._add("raises", f"it raises {said}", batch, expected, [])
        if shared is None and len(self._kept) < _MOST_KEPT and self.candidate.buffer is None:
            self._kept.append((raw, [one.tobytes() for one in actual], own))
        fine = self._check_arguments(before, own, batch, expected, actual)
        return self.compare(batch, expected, actual, kind, before) and fine

    def _check_arguments(
        self,
        before: list[bytes],
        own: list[Array],
        batch: Batch,
        expected: list[Array],
        actual: list[Array],
    ) -> bool:
        for number, (old, leaf) in enumerate(zip(before, own, strict=True)):
            if number != self.candidate.buffer and old != leaf.tobytes():
                said = f"it changes argument {number} in place"
                return self._add("argument", said, batch, expected, actual)
        return True

    def compare(
        self,
        batch: Batch,
        expected: list[Array],
        actual: list[Array],
        kind: str = "value",
        before: list[bytes] | None = None,
    ) -> bool:
        """Compare results by the claim; True if it is kept."""
        mine, theirs = [list(map(type_text, one)) for one in (expected, actual)]
        if mine != theirs:
            said = f"it returns {', '.join(theirs) or 'nothing'} instead of {', '.join(mine)}"
            return self._add("type", said, batch, expected, actual)
        if len(self._outputs) < _MOST_KEPT:
            self._outputs.add(b"".join([one.tobytes() for one in actual]))
            self._expected.add(b"".join([one.tobytes() for one in expected]))
        self.compared += 1
        broken = self.broken(batch, expected, actual, count=True)
        if broken is None:
            return True
        self.failed += 1
        worst = broken
        buffer = self.candidate.buffer
        if buffer is not None and before is not None:
            return self._untouched(batch, expected, actual, before[buffer], kind, worst)
        return self._add(kind, "", batch, expected, actual, worst)

    def _untouched(
        self,
        batch: Batch,
        expected: list[Array],
        actual: list[Array],
        before: bytes,
        kind: str,
        worst: float,
    ) -> bool:
        old = np.frombuffer(before, actual[0].dtype).reshape(actual[0].shape)
        size = actual[0].dtype.itemsize
        same = bytes_of(old, size) == bytes_of(actual[0], size)
        count = int(same.all(-1).sum())
        if not count:
            return self._add(kind, "", batch, expected, actual, worst)
        said = f"it leaves {count} of {old.size} elements of `out` untouched"
        return self._add("untouched", said, batch, expected, actual, worst)

    def _add(
        self,
        kind: str,
        sentence: str,
        batch: Batch,
        expected: list[Array],
        actual: list[Array],
        ulps: float = np.inf,
    ) -> bool:
        self.findings.append(
            Finding(kind, sentence, list(batch.leaves), expected, actual, ulps, batch.what)
        )
        return False

    def flushed(self, results: list[Array]) -> list[Array]:
        """Return results with zeros for subnormal numbers, if a side has none."""
        if not self.flushes:
            return results
        return [without_subnormals(one) for one in results]

    def broken(
        self, batch: Batch, expected: list[Array], actual: list[Array], *, count: bool = False
    ) -> float | None:
        """Return the largest distance in ulps of results that break the claim; None if none does.

        count: take the results into account for the verdict's tier.
        """
        mine, theirs = self.flushed(expected), self.flushed(actual)
        scales, unsure = self._roundings(batch, mine, theirs)
        worst: float | None = None
        for a, b, scale, open_places in zip(mine, theirs, scales, unsure, strict=True):
            loses = loses_special_values(a, b, open_places)
            if count:
                self.points += a.size
                self.tiers.add(a, b, scale, loses)
            strict = loses and self.claim.kind == "real"
            if strict or not keeps(self.claim, a, b, scale):
                worst = max(worst or 0.0, float(ulps_apart(a, b).max()))
        return worst

    def _roundings(
        self, batch: Batch, expected: list[Array], actual: list[Array]
    ) -> tuple[list[Any], list[Any]]:
        """Return the magnitudes that roundings are relative to, and the undecided places.

        A magnitude is the change of a result by roundings of the arguments, at least a share of an
        ordinary result. A place is undecided if these roundings decide whether it is finite.
        """
        floors = [min(1.0, one) for one in self.floor] or [1.0] * len(expected)
        none = [np.zeros(one.shape, bool) for one in expected]
        near = all(
            Exactness.REAL.difference(a, b, scale=s) is None and not loses_special_values(a, b, no)
            for a, b, s, no in zip(expected, actual, floors, none, strict=True)
        )
        if near or not any(map(is_float, expected)):
            return list(floors), none
        spread = [np.zeros(one.shape) for one in expected]
        large = sum([one.size for one in expected]) > _LARGE
        for turn in range(_RESPONSES[large]):
            others = self.expected([moved(leaf, turn) for leaf in batch.leaves])
            for number, (a, b) in enumerate(zip(expected, others or [], strict=False)):
                if not is_float(a):
                    continue
                with np.errstate(all="ignore"):
                    wide = [widened(a), widened(b)]
                    apart = np.abs(wide[0] - wide[1]) / float(float_limits(a.dtype).eps)
                none[number] |= np.isfinite(wide[0]) != np.isfinite(wide[1])
                finite = np.where(np.isfinite(apart), apart, 0.0)
                spread[number] = np.maximum(spread[number], finite)
        if not batch.what.startswith(CROSSED):
            spread = [of_rows(one) for one in spread]
        shares = [SLACK / units_moved(one.dtype) if is_float(one) else 0 for one in expected]
        grown = zip(spread, shares, floors, strict=True)
        return [np.maximum(share * s, f) for s, share, f in grown], none

    # The protocol

    def protocol(self, first: Batch) -> None:
        """Compare calls in an order that shows state, caches and shared memory."""
        second = Batch("other normal numbers", self.values.ordinary())
        start = self.expected(first.leaves)
        if start is None:
            said = f"{self.reference.name} refuses ordinary arguments"
            raise SameArgumentError(said, "give arguments on which it runs")
        self.floor = [magnitude(one) for one in start]
        fine = self.call(first)
        kind = "calls" if fine else "value"
        repeated = [
            (batch is first, self.call(batch, kind))
            for batch in (first, second, first, second, second, first)
        ]
        if not fine and (True, True) in repeated:
            self.findings[0] = self.findings[0]._replace(kind="calls")
        self._in_place(first, second)
        self._shared_arguments(first)
        again = self.expected(first.leaves)
        if again is None or any(
            Exactness.REAL.difference(a, b, scale=max(f, 1e-30)) is not None
            for a, b, f in zip(start, again, self.floor, strict=True)
        ):
            said = f"{self.reference.name} returns different results for the same arguments"
            self._add("reference", said, first, start, again or [])

    def _in_place(self, first: Batch, second: Batch) -> None:
        shared = self.own(first.leaves)
        fine = self.call(first, shared=shared)
        kind = "in place" if fine else "value"
        self.call(second, kind, shared)
        self.call(first, kind, shared)
        for number, leaf in enumerate(first.leaves):
            if number == self.candidate.buffer or not leaf.size:
                continue
            for share in (0.5, 0.75):
                changed = [one.copy() for one in first.leaves]
                place = int(share * leaf.size)
                other = second.leaves[number].reshape(-1)[place]
                changed[number].reshape(-1)[place] = other
                self.call(Batch(f"one element of argument {number} changed", changed), kind, shared)

    def _shared_arguments(self, first: Batch) -> None:
        """Pass one array for two arguments of the same type."""
        buffers = {self.candidate.buffer, self.reference.buffer}
        numbers = [n for n in range(len(first.leaves)) if n not in buffers]
        for one, other in pairwise(numbers):
            if type_text(first.leaves[one]) != type_text(first.leaves[other]):
                continue
            leaves = list(first.leaves)
            leaves[other] = leaves[one]
            if not self.call(Batch("equal arguments", leaves)):
                continue
            shared = self.own(leaves)
            shared[other] = shared[one]
            self.call(Batch("the same array for two arguments", leaves), "shared", shared)

    def finish(self, first: Batch) -> None:
        """Compare the first arguments once more, and earlier results with what they were."""
        fine = not self.findings
        self.call(first, "calls" if fine else "value")
        for raw, kept, own in self._kept:
            if any(one.tobytes() != old for one, old in zip(raw, kept, strict=True)):
                said = "a result changes later, when the program is called again"
                self._add("later", said, Batch("", own), raw, raw)
                break
        constant = len(self._outputs) == 1 and len(self._expected) > 1
        if constant and 2 * self.failed > self.compared:
            said = "its output is constant: the same for all arguments"
            self._add("constant", said, first, [], [])

    def is_elementwise(self) -> bool:
        """Return True if each element of the reference's result depends on one place alone."""
        leaves = self.values.ordinary()
        found = self.expected(leaves)
        buffers = (self.reference.buffer, self.candidate.buffer)
        inputs = [n for n in range(len(leaves)) if n not in buffers]
        shapes = {leaves[n].shape for n in inputs} | {one.shape for one in found or []}
        if found is None or len(shapes) != 1 or not inputs or not found:
            return False
        order = np.random.default_rng(1).permutation(leaves[inputs[0]].size)
        moved_too = self.expected([permuted(leaf, order) for leaf in leaves])
        mine = [permuted(one, order) for one in found]
        if moved_too is None or not equal(mine, moved_too):
            return False
        return all(self._is_local(leaves, found, number) for number in inputs)

    def _is_local(self, leaves: list[Array], found: list[Array], number: int) -> bool:
        size = leaves[number].size
        for place in {0, size // 2, size - 1}:
            changed = [leaf.copy() for leaf in leaves]
            changed[number].reshape(-1)[place] = self.values.ordinary()[number].reshape(-1)[place]
            after = self.expected(changed)
            if after is None:
                return False
            rest = np.arange(size) != place
            if not equal(
                [a.reshape(-1)[rest] for a in found], [b.reshape(-1)[rest] for b in after]
            ):
                return False
        return True


def try_batches(trials: Trials, batches: Any, until: float) -> bool:
    """Compare batches until a time; False if it came before the end."""
    for batch in batches:
        trials.call(batch)
        if time.monotonic() > until or len(trials.findings) > 60:
            return False
    return True


def try_crossed(trials: Trials, until: float) -> tuple[bool, bool]:
    """Compare an elementwise program on combinations of values.

    Returns True if all were tried, and True if these are every value of the types.
    """
    points, complete = trials.values.crossed()
    shape = trials.values.examples[0].shape
    size, count = max(1, int(np.prod(shape))), len(points[0])
    for start in range(0, count, size):
        places = np.arange(start, start + size) % count
        trials.call(Batch(CROSSED, [leaf[places].reshape(shape) for leaf in points]))
        if time.monotonic() > until or len(trials.findings) > 60:
            return False, False
    return True, complete
