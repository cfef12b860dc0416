"""Reason codes of the fusion passes, by kind: why two instructions share no kernel."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import ReasonCode, table

_FORCE = 'compare both ways: session.override(force=[("fusion", producer, consumer)]).profile()'

FUSION = table(
    {
        "producer-not-fusible": (
            (
                "the producer's opcode has no elemental code, so no loop over another result can "
                "compute it"
            ),
            "%call (custom-call) is not computed element by element",
            "write the producer with elementwise operations or data movement",
        ),
        "producer-has-own-kernel": (
            (
                "the producer is computed by a kernel of its own or by a library, which stores "
                "its result in memory"
            ),
            "%dot (dot) is computed by a kernel of its own",
            "look at dot-epilogue-fusion: what follows a product can join its kernel",
        ),
        "producer-has-side-effect": (
            "an instruction with a side effect must run exactly once, at its place",
            "%outfeed (outfeed) has a side effect",
            "move the side effect out of the chain of operations",
        ),
        "tuple-or-token": (
            "only arrays are computed element by element",
            "%t has shape (f32[8], f32[8]), no array",
            "read the elements of the tuple by get-tuple-element",
        ),
        "consumer-not-fusible": (
            (
                "the consumer's kernel reads whole operands from memory, so it cannot contain a "
                "producer"
            ),
            "%c (cholesky) reads its operands from memory",
            "nothing to do: the consumer needs the whole operand in memory",
        ),
        "layout-differs": (
            "inside a fusion every array is row-major",
            "%p has layout {0,1}, a fusion is row-major inside",
            "run layout-assignment before fusion, which makes every inner array row-major",
        ),
        "constant-not-fused": (
            "a constant of several elements stays in memory; one element becomes an immediate",
            "%k has 4 elements and stays in memory",
            "broadcast a scalar constant, or compute the array with iota",
        ),
        "reduce-is-root-only": (
            "the consumer would repeat the reduce for each of its elements",
            (
                "%sum reduces 64 elements for each of its own; %broadcast would repeat that "
                "(repeated up to 8)"
            ),
            "nothing to do on a CPU; on a GPU normalization-fusion keeps the row in registers",
        ),
        "reduce-into-reduce": (
            "the outer reduce would repeat the inner one for each element that it reads",
            "%a reduces 64 elements inside the reduce %b",
            "reduce both dimensions at once if the combiner is the same",
        ),
        "in-place-update-conflict": (
            (
                "the fusion would read elements of the updated buffer after the update may have "
                "overwritten them"
            ),
            "%neg reads %buffer, which %update updates in place",
            "read only the slice that is overwritten, at the same start indices",
        ),
        "update-is-root-only": (
            (
                "a dynamic-update-slice writes into its operand's buffer, so it must be the "
                "result of its kernel"
            ),
            "%update updates a buffer in place, so it must be the result of its kernel",
            "nothing to do: otherwise the buffer would have to be copied",
        ),
        "concatenate-in-inner-loop": (
            (
                "selecting the operand of a concatenate for each element would cost more than "
                "copying the operands"
            ),
            "%concatenate joins 12 pieces (at most 8 are chosen per element)",
            "concatenate along a major dimension, or in two steps",
        ),
        "too-many-operands": (
            "the kernel would take too many arguments",
            "the fusion of %add would read 70 operands (limit 64)",
            "raise the limit: passes='fusion{max_operands=96}', or split the sum",
        ),
        "fused-computation-too-large": (
            "the code of one element would exceed the limit of the pass",
            "the fusion of %add would emit about 900 instructions per element (limit 800)",
            "raise max_emitted of the pass if compile time does not matter",
        ),
        "would-duplicate-expensive": (
            "computing the producer in each consumer takes longer than storing it once",
            "%tanh (tanh) in 3 kernels takes 41 us, stored once 12 us",
            _FORCE,
        ),
        "recomputed-per-element": (
            "the fusion would compute each element of the producer many times",
            "%exp (exponential) has 64 elements but the fusion of %add would compute 4096",
            "nothing to do: the small array is stored once, before the broadcast",
        ),
        "reads-multiply": (
            "the consumers together would read more memory than storing the producer costs",
            "%sum computed in 3 kernels takes 90 us with its reads, stored once 40 us",
            _FORCE,
        ),
        "not-worth-the-code": (
            "computing the producer in each consumer saves too little time for the added code",
            "%convert in 4 kernels adds 3 instructions per element and saves 0.1 us",
            "lower the price: passes='fusion{code_price=0}'",
        ),
        "stored-anyway": (
            (
                "another user needs the producer in memory, and reading it there is cheaper than "
                "computing it"
            ),
            (
                "%tanh is in memory for another user; %neg reads it there in 2 us, computing it "
                "takes 9 us"
            ),
            "let all readers be fusible, so that no kernel needs it in memory",
        ),
        "slower-when-fused": (
            (
                "by the estimate, computing the producer in its consumers takes longer than "
                "storing it and reading it"
            ),
            "%exp computed in 2 kernels takes 31 us, apart from them 22 us in all",
            _FORCE,
        ),
        "result-of-computation": (
            "the producer is the computation's result, so it is in memory in any case",
            "%exp is the result of main",
            "return another value if this one is not needed outside",
        ),
        "max-must-agree": (
            (
                "a softmax subtracts the maximum of these values before the exponential; a "
                "second computation might round differently"
            ),
            "%x is read by a maximum that is subtracted from it before an exponential",
            "nothing to do: a stable softmax depends on equal values",
        ),
        "too-many-reduces": (
            "the kernel would have more loops than LLVM unrolls in reasonable time",
            "the fusion of %add has 6 reduces already (limit 5)",
            "compile with fusion_policy='time', which has no such limit",
        ),
        "output-fusion-first": (
            "the addition already completes the kernel of a matrix-vector product",
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
    "copied-as-bytes": ReasonCode(
        "XLA's policy: bytes that keep their order are copied as one block",
        "%copy copies bytes in one piece",
        "nothing to do: a block copy is faster than a loop",
    ),
}

MULTI_OUTPUT = table(
    {
        "not-a-loop": (
            "only loop fusions with an elementwise root share a loop; on a GPU reductions do too",
            "%fusion (reduce at its root) does not share its loop",
            "nothing to do: other kernels have loops of their own",
        ),
        "dimensions-differ": (
            "the loops run over different indices",
            "%a has shape f32[64], %b f32[32]",
            "give both results the same dimensions",
        ),
        "would-create-cycle": (
            "one kernel needs the other's result through an instruction between them",
            "one of %a and %b needs the other through %dot",
            "compute the instruction between them without the first, or after both",
        ),
        "reads-other-indices": (
            "one kernel reads the other's result at indices other than its own",
            "%b reads %a at other indices than its own",
            "nothing to do: the element has to be in memory",
        ),
        "too-many-arrays": (
            "the loop would read and write more arrays than the pass's limit",
            "together they would touch 30 arrays (limit 24)",
            "raise max_arrays of the pass",
        ),
        "fused-computation-too-large": (
            "the code of one element would exceed the limit of the pass",
            "together about 500 instructions per element (limit 400)",
            "raise max_emitted of the pass",
        ),
        "too-little-shared": (
            "the kernels read too little memory in common",
            "%a and %b share 0 bytes",
            'force them: session.override(force=[("multi-output-fusion", first, second)])',
        ),
        "not-two-fusions": (
            "only two fusions of one computation are merged into one loop",
            "%a is a dot: only a fusion shares its loop",
            "name two fusions of session.module",
        ),
    }
)

HORIZONTAL = table(
    {
        "not-a-loop": (
            "only kernels that compute every result element by element share a launch",
            "%fusion (dynamic-update-slice at its root) does not share its launch",
            "nothing to do: an update in place keeps its own launch",
        ),
        "not-a-reduce": (
            "only reductions of arrays share a launch by this pass",
            "%fusion (add at its root) is not a reduction of an array",
            "look at horizontal-loop-fusion, which merges loops",
        ),
        "dimensions-differ": (
            "the reductions run over different indices",
            "%a reduces f32[64,64], %b f32[64,32]",
            "reduce arrays of the same dimensions",
        ),
        "depends-on-the-other": (
            "one kernel reads a result of the other",
            "%a and %b run one after the other",
            "nothing to do: fusion decides about producer and consumer",
        ),
        "would-create-cycle": MULTI_OUTPUT["would-create-cycle"],
        "too-many-arrays": (
            "the kernel would read and write more arrays than the pass's limit",
            "together they would touch 70 arrays (limit 64)",
            "raise max_arrays of the pass",
        ),
        "fused-computation-too-large": (
            "the code of one thread would exceed the limit of the pass",
            "together about 900 instructions a thread (limit 800)",
            "raise max_emitted of the pass",
        ),
        "too-large-to-share": (
            "the kernel has enough work to fill the device alone",
            "%a has 4194304 elements (kernels of up to 1048576 share a launch)",
            "raise max_elements of the pass if the launch matters more",
        ),
        "slower-when-fused": (
            "by the estimate, one launch saves less time than the merged kernel loses",
            "%a and %b take 1.2 us more in one kernel",
            "compare both ways with override(force=[...])",
        ),
    },
    "control-dependency",
)

NORMALIZATION = table(
    {
        "row-length": (
            "a block cannot keep a row of this length in its registers",
            "rows of 32768 elements: from 9 to 16384 fit into the registers of a block",
            "split the row, or raise longest of the pass on a device with more registers",
        ),
        "fused-computation-too-large": (
            "the kernel would exceed the pass's limits of instructions or operands",
            (
                "150 instructions and 20 operands are more than one kernel should hold (limits "
                "120 and 16)"
            ),
            "raise most or most_operands of the pass",
        ),
        "row-value-used-elsewhere": (
            "another kernel needs a value of the rows, so it would have to be stored",
            "%max is needed outside the kernel too",
            "return fewer intermediate values",
        ),
        "too-few-rows": (
            "one block per row would leave multiprocessors idle",
            "8 rows, a block each, leave most of 132 multiprocessors idle",
            "compare both ways with override(force=[...])",
        ),
    }
)

EPILOGUE = table(
    {
        "no-register-tile": (
            "the dot has no kernel in register tiles",
            "%dot: no register tile for f16",
            "nothing to do: a library call cannot compute the epilogue",
        ),
        "computed-in-a-loop": (
            (
                "the epilogue's other operand is computed in loops only, and would have to be "
                "stored for the product's kernel"
            ),
            "%exp (exponential) would be stored for the kernel of %dot",
            "let another instruction need the operand in memory, or force the epilogue",
        ),
        "result-never-stored": (
            (
                "every reader is a loop that computes the result itself, so no kernel stores the "
                "result"
            ),
            (
                "%add is never stored: each of its readers computes it in its own loop; return "
                "it, or force the epilogue, to store it once"
            ),
            (
                "return the result, or store it all the same: "
                'session.override(force=[("dot-epilogue-fusion", dot, result)])'
            ),
        ),
    },
    "control-dependency",
)

NOT_AN_OPERAND = ReasonCode(
    "a fusion needs a consumer that reads the producer",
    "%d does not read %a; it reads %b",
    "name two of which the second reads the first, or use multi-output-fusion",
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
