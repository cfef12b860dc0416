"""Reason codes of expanders, of products in another order, and of loops that take state in."""

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
        "not-cheaper": (
            "the other order of a product does not save enough operations",
            "the other order of %dot has 1/1.5 of the operations; less than 1/2 is required",
            "lower associative_reordering_threshold, or the threshold that the sentence names",
        ),
        "contracted-batch": (
            "the outer dot contracts a batch dimension of the inner one, so the order is fixed",
            "%outer contracts a batch dimension of %inner",
            "nothing to do: no other order has the same sums",
        ),
        "leaves-partial-sums": (
            "the sharding keeps the sums of each device apart",
            "the sharding of %dot leaves its sums unreduced",
            "take the unreduced sharding out",
        ),
        "nothing-to-mirror": (
            "no operand is reversed, padded with zeros or broadcast along contracted dimensions",
            "%reverse moves no contracted dimension",
            "nothing to do: the movement changes the result's own dimensions",
        ),
        "result-smallest": (
            "the result is the smallest array, so the factor stays there",
            "%dot is not larger than its operands",
            "nothing to do: the factor multiplies the fewest elements",
        ),
        "scale-smallest": (
            "the scaled operand is the smallest array",
            "no operand of %dot is scaled at a higher cost",
            "nothing to do: the factor multiplies the fewest elements",
        ),
        "shared-body": (
            "another call runs the loop's body or condition",
            "%while shares its computations with another call",
            "run flatten-call-graph first",
        ),
        "sizes-differ": (
            "operands have sizes that are not known to be equal",
            "the operands of %add have dimension 0 of sizes that are not known to be equal",
            "set both from one scalar",
        ),
    },
    "dynamic-dimension",
)
