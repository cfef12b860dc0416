"""Reason codes of rewrite rules: guards, replacements and collectives."""

from __future__ import annotations

from xla_explorer.compiler.decisions.expander_reasons import EXPANDERS
from xla_explorer.compiler.decisions.pipelining_reasons import PIPELINING
from xla_explorer.compiler.decisions.reason_code import table

_KEEP = "nothing to do: another value would come out"

GUARDS = table(
    {
        "not-integral": (
            "the rule holds for integers and pred: floats round, and have infinities and NaN",
            "f32 rounds and has infinities and NaN",
            _KEEP,
        ),
        "not-integer": ("the rule holds for integers", "f32 is not an integer type", _KEEP),
        "not-unsigned": ("the rule holds for unsigned integers", "s32 is not unsigned", _KEEP),
        "not-signed": ("the rule holds for signed integers", "u32 is not a signed integer", _KEEP),
        "not-floating": ("the rule holds for floats", "s32 is not a floating-point type", _KEEP),
        "no-negative-values": (
            "the type holds no negative values",
            "f8e8m0fnu has no negative values",
            _KEEP,
        ),
        "several-partitions": (
            "the module is partitioned over several devices",
            "the module runs in 2 partitions",
            "nothing to do: the sharding defines the part of each device",
        ),
        "complex": ("the rule holds for real numbers", "c64 is complex", _KEEP),
        "not-pred": ("the rule holds for pred", "s32 is not pred", _KEEP),
        "dynamic-shape": (
            "the rule holds for fixed sizes",
            "%add is f32[<=8], which is dynamic",
            "compile for fixed sizes",
        ),
        "rounds-differently": (
            "the result would round differently",
            "%c is not a power of two, so factoring it out rounds differently",
            _KEEP,
        ),
        "tuple": (
            "the rule holds for collectives of one array",
            "%all-gather gives a tuple",
            "write a collective for each array",
        ),
        "group-size-unknown": (
            "the replica groups do not have one known size",
            "%all-gather does not list replica groups of one size",
            "list replica groups of one size",
        ),
        "conversion-loses": (
            "the wider type does not hold every value",
            "f32 does not hold every s32",
            _KEEP,
        ),
        "conversion-saturates": (
            "the intermediate conversion saturates large values",
            "s8 does not hold every f32, and floats saturate",
            _KEEP,
        ),
        "types-differ": (
            "the element types differ",
            "bf16 times f32 gives f32",
            "convert both operands to one type",
        ),
        "dot-algorithm": (
            "the product requests an algorithm",
            "%dot requests dot_bf16_bf16_f32",
            "leave the algorithm out if any will do",
        ),
        "pads-no-spatial-dimension": (
            "only padding of spatial dimensions can be part of a window",
            "%pad pads batch or features",
            "pad spatial dimensions separately from the others",
        ),
        "negative-padding": (
            "negative padding crops an operand",
            "%pad crops",
            "slice first, pad afterwards",
        ),
        "dilated-padding": (
            "the window dilates the padded operand",
            "%conv dilates what %pad pads",
            _KEEP,
        ),
        "edge-padding": (
            "the padding is at the edges, not between elements",
            "%pad pads at the edges",
            _KEEP,
        ),
        "grouped": (
            "the convolution has feature groups",
            "%conv is grouped",
            "nothing to do: its kernel computes one group after another",
        ),
        "kernel-not-larger": (
            "operands are swapped only if the kernel is the larger one",
            "9 places of the kernel, 100 of the input",
            "nothing to do: the present order is the better one",
        ),
        "sums-over-features": (
            "the convolution sums over features",
            "%conv sums over features or batch groups",
            _KEEP,
        ),
        "window-moves": (
            "the window has more than one position",
            "%conv has a window of more than one position",
            _KEEP,
        ),
        "no-power-of-two": (
            "the reciprocal of the constant is not exact",
            "%c is not a power of two",
            _KEEP,
        ),
        "narrow-type": (
            "the type has too few bits for a reciprocal",
            "a reciprocal would be rounded to the few digits of bf16",
            _KEEP,
        ),
        "may-be-negative": (
            "the value is not known to be non-negative",
            "%x may be negative",
            "take abs, or square, if it is meant to be non-negative",
        ),
        "reducer-not-plain": (
            "the reducer is more than one operation",
            "the reducer is more than one operation",
            "reduce by add, maximum ...",
        ),
        "start-not-identity": (
            "the initial value is not the identity element",
            "%one is not the identity of add",
            "start from the identity",
        ),
        "bytes-move": (
            "the copy changes the order of bytes",
            "%copy moves bytes from f32[8,4]{0,1} to f32[8,4]{1,0}",
            _KEEP,
        ),
        "packed-type": (
            "elements of the type do not fill whole bytes",
            "%bitcast reads types that do not fill bytes",
            _KEEP,
        ),
        "bounds-cross": (
            "the lower bound is not below the upper",
            "5 is not below 3",
            "order the bounds",
        ),
        "too-many-operands": (
            "the joined instruction would have too many operands",
            "%concatenate would have 2000 operands (limit 1024)",
            "nothing to do: the text of the program would grow",
        ),
        "index-overflows": (
            "the index type does not hold every index",
            "s8 does not hold every index of %x",
            "count in a wider integer type",
        ),
        "vector-index": (
            "the start indices are in one array",
            "%update gives its start indices as one vector",
            "give a scalar index per dimension",
        ),
        "product-too-large": (
            "the product of the constants would be larger than the constants",
            "the whole product has 4096 elements, the constants 128",
            "nothing to do: the program would grow",
        ),
        "type-does-not-count": (
            "the type does not represent all counts",
            "pred does not hold counts",
            _KEEP,
        ),
        "count-rounds": (
            "the type rounds large counts",
            "bf16 rounds numbers up to 1000",
            "count in a wider type",
        ),
        "promises-about-indices": (
            "the scatter promises sorted or unique indices, which the merged scatter may not have",
            "%scatter promises sorted or unique indices",
            "leave the promise out",
        ),
        "dimension-numbers-differ": (
            "the scatters have different dimension numbers",
            "%a and %b scatter along different dimensions",
            _KEEP,
        ),
        "two-scatters": (
            "the merged scatter would read another scatter",
            "%x is a scatter too",
            _KEEP,
        ),
        "narrower-in-xla": (
            "XLA's simplifier applies the rule in fewer cases",
            "two instructions read %r",
            "leave out as_xla",
        ),
        "needs-fast-math": (
            "an overflow or underflow would give another value",
            "overflow or underflow in %log would give another value",
            "run algsimp{fast_math=true} before the default pipeline",
        ),
        "leaves-range": (
            "an intermediate value may leave the range of the type",
            "x times the first constant may leave the range where the whole does not in %multiply",
            "run algsimp{fast_math=true} before the default pipeline",
        ),
        "reciprocal-leaves-range": (
            "the divisor may be so small that its reciprocal is infinite",
            "%sum may be so small that 1 / %sum is infinite although the quotient is not",
            (
                "add a small constant to the divisor, or run algsimp{fast_math=true} before the "
                "default pipeline"
            ),
        ),
        "reducers-differ": (
            "the two reduce by different operations",
            "%a and %b have different reducers",
            _KEEP,
        ),
        "starts-differ": (
            "the two reduce from different initial values",
            "%a and %b start from different values",
            _KEEP,
        ),
        "padding-differs": (
            "the padding value differs from the initial value",
            "%zero pads, %one is the initial value",
            "pad with the identity",
        ),
        "little-padding": (
            "too little of the operand is padding",
            "only 3 % of %pad is padding",
            "nothing to do: few multiply-adds would be saved",
        ),
        "all-live": (
            "every element of the state is needed",
            "every element of %while is needed",
            "nothing to do: no element is dead",
        ),
        "nothing-to-merge": (
            "no two elements of the state are equal",
            "no two elements of %while are equal",
            "nothing to do: all elements differ",
        ),
        "state-flat": (
            "no element of the state is a tuple",
            "no element of %while is a tuple",
            "nothing to do: the state is flat",
        ),
        "state-not-tuple": (
            "the body does not build its state as a tuple",
            "%while does not build its state as a tuple",
            "end the body with a tuple",
        ),
        "state-read-whole": (
            "a computation reads its state as a whole tuple",
            "%body reads its state as a whole",
            "read the state by get-tuple-element",
        ),
        "sharded": (
            "each element of the state has a sharding",
            "%while has a sharding for each element",
            "add shardings after this pass",
        ),
        "rearrangement-stays": (
            "another instruction needs the rearranged value, so the move would only add work",
            "%transpose is also read by %dot, so the move would only add work",
            "nothing to do: the transpose is computed in any case",
        ),
        "sharding-differs": (
            "the two have different shardings",
            "%a and %b have different shardings",
            "give both one sharding",
        ),
        "other-layout-mode": (
            "the rule holds only before, or only after, layout assignment",
            "copy-to-bitcast holds after layout assignment only",
            "name a step on the other side of layout assignment: applicable(name, step=...)",
        ),
        "nothing-to-build": (
            "the rule's pattern matches, but it changes nothing",
            "fold-pad changes nothing here",
            "nothing to do: the instruction has the final form already",
        ),
        "pattern-does-not-fit": (
            "the rule's pattern does not match the instruction",
            "the pattern of add-zero does not fit %m = f32[8] multiply(%x, %y)",
            "look at the rule: session.applicable(name) lists the rules that fit",
        ),
        "rewrite-limit": (
            "the rules undo each other's rewrites without end",
            "4000 rewrites in main reached no fixed point",
            "forbid one of the rules, and report the module",
        ),
    },
    "control-dependency",
    "layout-differs",
    "no-elements",
    "shape-differs",
)

_DEVICES = "let the devices of a group take the parts in the order in which they stand there"
COLLECTIVES = table(
    {
        "not-joined": (
            "no single program for all devices can contain the instruction",
            "%exchange (ragged-all-to-all) has no form on joined devices",
            "evaluate it by xe.hlo.evaluate_replicated",
        ),
        "other-parts": (
            "a device does not slice the part of one device",
            "%slice does not take the part of one device from %gathered",
            _DEVICES,
        ),
        "parts-of-others": (
            "devices slice parts that other devices contributed",
            "devices take parts of %gathered that other devices contributed",
            _DEVICES,
        ),
        "not-a-permutation": (
            "two devices take the same part",
            "two devices take the same part of %gathered",
            _DEVICES,
        ),
        "parts-of-their-own": (
            "every device slices the part that it contributed",
            "every device takes its own part of %gathered",
            "nothing to do: another rule removes the all-gather",
        ),
        "replicas-and-partitions": (
            "replicas and partitions move the slices differently",
            "the slices of %gathered move differently in different replicas or partitions",
            "use either replicas or partitions",
        ),
        "groups-of-replicas": (
            "a group contains several replicas with all their partitions",
            "%reduce groups several replicas with all their partitions",
            "group by partitions alone",
        ),
        "devices-differ": (
            "the groups do not contain all devices",
            "the groups of %reduce are not all 2 x 4 devices",
            "list every device once",
        ),
        "groups-differ": (
            "the groups have different sizes",
            "the groups of %reduce are of different sizes",
            "make groups of one size",
        ),
        "not-one-dimension": (
            "more than one dimension is sliced",
            "%slice slices 2 dimensions",
            "slice one dimension at a time",
        ),
        "empty-slice": (
            "the slice has no element",
            "%slice has no element",
            "nothing to do: the result is empty",
        ),
        "start-unknown": (
            "the start does not depend on the device's number alone",
            "the start of %slice does not depend on the device alone",
            "compute the start from partition-id or replica-id",
        ),
        "not-a-part": (
            "the start is not at a multiple of the part's size",
            "on device 1 %slice starts at 3, not at a multiple of 4",
            _DEVICES,
        ),
        "moves-between": (
            "an instruction between the two rearranges elements",
            "%reshape stands between a all-reduce and %add",
            "move the rearrangement before or after both",
        ),
        "sums-differ": (
            "the two types are combined differently",
            "bf16 and f32 are combined differently",
            "combine both by one operation in one type",
        ),
        "other-operation": (
            "the other operand is not the same collective",
            "%x does not all-reduce",
            "make both operands the same collective",
        ),
        "collectives-differ": (
            "the collectives have different groups",
            "%a and %b are not over the same groups",
            "use one list of groups",
        ),
        "parts-out-of-order": (
            "the devices do not slice the parts in their order",
            "the devices of a group do not take the parts in their order",
            _DEVICES,
        ),
        "not-linear": (
            "an operation between the sum and the accumulator is not linear",
            "%exp (exponential) is not linear in a sum",
            "apply it after the loop",
        ),
        "sum-read-in-loop": (
            "the body needs the sum over devices in each iteration",
            "the body reads the sum over devices elsewhere, too",
            "read it after the loop only",
        ),
        "not-invariant": (
            "the collective reads a value that the loop computes",
            "%all-gather reads what the loop computes",
            "take its operand from data that the loop passes on unchanged",
        ),
        "parts-left": (
            "the parts do not cover the whole",
            "3 parts of 4 leave more than a remainder of 16",
            "pad to a multiple of the group",
        ),
        "reshape-splits": (
            "the sliced dimension is not a dimension of the sum",
            "%slice slices no whole dimension of %sum",
            "slice before the reshape",
        ),
    },
)

REWRITES = {**GUARDS, **EXPANDERS, **COLLECTIVES, **PIPELINING}
