"""Notebook 21: attention in blocks of keys, so that the scores are never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xla_explorer.course.capstone.attention_programs import attention_text, largest_array
from xla_explorer.course.checking.programs import seeded
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure, value_text
from xla_explorer.explorer.compiling import compile
from xla_explorer.hlo.builder import HloBuilder, HloValue
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import array_shape
from xla_explorer.hlo.text import parse_hlo

Array = np.ndarray[Any, Any]
Build = Callable[[HloBuilder, HloValue, HloValue, HloValue, int], HloValue]


@exercise(
    "nb21.bytes",
    "Write traffic(rows, keys, depth, stored): bytes read and written by attention that stores "
    "so many arrays of scores.",
    "Read q, k and v once, write the result once; each stored array of scores is written once "
    "and read once.",
    hints=(
        "Everything is f32: 4 bytes.",
        (
            "q and the result have rows * depth numbers, k and v have keys * depth, scores rows "
            "* keys."
        ),
    ),
)
def traffic(function: Callable[[int, int, int, int], Any]) -> Cases:
    """Check sizes with three different numbers, also without a stored array."""
    choice = seeded(21)
    for number in range(8):
        rows, keys, depth = choice.sample((8, 24, 64, 100, 512, 1000, 4096), 3)
        stored = number % 4
        want, got = (
            4 * (2 * rows * depth + 2 * keys * depth + 2 * stored * rows * keys),
            function(rows, keys, depth, stored),
        )
        yield (
            None
            if got == want
            else Failure(
                "other-bytes",
                f"{rows} queries, {keys} keys, vectors of {depth}, {stored} arrays of scores "
                "stored.",
                str(want),
                repr(got),
                None,
                (rows, keys, depth, stored),
                "Each stored array is written by one kernel and read by another: twice its bytes.",
            )
        )


@exercise(
    "nb21.merge",
    "Write merge(first, second): the part for all keys, of the parts for two sets of keys. A "
    "part is (largest, total, mixed).",
    "The new largest is the larger of both. The sums were made with another largest: bring each "
    "to the new one before you add.",
    hints=(
        "exp(s - old) becomes exp(s - new) when it is multiplied by exp(old - new).",
        (
            "total and mixed need the same factor, one number a row: mixed has a column more, "
            "factor[:, None]."
        ),
        (
            "Where a part saw masked keys only, its largest is -inf, and -inf - -inf is not a "
            "number: such a part counts nothing."
        ),
    ),
)
def merge(function: Callable[[Any, Any], Any]) -> Cases:
    """Check merged parts of random scores against the part of all keys.

    Scores are large or equal; there is one key, and there are masked keys.
    """
    cases = (
        (3, 5, 1.0),
        (1, 1, 1.0),
        (4, 4, 60.0),
        (6, 1, 300.0),
        (2, 7, 0.0),
        (3, 3, 8.0),
        (3, 4, 5.0),
    )
    for number, (left, right, scale) in enumerate(cases):
        generator = np.random.default_rng(number)
        scores = (generator.standard_normal((4, left + right)) * scale).astype(np.float32)
        if number >= 5:
            scores[1:3, :left] = -np.inf
        if number == 6:
            scores[0, left:] = scores[3] = -np.inf  # row 3 is masked in both parts
        values = generator.standard_normal((left + right, 3)).astype(np.float32)
        first, second, want = [
            _part(scores[:, at], values[at])
            for at in (slice(None, left), slice(left, None), slice(None))
        ]
        with answering():
            got = function(first, second)
        if not (
            isinstance(got, tuple)
            and len(got) == 3
            and all(np.shape(g) == np.shape(w) for g, w in zip(got, want, strict=True))
        ):
            raise WrongAnswerError(
                Failure(
                    "no-part",
                    "The answer is a part: three arrays, with a number, a number and a vector "
                    "for each row.",
                    _shapes(want),
                    _shapes(got) if isinstance(got, tuple) else repr(got),
                )
            )
        for name, g, w in zip(("largest", "total", "mixed"), got, want, strict=True):
            if not np.allclose(g, w, 2e-4, 2e-5):
                hint = (
                    "A part whose largest is -inf counts nothing: its factor is 0."
                    if number >= 5
                    else "Both parts need a factor, not one."
                )
                yield Failure(
                    "wrong-part",
                    f"`{name}` is another one.",
                    value_text(w),
                    value_text(np.asarray(g)),
                    None,
                    (first, second),
                    hint,
                )
        yield None


def _part(scores: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return the state of attention over some keys.

    It is the largest score, the sum of exponentials, and the values weighted by them.
    """
    largest = scores.max(axis=1)
    weights = np.where(
        np.isneginf(scores), 0, np.exp(scores - np.where(np.isneginf(largest), 0, largest)[:, None])
    ).astype(np.float32)
    return largest, weights.sum(axis=1), weights @ values


def _shapes(part: Any) -> str:
    return ", ".join([str(list(np.shape(piece))) for piece in part])


def attention_module(function: Build, rows: int, keys: int, depth: int, block: int) -> HloModule:
    """Return the program of attention that processes a block of keys at a time.

    Parameters
    ----------
    function
        Of a builder, the values q, k, v, and the number of keys at a time: the result's value.
    rows, keys, depth
        As those of `attention_text`.
    block
        Keys at a time.

    Returns
    -------
    HloModule
        The same parameters and result as those of `attention_text`.
    """
    b = HloBuilder("attention", locations=False)
    q, k, v = [
        b.parameter(array_shape("f32", (n, depth)), name)
        for n, name in ((rows, "q"), (keys, "k"), (keys, "v"))
    ]
    return b.build(function(b, q, k, v, block))


def _checked(function: Callable[[], Any], rows: int, depth: int) -> HloModule:
    """Return the program that an answer makes.

    WrongAnswerError if it is not a program, or has another result.
    """
    with answering():
        module = function()
    if not isinstance(module, HloModule):
        raise WrongAnswerError(
            Failure(
                "no-program",
                "The answer must be a program.",
                f"one whose result is f32[{rows},{depth}]",
                repr(module)[:300],
            )
        )
    if tuple(module.result_shape().dimensions) != (rows, depth):
        raise WrongAnswerError(
            Failure(
                "other-shape",
                "The result has another shape.",
                f"f32[{rows},{depth}]",
                str(module.result_shape()),
                module,
            )
        )
    return module


@exercise(
    "nb21.attention",
    "Write attention(b, q, k, v, block): attention that processes `block` keys at a time and "
    "keeps a part as merge does.",
    "One block first: scores, largest, total, mixed of k[:block] and v[:block]. Then a loop in "
    "Python over the blocks, with merge in HLO.",
    hints=(
        "k[at:end] takes keys; the last block may be shorter: end = min(at + block, keys).",
        "b.broadcast(x, (rows, n), (0,)) writes a vector of rows next to itself n times.",
        (
            "Scale the queries once, before the loop: that is rows * depth products, and not "
            "rows * keys."
        ),
        "Divide by the total once, at the end.",
    ),
)
def attention(function: Build) -> Cases:
    """Check the values against attention with all scores, also for uneven blocks.

    No array may be larger than a block's scores, the inputs and the result.
    """
    sizes = ((4, 8, 2, 4), (3, 7, 4, 3), (2, 5, 3, 5), (5, 6, 2, 1), (4, 4, 4, 9), (16, 64, 8, 16))
    for number, (rows, keys, depth, block) in enumerate(sizes):
        module = _checked(
            partial(attention_module, function, rows, keys, depth, block), rows, depth
        )
        generator = np.random.default_rng(number)
        scale = (1, 1, 40, 1, 1, 12)[number]
        given = [
            (generator.standard_normal((n, depth)) * scale).astype(np.float32)
            for n in (rows, keys, keys)
        ]
        with np.errstate(all="ignore"):
            want, got = (
                evaluate(parse_hlo(attention_text(rows, keys, depth)), *given),
                evaluate(module, *given),
            )
        if not np.allclose(got, want, rtol=1e-3, atol=1e-4 * scale):
            hint = (
                "The scores are scaled by depth ** -0.5."
                if number == 0
                else "Subtract the largest score so far: exp overflows."
            )
            yield Failure(
                "wrong-value",
                f"{rows} queries, {keys} keys, vectors of {depth}, {block} keys at a time.",
                value_text(want),
                value_text(np.asarray(got)),
                module if len(list(module.instructions())) < 80 else None,
                tuple(given),
                hint,
            )
        most = max(rows * min(block, keys), max(rows, keys) * depth)
        if (largest := largest_array(module)) > most:
            yield Failure(
                "too-large",
                f"With {block} keys at a time no array needs more than {most} elements.",
                f"at most {most}",
                str(largest),
                module,
                hint="Slice k and v before the product: scores of one block only, and nothing put "
                "together from blocks.",
            )
        yield None


@exercise(
    "nb21.beat",
    "Write program(rows, keys, depth): the module of attention in blocks that needs at most half "
    "the memory of attention with all scores.",
    "Begin with your attention and a block of 64 keys: attention_module(attention, rows, keys, "
    "depth, 64).",
    hints=(
        (
            "xe.compile(module).buffers().peak_bytes is what counts; .at_peak() lists the arrays "
            "that are alive at the peak."
        ),
        (
            "Small blocks need little memory for scores, but each leaves a part of the result "
            "behind: look for the block between."
        ),
        (
            "A block as long as `keys` is attention with all scores; a part of the keys, keys // "
            "8, grows with them."
        ),
    ),
)
def beat(function: Callable[[int, int, int], Any]) -> Cases:
    """Check the arena's bytes, which are the same on every machine, and the default's values."""
    saved = []
    for number, (rows, keys, depth) in enumerate(((64, 512, 16), (128, 1024, 32), (32, 2000, 8))):
        module = _checked(partial(function, rows, keys, depth), rows, depth)
        wanted, given = (
            [[n, depth] for n in (rows, keys, keys)],
            [list(p.shape.dimensions) for p in module.entry.parameters()],
        )
        if given != wanted:
            yield Failure("other-parameters", "The program takes other arrays.", str(wanted), str(given), module,
                          hint="Pass rows, keys and depth to attention_module unchanged.")  # fmt: skip
        mine, default = (
            compile(module, threads=1),
            compile(attention_text(rows, keys, depth), threads=1),
        )
        generator = np.random.default_rng(number)
        arrays = [
            generator.standard_normal((n, depth)).astype(np.float32) for n in (rows, keys, keys)
        ]
        want, got = np.asarray(default(*arrays)), np.asarray(mine(*arrays))
        what = f"{rows} queries, {keys} keys, vectors of {depth}"
        before, after, kernels = (
            default.buffers().peak_bytes,
            mine.buffers().peak_bytes,
            len(mine.kernels()),
        )
        if not np.allclose(got, want, 1e-3, 1e-4):
            yield Failure(
                "wrong-value", f"{what}: other values.", value_text(want), value_text(got)
            )
        if after * 2 > before:
            yield Failure(
                "too-much-memory",
                f"{what}: more than half of what the default needs.",
                f"at most {before // 2} bytes",
                f"{after} bytes",
                hint="Blocks share memory for their scores. More keys at a time, or fewer?",
            )
        if kernels > 400:
            yield Failure(
                "too-many-kernels",
                f"{what}: each kernel costs a call.",
                "at most 400",
                str(kernels),
                hint="Take more keys at a time.",
            )
        saved.append(f"{what}: {after / before:.0%}")
        yield None
    yield "of the default's memory: " + "; ".join(saved)
