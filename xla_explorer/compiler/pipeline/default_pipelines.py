"""The default pipelines, as data. The reason for an order is written where the order is."""

from __future__ import annotations

from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline


def simplification(name: str = "simplification", *, layout_sensitive: bool = False) -> PassPipeline:
    """The simplifying passes, repeated until none changes anything (XLA's pipeline of that name)."""
    steps = [
        # Rules first: they remove most of the work of the others, and what they leave as operations on constants is
        # folded below.
        make_pass("algsimp", is_layout_sensitive=layout_sensitive),
        # Elements without users go before the loop passes ask which elements are live.
        make_pass("tuple-simplifier"),
        make_pass("simplify-while-loops"),
        # When dead elements are gone: hoisting adds elements only for values that the loop really reads.
        make_pass("while-loop-invariant-code-motion"),
        make_pass("dce"),
    ]
    if not layout_sensitive:
        # Moving a reshape may change layouts, so only before layout assignment. After algsimp, which merges what meets.
        steps += [make_pass("reshape-mover"), make_pass("zero_sized_hlo_elimination")]
    steps += [
        make_pass("constant_folding"),
        # After folding, which may have made a selector constant.
        make_pass("simplify-conditional"),
        # Last, when equal things have become equal to look at; its merging gives single uses to the rules of the next
        # round.
        make_pass("cse", is_layout_sensitive=layout_sensitive),
        make_pass("dce"),
    ]
    return PassPipeline(name, tuple(steps), fixed_point=True)


def default_simplification_pipeline() -> PassPipeline:
    """What every backend runs before layout assignment and fusion."""
    return PassPipeline(
        "HLO_passes_through_layout_assignment",
        (
            # Dead calls are not worth inlining.
            make_pass("dce"),
            # Before everything else: rules do not look through calls.
            make_pass("call-inliner"),
            make_pass("logistic-expander"),
            simplification(),
            # After the rules have merged transposes; what is left beside a dot is read in place.
            make_pass("transpose-folding"),
            # When loops are as small as they get, so that the counts stay right.
            make_pass("while-loop-trip-count-annotator"),
        ),
    )
