"""`xe.rule`: a rewrite rule whose example and claim are checked at its declaration.

The package's own rules skip the check at their declaration, since importing the package would run
hundreds of checks. Their tests run the check.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.rewriting import rule as unchecked_rule
from xla_explorer.compiler.rewriting.declared import remember
from xla_explorer.compiler.rewriting.driver import applicable, rewrite_computation
from xla_explorer.compiler.rewriting.exactness import Exactness, float_limits
from xla_explorer.compiler.rewriting.example import example_module
from xla_explorer.compiler.rewriting.patterns import Pattern
from xla_explorer.compiler.rewriting.rule import BuildResult, Rule, RuleSet
from xla_explorer.compiler.transforms.simplifiers.common_subexpressions import (
    merge_equal_instructions,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.reason import Predicate
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.evaluator import (
    EvaluationError,
    UnsupportedOpcodeError,
    evaluate,
    flatten_value,
)
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes.spec import Family
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text import HloParseError, parse_hlo
from xla_explorer.hlo.verifier import HloVerifyError, verify

# Numbers have one of six magnitudes, so a given combination of three appears once in 6^3 = 216
# numbers on average. Most examples have four numbers per array: 200 draws try almost every one.
_DRAWS = 200


class RuleError(XlaExplorerError, ValueError):
    """A rule contradicts its declaration."""


@explains_arguments
def rule(
    pattern: Pattern,
    *,
    exactness: Exactness,
    before: str,
    after: str,
    when: Iterable[Predicate] = (),
    layout: str = "",
) -> Callable[[Callable[..., BuildResult]], Rule]:
    r"""Declare a rewrite rule, and check that its example and its claim hold.

    The decorated build function takes, by name, any of `computation`, `instruction` and the
    captures. It returns the replacement of the matched instruction, made by `computation.add` or
    existing. If it returns None or a Reason instead, it must not have created anything.

    Parameters
    ----------
    pattern : Pattern
        The matched instructions.
    exactness : Exactness
        The claim about values; the numpy evaluator checks it on random arguments of the example:
        numbers of both signs, zeros, and numbers of all magnitudes. `Exactness.FAST` makes no claim
        about overflow.
    before, after : str
        HLO text of an entry computation: an instance of the pattern, and its replacement.
    when : iterable of Predicate
        Guards. They take the same names, without `computation`, and return None or a Reason.
    layout : str
        `insensitive` or `sensitive` for a rule that holds only before or only after layout
        assignment.

    Returns
    -------
    callable
        The decorator; it makes a Rule of the build function. Its attribute `tried` says on which
        values the claim was checked. `check_claim(rule)` of `xla_explorer.plugin` tries every value
        of small types and the edges of all types, and returns arguments on which the claim fails.

    Raises
    ------
    RuleError
        The example cannot be read, the rule does not match it or rewrites it otherwise, or the
        values differ by more than the claim.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.plugin import Exactness, any_, operator
    >>> negate = operator("negate")
    >>> @xe.rule(
    ...     negate(negate(any_("x"))), exactness=Exactness.BITWISE,
    ...     before="x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)",
    ...     after="ROOT x = f32[4] parameter(0)",
    ... )
    ... def docs_negate_twice(x):
    ...     '''--x is x.'''
    ...     return x
    >>> docs_negate_twice.name, docs_negate_twice.tried
    ('docs-negate-twice', '202 random arguments of its example')
    """
    declare = unchecked_rule(
        pattern, exactness=exactness, before=before, after=after, when=when, layout=layout
    )

    def declare_and_check(function: Callable[..., BuildResult]) -> Rule:
        made = declare(function)
        count = check_rule(made)
        made.tried = (
            f"{count} random arguments of its example"
            if count
            else "no values: the evaluator does not compute its example"
        )
        remember(made)
        return made

    return declare_and_check


def _where(problem: BaseException) -> str:
    """Return the line that raised: front ends may hide the cause of an error."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{frame.filename}:{frame.lineno}, in {frame.name}: {frame.line or ''}"


def check_rule(made: Rule) -> int:
    """Check that a rule matches its example, rewrites it as declared, and keeps its claim.

    Return the number of evaluated arguments. RuleError otherwise.
    """
    before, wanted = _module(made, "before"), _module(made, "after")
    result = before.clone()
    try:
        acted = rewrite_computation(result.entry, RuleSet(made.name, [made]), PassContext())
    except Exception as problem:
        raise _error(
            made,
            f"fails on its example: {type(problem).__name__}: {problem}",
            _where(problem),
        ) from problem
    if not acted:
        alone = RuleSet(made.name, [made])
        refusals = [
            f"on %{i.name}: {reason}"
            for i in before.entry.instructions.values()
            for _, reason in applicable(alone, i)
        ]
        why = "; ".join(refusals) or "no instruction matches the pattern"
        raise _error(made, f"does not fit its example; its pattern is {made.pattern}", why)
    try:
        verify(result)
    except HloVerifyError as problem:
        what = f"makes an invalid module of its example: {problem.message}"
        raise _error(made, what, "make an instruction of the same shape") from problem
    keys = StructuralKeys(True)
    if keys.of(_tidy(result).entry) != keys.of(_tidy(wanted).entry):
        raise _error(
            made, f"makes of its example\n{result.to_text()}", f"`after` says\n{wanted.to_text()}"
        )
    return _check_values(made, before, result)


def _module(made: Rule, side: str) -> HloModule:
    try:
        module = parse_hlo(example_module(getattr(made, side)))
        verify(module)
    except (HloParseError, HloVerifyError) as problem:
        what = f"has an example whose `{side}` cannot be read: {problem}"
        raise _error(made, what, "write the body of an entry computation") from problem
    return module


def _check_values(made: Rule, before: HloModule, result: HloModule) -> int:
    count, shapes = 0, before.parameter_shapes()
    for arrays, scale in _draws(shapes, _sums(before), made.exactness):
        try:
            with np.errstate(all="ignore"):
                expected, actual = [
                    flatten_value(evaluate(module, *arrays)) for module in (before, result)
                ]
        except (EvaluationError, UnsupportedOpcodeError):
            return count  # an example of several devices, or with a host
        count += 1
        for one, other in zip(expected, actual, strict=True):
            difference = made.exactness.difference(np.asarray(one), np.asarray(other), scale=scale)
            if difference is not None:
                given = ", ".join(
                    [
                        np.array2string(np.asarray(leaf).reshape(-1)[:4])
                        for leaf in flatten_value(arrays)
                    ]
                )
                what = (
                    f"claims to be {made.exactness}, and the values differ {difference.message}, "
                    f"of {given}"
                )
                raise _error(made, what, "correct the rule, or declare a weaker exactness")
    return count


def _sums(module: HloModule) -> bool:
    """Return True for sums whose terms may cancel, which exposes the rounding of each term."""
    reducing = (Family.REDUCTION, Family.CONTRACTION)
    return any(
        i.opcode.family in reducing or i.opcode.name == "scatter"
        for i in module.entry.instructions.values()
    )


def _draws(
    shapes: Sequence[Shape], sums: bool, claim: Exactness
) -> Iterator[tuple[list[Any], float]]:
    """Yield arguments and their largest magnitude: positive, of both signs, of all magnitudes.

    For a sum with a claim about last digits, terms are positive: in another order, terms of both
    signs differ more. A rule for fast math may hold only for values that stay in range.
    """
    generator = np.random.default_rng(0)
    yield [_random(shape, generator) for shape in shapes], 3.0
    if not sums or not claim.is_about_last_digits:
        yield [_of_any_sign(_random(shape, generator), shape) for shape in shapes], 3.0
    if sums or claim is Exactness.FAST:
        return
    for _ in range(_DRAWS):
        arrays = [
            _of_any_magnitude(_of_any_sign(_random(shape, generator), shape), shape, generator)
            for shape in shapes
        ]
        yield arrays, max([_largest(leaf) for leaf in flatten_value(tuple(arrays))], default=0.0)


def _largest(leaf: Any) -> float:
    with np.errstate(all="ignore"):
        magnitudes = np.abs(np.asarray(leaf).astype(np.complex128))
    return float(np.max(np.where(np.isfinite(magnitudes), magnitudes, 0), initial=0))


def _of_any_sign(values: Any, shape: Shape) -> Any:
    """Return the numbers with every second one negative, and a negative zero first if possible."""
    if shape.is_tuple:
        return tuple(
            [
                _of_any_sign(value, part)
                for value, part in zip(values, shape.tuple_shapes, strict=True)
            ]
        )
    kind = shape.element_type
    if not kind.has_sign or not values.size:
        return values
    flat = values.reshape(-1)
    flat[1::2] = -flat[1::2]
    flat[0] = -np.zeros((), kind.dtype)
    return flat.reshape(values.shape)


def _of_any_magnitude(values: Any, shape: Shape, generator: np.random.Generator) -> Any:
    """Return each number times a power of two in the range of its type, or infinite."""
    if shape.is_tuple:
        parts = zip(values, shape.tuple_shapes, strict=True)
        return tuple([_of_any_magnitude(value, part, generator) for value, part in parts])
    kind = shape.element_type
    if kind.is_integer:
        return _integers_of_any_magnitude(values, kind, generator)
    if not (kind.is_float or kind.is_complex):
        return values
    limits = float_limits(kind.dtype)
    low, high = int(np.log2(float(limits.smallest_normal))), int(np.log2(float(limits.max)))
    # The last one: the exponential of the number leaves the range.
    powers = generator.choice(
        [low - 2, low // 2 - 1, 0, high // 2 + 1, high - 1, np.log2(high / 2)], values.shape
    )
    powers = np.where(generator.uniform(size=values.shape) < 0.05, 2 * high, powers)
    with np.errstate(all="ignore"):
        return (
            values.astype(np.complex128 if kind.is_complex else np.float64) * 2.0**powers
        ).astype(kind.dtype)


def _integers_of_any_magnitude(
    values: Any, kind: PrimitiveType, generator: np.random.Generator
) -> Any:
    """Return small numbers, numbers of any count of digits, and the ends of the type's range."""
    digits = kind.bits - (1 if kind.has_sign else 0)
    size = values.shape
    powers = generator.integers(0, digits, size).astype(np.float64)
    large = np.floor(2.0**powers * generator.uniform(1, 2, size))
    if kind.has_sign:
        large = np.where(generator.uniform(size=size) < 0.5, -large, large)
    low = -(2**digits) if kind.has_sign else 0
    which = generator.choice(4, size, p=[0.4, 0.4, 0.1, 0.1])
    chosen = [
        int(one) if w == 0 else int(other) if w == 1 else low if w == 2 else 2**digits - 1
        for w, one, other in zip(
            which.reshape(-1), values.reshape(-1), large.reshape(-1), strict=True
        )
    ]
    clipped = [min(max(number, low), 2**digits - 1) for number in chosen]
    return (
        np.asarray(clipped, np.uint64 if digits == 64 else np.int64)
        .astype(kind.dtype)
        .reshape(size)
    )


def _random(shape: Shape, generator: np.random.Generator) -> Any:
    if shape.is_tuple:
        return tuple([_random(part, generator) for part in shape.tuple_shapes])
    kind = shape.element_type
    if kind.is_pred or kind.is_integer:
        return generator.integers(
            0, 2 if kind.is_pred or kind.bits < 8 else 10, shape.dimensions
        ).astype(kind.dtype)
    values = generator.uniform(0.25, 3, shape.dimensions)
    return np.asarray(
        values + 1j * values[..., ::-1] if kind.is_complex and values.ndim else values
    ).astype(kind.dtype)


def _tidy(module: HloModule) -> HloModule:
    """Return the module without dead or repeated instructions, which a picture does not show."""
    for computation in module.computations.values():
        remove_dead_instructions(computation)
        merge_equal_instructions(computation, StructuralKeys(True))
    return module


def _error(made: Rule, what: str, hint: str) -> RuleError:
    return RuleError(f"the rule {made.name} {what}", hint)
