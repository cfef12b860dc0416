"""`xe.same`: whether two programs give the same results, on arguments chosen to show that not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table
from xla_explorer.explorer.sameness.measures import Tiers, claim_of, ulps_apart
from xla_explorer.explorer.sameness.shrinking import described, number_text, shrunk
from xla_explorer.explorer.sameness.sides import (
    SameArgumentError,
    examples_of,
    side_of,
)
from xla_explorer.explorer.sameness.trials import (
    KINDS,
    Finding,
    Trials,
    try_batches,
    try_crossed,
)
from xla_explorer.explorer.sameness.values import Batch, Range, Values
from xla_explorer.explorer.sessions.arguments import Array
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.limits import limited_run


class Sameness(Report):
    """The verdict of `xe.same`; as a condition it is `same`.

    Attributes
    ----------
    same : bool
        True if every result kept the claim, and no trick was found.
    claim, tier : str
        The required claim, and the strictest that all results kept: bitwise, numeric, within n
        ulp, real, fast or different.
    kind : str
        What was found first, or an empty text: reference, type, raises, untouched, argument,
        constant, in place, calls, shared, later or value.
    worst_ulps, worst_difference : float
        The largest distance of two results, in units in the last place and absolute.
    arguments : tuple of arrays
        The simplest arguments that show the difference; empty if there is none.
    expected, actual : tuple of arrays
        Both results on them.
    tried : str
        The number of calls and points, and the values that were tried.
    """

    def __init__(self, names: tuple[str, str], claim: Exactness) -> None:
        self.first, self.second = names
        self.claim, self.tier, self.kind = str(claim), "bitwise", ""
        self.same, self.worst_ulps, self.worst_difference = True, 0.0, 0.0
        self.arguments: tuple[Array, ...] = ()
        self.expected: tuple[Array, ...] = ()
        self.actual: tuple[Array, ...] = ()
        self.sentence, self.tried = "", ""

    def __bool__(self) -> bool:
        return self.same

    def headline(self) -> str:
        """Return the verdict in a sentence."""
        if self.same:
            return f"the same: {self.sentence}"
        return f"not the same: {self.sentence}"

    def blocks(self) -> Blocks:
        """Yield the worst difference, the arguments that show it, and what was tried."""
        rows = [
            ("claim", self.claim),
            ("tier that holds", self.tier),
            ("worst difference", f"{self.worst_ulps:g} ulp, {self.worst_difference:.3g} absolute"),
        ]
        yield Table(["what", "value"], rows)
        yield Sentence(f"tried: {self.tried}")

    def records(self) -> Table:
        """Return the verdict as one row."""
        names = ("same", "claim", "tier", "kind", "worst_ulps", "worst_difference", "sentence")
        return Table(names, [tuple(getattr(self, name) for name in names)])


@explains_arguments
@limited_run()
def same(  # noqa: PLR0913 - keywords that users type
    a: Any,
    b: Any,
    *examples: Any,
    claim: str | int | Exactness = "real",
    backend: str | None = None,
    sizes: Sequence[Any] = (),
    arguments: Callable[..., Sequence[Any]] | None = None,
    within: Mapping[int, Range] | None = None,
    seed: int = 0,
    seconds: float = 60.0,
) -> Sameness:
    """Return whether two programs give the same results, on arguments chosen to show that not.

    The arguments are ordinary numbers of several magnitudes, special values, and every value of
    small types. Special values are NaN with payloads, infinities, zeros of both signs, subnormal
    numbers, the ends of the range, and neighbours of powers of two. Calls are repeated and
    reordered. Some take arrays that were changed in place, or one array for two arguments. So
    caches, constants, untouched output buffers and state are found.

    Parameters
    ----------
    a, b
        The reference and the candidate: HLO or StableHLO text, a path, a module, a session, a JAX
        function, or a function on arrays. A function with a required parameter `out` writes its
        result there.
    *examples
        Arrays or pytrees of them that show the types and shapes of a function's parameters.
    claim : str, int or Exactness, default "real"
        bitwise, numeric (a zero may change its sign), a number of ulps, real (only roundings
        differ; no number becomes an infinity or NaN) or fast (nothing overflows or underflows).
    backend : str, optional
        Compile modules for this backend; by default the reference evaluator runs them.
    sizes : sequence
        If given, `a` and `b` are functions that make a program for each size.
    arguments : function, optional
        With sizes: makes the example arguments of a size.
    within : mapping, optional
        For the number of an argument the range of its values, such as `{0: (0, 9)}`.
    seed : int
        The seed of the random arguments.
    seconds : float
        The time after which no new arguments are tried; the verdict says what was.

    Returns
    -------
    Sameness
        The verdict: a sentence, the tier, the worst difference and the arguments that show it.

    Raises
    ------
    SameArgumentError
        Two functions without examples, different parameters, or an unknown claim.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> maximum = '''ENTRY m { x = f32[4] parameter(0) y = f32[4] parameter(1)
    ...   ROOT r = f32[4] maximum(x, y) }'''
    >>> chosen = '''ENTRY m { x = f32[4] parameter(0) y = f32[4] parameter(1)
    ...   c = pred[4] compare(x, y), direction=GT ROOT r = f32[4] select(c, x, y) }'''
    >>> verdict = xe.same(maximum, chosen)
    >>> print(verdict.sentence.partition(" (")[0])
    1.0 where nan is right, at [0] of the result
    >>> verdict.tier
    'fast'
    """
    wanted = claim_of(claim)
    if seed < 0:
        raise SameArgumentError(f"seed must be at least 0, got {seed}", "such as seed=0")
    until = time.monotonic() + seconds
    given = {"seed": seed, "within": within or {}, "backend": backend, "until": until}
    if not sizes:
        return _compared(a, b, examples, wanted, given)
    for program in (a, b, arguments):
        if not callable(program) and program is not None:
            raise SameArgumentError(
                "with sizes, programs and arguments must be functions of a size, got "
                f"{program!r:.60}",
                "xe.same(lambda n: text_of(n), ..., sizes=(1, 8, 13))",
            )
    verdict: Sameness | None = None
    tiers = Tiers()
    for size in sizes:
        key = size if isinstance(size, tuple) else (size,)
        shown = tuple(arguments(*key)) if arguments is not None else examples
        verdict = _compared(a(*key), b(*key), shown, wanted, given, tiers)
        if not verdict.same:
            verdict.sentence = f"at size {size}: {verdict.sentence}"
            return verdict
    assert verdict is not None
    verdict.tried = f"sizes {', '.join(map(str, sizes))}; of the last: {verdict.tried}"
    return verdict


def _compared(
    a: Any,
    b: Any,
    given: tuple[Any, ...],
    claim: Exactness,
    options: Mapping[str, Any],
    tiers: Tiers | None = None,
) -> Sameness:
    sides = (side_of(a, given, options["backend"]), side_of(b, given, options["backend"]))
    examples = examples_of(sides)
    values = Values(
        examples,
        options["seed"],
        options["within"],
        lambda: any(side.flushes for side in sides),
    )
    trials = Trials(sides, claim, values)
    trials.tiers = tiers if tiers is not None else trials.tiers
    first = Batch("normal numbers", values.ordinary())
    trials.protocol(first)
    what = _tried_values(trials, claim, options["until"])
    if given:
        trials.call(Batch("the examples", [np.array(one) for one in examples]))
    trials.finish(first)
    return _verdict(trials, claim, what)


def _tried_values(trials: Trials, claim: Exactness, until: float) -> str:
    """Compare all batches; return in words which values were tried."""
    values = trials.values
    told = ["ordinary numbers"]
    ended = try_batches(trials, values.regular(), until)
    elementwise = ended and trials.is_elementwise()
    if elementwise:
        ended, complete = try_crossed(trials, until)
        told.append(
            "every value of the types" if complete else "special values of all arguments together"
        )
    if ended:
        ended = try_batches(trials, values.filled(), until)
        ended = ended and try_batches(trials, values.sparse(), until)
        told.append("special values one at a time")
    if ended and not elementwise:
        ended = try_batches(trials, values.rotated(), until)
    if trials.flushes:
        told.append("no subnormal numbers, which XLA flushes to zero")
    if trials.refused:
        told.append(f"{trials.refused} arguments that the first program refuses left out")
    if not ended and not trials.findings:
        told.append("stopped when the time was over")
    return ", ".join(told)


def _verdict(trials: Trials, claim: Exactness, what: str) -> Sameness:
    found = Sameness((trials.reference.name, trials.candidate.name), claim)
    found.tried = f"{trials.runs} calls, {trials.points} values compared; {what}"
    found.worst_ulps = trials.tiers.worst.ulps
    found.worst_difference = trials.tiers.worst.absolute
    found.tier = trials.tiers.name
    if not trials.findings:
        found.sentence = f"{found.tier} on {trials.runs} calls ({what})"
        return found
    first = min(trials.findings, key=lambda one: (KINDS.index(one.kind), -one.ulps))
    found.same, found.kind = False, first.kind
    if first.kind != "value":
        found.tier = "different"
    _show(found, trials, first)
    return found


def _show(found: Sameness, trials: Trials, finding: Finding) -> None:
    """Put the arguments of a finding, simplified if they are the cause, into the verdict."""
    leaves, expected, actual = finding.leaves, finding.expected, finding.actual
    if finding.kind == "value" and expected and actual:
        _, place = _place(expected, actual, trials)
        leaves = shrunk(leaves, lambda tried: _fails(trials, tried), place)
        again = trials.expected(leaves)
        try:
            new = trials.actual(trials.own(leaves))
        except Exception:
            again = None
        if again is not None and _differs(trials, leaves, again, new):
            expected, actual = again, new
        else:
            leaves = finding.leaves
    found.arguments = tuple(leaves)
    found.expected, found.actual = tuple(expected), tuple(actual)
    shown = described(leaves, trials.candidate.buffer)
    found.sentence = _sentence(trials, finding, found, shown)


def _sentence(trials: Trials, finding: Finding, found: Sameness, shown: str) -> str:
    said = {
        "calls": "the result of the same arguments changes from call to call",
        "in place": "arguments that were changed in place, in the same array, get an old result",
        "shared": "the result is wrong if the same array is passed for two arguments",
    }.get(finding.kind, finding.sentence)
    if finding.kind in ("type", "argument", "constant", "later", "reference", "untouched"):
        return said
    if not found.expected or not found.actual:
        return f"{said} ({shown})"
    number, place = _place(list(found.expected), list(found.actual), trials)
    expected, actual = [list(one)[number] for one in (found.expected, found.actual)]
    index = ",".join([str(int(k)) for k in np.unravel_index(place, expected.shape)])
    which = "the result" if len(found.expected) == 1 else f"result {number}"
    values = [number_text(one.reshape(-1)[place]) for one in (actual, expected)]
    about = f"{values[0]} where {values[1]} is right, at [{index}] of {which}"
    return f"{said}: {about}" if said else f"{about} ({shown})"


def _place(expected: list[Array], actual: list[Array], trials: Trials) -> tuple[int, int]:
    """Return the number of the result and of its element that differ most."""
    best = (0, 0, -1.0)
    for number, (a, b) in enumerate(
        zip(trials.flushed(expected), trials.flushed(actual), strict=True)
    ):
        apart = ulps_apart(a, b).reshape(-1)
        sign = np.asarray(a.reshape(-1) == 0) & _other_bits(a, b)
        apart = np.where(sign, np.maximum(apart, 0.5), apart)
        if apart.size and float(apart.max()) > best[2]:
            best = (number, int(apart.argmax()), float(apart.max()))
    return best[0], best[1]


def _other_bits(a: Array, b: Array) -> Array:
    size = a.dtype.itemsize
    rows = [np.frombuffer(x.tobytes(), np.uint8).reshape(-1, size) for x in (a, b)]
    return np.asarray((rows[0] != rows[1]).any(-1))


def _fails(trials: Trials, leaves: list[Array]) -> bool:
    expected = trials.expected(leaves)
    if expected is None:
        return False
    try:
        actual = trials.actual(trials.own(leaves))
    except Exception:
        return False
    return _differs(trials, leaves, expected, actual)


def _differs(
    trials: Trials, leaves: list[Array], expected: list[Array], actual: list[Array]
) -> bool:
    if len(expected) != len(actual):
        return False
    return trials.broken(Batch("", leaves), expected, actual) is not None
