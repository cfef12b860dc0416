"""Reason codes of the other passes that decide, by kind: why an instruction stayed unchanged."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

_RAISE = "raise the limit in the options of the pass if compile time does not matter"
_PROVE = "write the loop so that it counts from a constant by a constant to a constant"

LAYOUT = table({}, "layout-differs")
RESHAPES = table({}, "layout-differs", "dynamic-dimension")

SHARE_BUFFER = table(
    {
        "read-only-parameter": (
            "the caller's buffer may not be overwritten",
            "%x is a parameter, which nothing may overwrite",
            "give the arguments away: compile with donate=True and input_output_alias",
        ),
        "read-only-constant": (
            "a constant may not be overwritten",
            "%k is a constant, which nothing may overwrite",
            "nothing to do: the next run needs the constant as it is",
        ),
        "live-ranges-overlap": (
            "the old value is still needed when the new one is written",
            "%state is still needed when %next is written",
            "read the old value before the new one is made",
        ),
        "permuted-element": (
            "an iteration moves an element of the state to another position",
            "element (1) becomes what element (0) was",
            "keep each element of the loop's state at its position",
        ),
        "repeated-element": (
            "two results would share one buffer",
            "%sum is returned twice",
            "return the value once",
        ),
        "sizes-differ": (
            "the values have different sizes",
            "%a has 4096 bytes, %b 1024",
            "nothing to do: only values of one size share a buffer",
        ),
    }
)

INLINING = table(
    {
        "not-inlineable": (
            "a frontend attribute forbids it",
            "%call is marked inlineable=false",
            'remove inlineable="false" from the frontend attributes',
        ),
        "composite": (
            "a composite call is kept for a backend that implements it",
            "%call stands for the composite operation chlo.top_k",
            "leave the name out of composites_to_preserve",
        ),
        "is-a-kernel": (
            "a fusion of the input that can be one kernel stays a fusion",
            "%fusion can be one kernel as it is",
            "nothing to do: the input fuses it already",
        ),
        "no-start": (
            "the done does not end an async-start",
            "%done does not end an async-start: %p is a parameter",
            "give the done the start that it belongs to",
        ),
        "several-users": (
            "another instruction reads the asynchronous value",
            "%start is read by 2 instructions",
            "read the result of the done instead",
        ),
        "runs-on-own-stream": (
            "a start of one operation runs on its own stream",
            "%start starts one operation, which runs on a stream of its own",
            "nothing to do: it overlaps with the program",
        ),
    },
    "shape-differs",
    "too-many-instructions",
)

CALL_SITES = table({}, "too-many-instructions")

CONSTANT_FOLDING = table(
    {
        "too-many-elements": (
            "the array is larger than the limit of constant folding",
            "%iota has 100000000 elements, more than 45000000",
            "nothing to do: it is computed once in each run",
        ),
        "constant-would-grow": (
            "the constant would have more bytes than the instruction's operands",
            "%pad would put 4000000 bytes into the program for 16",
            "nothing to do: computing a broadcast is cheaper than storing it",
        ),
        "slow-to-evaluate": (
            "evaluation would exceed the limit of operations at compile time",
            "%dot takes about 2000000000 operations",
            "compute it beforehand, and pass it as a constant",
        ),
        "not-evaluated": (
            "the reference evaluator refuses the instruction",
            "rng has no value at compile time",
            "nothing to do: its value is known only at run time",
        ),
    },
    "side-effect",
    "control-dependency",
)

TRANSPOSE_FOLDING = table(
    {
        "free-dimensions-reordered": (
            "the transpose reorders dimensions that the dot's result lists in the operand's order",
            "%transpose reorders dimensions that the result of %dot keeps",
            "transpose the result of the dot instead",
        ),
        "not-a-matrix": (
            "a library call has one free and one contracted dimension",
            "%transpose has more than one free or contracted dimension",
            "merge the dimensions by a reshape first",
        ),
        "batch-innermost": (
            "the batch dimension is the minor one, so no matrix is contiguous",
            "the batch dimension of %x varies fastest",
            "make the batch dimension the major one",
        ),
    }
)

LOOPS = table(
    {
        "not-an-array": (
            "only arrays are hoisted or selected",
            "%t is (f32[8], f32[8])",
            "read the elements of the tuple by get-tuple-element",
        ),
        "may-not-terminate": (
            (
                "the instruction is a loop that may not terminate: hoisted, it would run even if "
                "the outer loop does not"
            ),
            "%while may not terminate: the condition of %while is a or",
            _PROVE,
        ),
        "value-grows": (
            "the value is larger than its operands, and would be kept for the whole loop",
            "%broadcast has 16384 bytes, its operands 4",
            'force it: session.override(force=[("loop-hoisting", name)])',
        ),
        "carried-with-others": (
            "the instruction is cheap: it is hoisted only together with its users",
            "%broadcast is invariant, but cheap: it is hoisted only together with its users",
            'force it: session.override(force=[("loop-hoisting", name)])',
        ),
        "frontend-forbids": (
            "a frontend attribute forbids hoisting",
            "%while forbids hoisting by a frontend attribute",
            "remove the frontend attribute of the loop",
        ),
        "not-movable": (
            "the body has a domain or a sharding call, out of which nothing is hoisted",
            "%custom-call in the body forbids hoisting",
            "nothing to do: partition the program first",
        ),
        "selector-not-constant": (
            "the branch is selected at run time",
            "%p is not a constant",
            "make the selector a constant, or nothing to do",
        ),
        "scheduling-group": (
            "the conditional belongs to a group that is scheduled as a whole",
            "%conditional belongs to a scheduling group",
            "remove the scheduling group",
        ),
        "not-two-branches": (
            "a select has two operands",
            "%conditional has 3 branches",
            "write it as conditionals of two branches",
        ),
        "branch-not-cheap": (
            "a select computes both branches in every run",
            "%dot in %on_true is worth skipping",
            'force it: session.override(force=[("conditional-to-select", name)])',
        ),
        "selector-not-pred": (
            "the selector of a select is a pred",
            "%k is s32",
            "compare the selector with a number",
        ),
        "branch-empty": (
            "a branch that returns its arguments costs nothing",
            "%on_false returns its arguments",
            "nothing to do: a select would save nothing",
        ),
        "result-too-large": (
            "a select reads both results completely",
            "%conditional gives 4194304 bytes",
            'force it: session.override(force=[("conditional-to-select", name)])',
        ),
        "loop-too-large": (
            "an iteration moves more bytes than the limit of a small loop",
            "an iteration of %while moves 90000 bytes, limit 16384",
            _RAISE,
        ),
        "not-in-a-kernel": (
            "an instruction of the loop cannot be part of a kernel",
            "%sort is a sort",
            "nothing to do: the loop stays on the host",
        ),
        "too-many-iterations": (
            "the loop has more iterations than the limit of unrolling",
            "%while has 1000 iterations, limit 64",
            _RAISE,
        ),
        "infinite-loop": (
            "the condition is always true",
            "%true is always true",
            "let the condition compare a counter with a constant",
        ),
        "condition-not-compare": (
            "the condition is not one comparison, so the trip count is unknown",
            "the condition of %while is a or",
            _PROVE,
        ),
        "limit-not-constant": (
            "the counter is compared with a value that is not a constant",
            "the condition of %while does not compare an element with a constant",
            _PROVE,
        ),
        "start-not-constant": (
            "the counter does not start from a constant",
            "element 0 of %while does not start from a constant",
            _PROVE,
        ),
        "step-not-constant": (
            "the counter does not change by a constant",
            "element 0 of %while does not move by a constant",
            _PROVE,
        ),
        "direction-unknown": (
            "the step does not lead towards the limit",
            "a counter from 0 by -1 while LT 5 does not reach its limit",
            _PROVE,
        ),
        "wraps-around": (
            "the counter would overflow its type",
            "element 0 of %while would leave the range of 8 bits",
            "count in a wider integer type",
        ),
        "state-not-by-elements": (
            "the body uses its state as a whole tuple",
            "the body of %while uses its state as a whole",
            "read the state with get-tuple-element, and build a tuple at the end",
        ),
        "body-too-large": (
            "unrolled or duplicated, the body would be too much code",
            "the body of %while has 300 instructions (limit 200)",
            _RAISE,
        ),
        "body-not-straight": (
            "the body contains an instruction that must not be duplicated",
            "%while.1 (while) in the body of %while is not duplicated",
            "nothing to do: only straight-line code is duplicated",
        ),
        "trip-count-unknown": (
            "the trip count is unknown",
            "the trip count of %while is unknown",
            _PROVE,
        ),
        "trip-count-odd": (
            "an odd trip count cannot be halved",
            "%while has 5 iterations",
            "let the loop have an even trip count",
        ),
        "no-copy-to-save": (
            "the state is updated in place already",
            "the state of %while is updated in place",
            "nothing to do: no copy is made",
        ),
    },
    "control-dependency",
    "side-effect",
    "dynamic-dimension",
    "too-many-instructions",
)

LATENCY_HIDING = table(
    {
        "nothing-to-overlap": (
            "every other instruction is needed before the start or needs its result",
            "no work that %start does not wait for can run before %done",
            "begin the transfer earlier, or compute something independent meanwhile",
        ),
    }
)

EXECUTION_ORDER = table(
    {
        "order-saves-too-little": (
            (
                "the order from the operands keeps as few bytes alive, and reads recent values "
                "from a cache"
            ),
            (
                "the order from the results keeps 4096 bytes alive at most, that from the "
                "operands on 4096"
            ),
            (
                "force=[('execution-order', root)] takes the other order; session.buffers() "
                "shows what lives how long"
            ),
        ),
    }
)

STREAMS = table(
    {
        "no-schedule": (
            "free streams are known only from an order of execution",
            "%main has no schedule",
            "run a scheduler before stream-assignment",
        ),
        "nothing-in-between": (
            "the done follows its start at once, so another stream would only add synchronisation",
            "%done follows %start at once",
            "let the latency-hiding scheduler put work between the two",
        ),
        "no-free-stream": (
            "all streams of this kind are busy at the start",
            "all 1 streams for copies are busy when %start starts",
            "give the kind more streams: passes='stream-assignment{copies=2}'",
        ),
    }
)

LIBRARY_CALL = table(
    {
        "type-not-served": (
            "the library has no routine for these element types",
            "%dot: the library has no s32 x s32 to s32",
            "convert to a type that the library multiplies, if the values allow it",
        ),
        "dimensions-not-joined": (
            (
                "several dimensions of a kind are not adjacent in memory, so they cannot be one "
                "matrix dimension"
            ),
            "%dot: its batch, kept or reduced dimensions are not adjacent in memory",
            "transpose the operand so that dimensions of a kind stand together",
        ),
        "minor-dimension-is-batch": (
            "neither dimension of a matrix is contiguous",
            "%dot: of an operand neither the kept nor the reduced dimension is minor",
            "keep the batch dimension first",
        ),
        "result-layout": (
            "the library would write another layout",
            "%dot: the result is not row-major",
            "use a row-major result",
        ),
        "too-large-for-the-library": (
            "sizes are 32-bit integers in the library's interface",
            "%dot: a dimension has more than 2147483647 elements",
            "split the operation",
        ),
        "too-many-dimensions": (
            (
                "cuFFT transforms at most three dimensions at once, cuDNN has one to three "
                "spatial ones"
            ),
            "%fft: cuFFT transforms at most three dimensions",
            "transform the dimensions one after the other",
        ),
        "library-unavailable": (
            "the library is not installed, or no NVIDIA device is used",
            "cuBLAS: not installed",
            "look at xla-explorer doctor; compile with libraries='off' to choose our kernels",
        ),
        "no-algorithm": (
            (
                "the installed library has no algorithm for these types, sizes and strides on "
                "this device"
            ),
            "%conv: cuDNN has no algorithm for the backward-filter form in f64, features last",
            "nothing to do: our own kernel computes it",
        ),
        "own-kernel-faster": (
            "our own kernel is estimated to take less time",
            "%dot takes 3.1 us by our kernel, 5.2 us by cuBLAS",
            'force the library: session.override(force=[("library-call", name)])',
        ),
        "batch-groups": (
            "cuDNN has no convolution of a batch in groups",
            (
                "%conv: the batch is in groups, which cuDNN has in the derivative of a grouped "
                "filter only"
            ),
            "write it with feature groups",
        ),
        "partly-reversed": (
            "cuDNN reverses a window in all dimensions or in none",
            "%conv: the window is reversed in some dimensions only",
            "reverse the filter with a reverse instruction",
        ),
        "negative-padding": (
            "cuDNN has no negative padding",
            "%conv: the window has negative padding",
            "slice the image first",
        ),
        "grouped-derivative": (
            "the features of a grouped derivative are in another order than cuDNN's",
            "%conv: the image's derivative in groups has its features in another order",
            "nothing to do: our kernel computes it",
        ),
        "no-derivative": (
            "a dilated image whose padding is that of no convolution's derivative",
            "%conv: a padding of 5 at a dilated image of a window of 3",
            "nothing to do: our kernel computes it",
        ),
        "no-dot": (
            "the instruction is not the operation that the routine computes",
            "%add is not a dot",
            "name a dot, convolution, fft, cholesky or triangular-solve",
        ),
    },
    "no-elements",
    "control-dependency",
)

DOT_MERGER = table(
    {
        "dots-too-large": (
            "each product is large enough to fill the device alone",
            "%a and %b move 4194304 bytes or more each",
            "raise max_size_to_merge of the pass",
        ),
    }
)

CONVERTED_SUMS = table(
    {
        "not-a-sum": (
            "the converted value is not a sum with one reader",
            "%reduce is not a sum of one array that %convert alone reads",
            "convert before the sum in the program",
        ),
        "sums-differ": (
            "the sum in the other type would have other values",
            "a sum of s8 differs from the sum of the values as s32",
            "convert the values before the sum in the program",
        ),
    }
)

SLICE_HOISTER = table(
    {
        "read-elsewhere": (
            "other instructions need the whole value",
            "%add is not read by %slice alone",
            "slice it for the other readers as well",
        ),
        "dynamic-shape": (
            "the size is known only at run time",
            "%add is f32[<=8]",
            "compile for fixed sizes",
        ),
    }
)
