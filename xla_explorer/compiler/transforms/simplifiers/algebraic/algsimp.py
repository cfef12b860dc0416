"""The algebraic simplifier: all algebraic rules to a fixed point.

Source: algebraic_simplifier.cc.

======================================  =======================================================
option of XLA                           here
======================================  =======================================================
enable_fast_math                        finite_math: x - x, x * 0, x + (y - x), (x + y) - x
use_associative_reordering,             the same (dot_order), with fast_math
raise_slice_and_reduce_through_dot and
their thresholds
enable_scalar_multiply_reduction        a constant factor moves to the smallest of operands and
                                        result of a dot or convolution; a product with other
                                        readers stays, as in XLA
enable_move_dot_param_to_rhs            the same: a parameter (after unary operations) on the
                                        left, and anything else on the right
use_convert_constant_folding            the same, except types below 8 bits
enable_conditional_simplification       a branch index that is a converted predicate
enable_hoist_transpose_of_reshape       a transpose between reshapes that only moves whole
                                        dimensions of the operand; not after layout assignment
executing_on_cpu                        division by a broadcast; on by default
enable_sink_broadcast,                  the same, on by default as in XLA
enable_conv_simplification,
enable_dot_strength_reduction
enable_conv_add_multiply_reorder,       holes
very_small_gather_size,
minmax_propagate_nan,
enable_window_reduce_to_reduce_
replacement and the other switches
======================================  =======================================================
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.driver import rewrite_computation
from xla_explorer.compiler.rewriting.exactness import Exactness
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.compiler.transforms.simplifiers.algebraic import (
    addition,
    choices,
    collectives,
    comparison,
    contractions,
    convolutions,
    division,
    dot_order,
    layouts,
    logic,
    multiplication,
    reductions,
    transcendental,
    tuples,
    variadic,
    windows,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.as_xla import guarded
from xla_explorer.compiler.transforms.simplifiers.algebraic.dot_order import cheaper_by
from xla_explorer.compiler.transforms.simplifiers.algebraic.movement import (
    broadcasting,
    concatenation,
    dynamic_indexing,
    dynamic_slicing,
    gathers,
    pieces,
    rearranging,
    reshaping,
    scatters,
    slicing,
)
from xla_explorer.compiler.transforms.simplifiers.algebraic.ranges import asked_for_fast_math
from xla_explorer.hlo.module import HloModule

ALGEBRAIC_RULES = RuleSet.of_modules(
    "algsimp",
    addition,
    multiplication,
    division,
    transcendental,
    logic,
    comparison,
    choices,
    reshaping,
    rearranging,
    broadcasting,
    slicing,
    concatenation,
    dynamic_slicing,
    dynamic_indexing,
    reductions,
    variadic,
    pieces,
    windows,
    gathers,
    scatters,
    dot_order,
    contractions,
    convolutions,
    collectives,
    tuples,
    layouts,
)


# Rules by the option of the pass that enables them.
OPTIONAL_RULES = {
    "rewrite_no_op_bitcast_convert_to_bitcast": ("bitcast-convert-to-bitcast",),
    "supports_non_canonical_dots": ("sum-over-batches",),
    "as_xla": ("multiply-scaled-by-broadcast",),  # with XLA's rounding, which differs
    "finite_math": (
        "add-difference-of-floats",
        "sum-minus-term-of-floats",
        "subtract-equal-floats",
        "multiply-float-by-zero",
    ),
    "use_associative_reordering": (
        "dot-of-dot",
        "dot-of-reverse",
        "dot-of-pad",
        "dot-of-broadcast",
    ),
    "raise_slice_and_reduce_through_dot": ("slice-of-dot", "reduce-of-dot"),
    "enable_scalar_multiply_reduction": ("scale-of-product", "product-of-scaled"),
    "enable_dot_strength_reduction": ("dot-to-reduce",),
    "enable_move_dot_param_to_rhs": ("dot-parameter-right",),
    "use_convert_constant_folding": ("convert-of-constant",),
    "enable_conditional_simplification": ("conditional-on-predicate",),
    "enable_hoist_transpose_of_reshape": ("transpose-between-reshapes",),
    "executing_on_cpu": ("divide-by-broadcast",),
    "enable_sink_broadcast": ("sink-broadcast",),
    "enable_conv_simplification": (
        "convolution-of-pad",
        "convolution-with-interior-padding",
        "convolution-swapped",
        "convolution-to-multiply",
        "convolution-to-dot",
    ),
}
# Rules by the option with the least factor by which the operations must fall.
THRESHOLDS = {
    "associative_reordering_threshold": OPTIONAL_RULES["use_associative_reordering"],
    "raise_slice_and_reduce_through_dot_threshold": OPTIONAL_RULES[
        "raise_slice_and_reduce_through_dot"
    ],
}


@cache
def _with_threshold(rule: Rule, threshold: float) -> Rule:
    return rule.with_guards(cheaper_by(threshold))


@cache
def _in_range(rule: Rule) -> Rule:
    """Return the rule, refused without fast math if it holds only without overflow."""
    return rule.with_guards(asked_for_fast_math) if rule.exactness is Exactness.FAST else rule


@cache
def _by_fast_math(rule: Rule) -> Rule:
    return rule.with_guards(within_range=False) if rule.within_range else rule


@cache
def algebraic_rules(
    is_layout_sensitive: bool,
    without: frozenset[str] = frozenset(),
    as_xla: bool = False,
    fast_math: bool = False,
) -> RuleSet:
    """Return the rules that hold before (False) or after (True) layout assignment.

    without: names of rules to omit. as_xla: narrow rules to XLA's conditions.
    """
    other = "insensitive" if is_layout_sensitive else "sensitive"
    kept = ALGEBRAIC_RULES.where(lambda r: r.layout != other and r.name not in without)
    return RuleSet(
        kept.name, map(guarded if as_xla else _by_fast_math if fast_math else _in_range, kept)
    )


@register_pass("algebraic-simplifier")
@dataclasses.dataclass(frozen=True)
class AlgebraicSimplifier:
    """Rewrite expressions by algebraic rules until none fits.

    is_layout_sensitive: layouts are assigned and must stay. run_to_fixed_point: without it each
    instruction is visited once, and the enclosing pipeline repeats the pass.
    rewrite_no_op_bitcast_convert_to_bitcast: after layout assignment, for backends that read a
    bitcast as another type. supports_non_canonical_dots: a dot may contract several dimensions.
    as_xla: a rule acts only under XLA's conditions. fast_math: values that overflow, underflow, are
    infinite or NaN may change. finite_math: floats are finite, so that x - x is 0 (XLA:
    enable_fast_math); it needs fast_math. executing_on_cpu: divide by a broadcast as by its
    reciprocal. The thresholds are the least factors by which the operations of a dot must fall. The
    other options are XLA's, and enable the rules of `OPTIONAL_RULES`.
    """

    name: ClassVar[str] = "algsimp"
    is_layout_sensitive: bool = False
    run_to_fixed_point: bool = True
    rewrite_no_op_bitcast_convert_to_bitcast: bool = False
    supports_non_canonical_dots: bool = False
    as_xla: bool = False
    fast_math: bool = False
    finite_math: bool = False
    use_associative_reordering: bool = False
    associative_reordering_threshold: float = 2.0
    raise_slice_and_reduce_through_dot: bool = False
    raise_slice_and_reduce_through_dot_threshold: float = 2.0
    enable_scalar_multiply_reduction: bool = False
    enable_dot_strength_reduction: bool = True
    enable_move_dot_param_to_rhs: bool = False
    use_convert_constant_folding: bool = False
    enable_conditional_simplification: bool = False
    enable_hoist_transpose_of_reshape: bool = False
    executing_on_cpu: bool = True
    enable_sink_broadcast: bool = True
    enable_conv_simplification: bool = True

    def rules(self) -> RuleSet:
        """Return the rules that hold under the pass's options."""
        without = [
            name
            for option, names in OPTIONAL_RULES.items()
            if not getattr(self, option)
            for name in names
        ]
        found = algebraic_rules(
            self.is_layout_sensitive, frozenset(without), self.as_xla, self.fast_math
        )
        limits = {
            name: getattr(self, option)
            for option, names in THRESHOLDS.items()
            for name in names
            if name not in without
        }
        if not limits:
            return found
        return RuleSet(
            found.name,
            [_with_threshold(r, limits[r.name]) if r.name in limits else r for r in found],
        )

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Rewrite every computation that is not a fusion body."""
        rules = self.rules()
        bodies = module.fusion_computations()
        return (
            sum(
                [
                    rewrite_computation(c, rules, context, revisit=self.run_to_fixed_point)
                    for c in list(module.computations.values())
                    if c not in bodies
                ]
            )
            > 0
        )
