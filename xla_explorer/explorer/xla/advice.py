"""Advice for a program that is slow on XLA: rules from measured facts to a sentence.

A rule states what it measured and an upper bound of the gain; it never promises. A new rule is one
more function in `RULES`.
"""

from __future__ import annotations

from typing import Final

from xla_explorer.explorer.advice.array_forms import ARRAY_FORMS
from xla_explorer.explorer.advice.known_gathers import slices_for_known_gathers
from xla_explorer.explorer.advice.loop_forms import WASTE_IN_LOOPS
from xla_explorer.explorer.advice.rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    Rule,
    batch_stacked_weights,
    copy_less_in_loops,
    flatten_products,
    halve_doubles,
    has_opcode,
    longest_line,
)
from xla_explorer.explorer.advice.slow_forms import SLOW_FORMS

_SMALL_US: Final = 3.0  # below this, launch and synchronisation take as long as the kernel's work
_MANY_STARTS: Final = 100
_START_US: Final = 10.0  # upper bound of a kernel's start, with other threads woken for it
SMALL_LOOPS: Final = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=10000000"
NO_YNN: Final = "--xla_cpu_experimental_ynn_fusion_type="
NO_YNN_REDUCE: Final = "--xla_cpu_experimental_ynn_fusion_type=-reduce"
YNN: Final = "__ynn_fusion"


def _looped_kernels(facts: Facts) -> list[KernelFact]:
    return [kernel for kernel in facts.kernels if kernel.calls > 1]


def _loop_cost(facts: Facts) -> tuple[int, float, float]:
    """Return (kernels started in loops, time of the short ones, the loops' own time)."""
    looped = [kernel for kernel in _looped_kernels(facts) if kernel.us / kernel.calls < _SMALL_US]
    loops = sum(kernel.us for kernel in facts.kernels if kernel.instruction.opcode.name == "while")
    return sum(kernel.calls for kernel in looped), sum(kernel.us for kernel in looped), loops


def compile_small_loops(facts: Facts) -> Advice | None:
    """Propose to compile a loop of many short kernels, with little state, as one kernel."""
    starts, short, loops = _loop_cost(facts)
    gain = loops + short / 2 + facts.idle_us
    if starts < _MANY_STARTS or loops <= 0 or gain < NOTABLE * facts.run_us:
        return None
    seen = (
        f"loops start {starts} kernels of under {_SMALL_US:g} us in a run, and take {loops:.0f} "
        "us apart from the kernels"
    )
    change = f"compile whole loops: XLA_FLAGS={SMALL_LOOPS}"
    return Advice(
        min(gain, facts.run_us / 2),
        f"{seen}; {change}",
        longest_line(_looped_kernels(facts)),
        SMALL_LOOPS,
    )


def unroll_small_loops(facts: Facts) -> Advice | None:
    """Propose to unroll a loop whose iterations are as short as their start."""
    looped = [kernel for kernel in _looped_kernels(facts) if kernel.us / kernel.calls < _SMALL_US]
    iterations = max((kernel.calls for kernel in looped), default=0)
    loops = [kernel for kernel in facts.kernels if kernel.instruction.opcode.name == "while"]
    gain = sum(loop.us for loop in loops) + facts.idle_us * bool(loops)
    if iterations < 8 or len(looped) > 8 or gain < NOTABLE * facts.run_us:
        return None
    short = f"{len(looped)} kernels of under {_SMALL_US:g} us each"
    seen = (
        f"a loop of {iterations} iterations runs {short}; between kernels and in the loop itself "
        f"{gain:.0f} us pass"
    )
    return Advice(
        gain,
        f"{seen}: unroll it, jax.lax.scan(..., unroll=8), or do more in each iteration",
        longest_line(looped),
    )


def batch_small_kernels(facts: Facts) -> Advice | None:
    """Propose larger calls for many kernels, outside loops, shorter than their start."""
    small = [kernel for kernel in facts.kernels if kernel.calls == 1 and kernel.us < _SMALL_US]
    gain = min(facts.idle_us, _START_US * len(small))
    if len(small) < 20 or _loop_cost(facts)[0] > len(small) or gain < NOTABLE * facts.run_us:
        return None
    seen = (
        f"{len(small)} kernels take under {_SMALL_US:g} us each, and for {facts.idle_us:.0f} us "
        "of a run no kernel works"
    )
    change = "do more per call (jax.vmap over a batch, several steps in one jax.lax.scan)"
    return Advice(gain, f"{seen}: {change}", longest_line(small))


def convolutions_by_eigen(facts: Facts) -> Advice | None:
    """Propose XLA's convolutions if those of the library YNN stay far below the roof."""
    found = [
        kernel
        for kernel in facts.kernels
        if kernel.least_us is not None and has_opcode(kernel.instruction, "convolution")
    ]
    gain = sum(kernel.us - (kernel.least_us or 0.0) for kernel in found)
    time = sum(kernel.us for kernel in found)
    if time < 4 * NOTABLE * facts.run_us or gain < time / 2:
        return None
    seen = (
        f"{len(found)} convolutions run in the library YNN for {time:.0f} us of a run, "
        f"{gain / time:.0%} of it above the machine's roof"
    )
    return Advice(gain, f"{seen}; try XLA's own: XLA_FLAGS={NO_YNN}", longest_line(found), NO_YNN)


def reductions_without_ynn(facts: Facts) -> Advice | None:
    """Propose XLA's reductions if its rewriter moved them to the library YNN."""
    found = [
        k
        for k in facts.kernels
        if has_opcode(k.instruction, "reduce")
        and YNN in str(k.instruction.attributes.get("backend_config"))
    ]
    time = sum(kernel.us for kernel in found)
    if time < 2 * NOTABLE * facts.run_us:
        return None
    seen = f"{len(found)} reductions run in the library YNN for {time:.0f} us of a run"
    return Advice(
        time,
        f"{seen}; try XLA's own: XLA_FLAGS={NO_YNN_REDUCE}",
        longest_line(found),
        NO_YNN_REDUCE,
    )


def sort_by_our_compiler(facts: Facts) -> Advice | None:
    """Propose our compiler for sorts that it was measured to run faster."""
    found = [kernel for kernel in facts.kernels if kernel.instruction.opcode.name == "sort"]
    time = sum(kernel.us for kernel in found)
    if facts.ours_us is None or time < facts.run_us / 2 or facts.ours_us > facts.run_us / 2:
        return None
    seen = f"sorts take {time:.0f} us of a run: XLA:CPU compares elements on one thread"
    change = "run the program by our compiler, xe.jit(f) or JAX_PLATFORMS=xla_explorer"
    tried = facts.run_us, facts.ours_us
    return Advice(facts.run_us - facts.ours_us, f"{seen}; {change}", longest_line(found), "", tried)


RULES: Final[tuple[Rule, ...]] = (
    compile_small_loops, unroll_small_loops, flatten_products, batch_stacked_weights, convolutions_by_eigen, batch_small_kernels,
    reductions_without_ynn, sort_by_our_compiler, copy_less_in_loops, halve_doubles, *SLOW_FORMS,
    *ARRAY_FORMS, *WASTE_IN_LOOPS, slices_for_known_gathers,
)  # fmt: skip


def advise(facts: Facts, most: int = 6) -> list[Advice]:
    """Return the rules' advice, the largest gain first."""
    found = [advice for rule in RULES if (advice := rule(facts)) is not None]
    return sorted(found, key=lambda advice: -advice.gain_us)[:most]
