"""Rules of advice for loops: many short steps, unrolled loops, arrays that are moved each step."""

from __future__ import annotations

from typing import Final

from xla_explorer.explorer.display.quantities import byte_count, microseconds
from xla_explorer.explorer.measures.advice_rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    longest_line,
)
from xla_explorer.explorer.measures.slow_forms import kernel_instructions
from xla_explorer.hlo.instruction import HloInstruction

_MANY_STEPS: Final = 32
_SHORT_US: Final = 5.0
"""Kernels of a loop below this time are mostly their start."""
_MANY_COPIES: Final = 24
"""Kernels of one line from which on it is called an unrolled loop."""
_LARGE_BYTES: Final = 16384
_MOVES: Final = frozenset(
    {"parameter", "bitcast", "reshape", "broadcast", "constant", "copy", "transpose"}
    | {"slice", "concatenate", "select", "pad", "convert", "reverse"}
    | {"dynamic-slice", "dynamic-update-slice", "get-tuple-element"}
)

_PARTS: Final = frozenset({"slice", "dynamic-update-slice"})


def many_short_steps(facts: Facts) -> Advice | None:
    """Advise to compute many short steps of a loop at once."""
    steps = [k for k in facts.kernels if k.calls >= _MANY_STEPS and k.us < _SHORT_US * k.calls]
    us = sum([k.us for k in steps])
    if not steps or us < 4 * NOTABLE * facts.run_us:
        return None
    calls = max([k.calls for k in steps])
    seen = (
        f"{len(steps)} kernels in a loop of {calls} steps take {microseconds(us / calls)} a step, "
        f"{us:.0f} us of a run"
    )
    change = (
        "compute all steps at once: jax.vmap or whole arrays if the steps are independent, "
        "jax.lax.associative_scan for a linear recurrence; else do more in a step (unroll=8)"
    )
    return Advice(us, f"{seen}: {change}", longest_line(steps))


def unrolled_loops(facts: Facts) -> Advice | None:
    """Advise to write a loop that Python unrolled as one operation on whole arrays."""
    lines: dict[str, list[KernelFact]] = {}
    for kernel in facts.kernels:
        if kernel.calls == 1 and kernel.line and not _has(kernel.instruction, "dot"):
            lines.setdefault(kernel.line, []).append(kernel)
    many = {line: found for line, found in lines.items() if len(found) >= _MANY_COPIES}
    if not many:
        return None
    us = sum([k.us for found in many.values() for k in found])
    if us < 2 * NOTABLE * facts.run_us:
        return None
    line, found = max(many.items(), key=lambda pair: sum([k.us for k in pair[1]]))
    seen = f"{len(found)} kernels come from one line, a loop that Python unrolled"
    change = (
        "write it as one operation on whole arrays, jax.vmap, or jax.lax.scan; collect rows with "
        "jnp.stack at the end, not with concatenate in each turn"
    )
    return Advice(us, f"{seen}, {us:.0f} us of a run: {change}", line)


def _has(i: HloInstruction, opcode: str) -> bool:
    return any(part.opcode.name == opcode for part in kernel_instructions(i))


def moved_state(facts: Facts) -> Advice | None:
    """Advise against a loop that moves a whole array in each step to change a part of it."""
    found = [k for k in facts.kernels if k.calls > 1 and _moves_state(k.instruction)]
    us = sum([k.us for k in found])
    if not found or us < 2 * NOTABLE * facts.run_us:
        return None
    first = max(found, key=lambda k: k.us)
    size = byte_count(first.instruction.shape.byte_size)
    seen = f"each of {first.calls} steps of a loop moves {size} that it does not change"
    change = (
        "write only the new part, x.at[i].set(row) or jax.lax.dynamic_update_slice; choose between "
        "rows, not between arrays; let i wrap around instead of shifting; return rows as ys of scan"
    )
    return Advice(us, f"{seen}, {us:.0f} us of a run: {change}", longest_line(found))


def _moves_state(i: HloInstruction) -> bool:
    """Return True if a kernel only moves values, and its result is large."""
    parts = list(kernel_instructions(i))
    root = i.called[0].root if i.opcode.name == "fusion" else i
    return (
        root.opcode.name in ("concatenate", "select", "pad")
        and root.shape.is_array
        and root.shape.byte_size >= _LARGE_BYTES
        and all(part.opcode.name in _MOVES or part.shape.element_count == 1 for part in parts)
        and (_is_chosen_whole(root) or any(part.opcode.name in _PARTS for part in parts))
    )


def _is_chosen_whole(root: HloInstruction) -> bool:
    """Return True for a choice between two whole arrays by one flag."""
    flag = root.operands[0]
    while flag.opcode.name in ("broadcast", "reshape", "bitcast"):
        flag = flag.operands[0]
    return root.opcode.name == "select" and flag.shape.element_count == 1


def strided_slices(facts: Facts) -> Advice | None:
    """Advise against reading one column after the other in a loop."""
    found = [
        k
        for k in facts.kernels
        if k.calls > 1 and any(map(_is_column, kernel_instructions(k.instruction)))
    ]
    us = sum([k.us for k in found])
    if not found or us < 2 * NOTABLE * facts.run_us:
        return None
    seen = f"{found[0].calls} columns of an array are read one by one, {us:.0f} us of a run"
    change = (
        "each element is a cache line apart: loop over rows of x.T (transposed once in front of "
        "the loop), or compute with the whole array"
    )
    return Advice(us, f"{seen}: {change}", longest_line(found))


def _is_column(i: HloInstruction) -> bool:
    if i.opcode.name != "dynamic-slice" or i.shape.layout is None or i.shape.rank < 2:
        return False
    minor = i.operands[0].shape.layout
    if minor is None:
        return False
    d = minor.minor_to_major[0]
    return i.shape.dimensions[d] == 1 < i.operands[0].shape.dimensions[d] and (
        i.shape.element_count > 1
    )


LOOP_FORMS: Final = (many_short_steps, unrolled_loops, moved_state, strided_slices)
