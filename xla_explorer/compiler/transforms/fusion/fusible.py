"""Opcodes inside fusions, and their places.

The code generator emits exactly this set elementally.
"""

from __future__ import annotations

from math import prod

from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OPCODES, OpcodeSpec, opcode

REDUCE = opcode("reduce")
REDUCE_WINDOW = opcode("reduce-window")
DYNAMIC_UPDATE_SLICE = opcode("dynamic-update-slice")
CONCATENATE = opcode("concatenate")
BROADCAST = opcode("broadcast")
BITCAST = opcode("bitcast")
RESHAPE = opcode("reshape")
IOTA = opcode("iota")
PAD = opcode("pad")
SLICE = opcode("slice")
DYNAMIC_SLICE = opcode("dynamic-slice")
TRANSPOSE = opcode("transpose")
REVERSE = opcode("reverse")
GATHER = opcode("gather")
CONSTANT = opcode("constant")
PARAMETER = opcode("parameter")
COPY = opcode("copy")
BITCAST_CONVERT = opcode("bitcast-convert")

ELEMENTWISE: frozenset[OpcodeSpec] = frozenset(
    [row for row in OPCODES.values() if row.elementwise and row.name not in ("map", "copy")]
)

# Opcodes whose element i of the result reads elements of the operands at other places.
INDEXING: frozenset[OpcodeSpec] = frozenset(
    {
        BROADCAST,
        IOTA,
        SLICE,
        PAD,
        CONCATENATE,
        REVERSE,
        TRANSPOSE,
        RESHAPE,
        BITCAST,
        GATHER,
        DYNAMIC_SLICE,
        BITCAST_CONVERT,
    }
)

# Opcodes of a fused computation below its root.
PRODUCERS: frozenset[OpcodeSpec] = ELEMENTWISE | INDEXING

# Opcodes of the root of a fused computation. A single reshape or bitcast is not a kernel: it moves
# nothing.
CONSUMERS: frozenset[OpcodeSpec] = (PRODUCERS - {RESHAPE, BITCAST}) | {REDUCE, DYNAMIC_UPDATE_SLICE}

# Reshapes between row-major layouts and bitcasts: the same bytes in the same order.
BYTE_PRESERVING: frozenset[OpcodeSpec] = frozenset({RESHAPE, BITCAST})

# Kernels of their own or library calls, with operands and results in memory.
LIBRARY_CALLS: frozenset[OpcodeSpec] = frozenset(
    [
        opcode(name)
        for name in (
            "dot",
            "ragged-dot",
            "scaled-dot",
            "convolution",
            "fft",
            "cholesky",
            "triangular-solve",
            "sort",
            "topk",
            "custom-call",
            "scatter",
            "select-and-scatter",
            "reduce-window",
            "rng",
            "rng-bit-generator",
            "rng-get-and-update-state",
            "map",
            "scan",
            "batch-norm-training",
            "batch-norm-inference",
            "batch-norm-grad",
        )
        if name in OPCODES
    ]
)

# Opcodes that no policy considers as producers: their results are in memory already, or they run
# other computations.
NON_PRODUCERS: frozenset[str] = frozenset({
    "parameter", "get-tuple-element", "tuple", "while", "conditional", "call", "copy", "after-all", "fusion",
})  # fmt: skip

# Recomputing one of them is as cheap as reading it, so it is fused into every consumer, regardless
# of other readers.
ALWAYS_DUPLICABLE: frozenset[OpcodeSpec] = frozenset({BROADCAST, IOTA, RESHAPE, BITCAST, CONSTANT})


def is_consumer(i: HloInstruction) -> bool:
    """Return True for a possible root: its opcode is emitted as a loop over a row-major result."""
    shape = i.shape
    if (
        i.opcode not in CONSUMERS
        or shape.base is not shape
        or True in shape.dynamic
        or not (shape.is_array or i.opcode is REDUCE)
    ):
        return False
    return i.opcode is not BITCAST_CONVERT or shape.dimensions == i.operands[0].shape.dimensions


def is_small_constant(i: HloInstruction) -> bool:
    """Return True for a constant of one element, which becomes an immediate operand."""
    return i.opcode is CONSTANT and i.shape.is_array and i.shape.element_count == 1


def reduced_size(reduce: HloInstruction) -> int:
    """Return the number of elements that each result element of a reduce reads per operand."""
    dimensions = reduce.operands[0].shape.dimensions
    size = 1
    for number in reduce.attribute("dimensions"):
        size *= dimensions[number]
    return size


def window_size(reduce_window: HloInstruction) -> int:
    """Return the number of elements that each reduce-window result element reads per operand."""
    return prod([dimension.size for dimension in reduce_window.attribute("window").dimensions])


def has_default_layout(i: HloInstruction) -> bool:
    """Return True if every array of its shape is row-major."""
    return i.shape.base is i.shape


def control_successors(computation: HloComputation) -> set[HloInstruction]:
    """Return the instructions that are control predecessors of others."""
    return {
        p
        for i in computation.instructions.values()
        if i.control_predecessors
        for p in i.control_predecessors
    }
