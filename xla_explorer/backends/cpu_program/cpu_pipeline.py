"""The HLO pipeline of CPUs, as data."""

from __future__ import annotations

from typing import Literal

from xla_explorer.compiler.pipeline.default_pipelines import code_generation_pipeline
from xla_explorer.compiler.pipeline.pass_interface import HloPass, make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline

FusionPolicy = Literal["time", "xla"]

_EXPANDED = (
    "batchnorm_expander",
    "scan-expander",
    "stochastic_convert_decomposer",
    "ragged-dot-rewriter",
    "rng-expander",
    "dot-operand-transposer",
    "dot-product-instructions",
    "integer-products-in-floats",
)
_EXPANDED_WITHOUT_HOST = (
    "cholesky-expander",
    "triangular-solve-expander",
)  # what LAPACK does where it is


def cpu_pipeline(
    name: str = "cpu",
    *,
    libraries: bool = True,
    excess_precision: bool = False,
    fusion_policy: FusionPolicy = "time",
) -> PassPipeline:
    """Return the shared pipeline, in which opcodes without kernels are expanded.

    Dots of 16-bit floats are computed in f32, which has fast kernels. Expanded instructions are
    simplified again. libraries: True if the code may call LAPACK. excess_precision: compute chains
    of bf16 in f32 and round once at their end, as XLA:CPU does by default. fusion_policy: `time`
    fuses by estimated time; `xla` as XLA:CPU would.
    """
    expanders = [
        make_pass(expander)
        for expander in (*_EXPANDED, *(() if libraries else _EXPANDED_WITHOUT_HOST))
    ]
    wide = (make_pass("excess-precision"),) if excess_precision else ()
    # Reductions are split after the last simplification, which would merge them. Products take
    # their epilogues before fusion, which could fuse these into other loops.
    fusing: HloPass | PassPipeline = PassPipeline(
        "cpu-fusion",
        (make_pass("reduction-splitter"), make_pass("dot-epilogue-fusion"), make_pass("fusion")),
    )
    if fusion_policy == "xla":
        fusing = make_pass("fusion", policy="xla")
    return code_generation_pipeline(
        name,
        # Simplification merges the transposes of convolutions that follow each other.
        after_inlining=(
            make_pass("async-inliner"),
            # A CPU has no streams: a collective is done at its start.
            make_pass("convert-async-collectives-to-sync", always=True),
            make_pass("dynamic-padder"),
            make_pass("defuser"),
            *wide,
            make_pass("lapack-call-expander", factorizations=not libraries),
            make_pass("convolution-canonicalization", features_last=True),
        ),
        before_layouts=(
            *expanders,
            make_pass("change-op-data-type", excess_precision=excess_precision),
        ),
        fusing=fusing,
        fusion_policy=fusion_policy,
    )
