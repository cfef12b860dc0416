"""The claim of a rule on every value of small types and on the edges of the others.

The rule's example is retyped to every element type. Each variant that the rule rewrites is
evaluated before and after, and compared by the rule's own claim. An elementwise example takes the
size of all combinations of values. In other examples the sizes of the shapes vary. Each value of a
type of at most 8 bits is tried at each position of the arguments.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting.driver import rewrite_computation
from xla_explorer.compiler.rewriting.example_variants import (
    Variant,
    is_elementwise,
    only_moves,
    resized,
    retyped,
    with_sizes,
)
from xla_explorer.compiler.rewriting.recorded_claims import (
    EXHAUSTIVE,
    NO_OPERANDS,
    SAMPLED,
    described_tier,
)
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.compiler.rewriting.value_pools import Points, all_values, crossed, edge_values
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import (
    EvaluationError,
    UnsupportedOpcodeError,
    evaluate,
    flatten_value,
)
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES, PrimitiveType
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.verifier import verify

_FILLINGS = 100
"""Number of arguments for a variant that is not elementwise, except for types of 8 bits."""
_MOST_COUNTEREXAMPLES = 20


@dataclasses.dataclass(frozen=True)
class CounterExample:
    """Arguments on which a rule breaks its claim.

    module: the example before the rewrite. arguments: its parameters; for an elementwise example
    the failing element only. before, after: the values or None. problem: a sentence.
    """

    module: HloModule
    arguments: tuple[Any, ...]
    before: Any
    after: Any
    problem: str


@dataclasses.dataclass(frozen=True)
class ClaimCheck:
    """The result of the check of a rule's claim.

    tier: `exhaustive` or `sampled`. complete: types of which every value was tried, for several
    operands every combination; types: all types that the rule rewrites. points: number of compared
    elements. shapes: number of tried shapes. why_sampled: a sentence for the tier `sampled`.
    """

    rule: str
    claim: str
    tier: str
    points: int
    complete: tuple[str, ...]
    types: tuple[str, ...]
    shapes: int
    why_sampled: str
    counterexamples: tuple[CounterExample, ...] = ()

    @property
    def tried(self) -> str:
        """The tier in words."""
        return described_tier(self.complete, self.points, self.shapes, self.why_sampled)


def check_claim(rule: Rule) -> ClaimCheck:
    """Check the claim of a rule on every type and value as the module's docstring says."""
    return _Check(rule).run()


def apply_alone(rule: Rule, before: HloModule) -> HloModule | None:
    """Return a copy of the module that the rule rewrote and that is verified, or None."""
    after = before.clone()
    if not rewrite_computation(after.entry, RuleSet(rule.name, [rule]), PassContext()):
        return None
    verify(after)
    return after


class _Check:
    """A check that runs: counts, and the violations found so far."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.points = self.shapes = 0
        self.types: set[str] = set()
        self.complete: set[str] = set()
        self.found: list[CounterExample] = []
        self.why_sampled = ""

    def run(self) -> ClaimCheck:
        sized: str = self.rule.before
        for variant in retyped(self.rule):
            if self._try(variant.text, variant) and sized is self.rule.before:
                sized = variant.text
            if len(self.found) >= _MOST_COUNTEREXAMPLES:
                break
        # Wrong sizes show with few values: two types, the rule's own and the first one of all.
        for text in dict.fromkeys((self.rule.before, sized)) if not self.found else ():
            for other in resized(text):
                self._try(other, None)
        if not self.types and not self.why_sampled:
            self.why_sampled = "the rule rewrites no variant of its example"
        complete = tuple(name for name in (NO_OPERANDS, *PRIMITIVE_TYPES) if name in self.complete)
        if not complete and not self.why_sampled:
            self.why_sampled = "no type of its operands has few enough values"
        return ClaimCheck(
            self.rule.name,
            str(self.rule.exactness),
            EXHAUSTIVE if complete else SAMPLED,
            self.points,
            complete,
            tuple(name for name in PRIMITIVE_TYPES if name in self.types),
            self.shapes,
            "" if complete else self.why_sampled,
            tuple(self.found),
        )

    def _try(self, text: str, variant: Variant | None) -> bool:
        """Compare one module; True if the rule rewrites it."""
        before = Variant(text, ()).module()
        if before is None:
            return False
        after = self._rewritten(before)
        if after is None:
            return False
        elementwise = is_elementwise(before) and self.rule.exactness.kind != "fast"
        kinds = {leaf.element_type for leaf in _leaves(before) if leaf.is_array}
        if self.rule.exactness.kind == "fast" and any(k.is_float and k.bits < 16 for k in kinds):
            return False  # most operations leave the range of such a type
        complete: set[str] = set()
        if elementwise and variant is not None:
            points = crossed([p.shape.element_type for p in before.entry.parameters()])
            complete = self._try_elementwise(text, before, after, points)
        else:
            complete = self._try_in_place(before, after, variant is not None)
        if variant is None:
            self.shapes += 1
        else:
            names = {kind.name for kind in kinds} or set(variant.types)
            self.types |= names
            self.complete |= complete if kinds else {NO_OPERANDS}
        return True

    def _rewritten(self, before: HloModule) -> HloModule | None:
        """Return the module after the rule, or None if it does not act or acts wrongly."""
        try:
            return apply_alone(self.rule, before)
        except (XlaExplorerError, ValueError, TypeError, ArithmeticError, LookupError) as problem:
            sentence = f"the rewrite fails: {type(problem).__name__}: {problem}"
            self.found.append(CounterExample(before, (), None, None, sentence))
            return None

    def _try_elementwise(
        self, text: str, before: HloModule, after: HloModule, points: Points
    ) -> set[str]:
        """Compare the enlarged module, an element for each point; the module if that fails."""
        size = before.entry.parameters()[0].shape.dimensions[0]
        count = str(len(points.arrays[0]))
        large = Variant(with_sizes(text, {str(size): count}), ()).module()
        rewritten = None if large is None else self._rewritten(large)
        if large is None or rewritten is None:
            return self._try_in_place(before, after, True)
        magnitudes: Any = (
            _magnitudes(points.arrays) if _may_cancel(large) or _may_cancel(rewritten) else 0.0
        )
        kept = self._compare(large, rewritten, tuple(points.arrays), magnitudes)
        return {s.element_type.name for s in _leaves(large)} if kept and points.complete else set()

    def _try_in_place(self, before: HloModule, after: HloModule, every_value: bool) -> set[str]:
        """Fill the arguments repeatedly; return the types of which every value was everywhere."""
        moves = only_moves(before)
        ordinary = self.rule.exactness.kind == "fast" or (
            not moves and self.rule.exactness.kind in ("real", "approximate")
        )
        kinds = {p.element_type for p in _leaves(before) if p.is_array}
        small = {k.name: pool for k in kinds if (pool := _small_pool(k)) is not None}
        complete = every_value and moves and bool(small)
        fillings = max(map(len, small.values())) if complete else _FILLINGS if every_value else 3
        for number in range(fillings):
            arguments = tuple(
                _filled(shape, place, number, ordinary, complete)
                for place, shape in enumerate(before.parameter_shapes())
            )
            if not self._compare(before, after, arguments, 3.0 if ordinary else 0.0):
                return set()
        if ordinary:
            self.why_sampled = (
                "overflow and underflow are outside the claim"
                if self.rule.exactness.kind == "fast"
                else "the result depends on many elements, so combinations of values are too many"
            )
        elif not moves:
            self.why_sampled = (
                "the result depends on several elements, so combinations of values are too many"
            )
        return set(small) if complete else set()

    def _compare(
        self, before: HloModule, after: HloModule, arguments: tuple[Any, ...], scale: Any
    ) -> bool:
        try:
            with np.errstate(all="ignore"):
                expected, actual = [
                    [np.asarray(leaf) for leaf in flatten_value(evaluate(module, *arguments))]
                    for module in (before, after)
                ]
        except (EvaluationError, UnsupportedOpcodeError) as problem:
            self.why_sampled = f"the evaluator does not compute the example: {problem}"
            return False
        for one, other in zip(expected, actual, strict=True):
            self.points += one.size
            difference = self.rule.exactness.difference(one, other, scale=scale)
            if difference is not None:
                place = difference.facts.get("index")
                self.found.append(_counterexample(before, arguments, one, other, place, difference))
                return False
        return True


def _counterexample(
    module: HloModule, arguments: tuple[Any, ...], one: Any, other: Any, place: Any, difference: Any
) -> CounterExample:
    if place is not None and is_elementwise(module):
        arguments = tuple(np.asarray(argument)[place] for argument in arguments)
        one, other = one[place], other[place]
    return CounterExample(module, arguments, one, other, difference.message)


def _small_pool(kind: PrimitiveType) -> Any:
    """Return all values of a type of at most 8 bits, else None."""
    return all_values(kind) if kind.bits <= 8 else None


def _leaves(module: HloModule) -> Iterator[Shape]:
    for shape in module.parameter_shapes():
        for _, leaf in shape.leaves():
            yield leaf


_CANCELLING = frozenset({"add", "subtract", "log", "log-plus-one", "exponential-minus-one"})


def _may_cancel(module: HloModule) -> bool:
    """Return True if a result near zero has the absolute error of its operands."""
    return any(i.opcode.name in _CANCELLING for i in module.entry.instructions.values())


def _magnitudes(arrays: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return the largest finite magnitude of the operands of each element, at least 1."""
    result = np.ones(len(arrays[0]))
    for array in arrays:
        with np.errstate(all="ignore"):
            magnitude = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else float))
        result = np.maximum(result, np.where(np.isfinite(magnitude), magnitude, 0))
    return result


def _filled(shape: Shape, place: int, number: int, ordinary: bool, everything: bool) -> Any:
    """Return the argument number `place` in filling `number`: values move through all places."""
    if shape.is_tuple:
        return tuple(
            _filled(part, place + 7 * k, number, ordinary, everything)
            for k, part in enumerate(shape.tuple_shapes)
        )
    if not everything:  # every second time the arguments have equal values
        place, number = place * (1 - number % 2), number // 2
    kind = shape.element_type
    pool = _small_pool(kind) if everything else None
    if pool is None:
        pool = edge_values(kind)
    if ordinary and (kind.is_float or kind.is_complex):
        pool = np.linspace(0.25, 3, 29).astype(kind.dtype)
    elif ordinary and kind.is_integer and kind.bits > 4:
        pool = np.arange(10).astype(kind.dtype)
    steps = (1, 3, 5, 7, 11, 13, 17, 19, 23)
    apart = [step for step in steps if math.gcd(step, len(pool)) == 1]
    step = apart[place % len(apart)]
    places = (np.arange(shape.element_count) * (2 * place + 1) + place + number * step) % len(pool)
    return pool[places].reshape(shape.dimensions)
