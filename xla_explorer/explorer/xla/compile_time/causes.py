"""Causes of long compiles that the program shows: repeated lines, constants, large kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from xla_explorer.explorer.advice.captured_constants import large_constants
from xla_explorer.explorer.display.quantities import byte_count, number_of
from xla_explorer.explorer.sessions.source_lines import SourceLines, in_library, shown_file
from xla_explorer.explorer.xla.compile_time.kernel_compile import KernelCompile
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.explorer.xla.repeated_lines import repeated_lines
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule

_LARGE_KERNEL: Final = 0.2  # of all kernels' time, from which one kernel is named
_KERNELS_OF_A_LOOP: Final = 3  # a counter, a comparison, slices of the stacked parameters
_FOLDED: Final = 1 << 16  # bytes of a value that XLA computes while it compiles


class CompileCause(NamedTuple):
    """Something in the program that makes its compile long.

    Attributes
    ----------
    kind : str
        repeated-block, captured-constant, folded-constant or large-kernel.
    line : str
        The user's source line.
    share : float
        The share of the program (or of the kernels' time) that it makes up.
    sentence : str
        The evidence and the change.
    saves_s : float or None
        Estimate of the seconds that the change saves; None if there is none.
    """

    kind: str
    line: str
    share: float
    sentence: str
    saves_s: float | None = None


def causes_of(
    module: HloModule, passes_s: float, kernels: Sequence[KernelCompile]
) -> list[CompileCause]:
    """Return the causes, the one that saves most first.

    module: as JAX lowered it. passes_s: of all stages whose time grows with the program, without
    kernels. kernels: of XLA's program, each with its line.
    """
    rows = [(one.kernel, one.emit_s, one.line) for one in kernels if one.emit_s is not None]
    found = [*repeated_block(module, passes_s, kernels), *_constants(module), *_large_kernels(rows)]
    return sorted(found, key=lambda one: (-(one.saves_s or 0.0), -one.share))


def repeated_block(
    module: HloModule, passes_s: float = 0.0, kernels: Sequence[KernelCompile] = ()
) -> list[CompileCause]:
    """Return one cause for all lines that are traced equally often: the body of a Python loop."""
    groups: dict[int, list[tuple[str, float]]] = {}
    for row in repeated_lines(module, most=None):
        groups.setdefault(row.times, []).append((row.line, row.share))
    if not groups:
        return []
    times, rows = max(groups.items(), key=lambda group: sum([share for _, share in group[1]]))
    # Lines of the same loop may be traced a multiple of its iterations; gradients lack one.
    rows = [row for number, of in groups.items() if number % times in (0, times - 1) for row in of]
    share = sum([one for _, one in rows])
    call = _loop_line(module, {line for line, _ in rows}) or rows[0][0]
    lines = ", ".join([short_place(line) for line, _ in rows[:3]])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    change = "stack their parameters and use one jax.lax.scan"
    sentence = (
        f"{number_of(len(rows), 'line')} ({lines}{more}) traced {times} times each make up "
        f"{share:.0%} of the program: {change}"
    )
    saves = passes_s * share * (1 - 1 / times)
    per_turn = sum([1 for _ in module.instructions()]) * share / times
    saves += _saved_kernels({short_place(line) for line, _ in rows}, kernels, per_turn)
    if kernels and saves <= 0:
        sentence += "; XLA compiles equal kernels once here, so it saves no time now"
    return [CompileCause("repeated-block", short_place(call), share, sentence, max(saves, 0.0))]


def _saved_kernels(
    lines: set[str], kernels: Sequence[KernelCompile], per_turn: float = 0.0
) -> float:
    """Return the seconds of kernels that a loop in place of repeated lines would not compile.

    XLA compiles equal kernels once. A loop compiles one kernel of each kind, and a few of its own.
    A kernel into which several turns are fused has the instructions of one turn in a loop.

    per_turn: instructions of one turn in the program; 0 if unknown.
    """
    times: dict[str, list[float]] = {}
    whole, every = 0.0, []
    for one in kernels:
        if one.llvm_s <= 0:
            continue
        seconds = (one.emit_s or 0.0) + one.llvm_s
        of_one_turn = seconds * _share_of_one_turn(lines, one, per_turn)
        every.append(of_one_turn)
        whole += seconds - of_one_turn
        if one.line in lines:
            whole += of_one_turn
            times.setdefault(one.opcode, []).append(of_one_turn)
    kept = sum([sum(of) / len(of) for of in times.values()])
    own = _KERNELS_OF_A_LOOP * sum(every) / max(len(every), 1)
    return whole - kept - own


def _share_of_one_turn(lines: set[str], kernel: KernelCompile, per_turn: float) -> float:
    """Return the part of a kernel's compile that is left if it has one turn of a loop only."""
    repeated = sum([count for line, count in kernel.lines if line in lines])
    share = repeated / max(sum([count for _, count in kernel.lines]), 1)
    turns = max(repeated / per_turn, 1.0) if per_turn else 1.0
    return 1 - share + share / turns


def _loop_line(module: HloModule, lines: set[str]) -> str:
    """Return the innermost line of the user that all operations of some lines were called from."""
    places = SourceLines(module)
    common: list[tuple[str, int]] | None = None  # innermost first; JAX keeps ten frames only
    for i in module.instructions():
        if i.opcode.name == "parameter" or not parse_metadata(i.metadata).op_name:
            continue
        if places.metadata_place(i.metadata) not in lines:
            continue
        frames = [frame for frame in places.frames(i.metadata) if not in_library(frame[0])]
        kept = set(frames)
        common = frames if common is None else [one for one in common if one in kept]
    return f"{shown_file(common[0][0])}:{common[0][1]}" if common else ""


def _constants(module: HloModule) -> list[CompileCause]:
    """Return the captured arrays, which XLA copies, prints and folds, and those that it folds."""
    places, found = PlacedModule(module), []
    for i in large_constants(module):
        lines = [places.find(one.name)[1].line for one in (i, *i.users)]
        line = short_place(next(filter(None, lines), ""))
        size = byte_count(i.shape.byte_size)
        share = i.shape.byte_size / max(
            sum([c.shape.byte_size for c in large_constants(module)]), 1
        )
        sentence = (
            f"%{i.name} is a captured array of {size}, part of the program: pass it as an argument"
        )
        found.append(CompileCause("captured-constant", line, share, sentence))
    for i in module.instructions():
        is_folded = (
            i.opcode.name not in ("constant", "iota", "broadcast", "parameter", "tuple")
            and i.operands
            and i.shape.is_array
            and i.shape.byte_size >= _FOLDED
            and all(o.opcode.name in ("constant", "iota") for o in i.operands)
            and any(o.opcode.name == "constant" and not o.shape.is_scalar for o in i.operands)
        )
        if is_folded:
            line = short_place(places.find(i.name)[1].line)
            size = byte_count(i.shape.byte_size)
            sentence = (
                f"%{i.name} ({i.opcode.name}, {size}) has constant operands only: XLA computes it "
                "while it compiles; compute it once with numpy and pass it as an argument"
            )
            found.append(CompileCause("folded-constant", line, 0.0, sentence))
    return found[:5]


def _large_kernels(kernels: Sequence[tuple[str, float, str]]) -> list[CompileCause]:
    whole = sum([seconds for _, seconds, _ in kernels])
    found = []
    for name, seconds, line in kernels[:2]:
        if len(kernels) >= 4 and whole > 0 and seconds > _LARGE_KERNEL * whole:
            sentence = (
                f"%{name} takes {seconds / whole:.0%} of the kernels' time: a fusion that large "
                "compiles slowly; jax.lax.optimization_barrier inside it splits it"
            )
            found.append(CompileCause("large-kernel", line, seconds / whole, sentence))
    return found
