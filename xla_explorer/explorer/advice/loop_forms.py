"""Rules of advice for loops: many short steps, unrolled loops, arrays that are moved each step."""

from __future__ import annotations

from typing import Final

from xla_explorer.explorer.advice.rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    longest_line,
)
from xla_explorer.explorer.advice.slow_forms import advice_on, kernel_instructions
from xla_explorer.explorer.display.quantities import byte_count, microseconds
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

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


def hoist_from_loops(facts: Facts) -> Advice | None:
    """Advise to move loop-invariant kernels out of a loop's body or condition."""
    modules = {kernel.instruction.parent.module for kernel in facts.kernels[:1]}
    whiles = [i for module in modules for i in module.instructions() if i.opcode.name == "while"]
    kept = {c: _unchanged(loop) for loop in whiles for c in loop.called}
    looped = [k for k in facts.kernels if k.calls > 1 and k.instruction.parent in kept]
    found = [k for k in looped if _is_same(k.instruction, kept[k.instruction.parent])]
    gain = sum(kernel.us * (1 - 1 / kernel.calls) for kernel in found)
    change = "compute them once before the loop, and let its body and condition read the result"
    return advice_on(facts, found, "kernels that are loop-invariant", change, gain)


def _unchanged(loop: HloInstruction) -> set[int]:
    """Return the elements of a loop's state that its body does not change."""
    (body,) = [c for c in loop.called if c.root.shape == loop.shape]
    root = body.root
    if root.opcode.name != "tuple":
        return set()
    return {k for k, o in enumerate(root.operands) if o.opcode.name == "get-tuple-element" and o.operands[0] in body.parameters()
            and o.attribute("index") == k}  # fmt: skip


def _is_same(i: HloInstruction, kept: set[int]) -> bool:
    """Return True if a value depends only on constants and unchanged elements of a loop's state."""
    if i.opcode.name == "get-tuple-element" and i.operands[0].opcode.name == "parameter":
        return i.attribute("index") in kept
    if i.opcode.name in (
        "parameter",
        "while",
        "conditional",
        "call",
        "custom-call",
        "rng",
        "infeed",
        "partition-id",
        "replica-id",
    ):
        return False
    return all(_is_same(o, kept) for o in i.operands)


def whole_arrays(facts: Facts) -> Advice | None:
    """Advise to replace nested loops over single elements by operations on whole arrays."""
    modules = {kernel.instruction.parent.module for kernel in facts.kernels[:1]}
    nests = {c for module in modules for c in _nests_of_elements(module)}
    found = [
        k
        for k in facts.kernels
        if k.instruction.parent in nests or not nests.isdisjoint(_called_from(k.instruction))
    ]
    change = (
        "compute with whole arrays instead: a @ b or jnp.einsum where products are summed, "
        "else jax.vmap over the loop's body"
    )
    return advice_on(facts, found, "nested loops that compute one element a step", change)


def _nests_of_elements(module: HloModule) -> set[HloComputation]:
    """Return bodies of loops inside loops that write a single element of an array a step."""
    found = set()
    for loop in module.instructions():
        if loop.opcode.name == "while":
            inner = [i for c in _called_from(loop) for i in c.instructions.values()]
            whiles = [i for i in inner if i.opcode.name == "while"]
            found |= {
                i.parent
                for deeper in whiles
                for c in _called_from(deeper)
                for i in c.instructions.values()
                if any(map(_writes_one_element, kernel_instructions(i)))
            }
    return found


def _writes_one_element(i: HloInstruction) -> bool:
    return (
        i.opcode.name == "dynamic-update-slice"
        and i.operands[1].shape.element_count == 1 < i.shape.element_count
    )


def _called_from(i: HloInstruction) -> set[HloComputation]:
    """Return the computations that an instruction calls, directly or through others."""
    found: set[HloComputation] = set()
    pending = list(i.called)
    while pending:
        computation = pending.pop()
        if computation not in found:
            found.add(computation)
            pending += [c for j in computation.instructions.values() for c in j.called]
    return found


WASTE_IN_LOOPS: Final = (hoist_from_loops, whole_arrays)
"""Rules whose remedies were timed on XLA:CPU."""
LOOP_FORMS: Final = (many_short_steps, unrolled_loops, moved_state, strided_slices)
