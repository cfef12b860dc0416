"""The default pipelines, as data, with the reasons for their order."""

from __future__ import annotations

from typing import Literal

from xla_explorer.compiler.pipeline.pass_interface import HloPass, make_pass
from xla_explorer.compiler.pipeline.pipeline import (
    PassPipeline,
    PipelineSyntaxError,
    parse_pipeline,
)

PipelineLike = str | PassPipeline | HloPass


def simplification(name: str = "simplification", *, layout_sensitive: bool = False) -> PassPipeline:
    """Return XLA's `simplification` pipeline: passes repeated until none changes anything."""
    steps = [
        # Rules first: they remove most of the other passes' work. Constant folding, below, folds
        # the operations on constants that remain.
        make_pass("algsimp", is_layout_sensitive=layout_sensitive),
        # Unused elements must be removed before the loop passes compute which elements are live.
        make_pass("tuple-simplifier"),
        # Keep induction variables: trip counts and in-place updates are derived from them, and an
        # addition in a kernel costs nothing.
        make_pass("simplify-while-loops", merge_induction_variables=False),
        # After dead elements are removed: hoisting adds an element for each value that the loop
        # reads. A hoisted value larger than its operands would be read from memory, so the loop
        # computes it.
        make_pass(
            "while-loop-invariant-code-motion",
            hoist_size_inflation_ratio=1.0,
            look_through_cheap=True,
        ),
        make_pass("dce"),
    ]
    if not layout_sensitive:
        # Moving a reshape may change layouts, so only before layout assignment. After algsimp,
        # which merges adjacent reshapes.
        steps += [make_pass("reshape-mover"), make_pass("zero_sized_hlo_elimination")]
        # Scatters of one window that the rules leave become in-place updates. With a constant
        # index, constant folding removes the test of the bounds.
        steps.append(make_pass("scatter_expander", mode="simple"))
    steps += [
        make_pass("constant_folding"),
        # After folding, which may have made a selector constant.
        make_pass("simplify-conditional"),
        # Last, when equal instructions have equal operands; merging leaves single uses to the rules
        # of the next iteration.
        make_pass("cse", is_layout_sensitive=layout_sensitive),
        make_pass("dce"),
    ]
    return PassPipeline(name, tuple(steps), fixed_point=True)


def default_simplification_pipeline(after_inlining: tuple[HloPass, ...] = ()) -> PassPipeline:
    """Return the passes that every backend runs before layout assignment and fusion.

    after_inlining: passes that adapt the input to the backend.
    """
    return PassPipeline(
        "HLO_passes_through_layout_assignment",
        (
            # First: the other passes handle one device only.
            make_pass("device-joining"),
            make_pass("tuple-constants"),
            # Dead calls are not worth inlining.
            make_pass("dce"),
            # Before everything else: rules do not look through calls.
            make_pass("call-inliner"),
            *after_inlining,
            # Custom calls of JAX that have an opcode in every backend, or need none.
            make_pass("custom-call-expander"),
            # Elementwise again, so that rules and fusion see the mapped operations.
            make_pass("map-inline"),
            make_pass("logistic-expander"),
            simplification(),
            # After dead results are removed: a sort need not move them.
            make_pass("simplify-sorts"),
            # After the rules have merged transposes; a transpose of a dot's operand is read in
            # place.
            make_pass("transpose-folding"),
            # After the last change of the loops, so that the counts stay right.
            make_pass("while-loop-trip-count-annotator"),
        ),
    )


def code_generation_pipeline(  # noqa: PLR0913 - keywords that authors of backends write
    name: str,
    *,
    after_inlining: tuple[HloPass, ...] = (),
    before_layouts: tuple[HloPass, ...] = (),
    fusing: HloPass | PassPipeline | None = None,
    after_fusion: tuple[HloPass, ...] = (),
    fusion_policy: Literal["time", "xla"] = "time",
    merges_reductions: bool = False,
    asynchronous: bool = False,
    smallest_copy: int = 4096,
) -> PassPipeline:
    """Return the default pipeline of a backend that generates code from fusions.

    Order: simplify; fix layouts; fuse; make copies explicit; schedule (cpu_compiler.cc,
    gpu_compiler.cc).
    after_inlining: see `default_simplification_pipeline`.
    before_layouts: replacements of the backend before layouts are fixed.
    fusing: the backend's fusion policy (default: the CPU's).
    after_fusion: passes of the backend on finished kernels.
    fusion_policy: `xla` fuses as XLA:CPU does, without kernels of several results.
    merges_reductions: reductions that read the same array share a kernel.
    asynchronous: the backend has streams.
    smallest_copy: bytes of a loop's state from which unrolling by two pays, because it removes the
    copy of the state.
    """
    lowering = PassPipeline(
        "lowering",
        (
            # Each call site gets its own computation, so that its values have one place in memory.
            make_pass("flatten-call-graph", flatten_embedded=False),
            *before_layouts,
            make_pass("layout-assignment"),
            # From here on layouts are part of a value: bitcasts that differ only in layout are
            # distinct.
            make_pass("algsimp", is_layout_sensitive=True),
            make_pass("reshape-decomposer"),
            make_pass("dce"),
            make_pass("cse", is_layout_sensitive=True),
        ),
    )
    fusion = PassPipeline(
        "fusion",
        (
            fusing or make_pass("fusion"),
            *(
                (
                    make_pass("fusion-wrapper"),
                    make_pass("multi-output-fusion", reductions=merges_reductions),
                )
                if fusion_policy == "time"
                else (make_pass("fusion-wrapper", policy="xla"),)
            ),
            *after_fusion,
            make_pass("cse", is_layout_sensitive=True),
            make_pass("dce"),
            # Needs the trip counts that simplification annotated; unrolling by two removes the copy
            # of the state between iterations.
            make_pass("double-buffer-loop-unrolling", min_bytes=smallest_copy),
        ),
    )
    return PassPipeline(
        name,
        (
            default_simplification_pipeline(after_inlining),
            lowering,
            fusion,
            _finishing(asynchronous),
        ),
    )


def required_pipeline() -> PassPipeline:
    """Return the passes that code generation requires, whatever passes the user selects."""
    lowering = PassPipeline(
        "lowering",
        (
            make_pass("tuple-constants"),
            make_pass("flatten-call-graph", flatten_embedded=False),
            make_pass("layout-assignment"),
            make_pass("reshape-decomposer"),
        ),
    )
    return PassPipeline("required", (lowering, _finishing()))


def _finishing(asynchronous: bool = False) -> PassPipeline:
    # After fusion: a copy inserted earlier would be fused away, and the aliasing it prevents
    # return.
    copies = [make_pass("copy-insertion"), make_pass("dce"), make_pass("memory-scheduler")]
    if asynchronous:
        # Copies are inserted for the final order, so latency hiding comes before them. Streams
        # follow from the last order.
        copies = [make_pass("latency-hiding-scheduler"), *copies, make_pass("stream-assignment")]
    return PassPipeline("finishing", tuple(copies))


def as_pipeline(pipeline: PipelineLike) -> PassPipeline:
    """Return a pipeline for a pipeline, a pass or text.

    In text, `default` is the default simplification pipeline and `none` the empty one.
    """
    if isinstance(pipeline, PassPipeline):
        return pipeline
    if isinstance(pipeline, str):
        if pipeline == "none":
            return PassPipeline("none", ())
        return parse_pipeline(pipeline, words={"default": default_simplification_pipeline()})
    if not isinstance(pipeline, HloPass):
        kind = type(pipeline).__name__
        hint = "write the names with commas: 'algsimp,cse,dce'"
        raise PipelineSyntaxError(f"a pipeline is text, a pass or a PassPipeline, no {kind}", hint)
    return PassPipeline(pipeline.name, (pipeline,))


def requested_pipeline(passes: PipelineLike, default: PassPipeline) -> PassPipeline:
    """Return the pipeline of a user's `passes=`: `default`, `none`, a pipeline, or text.

    After text follow the required passes. In text, `default` may stand beside other passes:
    "default,my-pass".
    """
    if isinstance(passes, str):
        if passes == "default":
            return default
        if passes in ("none", ""):
            return required_pipeline()
        return PassPipeline(
            "custom", (parse_pipeline(passes, words={"default": default}), required_pipeline())
        )
    if isinstance(passes, PassPipeline):
        return passes
    return PassPipeline("custom", (as_pipeline(passes), required_pipeline()))
