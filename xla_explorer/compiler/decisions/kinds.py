"""Table of decision kinds: the question, the sentence if accepted, and the refusal codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xla_explorer.compiler.decisions import (
    answer_reasons,
    code_reasons,
    fusion_reasons,
    gpu_code_reasons,
    nest_reasons,
    pass_reasons,
    rewrite_reasons,
    sharding_reasons,
    xla_library_reasons,
)
from xla_explorer.compiler.decisions.reason_code import ReasonCode, ReasonTable

RULE = "rule"
"""The kind that stands for all rewrite rules; each rule's name is a kind too."""
CONSTANT_VALUES = "constant-values"
"""The kind of the check that a constant's values are known."""


class DecisionKind(NamedTuple):
    """One kind of decision.

    Attributes
    ----------
    question : str
        The decided question.
    reasons : mapping of str to ReasonCode
        The codes of a refusal; for some kinds also those of a yes. Codes of the user's overrides
        belong to any kind.
    accepted : str
        The sentence of a yes about one instruction; `{0}` is its name.
    accepted_pair : str
        The sentence of a yes about two instructions.
    check : str
        The name of the one check by which code generation decides. Empty if passes decide.
    """

    question: str
    reasons: ReasonTable
    accepted: str = ""
    accepted_pair: str = ""
    check: str = ""

    @property
    def by_code(self) -> bool:
        """True if code generation decides, after the last pass.

        Of these kinds, OVERRIDDEN_IN_CODE can be forced and forbidden one by one.
        """
        return bool(self.check)


_FUSION = fusion_reasons.TABLES
_ONE_LAUNCH = "%{0} and %{1}, which do not need each other, are one kernel"
KINDS: dict[str, DecisionKind] = {
    "fusion": DecisionKind(
        "`fusion` (CPU) and `priority-fusion` (GPU): may a producer be computed inside the kernel of its consumer?",
        _FUSION["fusion"],
        "",
        "%{0} is computed inside the fusion of %{1}",
    ),
    "multi-output-fusion": DecisionKind(
        "Do two loops over the same indices become one with both results?",
        _FUSION["multi-output-fusion"],
        "",
        "%{0} and %{1} are one kernel with several results",
    ),
    "horizontal-loop-fusion": DecisionKind(
        "Do two small independent loops share a launch?",
        _FUSION["horizontal-loop-fusion"],
        "",
        _ONE_LAUNCH,
    ),
    "horizontal-input-fusion": DecisionKind(
        "Do two small independent reductions share a launch?",
        _FUSION["horizontal-input-fusion"],
        "",
        _ONE_LAUNCH,
    ),
    "dot-epilogue-fusion": DecisionKind(
        "Is what follows a product done to its tiles before they are stored (CPU and GPU)?",
        _FUSION["dot-epilogue-fusion"],
        "",
        "%{0} and what follows it, up to %{1}, are one kernel",
    ),
    "normalization-fusion": DecisionKind(
        "Is a softmax, a normalisation or another chain of row reductions one kernel?",
        _FUSION["normalization-fusion"],
        "",
        "%{0}, its row reductions and their users up to %{1} are one kernel",
    ),
    "fusion-wrapper": DecisionKind(
        "Does what was left alone become a kernel of its own?",
        _FUSION["fusion-wrapper"],
        "%{0} has a kernel of its own",
    ),
    "layout": DecisionKind(
        "Does an array that the caller wants in another layout have the bytes of the row-major one?",
        pass_reasons.LAYOUT,
        "%{0} has the bytes of the row-major array",
    ),
    "reshape-is-bitcast": DecisionKind(
        "Do the bytes of a reshape keep their order?",
        pass_reasons.RESHAPES,
        "%{0} keeps the order of the bytes",
    ),
    "share-buffer": DecisionKind(
        "Do two values live in one buffer, without a copy?",
        pass_reasons.SHARE_BUFFER,
        "%{0} stays in the buffer it is in, without a copy",
        "%{0} and %{1} share a buffer",
    ),
    "sharding-propagation": DecisionKind(
        "Does a value take the axes of a mesh along which another value is split?",
        sharding_reasons.PROPAGATION,
        "%{0} takes axes of the mesh",
    ),
    "inlining": DecisionKind(
        "Is what a call, a fusion or an asynchronous start names put in its place?",
        pass_reasons.INLINING,
        "%{0}: what it calls is put in its place",
    ),
    "call-site-copies": DecisionKind(
        "Does each caller get a computation of its own?",
        pass_reasons.CALL_SITES,
        "%{0} calls a copy of its own",
    ),
    "constant-folding": DecisionKind(
        "Is an instruction of constants computed at compile time?",
        pass_reasons.CONSTANT_FOLDING,
        "%{0} is computed at compile time",
    ),
    "transpose-folding": DecisionKind(
        "Does a dot read the operand of a transpose?",
        pass_reasons.TRANSPOSE_FOLDING,
        "",
        "%{0} reads %{1} as it is before the transpose",
    ),
    "dot-merger": DecisionKind(
        "Do two small dots that share an operand become one?",
        pass_reasons.DOT_MERGER,
        "",
        "%{0} and %{1} are one dot",
    ),
    "slice-hoister": DecisionKind(
        "Is a slice taken of the operands instead of the result?",
        pass_reasons.SLICE_HOISTER,
        "",
        "%{0} is taken before %{1}",
    ),
    "reorder-convert-reduce-add": DecisionKind(
        "Is a value converted before it is summed instead of after?",
        pass_reasons.CONVERTED_SUMS,
        "%{0} is done before the sum",
    ),
    "loop-hoisting": DecisionKind(
        "Is an instruction computed once, before the loop?",
        pass_reasons.LOOPS,
        "%{0} is computed once, before the loop",
    ),
    "loop-removal": DecisionKind(
        "Is a loop that runs once or never replaced by its body?",
        pass_reasons.LOOPS,
        "%{0} is no longer a loop",
    ),
    "while_loop_unroller": DecisionKind(
        "Is a loop repeated in the text of the program?", pass_reasons.LOOPS, "%{0} is unrolled"
    ),
    "double-buffer-loop-unrolling": DecisionKind(
        "Are two steps of a loop one?", pass_reasons.LOOPS, "%{0} has two buffers for its state"
    ),
    "small-while-loop-hoisting": DecisionKind(
        "Does a small loop become one kernel?", pass_reasons.LOOPS, "%{0} is one kernel"
    ),
    "conditional-to-select": DecisionKind(
        "Are both branches computed, and one result chosen?", pass_reasons.LOOPS, "%{0} is a select"
    ),
    "branch-removal": DecisionKind(
        "Does the branch that runs replace a conditional?", pass_reasons.LOOPS, "%{0} is its branch"
    ),
    "latency-hiding": DecisionKind(
        "Does other work run between a start and its done?",
        pass_reasons.LATENCY_HIDING,
        "",
        "other work is done between %{0} and %{1}",
    ),
    "execution-order": DecisionKind(
        "Does a computation run in another order than from its operands on, to keep fewer bytes alive?",
        pass_reasons.EXECUTION_ORDER,
        "what computes %{0} runs in an order that keeps fewer bytes alive",
    ),
    "stream-assignment": DecisionKind(
        "Does asynchronous work get a stream of its own?",
        pass_reasons.STREAMS,
        "",
        "%{0} to %{1} run on a stream of their own",
    ),
    "library-call": DecisionKind(
        "Does one of NVIDIA's libraries compute an instruction?",
        pass_reasons.LIBRARY_CALL,
        "%{0} is computed by a library",
    ),
    "dot-library": DecisionKind(
        "Real XLA:CPU, replayed (`xe.xla.replay`): does its library of kernels compute an instruction?",
        xla_library_reasons.LIBRARY,
        "%{0} is computed by the library",
        "the library kernel of %{1} computes %{0}",
    ),
    RULE: DecisionKind(
        "Does a rewrite rule or an expander replace an instruction?",
        rewrite_reasons.REWRITES,
        "%{0} is replaced",
    ),
    "parallel": DecisionKind(
        "Do several threads share the kernel?",
        code_reasons.PARALLEL,
        check="several-threads-share-the-kernel",
    ),
    "cache-blocking": DecisionKind(
        "Does a chain of kernels run block by block, so that a block of rows stays in the cache?",
        code_reasons.CACHE_BLOCKING,
        check="kernels-iterate-over-the-same-rows",
    ),
    "loop-vectorization": DecisionKind(
        "Are the loops of a kernel written with vectors, or left to LLVM?",
        code_reasons.VECTORS,
        check="loops-have-a-vector-form",
    ),
    "vector-width": DecisionKind(
        "How wide are the program's vectors?",
        code_reasons.VECTOR_WIDTH,
        check="registers-hold-vectors",
    ),
    "native-code": DecisionKind(
        "Does native code, a library or the evaluator compute an instruction?",
        code_reasons.NATIVE_CODE,
        check="native-code-computes-it",
    ),
    CONSTANT_VALUES: DecisionKind(
        "Does the text give the values of a constant?",
        code_reasons.CONSTANT_VALUES,
        check="text-gives-the-values",
    ),
    "launch": DecisionKind(
        "Which emitter writes a GPU kernel, for how many threads?",
        gpu_code_reasons.LAUNCH,
        check="emitter-writes-the-kernel",
    ),
    "math": DecisionKind(
        "Which instructions compute a function of f32 on a GPU?",
        {},
        check="instructions-keep-the-bound",
    ),
    "constant-memory": DecisionKind(
        "Does a constant live in the GPU's constant bank?",
        gpu_code_reasons.CONSTANT_MEMORY,
        "",
        "%{0} is in the constant bank, where %{1} reads it",
        check="constant-fits-the-bank",
    ),
    "loop-nest": DecisionKind(
        "Is a kernel described by a loop nest?",
        nest_reasons.LOOP_NEST,
        "%{0} has a loop nest",
        check="kernel-is-a-loop-nest",
    ),
    "loop-cut": DecisionKind(
        "Is a loop split at a step: its first steps, and the rest?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-cut",
    ),
    "loop-split-by-residue": DecisionKind(
        "Is a loop split by residue: one loop for each remainder of its steps?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-split-by-residue",
    ),
    "loop-split": DecisionKind(
        "Is a loop split into two?", nest_reasons.DIRECTIVES, check="loop-can-be-split"
    ),
    "loop-stream": DecisionKind(
        "Is a result written by non-temporal stores?",
        nest_reasons.DIRECTIVES,
        check="result-can-be-streamed",
    ),
    "loop-prefetch": DecisionKind(
        "Is memory prefetched?", nest_reasons.DIRECTIVES, check="reads-can-be-prefetched"
    ),
    "loop-collapse": DecisionKind(
        "Are two loops collapsed into one?", nest_reasons.DIRECTIVES, check="loops-can-be-collapsed"
    ),
    "loop-reorder": DecisionKind(
        "Are two loops interchanged?", nest_reasons.DIRECTIVES, check="loops-can-be-interchanged"
    ),
    "loop-unroll": DecisionKind(
        "Is a loop unrolled?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-unrolled",
    ),
    "loop-vectorize": DecisionKind(
        "Is a loop vectorized?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-vectorized",
    ),
    "loop-parallel": DecisionKind(
        "Is a loop partitioned into tasks for threads?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-parallel",
    ),
    "loop-tile": DecisionKind(
        "Are two loops tiled?",
        nest_reasons.DIRECTIVES,
        check="loops-can-be-tiled",
    ),
    "loop-interchange-reduction": DecisionKind(
        "Is a reduction interchanged with the loop around it, its accumulators in memory?",
        nest_reasons.DIRECTIVES,
        check="reduction-can-be-interchanged",
    ),
    "loop-rfactor": DecisionKind(
        "Is a reduction computed as partial results?",
        nest_reasons.DIRECTIVES,
        check="reduction-has-partial-results",
    ),
    "loop-reassociate": DecisionKind(
        "May an argmax or argmin be reassociated?",
        nest_reasons.DIRECTIVES,
        check="reduction-can-be-reassociated",
    ),
    "loop-chunk-scan": DecisionKind(
        "Is a scan computed in chunks, first their totals, then their running values?",
        nest_reasons.DIRECTIVES,
        check="scan-can-be-chunked",
    ),
    "loop-compute-at": DecisionKind(
        "Is a value computed once at a loop, and read from memory by its later uses?",
        nest_reasons.DIRECTIVES,
        check="value-can-be-computed-at-the-loop",
    ),
    "loop-stage": DecisionKind(
        "Is a tile of an array copied before it is read?",
        nest_reasons.DIRECTIVES,
        check="array-can-be-staged",
    ),
    "loop-stage-padded": DecisionKind(
        "Is a tile of an array copied with zeros for what lies outside?",
        nest_reasons.DIRECTIVES,
        check="array-can-be-staged-with-padding",
    ),
    "loop-fuse-loops": DecisionKind(
        "Are two loops over the same steps fused?",
        nest_reasons.DIRECTIVES,
        check="loops-can-be-fused",
    ),
    "loop-fuse-into-reduction": DecisionKind(
        "Is a loop fused into a reduction over the same steps?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-fused-into-the-reduction",
    ),
    "loop-sink": DecisionKind(
        "Are the values beside an inner loop moved into it?",
        nest_reasons.DIRECTIVES,
        check="values-can-be-sunk",
    ),
    "loop-pad": DecisionKind(
        "Is a loop padded with steps that a guard skips?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-padded",
    ),
    "loop-block": DecisionKind(
        "Is a loop distributed over blocks of a GPU?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-blocks",
    ),
    "loop-thread": DecisionKind(
        "Is a loop distributed over threads of a block?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-threads",
    ),
    "loop-warp": DecisionKind(
        "Is a loop distributed over lanes of a warp?",
        nest_reasons.DIRECTIVES,
        check="loop-can-be-a-warp",
    ),
}
FUSION_KINDS = tuple(kind for kind in KINDS if kind in _FUSION and kind != "fusion-wrapper")
"""Decisions that put two instructions into one kernel, `fusion` first.

An override of `fusion` holds for all of them, so that no later pass undoes it.
"""
KINDS_OF_CODE = frozenset([kind for kind, row in KINDS.items() if row.by_code])
"""Kinds that code generation decides, after the last pass."""
LOOP_KINDS = frozenset(
    [kind for kind, row in KINDS.items() if row.reasons is nest_reasons.DIRECTIVES]
)
"""Directives of schedules: an override names the kernel, then the directive's own arguments."""
KINDS_OF_ONE_KERNEL = LOOP_KINDS | {"launch", "math"}
"""Kinds whose override names one kernel, then arguments.

Arguments of `launch`: the emitter; of `math`: a function and, if forced, its level.
"""
OVERRIDDEN_IN_CODE = KINDS_OF_ONE_KERNEL | {"parallel", "native-code", "constant-memory"}
"""Kinds decided by code generation that the user can force and forbid, kernel by kernel.

The argument of `native-code` is the library that could compute the kernel.
"""
OVERRIDDEN_KINDS = tuple(
    [
        kind
        for kind in KINDS
        if kind not in (KINDS_OF_CODE - OVERRIDDEN_IN_CODE) | KINDS_OF_ONE_KERNEL | {RULE}
    ]
)
"""Kinds that the user can force and forbid by the names of their subjects alone."""
OF_ANY_KIND: ReasonTable = {
    **answer_reasons.USER,
    **answer_reasons.ANSWERS,
    **answer_reasons.OVERRIDES,
    **answer_reasons.REPLAYS,
    **answer_reasons.XLA_OVERRIDES,
}


def reasons_of(kind: str) -> ReasonTable:
    """Return the codes of a kind; for the name of a rule or expander, those of rules."""
    return KINDS[kind if kind in KINDS else RULE].reasons


def meaning_of(kind: str, code: str) -> ReasonCode | None:
    """Return the meaning of a code in decisions of a kind; None for an unregistered code."""
    return reasons_of(kind).get(code) or OF_ANY_KIND.get(code)


def section_of(kind: str, code: str) -> str:
    """Return the section of the reasons page that lists a code of a kind."""
    if code not in reasons_of(kind):
        tables = {
            "any-decision": answer_reasons.USER,
            "answers": answer_reasons.ANSWERS,
            "overrides": answer_reasons.OVERRIDES,
            "replays": answer_reasons.REPLAYS,
            "overrides-in-real-xla": answer_reasons.XLA_OVERRIDES,
        }
        return next((section for section, table in tables.items() if code in table), "any-decision")
    known = kind if kind in KINDS else RULE
    return next(first for first, row in KINDS.items() if row.reasons is KINDS[known].reasons)


def accepted_sentence(kind: str, names: Sequence[str], facts: Mapping[str, Any]) -> str:
    """Return the sentence of an accepted decision.

    names: those of its instructions, without %. facts: its recorded numbers. A repeated name is one
    subject: a decision about the value that the instruction computes.
    """
    subjects = list(dict.fromkeys(names))
    if not subjects:
        return ""
    row = KINDS.get(kind)
    if kind == "launch" and "emitter" in facts:
        sentence = "%{0} " + _launch(facts)
    elif kind == "math" and "function" in facts:
        sentence = "%{0}: " + _math(facts)
    else:
        plain = "all checks of {kind} hold for %" + " and %".join(subjects)
        sentence = (
            (row.accepted_pair if len(subjects) > 1 else row.accepted) or plain
            if row is not None
            else plain
        )
    return sentence.format(*subjects, kind=kind) + (
        " because the user forces it" if facts.get("forced-by-user") else ""
    )


def _launch(facts: Mapping[str, Any]) -> str:
    """Return text such as `is a simt-convolution kernel: 98 blocks of 256 threads`."""
    sizes = [facts.get("grid"), facts.get("block")]
    if not all(isinstance(size, int) for size in sizes):
        return f"is a {facts['emitter']} kernel"
    blocks, threads = sizes
    return f"is a {facts['emitter']} kernel: {blocks} block{'' if blocks == 1 else 's'} of {threads} threads"


def _math(facts: Mapping[str, Any]) -> str:
    """Return text such as `tanh by ex2.approx.ftz.f32, rcp.approx.ftz.f32, within 3 ulps`."""
    return f"{facts['function']} by {', '.join(facts['instructions'])}, within {facts['max_ulps']:g} ulps"
