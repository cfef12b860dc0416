"""Reason codes of rewrite rules and expanders: guards, replacements and expansions."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_KEEP = "nothing to do: another value would come out"

GUARDS = table(
    {
        "not-integral": (
            "the rule holds for integers and pred: floats round and have infinities and NaN",
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
            "the module is split over several devices",
            "the module runs in 2 partitions",
            "nothing to do: the sharding says what each device holds",
        ),
        "complex": ("the rule holds for real numbers", "c64 is complex", _KEEP),
        "not-pred": ("the rule holds for pred", "s32 is not pred", _KEEP),
        "dynamic-shape": (
            "the rule holds for fixed sizes",
            "%add is f32[<=8], which is dynamic",
            "compile for fixed sizes",
        ),
        "rounds-differently": (
            "the result would be rounded differently",
            "%c is not a power of two, so factoring it out rounds differently",
            _KEEP,
        ),
        "tuple": (
            "the rule holds for one array",
            "%all-gather gives a tuple",
            "write a collective for each array",
        ),
        "group-size-unknown": (
            "the replica groups do not say one size",
            "%all-gather does not list replica groups of one size",
            "list replica groups of one size",
        ),
        "conversion-loses": (
            "the wider type does not hold every value",
            "f32 does not hold every s32",
            _KEEP,
        ),
        "conversion-saturates": (
            "the conversion in between changes large values",
            "s8 does not hold every f32, and floats saturate",
            _KEEP,
        ),
        "types-differ": (
            "the element types differ",
            "bf16 times f32 gives f32",
            "convert both operands to one type",
        ),
        "dot-algorithm": (
            "the product asks for an algorithm of its own",
            "%dot asks for dot_bf16_bf16_f32",
            "leave the algorithm out where any will do",
        ),
        "pads-no-spatial-dimension": (
            "the window can take in the padding of spatial dimensions only",
            "%pad pads batch or features",
            "pad spatial dimensions apart from the others",
        ),
        "negative-padding": (
            "something crops instead of padding",
            "%pad crops",
            "slice first, pad afterwards",
        ),
        "dilated-padding": (
            "the window dilates what is padded",
            "%conv dilates what %pad pads",
            _KEEP,
        ),
        "edge-padding": (
            "the padding is at the edges, not between the elements",
            "%pad pads at the edges",
            _KEEP,
        ),
        "grouped": (
            "the convolution works in groups",
            "%conv is grouped",
            "nothing to do: its kernel works group by group",
        ),
        "kernel-not-larger": (
            "the operands are swapped only where the kernel is the larger one",
            "9 places of the kernel, 100 of the input",
            "nothing to do: the order is the better one",
        ),
        "sums-over-features": (
            "the convolution adds up over features",
            "%conv sums over features or batch groups",
            _KEEP,
        ),
        "window-moves": (
            "the window has more than one place",
            "%conv has a window of more than one place",
            _KEEP,
        ),
        "no-power-of-two": (
            "the reciprocal of the number is not exact",
            "%c is not a power of two",
            _KEEP,
        ),
        "narrow-type": (
            "the type has too few digits",
            "a reciprocal would be rounded to the few digits of bf16",
            _KEEP,
        ),
        "may-be-negative": (
            "the value is not known to be at least 0",
            "%x may be negative",
            "take abs, or square, where it is meant to be",
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
            "elements do not fill bytes",
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
            "the index type is too narrow",
            "s8 does not hold every index of %x",
            "count in a wider integer type",
        ),
        "vector-index": (
            "the start indices stand in one array",
            "%update gives its start indices as one vector",
            "give a scalar a dimension",
        ),
        "product-too-large": (
            "the constant product would be larger",
            "the whole product has 4096 elements, the constants 128",
            _KEEP,
        ),
        "type-does-not-count": ("numbers of that type cannot count", "pred does not count", _KEEP),
        "count-rounds": (
            "the type rounds numbers that are counted to",
            "bf16 rounds numbers up to 1000",
            "count in a wider type",
        ),
        "promises-about-indices": (
            "the scatter promises something of its indices that the joined one may not keep",
            "%scatter promises sorted or unique indices",
            "leave the promise out",
        ),
        "dimension-numbers-differ": (
            "both work along different dimensions",
            "%a and %b scatter along different dimensions",
            _KEEP,
        ),
        "two-scatters": ("the joined scatter would read another one", "%x is a scatter too", _KEEP),
        "narrower-in-xla": (
            "XLA's simplifier has the rule in fewer cases",
            "two instructions read %r",
            "leave out as_xla",
        ),
        "needs-fast-math": (
            "what overflows or underflows would be another value",
            "what overflows or underflows in %log would be another value",
            "run algsimp{fast_math=true} before the default pipeline",
        ),
        "leaves-range": (
            "a value in between may leave the range of the type",
            "x times the first constant may leave the range where the whole does not in %multiply",
            "run algsimp{fast_math=true} before the default pipeline",
        ),
        "reciprocal-leaves-range": (
            "the divisor may be so small that its reciprocal is infinite",
            "%sum may be so small that 1 / %sum is infinite although the quotient is not",
            "add a small constant to the divisor, or run algsimp{fast_math=true} before the default pipeline",
        ),
        "reducers-differ": (
            "both reduce by other operations",
            "%a and %b combine differently",
            _KEEP,
        ),
        "starts-differ": (
            "both reduce from other initial values",
            "%a and %b start from different values",
            _KEEP,
        ),
        "padding-differs": (
            "the padding is another value than the initial one",
            "%zero pads, %one is the initial value",
            "pad with the identity",
        ),
        "little-padding": (
            "too little is padding to gain anything",
            "only 3 % of %pad is padding",
            "nothing to do: the multiply-adds are few",
        ),
        "all-live": (
            "every element of the state is needed",
            "every element of %while is needed",
            "nothing to do: no element is dead",
        ),
        "nothing-to-merge": (
            "no two elements are one value",
            "no two elements of %while count",
            "nothing to do",
        ),
        "state-flat": (
            "no element of the state is a tuple",
            "no element of %while is a tuple",
            "nothing to do: the state is flat",
        ),
        "state-not-tuple": (
            "the state is not put together as a tuple",
            "the state of %while is not put together as a tuple",
            "end the body with a tuple",
        ),
        "state-read-whole": (
            "a computation reads its state as a whole",
            "%body reads its state as a whole",
            "read it by get-tuple-element",
        ),
        "sharded": (
            "each element has a sharding",
            "%while has a sharding for each element",
            "shard after this pass",
        ),
        "rearrangement-stays": (
            "the rearrangement is needed elsewhere, so the move would only add work",
            "%transpose is also read by %dot, so the move would only add work",
            "nothing to do: the transpose is computed in any case",
        ),
        "sharding-differs": (
            "both are sharded differently",
            "%a and %b are sharded differently",
            "give both one sharding",
        ),
        "other-layout-mode": (
            "the rule holds on the other side of layout assignment",
            "copy-to-bitcast holds after layout assignment only",
            "ask in a step on that side: applicable(name, step=...)",
        ),
        "nothing-to-build": (
            "the rule's pattern fits, and it finds nothing to do",
            "fold-pad finds nothing to do here",
            "nothing to do",
        ),
        "pattern-does-not-fit": (
            "the rule's pattern does not match the instruction",
            "the pattern of add-zero does not fit %m = f32[8] multiply(%x, %y)",
            "look at the rule: session.applicable(name) lists the rules that fit",
        ),
        "rewrite-limit": (
            "the rules rewrite each other's results without end",
            "4000 rewrites in main and no end",
            "forbid one of the rules, and report the module",
        ),
    },
    "control-dependency",
    "layout-differs",
    "no-elements",
    "shape-differs",
)

EXPANDERS = table(
    {
        "batch-scattered": (
            "the batch dimensions do not lie together, so no reshape joins them",
            "the batch dimensions of %lhs do not lie together",
            "transpose the operand so that they do",
        ),
        "sums-not-exact": (
            "sums of the integers may be larger than a float holds exactly",
            "sums of %dot may reach 33292800; floats hold integers up to 16777216",
            "nothing to do: the sums are computed in integers",
        ),
        "not-elementwise": (
            "something inside is not elementwise",
            "%dot in %region is a dot",
            "compute it outside of the map",
        ),
        "not-16-bit": (
            "the types are not one type of 16-bit floats",
            "%add is bf16, f32, not one type of 16-bit floats",
            "nothing to do",
        ),
        "dynamic-source": (
            "the size of the array is in no scalar",
            "%x is f32[<=8], and its size is in no scalar",
            "set its dimension size",
        ),
        "not-padded": (
            "the operation is not supported for dynamic operands",
            "a dynamic operand of a fft (%fft) is not supported",
            "use fixed sizes",
        ),
        "group-sizes-by-batch": (
            "the group sizes differ from batch to batch",
            "the group sizes of %ragged-dot differ along 1 further dimensions",
            "write a ragged dot for each batch",
        ),
        "initial-value-not-neutral": (
            "the initial value is not known to be the identity element",
            "%one is not known to be the identity element of %add",
            "start from the identity element, and combine the value afterwards",
        ),
        "not-to-signed-integer": (
            "stochastic conversion is defined to signed integers",
            "%convert converts to u8",
            "convert to s8 first",
        ),
        "not-a-plain-array": (
            "only arrays whose every byte is an element are normalised",
            "%x is f32[8]{0:T(4)}",
            "leave the tiling out",
        ),
        "starts-in-one-array": (
            "the start indices stand in one array",
            "%slice has its start indices in an array",
            "give a scalar a dimension",
        ),
        "layouts-differ": (
            "operands and result lie in memory in different orders",
            "%add and its operands lie in memory in different orders",
            "nothing to do: a copy makes the orders agree",
        ),
        "sizes-differ": (
            "operands have sizes that are not known to be equal",
            "the operands of %add have dimension 0 of sizes that are not known to be equal",
            "set both from one scalar",
        ),
    },
    "dynamic-dimension",
)

_DEVICES = "let the devices of a group take the parts in the order in which they stand there"
COLLECTIVES = table(
    {
        "not-joined": (
            "a program for several devices has an instruction that no single program of all of them can hold",
            "%exchange (ragged-all-to-all) has no form on joined devices",
            "evaluate it by xe.hlo.evaluate_replicated",
        ),
        "other-parts": (
            "a device does not take the part that one device gave",
            "%slice does not take what one device gave to %gathered",
            _DEVICES,
        ),
        "parts-of-others": (
            "the devices take parts that others gave",
            "the devices take parts of %gathered that others gave",
            _DEVICES,
        ),
        "not-a-permutation": (
            "two devices take the same part",
            "two devices take the same part of %gathered",
            _DEVICES,
        ),
        "parts-of-their-own": (
            "every device takes the part that it gave",
            "every device takes the part of %gathered that it gave",
            "nothing to do",
        ),
        "replicas-and-partitions": (
            "replicas and partitions take different ways",
            "the slices of %gathered move differently in different replicas or partitions",
            "use either replicas or partitions",
        ),
        "groups-of-replicas": (
            "a group has replicas with all their partitions",
            "%reduce groups several replicas with all their partitions",
            "group by partitions alone",
        ),
        "devices-differ": (
            "the groups do not hold all devices",
            "the groups of %reduce are not all 2 x 4 devices",
            "list every device once",
        ),
        "groups-differ": (
            "the groups are of different sizes",
            "the groups of %reduce are of different sizes",
            "make groups of one size",
        ),
        "not-one-dimension": (
            "more than one dimension is cut",
            "%slice cuts 2 dimensions",
            "cut one dimension at a time",
        ),
        "takes-nothing": ("the cut has no element", "%slice has no element", "nothing to do"),
        "start-unknown": (
            "the start does not follow from the device's number alone",
            "where %slice starts does not follow from the device alone",
            "compute the start from partition-id or replica-id",
        ),
        "not-a-part": (
            "the start is not at a whole part",
            "on device 1 %slice starts at 3, no whole part of 4",
            _DEVICES,
        ),
        "moves-between": (
            "data are moved between the two operations",
            "%reshape stands between a all-reduce and %add",
            "move the reshape",
        ),
        "sums-differ": (
            "both are not combined alike",
            "bf16 is not combined as f32 is",
            "combine both by one operation in one type",
        ),
        "other-operation": (
            "the operand is another operation",
            "%x does not all-reduce",
            "write both operands alike",
        ),
        "collectives-differ": (
            "both are not over the same groups",
            "%a and %b are not over the same groups",
            "use one list of groups",
        ),
        "parts-out-of-order": (
            "the devices do not take the parts in their order",
            "the devices of a group do not take the parts in their order",
            _DEVICES,
        ),
        "parts-left": (
            "the parts do not add up to the whole",
            "3 parts of 4 leave more than a remainder of 16",
            "pad to a multiple of the group",
        ),
        "reshape-splits": (
            "what is cut is not a dimension of the sum",
            "%slice slices no whole dimension of %sum",
            "cut before the reshape",
        ),
    },
)

REWRITES = {**GUARDS, **EXPANDERS, **COLLECTIVES}
