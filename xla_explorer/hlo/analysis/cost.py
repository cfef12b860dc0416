"""Cost of instructions: floating point operations, transcendental calls, bytes read and written.

Counts follow XLA's `HloCostAnalysis` (xla/service/hlo_cost_analysis.cc): one operation per result
element of an elementwise opcode, two per multiply-add of a contraction, transcendentals separately.
Bytes count every array once per operation that reads or writes it; a fusion counts only its
operands and results. Running windows (cumsum and similar) count one combination per element, as
implemented here; XLA counts each whole window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from xla_explorer.hlo.analysis.running_windows import scan_dimension
from xla_explorer.hlo.attributes.values import WindowDimension
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


class Cost(NamedTuple):
    """The cost of an execution.

    flops and transcendentals: operations. bytes_read, bytes_written: bytes. known: False if a
    custom call's work is unknown.
    """

    flops: float = 0
    transcendentals: float = 0
    bytes_read: float = 0
    bytes_written: float = 0
    known: bool = True

    @property
    def bytes_accessed(self) -> float:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Operations per byte; 0 without memory traffic."""
        return (
            (self.flops + self.transcendentals) / self.bytes_accessed
            if self.bytes_accessed
            else 0.0
        )

    def plus(self, other: Cost) -> Cost:
        """Return the sum of two costs."""
        return Cost(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
            self.known and other.known,
        )

    def times(self, factor: float) -> Cost:
        """Return the cost of repeated executions."""
        return Cost(
            self.flops * factor,
            self.transcendentals * factor,
            self.bytes_read * factor,
            self.bytes_written * factor,
            self.known,
        )


NOTHING = Cost()

TRANSCENDENTALS = frozenset(
    {
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "tanh",
        "tan",
        "sqrt",
        "rsqrt",
        "cbrt",
        "cosine",
        "sine",
        "erf",
        "logistic",
        "power",
        "atan2",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
    }
)
FREE = frozenset(
    {
        "parameter",
        "constant",
        "get-tuple-element",
        "bitcast",
        "after-all",
        "add-dependency",
        "domain",
        "opt-barrier",
        "partition-id",
        "replica-id",
    }
)
_NO_FLOPS = frozenset(
    {
        "broadcast",
        "iota",
        "transpose",
        "reshape",
        "pad",
        "concatenate",
        "copy",
        "reverse",
        "bitcast-convert",
        "real",
        "imag",
        "complex",
        "get-dimension-size",
        "set-dimension-size",
        "copy-start",
        "copy-done",
    }
)
_POINTER_BYTES = 8


def instruction_cost(i: HloInstruction) -> Cost:
    """Return the cost of one execution.

    `while` counts one iteration, conditional its dearest branch.
    """
    name = i.opcode.name
    if name in FREE:
        return NOTHING
    if name == "tuple":
        return Cost(bytes_written=_POINTER_BYTES * len(i.operands))
    special = _SPECIAL.get(name)
    if special is not None:
        return special(i)
    flops, transcendentals = _operations(i)
    return Cost(flops, transcendentals, _read_bytes(i), i.shape.byte_size)


def contractions(kernel: HloInstruction) -> list[HloInstruction]:
    """Return the dots and convolutions of a kernel."""
    parts = kernel.called[0].instructions.values() if kernel.opcode.name == "fusion" else (kernel,)
    return [i for i in parts if i.opcode.name in ("dot", "convolution")]


def computation_cost(computation: HloComputation) -> Cost:
    """Return the sum over the instructions of a computation."""
    total = NOTHING
    for i in computation.instructions.values():
        total = total.plus(instruction_cost(i))
    return total


def module_cost(module: HloModule) -> Cost:
    """Return the cost of the entry."""
    return computation_cost(module.entry)


def _operations(i: HloInstruction) -> tuple[float, float]:
    name = i.opcode.name
    if name in TRANSCENDENTALS:
        return 0, i.shape.element_count
    if name in _NO_FLOPS:
        return 0, 0
    count = _OPERATIONS.get(name)
    if count is not None:
        return count(i)
    if i.opcode.elementwise:
        return i.shape.element_count, 0
    return 0, 0


def _scalar_function(computation: HloComputation) -> tuple[float, float]:
    flops = transcendentals = 0.0
    for i in computation.instructions.values():
        if i.opcode.name not in FREE and i.opcode.name != "tuple":
            f, t = _operations(i)
            flops, transcendentals = flops + f, transcendentals + t
    return flops, transcendentals


def _applied(computation: HloComputation, times: float) -> tuple[float, float]:
    flops, transcendentals = _scalar_function(computation)
    return flops * times, transcendentals * times


def _reduce(i: HloInstruction) -> tuple[float, float]:
    result = (i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape).element_count
    return _applied(i.called[0], max(0, i.operands[0].shape.element_count - result))


def _reduce_window(i: HloInstruction) -> tuple[float, float]:
    result = (i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape).element_count
    rules = i.attribute("window").dimensions
    if (
        scan_dimension(rules, i.operands[0].shape.dimensions) is not None
    ):  # each value from the previous one
        return _applied(i.called[0], result)
    return _applied(i.called[0], result * max(0, math.prod([d.size for d in rules]) - 1))


def _dot(i: HloInstruction) -> tuple[float, float]:
    sizes = i.operands[0].shape.dimensions
    return 2.0 * i.shape.element_count * math.prod(
        [sizes[d] for d in i.attribute("lhs_contracting_dims")]
    ), 0


MOST_TAPS = (
    1 << 12
)  # counted exactly up to this number of taps; beyond, an even sample is scaled up


@lru_cache(maxsize=1024)
def _elements_under_windows(window: WindowDimension, size: int, outputs: int) -> float:
    """Count the pairs (output, tap) of a dimension that meet an element of the operand.

    Taps on holes or padding do not count. size: of the operand's dimension. For each tap, or each
    output if there are fewer, the partners are an arithmetic progression.
    """
    few, many = (window.size, window.window_dilation), (outputs, window.stride)
    if outputs < window.size:
        few, many = many, few
    steps = -(-few[0] // MOST_TAPS)
    chosen = range(0, few[0], steps) if steps else range(0)
    last = (size - 1) * window.base_dilation
    found = sum(
        [
            _met(k * few[1] - window.padding_low, many[1], many[0], window.base_dilation, last)
            for k in chosen
        ]
    )
    return found * few[0] / len(chosen) if chosen else 0.0


def _met(start: int, step: int, count: int, base: int, last: int) -> int:
    """Count the numbers among start, start + step ... in [0, last] that are multiples of base."""
    common = math.gcd(step, base)
    low, high = max(0, -(start // step)), min(count - 1, (last - start) // step)
    if start % common or low > high:
        return 0
    period = base // common
    first = -(start // common) * pow(step // common, -1, period) % period
    return (high - first) // period - (low - 1 - first) // period


def _convolution(i: HloInstruction) -> tuple[float, float]:
    numbers, lhs, rhs, result = (
        i.attribute("dim_labels"),
        i.operands[0].shape,
        i.operands[1].shape,
        i.shape,
    )
    valid = 1.0
    for k, window in enumerate(i.attribute("window").dimensions):
        size, outputs = (
            lhs.dimensions[numbers.input_spatial[k]],
            result.dimensions[numbers.output_spatial[k]],
        )
        valid *= _elements_under_windows(window, size, outputs)
    features = rhs.dimensions[numbers.kernel_input_feature]
    return 2.0 * features * rhs.dimensions[numbers.kernel_output_feature] * lhs.dimensions[
        numbers.input_batch
    ] / i.attribute("batch_group_count") * valid, 0


def _select_and_scatter(i: HloInstruction) -> tuple[float, float]:
    source = i.operands[1].shape.element_count
    window = math.prod([d.size for d in i.attribute("window").dimensions])
    select, scatter = (
        _applied(i.called[0], source * max(0, window - 1)),
        _applied(i.called[1], source),
    )
    return select[0] + scatter[0], select[1] + scatter[1]


def _scatter(i: HloInstruction) -> tuple[float, float]:
    count = (len(i.operands) - 1) // 2
    return _applied(i.called[0], i.operands[count + 1].shape.element_count)


def _fft(i: HloInstruction) -> tuple[float, float]:
    steps = math.prod(
        [max(1, int(math.log2(n))) if n > 0 else 0 for n in i.attribute("fft_length")]
    )
    return 8.0 * steps * i.operands[0].shape.element_count, 0


def _cholesky(i: HloInstruction) -> tuple[float, float]:
    shape = i.operands[0].shape
    return shape.element_count * shape.dimensions[-1] / 3.0, 0


def _triangular_solve(i: HloInstruction) -> tuple[float, float]:
    return 2.0 * i.operands[0].shape.dimensions[-1] * i.shape.element_count, 0


def _sort(i: HloInstruction) -> tuple[float, float]:
    count = i.operands[0].shape.element_count
    return float(count * math.ceil(math.log2(count))) if count > 1 else 0.0, 0


def _map(i: HloInstruction) -> tuple[float, float]:
    return _applied(i.called[0], i.shape.element_count)


def _random(i: HloInstruction) -> tuple[float, float]:
    return 0, sum([shape.element_count for _, shape in i.shape.leaves()])


def _all_reduce(i: HloInstruction) -> tuple[float, float]:
    return sum([shape.element_count for _, shape in i.shape.leaves()]), 0


_OPERATIONS: dict[str, Callable[[HloInstruction], tuple[float, float]]] = {
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "dot": _dot,
    "convolution": _convolution,
    "select-and-scatter": _select_and_scatter,
    "scatter": _scatter,
    "fft": _fft,
    "cholesky": _cholesky,
    "triangular-solve": _triangular_solve,
    "sort": _sort,
    "map": _map,
    "rng": _random,
    "rng-bit-generator": _random,
    "all-reduce": _all_reduce,
}


def _size(shape: Shape) -> int:
    return shape.byte_size


def _read_bytes(i: HloInstruction) -> float:
    return sum([_size(o.shape) for o in i.operands])


def _slice(i: HloInstruction) -> Cost:
    return Cost(
        bytes_read=i.shape.byte_size + sum([_size(o.shape) for o in i.operands[1:]]),
        bytes_written=i.shape.byte_size,
    )


def _gather(i: HloInstruction) -> Cost:
    return Cost(
        bytes_read=i.shape.byte_size + _size(i.operands[1].shape), bytes_written=i.shape.byte_size
    )


def _dynamic_update_slice(i: HloInstruction) -> Cost:
    update = _size(i.operands[1].shape)
    return Cost(
        bytes_read=update + sum([_size(o.shape) for o in i.operands[2:]]), bytes_written=update
    )


def _scatter_cost(i: HloInstruction) -> Cost:
    count = (len(i.operands) - 1) // 2
    updates = sum([_size(o.shape) for o in i.operands[count + 1 :]])
    flops, transcendentals = _scatter(i)
    return Cost(flops, transcendentals, 2 * updates + _size(i.operands[count].shape), updates)


def _half(i: HloInstruction) -> Cost:
    flops, _ = _operations(i)
    triangle = _size(i.operands[0].shape) / 2
    if i.opcode.name == "cholesky":
        return Cost(flops, 0, triangle, triangle)
    return Cost(flops, 0, triangle + _size(i.operands[1].shape), i.shape.byte_size)


def _fusion(i: HloInstruction) -> Cost:
    fused = i.called[0]
    flops = transcendentals = 0.0
    for inner in fused.instructions.values():
        if inner.opcode.name in FREE or inner.opcode.name == "tuple":
            continue
        cost = instruction_cost(inner)
        flops, transcendentals = flops + cost.flops, transcendentals + cost.transcendentals
    root = fused.root
    update = root if root.opcode.name == "dynamic-update-slice" else None
    read = sum(
        [
            _read_of_parameter(parameter, update)
            for parameter in fused.instructions.values()
            if parameter.opcode.name == "parameter" and parameter.users
        ]
    )
    written = _size(root.operands[1].shape) if update is not None else i.shape.byte_size
    return Cost(flops, transcendentals, read, written)


def _read_of_parameter(parameter: HloInstruction, update: HloInstruction | None) -> float:
    """Return the bytes that a fusion reads of a parameter.

    update: the root, if it writes a part of an array in place; it does not read the rest.
    """
    users = [u for u in parameter.users if u is not update or u.operands[0] is not parameter]
    if all(
        u.opcode.name in ("slice", "dynamic-slice", "gather") and u.operands[0] is parameter
        for u in users
    ):
        return min(_size(parameter.shape), sum([u.shape.byte_size for u in users]))
    return _size(parameter.shape)


def _while(i: HloInstruction) -> Cost:
    return computation_cost(i.called[0]).plus(computation_cost(i.called[1]))


def _conditional(i: HloInstruction) -> Cost:
    branches = [computation_cost(branch) for branch in i.called]
    return Cost(
        max([b.flops for b in branches]),
        max([b.transcendentals for b in branches]),
        max([b.bytes_read for b in branches]),
        max([b.bytes_written for b in branches]),
        all(b.known for b in branches),
    )


def _call(i: HloInstruction) -> Cost:
    return computation_cost(i.called[0])


def _unknown(i: HloInstruction) -> Cost:
    return Cost(0, 0, _read_bytes(i), i.shape.byte_size, False)


_SPECIAL: dict[str, Callable[[HloInstruction], Cost]] = {
    "slice": _slice,
    "dynamic-slice": _slice,
    "gather": _gather,
    "dynamic-update-slice": _dynamic_update_slice,
    "scatter": _scatter_cost,
    "cholesky": _half,
    "triangular-solve": _half,
    "fusion": _fusion,
    "while": _while,
    "conditional": _conditional,
    "call": _call,
    "custom-call": _unknown,
}
