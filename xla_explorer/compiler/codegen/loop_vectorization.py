"""Innermost loops of a finished kernel, rewritten with vectors: the text that LLVM's loop vectoriser would make of them.

LLVM's optimiser takes longer over a long straight-line loop than its code generator (0.6 of the compile time of a fusion with a thousand
operations). Our loops are regular: one block, an index that counts up by one, addresses that are linear in it, no branch. Here every
value of such a loop becomes uniform (computed before the loop), linear in the index (stays a scalar, that of the first lane) or
varying (a vector), and reductions in a stack slot become vector accumulators. What is left needs no optimiser.

A number of iterations that the vectors do not divide costs one more iteration, moved back so that it ends where the loop ends; lanes
that were done before are masked. Anything else (branches, gathers, strides, mutable slots) is refused with a Reason
(`loop_refusals.py`), and LLVM gets the scalar loop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, NO_VECTOR, metadata_definitions
from xla_explorer.compiler.codegen.ir.effort import Effort
from xla_explorer.compiler.codegen.kernels.kernel import Kernel
from xla_explorer.compiler.codegen.loop_refusals import KERNEL_REASONS, LOOP_REASONS, RefusedLoop
from xla_explorer.compiler.codegen.nest.ir import statement_count
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.vector_instructions import (
    BACK,
    BOUND,
    LABEL,
    PHI,
    POINTER,
    VectorFunctions,
    VectorizedKernel,
)
from xla_explorer.compiler.codegen.vector_loop import VectorLoop
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse

WORTH_LINES = 60  # lines of a program's kernels, functions included, from which LLVM's optimiser costs more than it is worth
MATH_LINES = 25  # about those of a mathematical function
FEW_ITERATIONS = 16  # of a loop that may stay scalar in a kernel whose other loops are in vectors
FEW_ITERATIONS_ONCE = 128  # the same, of a loop that is in no other loop


class VectorDecision(NamedTuple):
    """kernel: with its loops in vectors, or as it was. reason: why it was left, or what was done."""

    kernel: Kernel
    in_vectors: bool
    reason: Reason


def little_code(kernels: Sequence[Kernel]) -> Reason | None:
    """None when LLVM's optimiser would have much to do: the lines of the kernels' loops, and of the functions they call, count."""
    total = 0
    for made in kernels:
        if isinstance(made.nest, Schedule):  # about what LLVM would have had to do
            total += 12 + 3 * statement_count(made.nest.start)
            continue
        if is_written(made):
            continue
        total += len(made.lines) + sum([MATH_LINES for line in made.lines if "@xe_" in line])
    if total >= WORTH_LINES:
        return None
    return refuse("little-code", f"{KERNEL_REASONS['little-code']} ({total} lines of {WORTH_LINES})", lines=total, at_least=WORTH_LINES)


def is_written(made: Kernel) -> bool:
    """Whether the writer of a kernel chose the vectors itself."""
    return made.effort is Effort.FINAL


def is_scalar(made: Kernel) -> bool:
    """Whether the writer of a kernel says that most of its loops are scalar by their nature."""
    return made.effort is Effort.SHORT


def in_vectors(made: Kernel, target: Target, library: VectorFunctions) -> VectorDecision:
    """The kernel with its loops in vectors (all of them, but where most are scalar by their nature), or as it was.

    Its parameters must not overlap.
    """
    if is_written(made):
        return VectorDecision(made, True, Reason("written-in-vectors", "its writer chose the vectors itself"))
    modes = ("some",) if is_scalar(made) else ("all", "most")
    for mode in modes:
        found = vectorized_kernel(made.lines, made.origins, target, mode)
        if isinstance(found, Reason):
            reason = found
        elif library.has(found.functions):
            break
        else:
            names = ", ".join(dict.fromkeys(name for name, _ in found.functions))
            reason = refuse("function-has-branches", f"{LOOP_REASONS['function-has-branches']}: one of {names}", functions=names)
    else:
        return VectorDecision(made, False, reason)
    still_called = tuple([name for name in made.math if any(f"@{name}(" in line for line in found.lines)])  # outside the innermost loops
    kernel = made._replace(
        lines=tuple(found.lines), origins=tuple(found.origins), math=still_called,
        declarations=tuple(dict.fromkeys((*made.declarations, *found.declarations, *library.declarations))),
        globals=tuple(dict.fromkeys((*made.globals, *metadata_definitions(found.lines)))),
        effort=_effort(found.lines) if mode == "all" else Effort.SHORT,
    )  # fmt: skip
    return VectorDecision(kernel, True, _done(found))


def _done(found: VectorizedKernel) -> Reason:
    count, widths = len(found.lanes), " or ".join(map(str, sorted(set(found.lanes))))
    message = f"{count} {'loops' if count > 1 else 'loop'} in vectors of {widths} elements"
    if found.left:
        message += "; left as they are: " + ", ".join([f"{label} ({reason.code})" for label, reason in found.left.items()])
    left = {label: str(reason) for label, reason in found.left.items()}
    return Reason("in-vectors", message, {"loops": count, "lanes": found.lanes, **({"left": left} if left else {})})


def vectorized_kernel(lines: tuple[str, ...], origins: tuple[int | None, ...], target: Target,
                      mode: str = "all") -> VectorizedKernel | Reason:
    """The kernel with its innermost loops in vectors, or why not.

    mode: `all` of them, and no other branches: LLVM has nothing left to do. `most`: those that stay have few iterations; LLVM still
    has to make registers of variables. `some`: those that can be; the writer of the kernel says that the others are scalar by nature.
    The pointer parameters must not overlap.
    """
    kernel = VectorizedKernel([], [])
    slots = {m.group(1) for line in lines if (m := re.match(r"  (%slot\d+) = alloca", line))}
    bases = {m[1]: m[2] for line in lines if (m := POINTER.match(line))}
    metadata = NO_UNROLL if mode == "all" else NO_VECTOR
    position, found = 0, 0
    try:
        if mode == "all":
            _only_counted_loops(lines)
        elif mode == "most":
            _only_simple_loops(lines)
        while position < len(lines):
            end = _loop_end(lines, position)
            if end is not None and (mode == "all" or BACK.fullmatch(lines[end - 1])[4] is None):  # type: ignore[index]
                written = VectorizedKernel([], [])
                try:
                    loop = VectorLoop(written, lines[position:end], origins[position:end], slots, bases, target, lines, found, metadata)
                    loop.write()
                except RefusedLoop as refused:
                    if mode == "all" or (mode == "most" and not _few_iterations(lines, position, end)):
                        return _of_loop(lines[position], refused.reason)
                    kernel.left[lines[position].removesuffix(":")] = refused.reason
                else:
                    kernel.append(written)
                    kernel.lanes.append(loop.lanes)
                    found += 1
                    position = end
                    continue
            elif end is not None and mode == "most" and not _few_iterations(lines, position, end):
                return _of_loop(lines[position], RefusedLoop("writer-says-no").reason)
            kernel.lines.append(lines[position])
            kernel.origins.append(origins[position])
            position += 1
    except RefusedLoop as refused:
        return refused.reason
    if not found:
        return next((_of_loop(label, reason) for label, reason in kernel.left.items()), RefusedLoop("no-loop").reason)
    return kernel


def _effort(lines: Sequence[str]) -> Effort:
    """The effort of a kernel whose loops are all in vectors: with none left, its straight-line code still wants the whole pipeline."""
    if any(line.endswith(NO_UNROLL) for line in lines):
        return Effort.FINAL
    return Effort.SHORT if any(line.endswith(NO_VECTOR) for line in lines) else Effort.DEFAULT


def _of_loop(label: str, reason: Reason) -> Reason:
    name = label.removesuffix(":")
    return Reason(reason.code, f"{name}: {reason.message}", {"loop": name, **reason.facts})


def _few_iterations(lines: tuple[str, ...], position: int, end: int) -> bool:
    phi, bound = PHI.fullmatch(lines[position + 1]), BOUND.fullmatch(lines[end - 2])
    if phi is None or bound is None or not phi[2].isdigit() or not bound[4].isdigit():
        return False
    before = {label[1] for line in lines[:position] if (label := LABEL.fullmatch(line))}
    repeated = any((back := BACK.fullmatch(line)) and back[2] in before for line in lines[end:])
    return int(bound[4]) - int(phi[2]) <= (FEW_ITERATIONS if repeated else FEW_ITERATIONS_ONCE)


def _only_simple_loops(lines: tuple[str, ...]) -> None:
    """RefusedLoop for loops around a choice, and for those that do not count: LLVM may do something about them."""
    seen: set[str] = set()
    innermost: list[list[bool]] = []  # for each loop that is open, whether it has a loop inside, and whether it has a choice
    labels: list[str] = []
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        label = LABEL.fullmatch(line)
        if label is not None:
            seen.add(label[1])
            if PHI.fullmatch(following):
                labels.append(label[1])
                innermost.append([False, False])
        elif (back := BACK.fullmatch(line)) is not None and labels and back[2] == labels[-1]:
            labels.pop()
            has_loop, has_choice = innermost.pop()
            if has_choice and not has_loop:
                raise RefusedLoop("choice-in-a-loop", back[2])
            if innermost:
                innermost[-1][0] = True
        elif line.startswith(("  br i1", "  switch")):
            if innermost:
                innermost[-1][1] = True
        elif line.startswith("  br label %") and line[12:] in seen:
            raise RefusedLoop("uncounted-loop", line[12:])


def _only_counted_loops(lines: tuple[str, ...]) -> None:
    """RefusedLoop for branches that do not close a loop: what they decide is for LLVM, as are the slots that such loops live in."""
    seen = set()
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        label = LABEL.fullmatch(line)
        if label is not None and PHI.fullmatch(following):
            seen.add(label[1])
        elif line.startswith(("  br i1", "  switch")):
            back = BACK.fullmatch(line)
            if back is None or back[2] not in seen:
                raise RefusedLoop("branches", line.strip())


def _loop_end(lines: tuple[str, ...], position: int) -> int | None:
    """The line behind the branch back, for a loop of one block whose label is at `position`."""
    label = LABEL.fullmatch(lines[position])
    if label is None or position + 1 >= len(lines) or PHI.fullmatch(lines[position + 1]) is None:
        return None
    for at in range(position + 2, len(lines)):
        line = lines[at]
        if line.startswith("  br ") or line.startswith("  switch "):
            back = BACK.fullmatch(line)
            if back is None or back[2] != label[1]:
                return None
            return at + 1
        if LABEL.fullmatch(line):
            return None
    return None
