"""Rules of advice for any compiler: measured facts in, a sentence with its number out.

A rule states its evidence and an upper bound of the gain. It promises nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from xla_explorer.explorer.display.quantities import microseconds
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_MOVES: Final = frozenset({"copy", "transpose"})
NOTABLE: Final = 0.05
"""The least share of a run's time that is worth advice."""
_SAME_RESULTS: Final = 1e-6


class KernelFact(NamedTuple):
    """A kernel of one run.

    us: all its executions together. calls: executions. least_us: the bound by the machine's roofs,
    None if unknown.
    """

    instruction: HloInstruction
    us: float
    calls: int
    line: str
    least_us: float | None = None


class Facts(NamedTuple):
    """Measurements of one run in microseconds; ours_us is by our compiler.

    Times of kernels are scaled to the pace of runs without the recorder.
    """

    run_us: float
    idle_us: float
    kernels: Sequence[KernelFact]
    ours_us: float | None = None


class Advice(NamedTuple):
    """A change to try.

    gain_us: an upper bound per run, or the measured gain if it was tried. sentence: the evidence
    and the change. line: of the source, empty for the whole program. flags: of XLA, to try.
    tried_us: (a run without, a run with the change), None if it was not tried. form: the name of
    the rewritten program that can be tried. ratios: the interval of 95 % of the median of with :
    without, by rounds. difference: of the results, by their largest magnitude.
    """

    gain_us: float
    sentence: str
    line: str = ""
    flags: str = ""
    tried_us: tuple[float, float] | None = None
    form: str = ""
    ratios: tuple[float, float] | None = None
    difference: float = 0.0

    @property
    def evidence(self) -> str:
        """The source of the gain's number."""
        if self.tried_us is not None:
            before, after = self.tried_us
            text = f"measured: {microseconds(before)} to {microseconds(after)} a run"
            if self.ratios is not None:
                text += f", {after / before:.2f} ({self.ratios[0]:.2f} to {self.ratios[1]:.2f})"
            changed = self.difference > _SAME_RESULTS
            return text + (f"; results differ by {self.difference:.1e}" if changed else "")
        return f"not tried, at most {microseconds(self.gain_us)} of a run"


Rule = Callable[[Facts], "Advice | None"]


def longest_line(kernels: Sequence[KernelFact]) -> str:
    """Return the source line whose kernels take the most time together."""
    by_line: dict[str, float] = {}
    for kernel in kernels:
        by_line[kernel.line] = by_line.get(kernel.line, 0.0) + kernel.us
    return max(by_line, key=lambda line: by_line[line], default="")


def flatten_products(facts: Facts) -> Advice | None:
    """Advise to flatten leading dimensions before products.

    Their gradients otherwise get another layout by a copy.
    """
    change = "flatten the leading dimensions before a product with weights: (x.reshape(-1, n) @ w).reshape(*x.shape[:-1], -1)"
    return _of_moves(facts, _product_moves(facts, stacked=False), "a product", change)


def batch_stacked_weights(facts: Facts) -> Advice | None:
    """Advise to broadcast an operand over a stack of weights, as a batch dimension.

    `jax.vmap` over the weights alone writes a product without one.
    """
    change = 'broadcast x over the stack, a batch dimension then: jnp.einsum("end,edf->enf", jnp.broadcast_to(x, (len(w), *x.shape)), w)'
    return _of_moves(
        facts, _product_moves(facts, stacked=True), "a product with a stack of weights", change
    )


def _of_moves(
    facts: Facts, moves: Sequence[KernelFact], product: str, change: str
) -> Advice | None:
    gain = sum(kernel.us for kernel in moves)
    if gain < NOTABLE * facts.run_us:
        return None
    seen = (
        f"{len(moves)} kernels write a copy in another layout for {product}, {gain:.0f} us of a run"
    )
    return Advice(gain, f"{seen}: {change}", longest_line(moves))


def _product_moves(facts: Facts, *, stacked: bool) -> list[KernelFact]:
    """Return kernels that move operands of products.

    stacked: on lines where stacked weights are flattened; otherwise on the other lines.
    """
    line_of = {kernel.instruction: kernel.line for kernel in facts.kernels}
    moves = [
        (kernel, product)
        for kernel in facts.kernels
        if (product := product_of(kernel.instruction)) is not None
    ]
    lines = {
        line_of.get(product, kernel.line)
        for kernel, product in moves
        if _flattens_a_stack(kernel.instruction)
    }
    return [
        kernel
        for kernel, product in moves
        if (not lines.isdisjoint((kernel.line, line_of.get(product)))) is stacked
    ]


def _flattens_a_stack(i: HloInstruction) -> bool:
    """Return True if a parameter's transpose merges two dimensions that were not adjacent.

    An example is [e,d,f] to [d,e*f].
    """
    if i.opcode.name != "fusion" or any(
        operand.opcode.name != "parameter" for operand in i.operands
    ):
        return False
    flat = moved = i.called[0].root
    while moved.opcode.name in ("bitcast", "reshape", "copy"):
        moved = moved.operands[0]
    if moved.opcode.name != "transpose":
        return False
    order, sizes, apart = list(moved.attribute("dimensions")), list(moved.shape.dimensions), 0
    for size in flat.shape.dimensions:
        merged = [order.pop(0)] if order else []
        product = sizes.pop(0) if sizes else size
        while product < size and order:
            product *= sizes.pop(0)
            merged.append(order.pop(0))
        apart += any(b != a + 1 for a, b in pairwise(merged))
    return apart == 1


def product_of(i: HloInstruction) -> HloInstruction | None:
    """Return the product that reads a kernel's moved result; None for other kernels."""
    if not (i.opcode.name in _MOVES or (i.opcode.name == "fusion" and _ends_in_a_move(i))):
        return None
    pending, seen = list(i.users), set()
    while pending:
        user = pending.pop()
        if user in seen:
            continue
        seen.add(user)
        if user.opcode.name == "dot" or has_opcode(user, "dot"):
            return user
        if user.opcode.name in ("bitcast", "reshape", "get-tuple-element"):
            pending += user.users
    return None


def _ends_in_a_move(i: HloInstruction) -> bool:
    root = i.called[0].root
    while root.opcode.name in ("bitcast", "reshape") and root.operands:
        root = root.operands[0]
    return root.opcode.name in _MOVES


def copy_less_in_loops(facts: Facts) -> Advice | None:
    """Time in kernels of loops that only move data."""
    moves = [
        kernel for kernel in facts.kernels if kernel.calls > 1 and only_moves(kernel.instruction)
    ]
    moves = [kernel for kernel in moves if product_of(kernel.instruction) is None]
    gain = sum(kernel.us for kernel in moves)
    if gain < NOTABLE * facts.run_us:
        return None
    seen = f"{len(moves)} kernels of loops only copy or transpose, {gain:.0f} us of a run"
    change = "carry less through the loop: state that it does not change, or writes in one place only, is copied in each turn"
    return Advice(gain, f"{seen}: {change}", longest_line(moves))


def only_moves(i: HloInstruction) -> bool:
    """Return True for a kernel that only copies or transposes."""
    if i.opcode.name != "fusion":
        return i.opcode.name in _MOVES
    inside = {one.opcode.name for one in i.called[0].instructions.values()} - {
        "parameter",
        "bitcast",
        "reshape",
    }
    return bool(inside) and inside <= _MOVES


def halve_doubles(facts: Facts) -> Advice | None:
    """Advise against arithmetic in 64 bits, with the line at which it begins."""
    wide = [
        kernel
        for kernel in facts.kernels
        if any(_element_type(i) for i in _computed(kernel.instruction))
    ]
    time = sum(kernel.us for kernel in wide)
    if time / 2 < NOTABLE * facts.run_us:
        return None
    seen = f"kernels on 64-bit floats take {time:.0f} us of a run"
    first = _first_double(wide[0].instruction.parent.module)
    begins = f"; they begin with {first}" if first else ""
    change = "in 32 bits they move half of the bytes (jax_enable_x64, dtype= of the inputs)"
    return Advice(time / 2, f"{seen}{begins}: {change}", longest_line(wide), form="in-32-bits")


def _computed(i: HloInstruction) -> list[HloInstruction]:
    """Return a kernel's instruction and those that it computes: values inside may be wider."""
    return [i, *i.called[0].instructions.values()] if i.opcode.name == "fusion" else [i]


def _first_double(module: HloModule) -> str:
    """Return the largest 64-bit array that is an argument, a constant or a conversion."""

    def narrow(i: HloInstruction) -> bool:
        return i.opcode.name == "convert" and i.operands[0].shape.element_type.name not in (
            "f64",
            "c128",
        )

    wide = [
        i
        for i in module.instructions()
        if i.shape.is_array and i.shape.element_type.name in ("f64", "c128")
    ]
    begin = [
        i
        for i in wide
        if narrow(i)
        or i.opcode.name == "constant"
        or (i.opcode.name == "parameter" and i.parent is module.entry)
    ]
    if not begin:
        return ""
    first = max(begin, key=lambda i: i.shape.byte_size)
    place = SourceLines(module).innermost_place(first.metadata)
    what = {"parameter": "argument", "convert": "the conversion to"}.get(
        first.opcode.name, first.opcode.name
    )
    given = first.op_metadata.op_name if first.opcode.name == "parameter" else ""
    return f"{what} {given or f'%{first.name}'} {first.shape.text_without_layout}" + (
        f" at {place}" if place else ""
    )


def has_opcode(i: HloInstruction, opcode: str) -> bool:
    """Return True if a fusion contains an instruction of this opcode."""
    return i.opcode.name == "fusion" and any(
        one.opcode.name == opcode for one in i.called[0].instructions.values()
    )


def _element_type(i: HloInstruction) -> str:
    types = {
        leaf.element_type.name
        for shape in (i.shape, *[o.shape for o in i.operands])
        for _, leaf in shape.leaves()
        if leaf.is_array
    }
    return next((name for name in ("f64", "c128") if name in types), "")
