"""The default pipelines, as data. The reason for an order is written where the order is."""

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
    """The simplifying passes, repeated until none changes anything (XLA's pipeline of that name)."""
    steps = [
        # Rules first: they remove most of the work of the others, and what they leave as operations on constants is
        # folded below.
        make_pass("algsimp", is_layout_sensitive=layout_sensitive),
        # Elements without users go before the loop passes ask which elements are live.
        make_pass("tuple-simplifier"),
        # An element that counts stays what it is: trip counts and in-place updates are read off such elements, and to add in a kernel costs
        # nothing.
        make_pass("simplify-while-loops", merge_induction_variables=False),
        # When dead elements are gone: hoisting adds elements only for values that the loop really reads.
        # What grows is made anew in each iteration: it would be read from memory instead.
        make_pass(
            "while-loop-invariant-code-motion",
            hoist_size_inflation_ratio=1.0,
            look_through_cheap=True,
        ),
        make_pass("dce"),
    ]
    if not layout_sensitive:
        # Moving a reshape may change layouts, so only before layout assignment. After algsimp, which merges what meets.
        steps += [make_pass("reshape-mover"), make_pass("zero_sized_hlo_elimination")]
        # What the rules leave of scatters of one window becomes an update in place; with a constant index, folding leaves nothing of the
        # test whether the window fits.
        steps.append(make_pass("scatter_expander", mode="simple"))
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


def default_simplification_pipeline(after_inlining: tuple[HloPass, ...] = ()) -> PassPipeline:
    """What every backend runs before layout assignment and fusion. after_inlining: what makes the input one for this backend."""
    return PassPipeline(
        "HLO_passes_through_layout_assignment",
        (
            # First of all: the others know one device.
            make_pass("device-joining"),
            make_pass("tuple-constants"),
            # Dead calls are not worth inlining.
            make_pass("dce"),
            # Before everything else: rules do not look through calls.
            make_pass("call-inliner"),
            *after_inlining,
            # What JAX writes as a custom call and every backend has an opcode for, or no need of.
            make_pass("custom-call-expander"),
            # Elementwise again, so that rules and fusion see what is mapped.
            make_pass("map-inline"),
            make_pass("logistic-expander"),
            simplification(),
            # When dead results are gone: what a sort need not move.
            make_pass("simplify-sorts"),
            # After the rules have merged transposes; what is left beside a dot is read in place.
            make_pass("transpose-folding"),
            # When loops are as small as they get, so that the counts stay right.
            make_pass("while-loop-trip-count-annotator"),
        ),
    )


def code_generation_pipeline(
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
    """The whole default pipeline of a backend that generates code from fusions: simplify; fix layouts; fuse; make copies
    explicit; order (cpu_compiler.cc, gpu_compiler.cc). after_inlining: see `default_simplification_pipeline`. before_layouts: what
    the backend replaces before layouts are fixed. fusing: its policy of fusion (default: the CPU's). after_fusion: what it makes of
    finished kernels. fusion_policy: `xla` wraps what XLA:CPU wraps, which makes no kernels of several results. merges_reductions: whether
    reductions that read the same array share a kernel. asynchronous: whether it has streams. smallest_copy: bytes of a loop's state from
    which two steps at a time pay, because no copy of it is left."""
    lowering = PassPipeline(
        "lowering",
        (
            # Each call site gets a computation of its own, so that its values have one place in memory.
            make_pass("flatten-call-graph", flatten_embedded=False),
            *before_layouts,
            make_pass("layout-assignment"),
            # From here on layouts are part of a value: two bitcasts that differ in nothing else are not the same.
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
            # Needs the trip counts that simplification annotated; two steps at a time need no copy of the state between.
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
    """What code generation cannot do without, whatever passes the user asks for."""
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
    # Copies come after fusion: a copy inserted earlier would be fused away and the aliasing it guards with it.
    copies = [make_pass("copy-insertion"), make_pass("dce"), make_pass("memory-scheduler")]
    if asynchronous:
        # Copies are inserted for the order that there is, so the order that hides latencies comes before; streams follow from the last one.
        copies = [make_pass("latency-hiding-scheduler"), *copies, make_pass("stream-assignment")]
    return PassPipeline("finishing", tuple(copies))


def as_pipeline(pipeline: PipelineLike) -> PassPipeline:
    """A pipeline from a pipeline, one pass, or text; `default` in it is the default simplification pipeline, `none` one without passes."""
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
    """The pipeline that a user's `passes=` stands for: `default`, `none`, a pipeline, or text (then what is required follows), in which
    `default` may stand beside other passes: "default,my-pass"."""
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
