"""Reason codes of the fusion passes, by kind: why two instructions share no kernel."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import ReasonCode, table

_FORCE = 'compare both ways: session.override(force=[("fusion", producer, consumer)]).profile()'

FUSION = table(
    {
        "producer-not-fusible": (
            "the opcode has no elemental code, so it cannot be computed inside a loop over another result",
            "%call (custom-call) is not computed element by element",
            "write the producer with elementwise operations or data movement",
        ),
        "producer-has-own-kernel": (
            "the producer is computed by a kernel of its own or by a library, which stores its result in memory",
            "%dot (dot) is computed by a kernel of its own",
            "look at dot-epilogue-fusion: what follows a product can join its kernel",
        ),
        "producer-has-side-effect": (
            "it must run exactly once, at its place",
            "%outfeed (outfeed) has a side effect",
            "move the side effect out of the chain of operations",
        ),
        "tuple-or-token": (
            "only arrays are computed element by element",
            "%t has shape (f32[8], f32[8]), no array",
            "take the tuple apart with get-tuple-element",
        ),
        "consumer-not-fusible": (
            "the consumer reads its operands from memory",
            "%c (cholesky) reads its operands from memory",
            "nothing to do: the kernel of the consumer needs the whole operand",
        ),
        "layout-differs": (
            "inside a fusion every array is row-major",
            "%p has layout {0,1}, a fusion is row-major inside",
            "run layout-assignment before fusion, which makes every inner array row-major",
        ),
        "constant-not-fused": (
            "a constant of many elements stays in memory; one element becomes an immediate",
            "%k has 4 elements and stays in memory",
            "broadcast a scalar constant, or compute the array with iota",
        ),
        "reduce-is-root-only": (
            "a reduce would be repeated for every element that its consumer computes",
            "%sum reduces 64 elements for each of its own; %broadcast would repeat that (repeated up to 8)",
            "nothing to do on a CPU; on a GPU normalization-fusion keeps the row in registers",
        ),
        "reduce-into-reduce": (
            "a reduce inside a reduce would be repeated",
            "%a reduces 64 elements inside the reduce %b",
            "reduce both dimensions at once where the combiner is the same",
        ),
        "in-place-update-conflict": (
            "the updated buffer is read where the update may already have been written",
            "%neg reads %buffer, which %update updates in place",
            "read only the slice that is overwritten, at the same start indices",
        ),
        "update-is-root-only": (
            "a dynamic-update-slice writes its operand's buffer, so it must be the result",
            "%update updates a buffer in place, so it must be the result of its kernel",
            "nothing to do: the buffer would have to be copied",
        ),
        "concatenate-in-inner-loop": (
            "choosing the piece for every element would cost more than copying the pieces",
            "%concatenate joins 12 pieces (at most 8 are chosen per element)",
            "concatenate along a major dimension, or in two steps",
        ),
        "too-many-operands": (
            "the kernel would take too many arguments",
            "the fusion of %add would read 70 operands (limit 64)",
            "raise the limit: passes='fusion{max_operands=96}', or split the sum",
        ),
        "fused-computation-too-large": (
            "the code of one element would become too long",
            "the fusion of %add would emit about 900 instructions per element (limit 800)",
            "raise max_emitted of the pass if compile time does not matter",
        ),
        "would-duplicate-expensive": (
            "recomputing it in each consumer takes longer than storing it once",
            "%tanh (tanh) in 3 kernels takes 41 us, stored once 12 us",
            _FORCE,
        ),
        "recomputed-per-element": (
            "each of its elements would be computed many times",
            "%exp (exponential) has 64 elements but the fusion of %add would compute 4096",
            "store the small array: compute it before the broadcast (that is what happens now)",
        ),
        "reads-multiply": (
            "its consumers together would read more memory than storing its result costs",
            "%sum computed in 3 kernels takes 90 us with its reads, stored once 40 us",
            _FORCE,
        ),
        "not-worth-the-code": (
            "computing it in each consumer saves too little time for the code that it adds",
            "%convert in 4 kernels adds 3 instructions per element and saves 0.1 us",
            "lower the price: passes='fusion{code_price=0}'",
        ),
        "stored-anyway": (
            "another user needs it in memory, and reading it there is cheaper",
            "%tanh is in memory for another user; %neg reads it there in 2 us, computing it takes 9 us",
            "let all readers be fusible, so that it need not be stored",
        ),
        "slower-when-fused": (
            "by the estimate its consumers together take longer computing it than storing it once and reading it",
            "%exp computed in 2 kernels takes 31 us, apart from them 22 us in all",
            _FORCE,
        ),
        "result-of-computation": (
            "it is the computation's result, which is in memory whatever else reads it",
            "%exp is the result of main",
            "return another value if this one is not needed outside",
        ),
        "max-must-agree": (
            "its largest element is subtracted from it before an exponential; computed twice, the two might not agree",
            "%x is read by a maximum that is subtracted from it before an exponential",
            "nothing to do: a stable softmax depends on it",
        ),
        "too-many-reduces": (
            "more loops in one kernel than LLVM unrolls in reasonable time",
            "the fusion of %add has 6 reduces already (limit 5)",
            "compile with fusion_policy='time', which has no such limit",
        ),
        "output-fusion-first": (
            "it is an addition that completes a matrix-vector product's kernel",
            "%add completes the kernel of a matrix-vector product",
            "nothing to do: the addition is in a kernel already",
        ),
    },
    "control-dependency",
    "dynamic-dimension",
)

WRAPPER = {
    **{
        code: FUSION[code]
        for code in ("consumer-not-fusible", "layout-differs", "control-dependency")
    },
    "copied-as-it-is": ReasonCode(
        "by XLA's policy: bytes that keep their order are copied in one piece",
        "%copy copies bytes in one piece",
        "nothing to do: a copy in one piece is faster than a loop",
    ),
}

MULTI_OUTPUT = table(
    {
        "not-a-loop": (
            "only loop fusions whose result is computed elementwise share a loop, on a GPU reductions too",
            "%fusion (reduce at its root) does not share its loop",
            "nothing to do: what is no such loop has a loop nest of its own",
        ),
        "dimensions-differ": (
            "the loops run over different indices",
            "%a has shape f32[64], %b f32[32]",
            "give both results the same dimensions",
        ),
        "would-create-cycle": (
            "one needs the other through something that runs in between",
            "one of %a and %b needs the other through %dot",
            "compute what stands between without the first, or fuse the two after it",
        ),
        "not-read-in-step": (
            "one reads other elements of the other's result than the one at its own index",
            "%b reads %a at other indices than its own",
            "nothing to do: the element would have to be in memory",
        ),
        "too-many-arrays": (
            "the loop would read and write too many arrays at once",
            "together they would touch 30 arrays (limit 24)",
            "raise max_arrays of the pass",
        ),
        "fused-computation-too-large": (
            "the code of one element would become too long",
            "together about 500 instructions per element (limit 400)",
            "raise max_emitted of the pass",
        ),
        "nothing-shared": (
            "they read too little in common",
            "%a and %b share 0 bytes",
            'force them: session.override(force=[("multi-output-fusion", first, second)])',
        ),
        "not-two-fusions": (
            "only two fusions of one computation become one loop",
            "%a is a dot: only a fusion shares its loop",
            "ask about the fusions of session.module",
        ),
    }
)

HORIZONTAL = table(
    {
        "not-a-loop": (
            "only kernels that compute every result anew, element by element, share a launch",
            "%fusion (dynamic-update-slice at its root) does not share its launch",
            "nothing to do: an update in place keeps its own launch",
        ),
        "not-a-reduce": (
            "only reductions of arrays share a launch as such",
            "%fusion (add at its root) is not a reduction of an array",
            "look at horizontal-loop-fusion, which joins loops",
        ),
        "dimensions-differ": (
            "the reductions run over different indices",
            "%a reduces f32[64,64], %b f32[64,32]",
            "reduce arrays of the same dimensions",
        ),
        "depends-on-the-other": (
            "one reads a result of the other",
            "%a and %b run one after the other",
            "nothing to do: fusion decides about producer and consumer",
        ),
        "would-create-cycle": MULTI_OUTPUT["would-create-cycle"],
        "too-many-arrays": (
            "the kernel would read and write too many arrays at once",
            "together they would touch 70 arrays (limit 64)",
            "raise max_arrays of the pass",
        ),
        "fused-computation-too-large": (
            "the code of one thread would become too long",
            "together about 900 instructions a thread (limit 800)",
            "raise max_emitted of the pass",
        ),
        "too-large-to-share": (
            "it has enough work to fill the device by itself",
            "%a has 4194304 elements (kernels of up to 1048576 share a launch)",
            "raise max_elements of the pass if the launch matters more",
        ),
        "slower-when-fused": (
            "by the estimate one launch saves less than sharing the threads costs",
            "%a and %b take 1.2 us more in one kernel",
            "compare both ways with override(force=[...])",
        ),
    },
    "control-dependency",
)

NORMALIZATION = table(
    {
        "row-length": (
            "a block of threads cannot keep a row of that length in its registers",
            "rows of 32768 elements: from 9 to 16384 fit into the registers of a block",
            "split the row, or raise longest of the pass on a device with more registers",
        ),
        "fused-computation-too-large": (
            "the kernel would compute or read too much at once",
            "150 instructions and 20 operands are more than one kernel should hold (limits 120 and 16)",
            "raise most or most_operands of the pass",
        ),
        "row-value-used-elsewhere": (
            "a value of the rows is needed outside, so it would have to be stored after all",
            "%max is needed outside the kernel too",
            "return fewer intermediate values",
        ),
        "too-few-rows": (
            "a block for each row would leave multiprocessors idle",
            "8 rows, a block each, leave most of 132 multiprocessors idle",
            "compare both ways with override(force=[...])",
        ),
    }
)

EPILOGUE = table(
    {
        "no-register-tile": (
            "our register tiles do not serve the dot, or the library is estimated to be faster",
            "%dot: BLAS is estimated at 90000 cycles, our tiles at 120000",
            "nothing to do: a library has no hook for what follows",
        ),
        "computed-in-a-loop": (
            "its other operand would be computed in the loop, and had to be stored for the product's kernel",
            "%exp (exponential) would be stored for the kernel of %dot",
            "let another instruction need the operand in memory, or force it",
        ),
        "result-never-stored": (
            "every reader is a loop that computes the result itself, so no kernel stores the result",
            "%add is never stored: each of its readers computes it in its own loop",
            'return the result, or store it all the same: session.override(force=[("dot-epilogue-fusion", dot, result)])',
        ),
    },
    "control-dependency",
)

NOT_AN_OPERAND = ReasonCode(
    "a fusion needs a consumer that reads the producer",
    "%d does not read %a; it reads %b",
    "ask about two of which the second reads the first, or about multi-output-fusion",
)
_OF_XLA_GPU = (
    "update-is-root-only",
    "too-many-reduces",
    "slower-when-fused",
)  # codes of its replay too
TABLES = {
    "fusion": {**FUSION, "not-an-operand": NOT_AN_OPERAND},
    "fusion-wrapper": WRAPPER,
    "multi-output-fusion": {**MULTI_OUTPUT, **{c: FUSION[c] for c in _OF_XLA_GPU}},
    "horizontal-loop-fusion": {
        c: r for c, r in HORIZONTAL.items() if c not in ("not-a-reduce", "dimensions-differ")
    },
    "horizontal-input-fusion": {c: r for c, r in HORIZONTAL.items() if c != "not-a-loop"},
    "normalization-fusion": NORMALIZATION,
    "dot-epilogue-fusion": EPILOGUE,
}
