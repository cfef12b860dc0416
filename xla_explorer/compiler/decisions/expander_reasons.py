"""Reason codes of expanders."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

EXPANDERS = table(
    {
        "batch-scattered": (
            "the batch dimensions are not adjacent, so no reshape merges them",
            "the batch dimensions of %lhs are not adjacent",
            "transpose the operand so that they are adjacent",
        ),
        "sums-not-exact": (
            "sums of the integers may exceed the exact range of the float type",
            "sums of %dot may reach 33292800; floats hold integers up to 16777216",
            "nothing to do: the sums are computed in integers",
        ),
        "not-elementwise": (
            "the computation contains an instruction that is not elementwise",
            "%dot in %region is a dot",
            "compute it outside of the map",
        ),
        "not-16-bit": (
            "the operands do not have one 16-bit float type",
            "%add is bf16, f32, not one type of 16-bit floats",
            "nothing to do: the pass changes 16-bit floats only",
        ),
        "has-dot-product-instruction": (
            "the CPU has dot-product instructions for the type, which take subnormals as zero",
            "%dot: the CPU has dot-product instructions for bf16, with f32 sums",
            "force the pass for the dot if subnormal factors matter",
        ),
        "dynamic-source": (
            "no scalar holds the size of the array",
            "%x is f32[<=8], and its size is in no scalar",
            "set its dimension size",
        ),
        "not-padded": (
            "the operation is not supported for dynamic operands",
            "a dynamic operand of a fft (%fft) is not supported",
            "use fixed sizes",
        ),
        "group-sizes-by-batch": (
            "the group sizes differ between batches",
            "the group sizes of %ragged-dot differ along 1 further dimensions",
            "write a ragged dot for each batch",
        ),
        "initial-value-not-neutral": (
            "the initial value is not known to be the identity element",
            "%one is not known to be the identity element of %add",
            "start from the identity element, and combine the value afterwards",
        ),
        "not-to-signed-integer": (
            "stochastic conversion is defined only to signed integers",
            "%convert converts to u8",
            "convert to s8 first",
        ),
        "not-a-plain-array": (
            "only arrays without padding or tiles are normalised",
            "%x is f32[8]{0:T(4)}",
            "leave the tiling out",
        ),
        "starts-in-one-array": (
            "the start indices are in one array",
            "%slice has its start indices in an array",
            "give a scalar index per dimension",
        ),
        "layouts-differ": (
            "operands and result have different layouts",
            "%add and its operands have different layouts",
            "nothing to do: a copy makes the layouts equal",
        ),
        "sizes-differ": (
            "operands have sizes that are not known to be equal",
            "the operands of %add have dimension 0 of sizes that are not known to be equal",
            "set both from one scalar",
        ),
    },
    "dynamic-dimension",
)
