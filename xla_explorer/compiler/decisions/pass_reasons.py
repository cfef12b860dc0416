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
            "the loop carries one element on in the place of another",
            "element (1) becomes what element (0) was",
            "keep each element of the loop's state in its place",
        ),
        "repeated-element": (
            "two results would share one buffer",
            "%sum is returned twice",
            "return the value once",
        ),
        "sizes-differ": (
            "one does not fit exactly over the other",
            "%a has 4096 bytes, %b 1024",
            "nothing to do: a buffer is shared by values of one size",
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
            "a call that stands for one operation is kept for a backend that knows it",
            "%call stands for the composite operation chlo.top_k",
            "leave the name out of composites_to_preserve",
        ),
        "is-a-kernel": (
            "a fusion of the input that can be one kernel stays one",
            "%fusion can be one kernel as it is",
            "nothing to do: the input says that it is one kernel",
        ),
        "no-start": (
            "the done does not end an async-start",
            "%done does not end an async-start: %p is a parameter",
            "give the done the start that it belongs to",
        ),
        "several-users": (
            "something else reads what is under way",
            "%start is read by 2 instructions",
            "read the result of the done instead",
        ),
        "runs-beside": (
            "one operation alone runs on a stream of its own",
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
            "the array is larger than what is folded",
            "%iota has 100000000 elements, more than 45000000",
            "nothing to do: it is computed once a run",
        ),
        "constant-would-grow": (
            "the program would hold more bytes than before",
            "%pad would put 4000000 bytes into the program for 16",
            "nothing to do: a broadcast is cheaper computed than stored",
        ),
        "slow-to-evaluate": (
            "evaluating it would take longer than a compile may",
            "%dot takes about 2000000000 operations",
            "compute it before, and give it as a constant",
        ),
        "not-evaluated": (
            "the reference evaluator refuses it",
            "rng has no value at compile time",
            "nothing to do: its value is known at run time only",
        ),
    },
    "side-effect",
    "control-dependency",
)

TRANSPOSE_FOLDING = table(
    {
        "free-dimensions-reordered": (
            "the result lists the free dimensions in the order of the operand",
            "%transpose reorders dimensions that the result of %dot keeps",
            "transpose the result of the dot instead",
        ),
        "not-a-matrix": (
            "a library takes one free and one contracted dimension",
            "%transpose has more than one free or contracted dimension",
            "merge the dimensions by a reshape first",
        ),
        "batch-innermost": (
            "the batch dimension varies fastest, so no matrix lies in one piece",
            "the batch dimension of %x varies fastest",
            "keep the batch dimension first",
        ),
    }
)

LOOPS = table(
    {
        "not-an-array": (
            "only arrays are moved or chosen between",
            "%t is (f32[8], f32[8])",
            "take the tuple apart with get-tuple-element",
        ),
        "may-not-end": (
            "moved out, it would run although the loop might not",
            "the trip count of %while is not known: the condition of %while is a or",
            _PROVE,
        ),
        "value-grows": (
            "it would be kept for the whole loop, and is larger than its operands",
            "%broadcast has 16384 bytes, its operands 4",
            'force it: session.override(force=[("loop-hoisting", name)])',
        ),
        "carried-with-others": (
            "it is cheap: it leaves the loop with what is made of it, or not at all",
            "%broadcast never changes, and leaves the loop only with what is made of it",
            'force it: session.override(force=[("loop-hoisting", name)])',
        ),
        "frontend-forbids": (
            "a frontend attribute forbids it",
            "%while says that nothing is to move out of it",
            "remove the frontend attribute of the loop",
        ),
        "not-movable": (
            "an operand or an effect of it stands in the body",
            "%add stands in the body",
            "nothing to do: its value differs from step to step",
        ),
        "selector-not-constant": (
            "which branch runs is known at run time only",
            "%p is not a constant",
            "make the selector a constant, or nothing",
        ),
        "scheduling-group": (
            "it belongs to a group that is scheduled as a whole",
            "%conditional belongs to a scheduling group",
            "remove the scheduling group",
        ),
        "not-two-branches": (
            "a select chooses between two",
            "%conditional has 3 branches",
            "write it as conditionals of two branches",
        ),
        "branch-not-cheap": (
            "both branches would be computed every time",
            "%dot in %on_true is worth skipping",
            'force it: session.override(force=[("conditional-to-select", name)])',
        ),
        "selector-not-pred": (
            "a select chooses by pred",
            "%k is s32",
            "compare the selector with a number",
        ),
        "branch-empty": (
            "a branch that hands on what it is given costs nothing",
            "%on_false hands on what it is given",
            "nothing to do: there is nothing to save",
        ),
        "result-large": (
            "a select reads both results whole",
            "%conditional gives 4194304 bytes",
            'force it: session.override(force=[("conditional-to-select", name)])',
        ),
        "loop-large": (
            "each step moves more than a small loop does",
            "a step of %while moves 90000 bytes, 16384 is the limit",
            _RAISE,
        ),
        "not-in-a-kernel": (
            "one of its instructions has no place inside a kernel",
            "%sort is a sort",
            "nothing to do: the loop stays on the host",
        ),
        "many-steps": (
            "unrolled, it would be repeated too often",
            "%while runs 1000 times, 64 is the limit",
            _RAISE,
        ),
        "body-large": (
            "unrolled, it would become too much code",
            "the body of %while has 900 instructions",
            _RAISE,
        ),
        "runs-for-ever": (
            "the condition is always true",
            "%true is always true",
            "let the condition compare a counter with a constant",
        ),
        "condition-not-compare": (
            "the condition is not one comparison, so nothing says how often the loop runs",
            "the condition of %while is a or",
            _PROVE,
        ),
        "limit-not-constant": (
            "what the counter is compared with is not a constant",
            "the condition of %while does not compare an element with a constant",
            _PROVE,
        ),
        "start-not-constant": (
            "the counter does not start from a constant",
            "element 0 of %while does not start from a constant",
            _PROVE,
        ),
        "step-not-constant": (
            "the counter does not move by a constant",
            "element 0 of %while does not move by a constant",
            _PROVE,
        ),
        "direction-unknown": (
            "the step does not lead towards the limit",
            "from 0 by -1 while LT 5 is not counted",
            _PROVE,
        ),
        "wraps-around": (
            "the counter would overflow its type",
            "element 0 of %while would leave the range of 8 bits",
            "count in a wider integer type",
        ),
        "state-not-by-elements": (
            "the body uses the tuple of its state as a whole",
            "the body of %while uses its state as a whole",
            "read the state with get-tuple-element, and build a tuple at the end",
        ),
        "body-too-large": (
            "two copies of the body would be too much code",
            "the body of %while has 300 instructions (limit 200)",
            _RAISE,
        ),
        "body-not-straight": (
            "the body holds something that is not repeated",
            "%while.1 (while) in the body of %while is not repeated",
            "nothing to do: only straight code is doubled",
        ),
        "trip-count-unknown": (
            "how often the loop runs is not known",
            "how often %while runs is not known",
            _PROVE,
        ),
        "trip-count-odd": (
            "an odd number of steps is not made of pairs",
            "%while runs 5 times",
            "let the loop run an even number of times",
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
            "everything else is needed before it starts or needs its result",
            "no work that %start does not wait for can run before %done",
            "start the transfer earlier, or compute something that does not need it meanwhile",
        ),
    }
)

EXECUTION_ORDER = table(
    {
        "order-saves-too-little": (
            "the order from the operands on keeps as few bytes alive, and its neighbours read what is still in a cache",
            "the order from the results keeps 4096 bytes alive at most, that from the operands on 4096",
            "force=[('execution-order', root)] takes the other order; session.buffers() shows what lives how long",
        ),
    }
)

STREAMS = table(
    {
        "no-schedule": (
            "only an order of execution says which streams are free",
            "%main has no schedule",
            "run a scheduler before stream-assignment",
        ),
        "nothing-in-between": (
            "the done follows at once, so another stream would only add waiting",
            "%done follows %start at once",
            "let the latency-hiding scheduler put work between the two",
        ),
        "no-free-stream": (
            "every stream of its kind is busy when it starts",
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
            "several dimensions of a kind do not follow one another in memory, so they cannot be one dimension of a matrix",
            "%dot: its batch, kept or reduced dimensions do not lie as one in memory",
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
            "ask for a row-major result",
        ),
        "too-large-for-the-library": (
            "sizes are 32-bit integers in the library's interface",
            "%dot: a dimension has more than 2147483647 elements",
            "split the operation",
        ),
        "too-many-dimensions": (
            "cuFFT transforms at most three dimensions at once, cuDNN has one to three spatial ones",
            "%fft: cuFFT transforms at most three dimensions",
            "transform the dimensions one after the other",
        ),
        "library-not-there": (
            "the library is not installed, or no NVIDIA device is used",
            "cuBLAS: not installed",
            "look at xla-explorer doctor; compile with libraries='off' to choose our kernels",
        ),
        "no-algorithm": (
            "the library that is installed has no algorithm for the types, sizes and strides of this call on this device",
            "%conv: cuDNN has no algorithm for the backward-filter form in f64, features last",
            "nothing: our own kernel computes it",
        ),
        "own-kernel-faster": (
            "our own kernel is estimated to take less time",
            "%dot takes 3.1 us by our kernel, 5.2 us by cuBLAS",
            'force the library: session.override(force=[("library-call", name)])',
        ),
        "batch-groups": (
            "cuDNN has no convolution of a batch in groups",
            "%conv: the batch is in groups, which cuDNN has in the derivative of a grouped filter only",
            "write it with feature groups",
        ),
        "partly-reversed": (
            "cuDNN reverses a window in all dimensions or in none",
            "%conv: the window is reversed in some dimensions only",
            "reverse the filter with a reverse instruction",
        ),
        "negative-padding": (
            "cuDNN does not leave a border of the image out",
            "%conv: the window leaves a border of the image out",
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
            "ask about a dot, convolution, fft, cholesky or triangular-solve",
        ),
    },
    "no-elements",
    "control-dependency",
)

DOT_MERGER = table(
    {
        "dots-large": (
            "both products are large enough to fill the device alone",
            "%a and %b move 4194304 bytes or more each",
            "raise max_size_to_merge of the pass",
        ),
    }
)

CONVERTED_SUMS = table(
    {
        "not-a-sum": (
            "what is converted is not a sum that nothing else reads",
            "%reduce is not a sum of one array that %convert alone reads",
            "convert before the sum in the program",
        ),
        "sums-differ": (
            "the sum in the other type rounds differently, or combines something else",
            "f32 adds up to something else than bf16",
            "convert where the values are made",
        ),
    }
)

SLICE_HOISTER = table(
    {
        "read-elsewhere": (
            "the whole is needed by others too",
            "%add is not read by %slice alone",
            "slice where the others read it as well",
        ),
        "dynamic-shape": (
            "its size is known at run time only",
            "%add is f32[<=8]",
            "compile for fixed sizes",
        ),
    }
)
