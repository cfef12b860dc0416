"""What to try first where a program is slow on XLA: rules, each a small function from measured facts to a sentence with its number.

A rule says what it saw and an upper bound of what the change can gain; it never promises. A new rule is one more function in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from xla_explorer.hlo.instruction import HloInstruction

_SMALL_US: Final = 3.0  # below this a kernel's launch and synchronisation weigh as much as its work
_MOVES: Final = frozenset({"copy", "transpose"})
_NOTABLE: Final = 0.05  # of a run's time: what is below is not worth a sentence
_MANY_STARTS: Final = 100
_START_US: Final = 10.0  # what a kernel's start may cost at most, with other threads woken for it
SMALL_LOOPS: Final = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=10000000"
NO_YNN: Final = "--xla_cpu_experimental_ynn_fusion_type="


class KernelFact(NamedTuple):
    """A kernel of one run. us: all its executions together. calls: executions. least_us: by the machine's roofs, None for unknown."""

    instruction: HloInstruction
    us: float
    calls: int
    line: str
    least_us: float | None = None


class Facts(NamedTuple):
    """What was measured of one run, in microseconds; kernels by the pace of runs that are not recorded."""

    run_us: float
    idle_us: float
    kernels: Sequence[KernelFact]


class Advice(NamedTuple):
    """A change to try. gain_us: at most, of a run. sentence: what was seen and what to write. line: where, empty for the whole program."""

    gain_us: float
    sentence: str
    line: str = ""


Rule = Callable[[Facts], "Advice | None"]


def _longest_line(kernels: Sequence[KernelFact]) -> str:
    by_line: dict[str, float] = {}
    for kernel in kernels:
        by_line[kernel.line] = by_line.get(kernel.line, 0.0) + kernel.us
    return max(by_line, key=lambda line: by_line[line], default="")


def _in_loops(facts: Facts) -> list[KernelFact]:
    return [kernel for kernel in facts.kernels if kernel.calls > 1]


def _loop_cost(facts: Facts) -> tuple[int, float, float]:
    """(kernels started inside of loops, their time where they are short, what the loops take beside them)."""
    looped = [kernel for kernel in _in_loops(facts) if kernel.us / kernel.calls < _SMALL_US]
    loops = sum(kernel.us for kernel in facts.kernels if kernel.instruction.opcode.name == "while")
    return sum(kernel.calls for kernel in looped), sum(kernel.us for kernel in looped), loops


def compile_small_loops(facts: Facts) -> Advice | None:
    """Loops that start many short kernels: XLA:CPU can compile a loop of little state as one kernel."""
    starts, short, loops = _loop_cost(facts)
    gain = loops + short / 2 + facts.idle_us
    if starts < _MANY_STARTS or loops <= 0 or gain < _NOTABLE * facts.run_us:
        return None
    seen = f"loops start {starts} kernels of under {_SMALL_US:g} us in a run, and take {loops:.0f} us beside them"
    change = f"compile whole loops: XLA_FLAGS={SMALL_LOOPS}"
    return Advice(min(gain, facts.run_us / 2), f"{seen}; {change}", _longest_line(_in_loops(facts)))


def unroll_small_loops(facts: Facts) -> Advice | None:
    """A loop whose iterations are as short as what it takes to start one."""
    looped = [kernel for kernel in _in_loops(facts) if kernel.us / kernel.calls < _SMALL_US]
    turns = max((kernel.calls for kernel in looped), default=0)
    loops = [kernel for kernel in facts.kernels if kernel.instruction.opcode.name == "while"]
    gain = sum(loop.us for loop in loops) + facts.idle_us * bool(loops)
    if turns < 8 or len(looped) > 8 or gain < _NOTABLE * facts.run_us:
        return None
    short = f"{len(looped)} kernels of under {_SMALL_US:g} us each"
    seen = f"a loop of {turns} turns runs {short}; between kernels and in the loop itself {gain:.0f} us pass"
    return Advice(gain, f"{seen}: unroll it, jax.lax.scan(..., unroll=8), or do more in each turn", _longest_line(looped))


def batch_small_kernels(facts: Facts) -> Advice | None:
    """Many kernels that are shorter than their start, outside of loops."""
    small = [kernel for kernel in facts.kernels if kernel.calls == 1 and kernel.us < _SMALL_US]
    gain = min(facts.idle_us, _START_US * len(small))
    if len(small) < 20 or _loop_cost(facts)[0] > len(small) or gain < _NOTABLE * facts.run_us:
        return None
    seen = f"{len(small)} kernels take under {_SMALL_US:g} us each, and for {facts.idle_us:.0f} us of a run no kernel works"
    change = "give a call more to do (jax.vmap over a batch, several steps in one jax.lax.scan)"
    return Advice(gain, f"{seen}: {change}", _longest_line(small))


def flatten_products(facts: Facts) -> Advice | None:
    """Results that are computed into another layout for a product: gradients of a product over several leading dimensions."""
    moves = [kernel for kernel in facts.kernels if _feeds_product(kernel.instruction)]
    gain = sum(kernel.us for kernel in moves)
    if gain < _NOTABLE * facts.run_us:
        return None
    seen = f"{len(moves)} kernels write a copy in another layout for a product, {gain:.0f} us of a run"
    change = "flatten the leading dimensions before a product with weights: (x.reshape(-1, n) @ w).reshape(*x.shape[:-1], -1)"
    return Advice(gain, f"{seen}: {change}", _longest_line(moves))


def _feeds_product(i: HloInstruction) -> bool:
    if not (i.opcode.name in _MOVES or (i.opcode.name == "fusion" and _ends_in_a_move(i))):
        return False
    pending, seen = list(i.users), set()
    while pending:
        user = pending.pop()
        if user in seen:
            continue
        seen.add(user)
        if user.opcode.name == "dot" or _has(user, "dot"):
            return True
        if user.opcode.name in ("bitcast", "reshape", "get-tuple-element"):
            pending += user.users
    return False


def _ends_in_a_move(i: HloInstruction) -> bool:
    root = i.called[0].root
    while root.opcode.name in ("bitcast", "reshape") and root.operands:
        root = root.operands[0]
    return root.opcode.name in _MOVES


def convolutions_by_eigen(facts: Facts) -> Advice | None:
    """Convolutions handed to YNN that stay far below the machine's roof."""
    found = [kernel for kernel in facts.kernels if kernel.least_us is not None and _has(kernel.instruction, "convolution")]
    gain = sum(kernel.us - (kernel.least_us or 0.0) for kernel in found)
    time = sum(kernel.us for kernel in found)
    if time < 4 * _NOTABLE * facts.run_us or gain < time / 2:
        return None
    seen = f"{len(found)} convolutions run in the library YNN for {time:.0f} us of a run, {gain / time:.0%} of it above the machine's roof"
    return Advice(gain, f"{seen}; try XLA's own: XLA_FLAGS={NO_YNN}", _longest_line(found))


def keep_layouts(facts: Facts) -> Advice | None:
    """Time in kernels that only move data to another layout."""
    moves = [kernel for kernel in facts.kernels if _only_moves(kernel.instruction) and not _feeds_product(kernel.instruction)]
    gain = sum(kernel.us for kernel in moves)
    if gain < _NOTABLE * facts.run_us:
        return None
    line = _longest_line(moves)
    seen = f"{len(moves)} kernels only copy or transpose, {gain:.0f} us of a run"
    looped = [kernel for kernel in moves if kernel.calls > 1]
    change = "contract over the last dimension of both operands (jnp.einsum, or store a weight transposed once)"
    if sum(kernel.us for kernel in looped) > gain / 2:
        change = "carry less through the loop: state that it does not change, or writes in one place only, is copied in each turn"
    return Advice(gain, f"{seen}: {change}", line)


def _only_moves(i: HloInstruction) -> bool:
    if i.opcode.name != "fusion":
        return i.opcode.name in _MOVES
    inside = {one.opcode.name for one in i.called[0].instructions.values()} - {"parameter", "bitcast", "reshape"}
    return bool(inside) and inside <= _MOVES


def halve_doubles(facts: Facts) -> Advice | None:
    """Arithmetic in 64 bits."""
    wide = [kernel for kernel in facts.kernels if _element_type(kernel.instruction) in ("f64", "c128")]
    time = sum(kernel.us for kernel in wide)
    if time / 2 < _NOTABLE * facts.run_us:
        return None
    seen = f"kernels on 64-bit floats take {time:.0f} us of a run"
    return Advice(time / 2, f"{seen}: in 32 bits they move half of the bytes (jax_enable_x64, dtype= of the inputs)", _longest_line(wide))


def sort_scatters(facts: Facts) -> Advice | None:
    """Scatters, which XLA:CPU runs one update after the other."""
    found = [kernel for kernel in facts.kernels if kernel.instruction.opcode.name == "scatter" or _has(kernel.instruction, "scatter")]
    time = sum(kernel.us for kernel in found)
    if time < 2 * _NOTABLE * facts.run_us:
        return None
    seen = f"scatters take {time:.0f} us of a run, one update after the other"
    change = "a product with jax.nn.one_hot, or jax.ops.segment_sum with indices_are_sorted=True, runs as wide as the machine"
    return Advice(time, f"{seen}: {change}", _longest_line(found))


def _has(i: HloInstruction, opcode: str) -> bool:
    return i.opcode.name == "fusion" and any(one.opcode.name == opcode for one in i.called[0].instructions.values())


def _element_type(i: HloInstruction) -> str:
    types = {leaf.element_type.name for shape in (i.shape, *[o.shape for o in i.operands]) for _, leaf in shape.leaves() if leaf.is_array}
    return next((name for name in ("f64", "c128") if name in types), "")


RULES: Final[tuple[Rule, ...]] = (
    compile_small_loops, unroll_small_loops, flatten_products, convolutions_by_eigen, batch_small_kernels, keep_layouts, halve_doubles,
    sort_scatters,
)  # fmt: skip


def advise(facts: Facts, most: int = 3) -> list[Advice]:
    """The rules' advice, the largest gain first."""
    found = [advice for rule in RULES if (advice := rule(facts)) is not None]
    return sorted(found, key=lambda advice: -advice.gain_us)[:most]
