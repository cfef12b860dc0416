"""Codes of loop nests: why a kernel has none, and why a directive is refused."""

from __future__ import annotations

from xla_explorer.compiler.decisions.reason_code import table

LOOP_NEST = table(
    {
        "no-loop-nest": (
            "the opcode is not described by loops over elements",
            "%sort: sort has no loop nest",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "no-index-map": (
            "indices alone do not determine which operand elements the opcode reads",
            "%scatter: scatter has no index map",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "nest-too-large": (
            "a nest has at most ten thousand statements",
            "the nest has more than 10000 statements",
            "leave some of the instructions out of the fusion",
        ),
        "not-lowered": (
            "the lowering has code for every opcode, type and combiner of the nest",
            "%4: loop nests have no code for the combiner several operations of f32",
            "look at the LLVM IR of the kernel that runs: session.llvm_ir(kernel=name)",
        ),
        "made-from-nest": (
            "the code of the kernel was made from its loop nest",
            "%fusion: split{ij,64},split{iji,16},unroll{ijio},vectorize{ijii}",
            "write the schedule differently: session.loops(kernel, schedule)",
        ),
        "target-without-nests": (
            "kernels are made from loop nests for CPUs whose vectors have a fixed width",
            "kernels for wasm32 are not made from loop nests",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "no-policy": (
            "a policy has a schedule for this family of kernels",
            "@softmax has 12 loops; LLVM vectorises such kernels",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "rows-are-not-tasks": (
            "kernels that run block by block of rows have as many rows in each task",
            "ij must divide into 16 equal tasks, got 1000 steps",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "wide-iota": (
            "an iota has as many bits as the stored elements",
            "@fusion computes its iota in more bits than it stores",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "uniform-shifts": (
            "shift amounts are constants, or vary from element to element",
            "11 shifts of @fusion are by loop-invariant amounts",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "not-contiguous": (
            "the innermost loop of a kernel made from a nest reads and writes contiguous elements",
            "%x is at 16*j + i, not contiguous along j",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "updates-by-atomics": (
            "each element of the operand visits all rows of the indices",
            "%scatter combines each update into memory on its own, in any order",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "not-an-array": (
            "a kernel reads and writes arrays",
            "%while must be an array, as every operand and result of a kernel, got (s32[], f32[4])",
            "name an instruction inside the computations that it calls",
        ),
        "dynamic-dimensions": (
            "extents of loops are fixed",
            "%p has dimensions whose sizes are known at run time",
            "compile for fixed sizes",
        ),
        "array-constant": (
            "a constant inside a kernel has one value",
            "%c is a constant with several values: it must be an operand",
            "keep the constant outside of the fusion",
        ),
        "several-loops": (
            "all results of the kernel are computed in one perfect loop nest",
            "the nest has results of different dimensions",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "rows-of-different-lengths": (
            "all loops over a row have equal extents",
            "the loops over a row must have one length, got 40 and 80",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "sums-of-products": (
            "products and windows are written by emitters of their own",
            "%d: dot is written by its own emitters",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "not-transposed": (
            "the kernel reads along another dimension than it writes along",
            "%add has no transpose",
            "nothing to do",
        ),
        "several-tiles": (
            "a tile holds the elements of one load",
            "%x is read at several places, a tile holds one",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "transposed-dimension-is-short": (
            "both transposed dimensions fill a tile",
            "a dimension of 12 elements does not fill a tile",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "no-reduction": ("a kernel along rows reduces them", "nothing is reduced", "nothing to do"),
        "reduction-is-short": (
            "a reduction has enough elements for several threads",
            "rows of 4 elements: one thread reduces each",
            "nothing to do: more threads would wait for one another",
        ),
        "reducer-not-known-associative": (
            "threads combine parts of a row in another order than one thread would",
            "%5 is not known to be associative and commutative",
            "write a reducer of one operation: add, multiply, maximum, minimum, and, or, xor",
        ),
        "updates-in-place": (
            "the updated array is an operand of the kernel",
            "%dus must update an operand of the kernel",
            "look at session.decisions('launch') for the emitter that writes the kernel",
        ),
        "axis-of-a-launch": (
            "axes of a CPU kernel are not numbered by a GPU launch",
            "i is @block: a CPU has no launch",
            "write parallel{i,n} for a CPU",
        ),
        "element-width-changes": (
            "each element of the result is one element of the operand",
            "%r: an element of the result is a part, or several, of the operand's",
            "look at the LLVM IR of the kernel: session.llvm_ir(kernel=name)",
        ),
        "operand-of-another-shape": (
            "an elementwise operation takes operands of its own dimensions, or scalars",
            "%r: operand 1 has the shape f32[3]",
            "verify the module",
        ),
        "window-of-another-rank": (
            "a window has a dimension for each spatial dimension",
            "%c: 0 window dimensions, 1 spatial ones",
            "write the window with all its dimensions",
        ),
        "reducer-of-other-types": (
            "a reducer computes in the types of what it reduces",
            "%r: its reducer must compute in the types of its operands",
            "convert the operand before the reduction",
        ),
        "reducer-not-elementwise": (
            "a computation of scalars holds elementwise operations only",
            "scalar code must be elementwise, got %k (call)",
            "inline what the reducer calls",
        ),
        "writes-where-it-reads": (
            "the steps of a scheduled kernel are independent",
            "%fusion writes where it reads: its steps depend on one another",
            "compile without donate=, or leave the kernel as it is",
        ),
    }
)

DIRECTIVES = table(
    {
        "no-such-axis": (
            "a directive names an axis of the nest as it is at that point",
            "unknown axis q; the axes are: i, j",
            "choose one of the axes that the message lists; a split renames j to jo and ji",
        ),
        "axis-not-serial": (
            "the axis has no kind yet",
            "axis i is parallel already",
            "split first, then give the parts their kinds",
        ),
        "ordered-steps": (
            "no step of the axis reads what earlier steps stored",
            "steps of i read what earlier steps have stored",
            "choose another axis",
        ),
        "order-must-be-kept": (
            "the reduction over the axis may combine in any order",
            "%7 combines by several operations, in the order of j",
            "choose an axis that is not reduced",
        ),
        "not-proved": (
            "the verifier proves after the directive that every access is inside its array",
            "store to %out: the index 4*io + ii is in 0 to 7, the dimension of %out has 6",
            "choose a factor that divides the axis",
        ),
        "memory-of-its-own": (
            "no step of the loop owns memory yet",
            "steps of i own scratch memory: cut the loop before they get it",
            "write the cut before compute-at and stage",
        ),
        "factor-too-large": (
            "the factor fits the directive and the axis",
            "the factor must be from 1 to 64, j has 30 steps, got 65",
            "choose a factor within the limits",
        ),
        "not-repeatable": (
            "a step that runs twice stores the same value twice",
            "steps of i cannot be repeated: they combine, or read what is stored",
            "leave out the tail: a guard skips the steps behind its end",
        ),
        "not-whole-lines": (
            "blocks that follow the cache lines of an array are whole lines",
            "a block of 8 elements of %x must be a cache line of 64 bytes",
            "choose as many steps as a line has elements",
        ),
        "not-a-result": (
            "only results are written by non-temporal stores",
            "x must be a result of @fusion: out",
            "choose one of the results that the message lists",
        ),
        "not-contiguous": (
            "a prefetch is of contiguous elements that one step reads",
            "a step of i must read contiguous elements of %x",
            "prefetch an array that an inner loop reads contiguously",
        ),
        "result-is-read": (
            "a result that bypasses the caches is not read again by the kernel",
            "@fusion reads %out again: a non-temporal store would leave it out of the cache",
            "leave the result in the caches",
        ),
        "name-taken": (
            "the new axes have names that no other axis has",
            "the nest has an axis jo already",
            "choose another axis",
        ),
        "not-perfectly-nested": (
            "the outer loop contains the inner one and nothing else",
            "i must contain j and nothing else",
            "choose two axes that are perfectly nested",
        ),
        "access-does-not-collapse": (
            "every access is linear over both axes as over one",
            "%b would be at ij % 30, which is not linear in the collapsed axis",
            "write collapse{i,j,repeating} to allow quotients and remainders",
        ),
        "parallel-not-outermost": (
            "a parallel loop stays outermost",
            "i is parallel and must stay the outermost loop",
            "reorder before parallel",
        ),
        "axis-too-long": (
            "unrolled code stays small",
            "j has 1024 steps, at most 64 are unrolled",
            "split the axis and unroll the inner part",
        ),
        "not-a-vector": (
            "a vector has a power of two lanes",
            "a vector must have a power of two lanes, from 2 to 64; j has 30 steps",
            "split the axis by a power of two and vectorize the part",
        ),
        "nested-vector": (
            "a vector axis is neither inside nor around another one",
            "ji and i cannot both be vectors: one contains the other",
            "unroll one of them",
        ),
        "strided-access": (
            "accesses along a vector axis are contiguous, or to one element",
            "%x is at every 16th element along j",
            (
                "vectorize the axis that is contiguous in memory, or reorder; "
                "`vectorize{j,strided}` gathers lanes one by one"
            ),
        ),
        "not-outermost": (
            "a parallel loop is the whole kernel, or fills memory that the rest of it reads",
            (
                "only an outermost loop that is the whole kernel can be parallel; j of @softmax "
                "is not one"
            ),
            "choose the outermost axis",
        ),
        "too-few-steps": (
            "every task has a step",
            "the tasks must be from 2 to 12, the steps of i, got 13",
            "choose fewer tasks or threads, or an axis with more steps",
        ),
        "not-reduced": (
            "the axis is one of a reduction",
            "nothing is reduced over i",
            "choose an axis behind `over`",
        ),
        "no-identity": (
            "partial results begin with the identity element of their combiner",
            "%7 combines by several operations: a partial result has no identity element",
            "choose the only axis of the reduction",
        ),
        "not-interchangeable": (
            (
                "the reduction is directly inside the loop, and takes only loads and elementwise "
                "values from it"
            ),
            (
                "the reduction over j cannot be interchanged with i: that loop stores what the "
                "reduction needs"
            ),
            "choose the innermost loop around the reduction",
        ),
        "only-axis": (
            "the reduction has another axis, over which partial results are made",
            "%4 is reduced over j alone: split it first",
            "split the axis, then name one part",
        ),
        "not-a-loop": (
            "the axis is that of a loop, not of a reduction",
            "j is an axis of a reduction, not of a loop",
            "choose an axis behind `for`",
        ),
        "inside-registers": (
            "memory of a step belongs to a loop, not to unrolled instances or vector lanes",
            "i is unrolled or vectorized: its iterations cannot have separate memory",
            "give memory to a loop outside of unrolled and vector axes",
        ),
        "computed-once": (
            "several loops of the step compute the value",
            "%e is computed 1 times inside i",
            "choose an instruction that stands in two loops of the nest",
        ),
        "not-in-step": (
            "the value is always computed before its later uses",
            "%e is computed again before the loop that computes it first has ended",
            "choose a loop further outside",
        ),
        "ranges-differ": (
            "all loops compute the same elements of the value, at the same steps",
            "%e is computed over 40, then over 5 x 8",
            "write compute-at before the splits of its loops",
        ),
        "scratch-too-large": (
            "the memory of a step fits a thread's stack",
            "%e takes 400000 bytes in a step of i, the limit is 262144",
            "split the axis and choose the inner part",
        ),
        "no-such-result": (
            "the array is a result of the kernel",
            "@softmax has no result %y",
            "choose an array behind `out`",
        ),
        "no-such-operand": (
            "the array is an operand of the kernel",
            "@softmax has no operand %y",
            "choose an array of the first line that is not `out`",
        ),
        "no-such-space": (
            "memory inside of a kernel is scratch memory of a thread, or shared memory of a block",
            "the space must be one of scratch, shared, got attic",
            "write scratch on a CPU",
        ),
        "not-staged": (
            "one load reads the array, along inner loops, and is inside of it without a condition",
            "%x must be read at one place along loops inside i, got 3",
            "write compute-at for what is computed of the array instead",
        ),
        "order-of-other-axes": (
            "the order names each axis along which the array is read, once",
            "the order must name k, ji, along which %x is read, got k.j",
            "name those axes, outermost in memory first",
        ),
        "pitch-too-small": (
            "the pitch is at least a row of the tile",
            "the pitch must be at least 16, the elements of a row of the tile, got 9",
            "choose a larger pitch",
        ),
        "not-in-sequence": (
            "both loops are in one body, and the code between them does not need the first",
            "l does not follow i directly",
            "choose two loops of one body",
        ),
        "steps-differ": (
            "fused loops have the same steps, which are independent",
            "i has 6 steps, k has 40, or their conditions differ",
            "choose loops of equal extents",
        ),
        "depends-on-the-reduction": (
            "the loop needs no result of the reduction",
            "j needs %7, which the reduction computes",
            "fuse a loop that stands before the reduction",
        ),
        "steps-not-independent": (
            "no step of the loop accesses what another step stores",
            "steps of i may access the same element of %out: one at i, another at i + 1",
            "do not fuse the loops",
        ),
        "block-not-outermost": (
            "all loops around a block axis are block axes, since blocks cannot synchronise",
            "axis j: blocks must be the outermost loops",
            "give the loop around to blocks first, or give this axis to threads",
        ),
        "blocks-share-no-array": (
            "each block fills all that it reads of an array in its own memory",
            "axis js: each block would store a part of %x_s that other blocks cannot read",
            "give this axis to threads",
        ),
        "too-many-threads": (
            "a block has at most 1024 threads",
            "a block has at most 1024 threads, got 2048",
            "split the axis and give the smaller part to threads",
        ),
        "not-a-power-of-two": (
            (
                "threads that combine values are a power of two, because they halve their number "
                "step by step"
            ),
            "threads that combine must be a power of two, k has 30",
            "split the axis by a power of two",
        ),
        "warps-disagree": (
            "all warp axes have the same power of two of steps, at most 32, and are not nested",
            "a warp axis must have a power of two of steps, at most 32; k has 48",
            "split the axis by 32",
        ),
    }
)
