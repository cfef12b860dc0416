"""`session.explain()` without an instruction: rules that propose changes to a slow program.

Each rule states its evidence, the call or change to try, and an upper bound of the gain. A new rule
is one more function in `OWN_RULES`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS, KINDS
from xla_explorer.explorer.advice.captured_constants import (
    CapturedConstant,
    captured_constants,
    captured_sentence,
)
from xla_explorer.explorer.advice.known_gathers import slices_for_known_gathers
from xla_explorer.explorer.advice.loop_forms import LOOP_FORMS, WASTE_IN_LOOPS
from xla_explorer.explorer.advice.rules import (
    NOTABLE,
    Advice,
    Facts,
    KernelFact,
    batch_stacked_weights,
    copy_less_in_loops,
    flatten_products,
    halve_doubles,
)
from xla_explorer.explorer.advice.slow_forms import SLOW_FORMS
from xla_explorer.explorer.advice.wasted_work import WASTED_WORK
from xla_explorer.explorer.display.blocks import Blocks, Listing, Sentence, Table
from xla_explorer.explorer.display.quantities import microseconds, number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.measures.kernel_costs import costs_of, measured_bound
from xla_explorer.explorer.measures.profiling import kernel_threads, limits_here, measured_kernels
from xla_explorer.explorer.questions.decisions import decisions_of
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps, source_line
from xla_explorer.explorer.tables.code_rows import AdviceRow
from xla_explorer.explorer.tables.rows import columns_of
from xla_explorer.foundation.decision import Decision

_MOST = 6
_FAR_FROM_ROOF: Final = 0.3
_WORTH_THREADS_US: Final = 100.0


class OwnKernel(NamedTuple):
    """A kernel of our compile.

    us: per run. bound: the limit of its time. reason: why it runs on the evaluator, else empty.
    """

    fact: KernelFact
    bound: str
    threads: int
    reason: str

    @property
    def us(self) -> float:
        """Microseconds per run."""
        return self.fact.us

    @property
    def name(self) -> str:
        """The name of the kernel's instruction."""
        return self.fact.instruction.name


class OwnFacts(NamedTuple):
    """The facts that the rules read.

    measured: True if times are of the last profile, False if of the cost model. cores: available to
    the compile.
    """

    run_us: float
    kernels: Sequence[OwnKernel]
    refusals: Sequence[Decision]
    cores: int
    measured: bool

    def longest(self, kernels: Sequence[OwnKernel]) -> str:
        """Return the source line of the slowest kernel."""
        return max(kernels, key=lambda kernel: kernel.us).fact.line if kernels else ""


OwnRule = Callable[[OwnFacts], "Advice | None"]


def leave_the_evaluator(facts: OwnFacts) -> Advice | None:
    """Advise against steps on the evaluator, which numpy computes because no kernel can."""
    slow = [kernel for kernel in facts.kernels if kernel.reason]
    gain = sum([kernel.us for kernel in slow])
    if not slow:
        return None
    first = max(slow, key=lambda kernel: kernel.us)
    seen = f"{number_of(len(slow), 'step')} on the evaluator, %{first.name} for one: {first.reason}"
    return Advice(
        gain,
        f"{seen}; write that part by instructions that have kernels (session.decisions('native-code'))",
        first.fact.line,
    )


def force_refused_fusions(facts: OwnFacts) -> Advice | None:
    """Advise to force the most expensive refused fusions, grouped by kind and code."""
    families: dict[tuple[str, str], list[tuple[float, Decision]]] = {}
    for d in facts.refusals:
        if (
            d.kind in FUSION_KINDS
            and d.forceable
            and len(d.names) == 2
            and isinstance(cost := d.facts.get("refusal_costs_microseconds"), int | float)
        ):
            families.setdefault((d.kind, d.code), []).append((float(cost), d))
    if not families:
        return None
    (kind, code), dear = max(
        families.items(), key=lambda family: sum([cost for cost, _ in family[1]])
    )
    gain = sum([cost for cost, _ in dear])
    if gain < NOTABLE / 2 * facts.run_us:
        return None
    _, one = max(dear, key=lambda pair: pair[0])
    meaning = KINDS[kind].reasons.get(code)
    remedy = f" ({meaning.remedy})" if meaning is not None else ""
    a, b = [f"%{name}" for name in one.names]
    call = f'session.override(force=[("{kind}", "{a}", "{b}")]).compare()'
    return Advice(
        gain, f"{number_of(len(dear), 'fusion')} refused, {code}{remedy}; try one: {call}"
    )


def use_more_threads(facts: OwnFacts) -> Advice | None:
    """Advise to use more threads for long kernels on one thread."""
    alone = [
        k for k in facts.kernels if k.threads == 1 and k.us > _WORTH_THREADS_US and not k.reason
    ]
    time = sum([k.us for k in alone])
    if facts.cores < 2 or time < 2 * NOTABLE * facts.run_us:
        return None
    first = max(alone, key=lambda kernel: kernel.us)
    seen = f"{number_of(len(alone), 'kernel')} of over {_WORTH_THREADS_US:g} us on one of {facts.cores} cores"
    call = f'session.why_not("parallel", "%{first.name}"), session.override(force=[("parallel", "%{first.name}")])'
    return Advice(time * (1 - 1 / facts.cores), f"{seen}: {call}", facts.longest(alone))


def tune_what_waits(facts: OwnFacts) -> Advice | None:
    """Advise to tune kernels that are far below every roof of the machine."""
    roofs = [
        (k, k.fact.least_us)
        for k in facts.kernels
        if k.fact.least_us is not None and k.us > 5 and not k.reason
    ]
    far = [k for k, least in roofs if least < _FAR_FROM_ROOF * k.us]
    gain = sum([k.us - least for k, least in roofs if least < _FAR_FROM_ROOF * k.us])
    if not facts.measured or gain < 2 * NOTABLE * facts.run_us:
        return None
    first = max(far, key=lambda kernel: kernel.us)
    seen = f"{number_of(len(far), 'kernel')} below {_FAR_FROM_ROOF:.0%} of the machine's roof"
    call = f'xe.tune(session, "%{first.name}") searches schedules; session.llvm.inner_loops("%{first.name}") names the busy unit'
    return Advice(gain, f"{seen}: {call}", facts.longest(far))


def move_fewer_bytes(facts: OwnFacts) -> Advice | None:
    """Advise to move fewer bytes in kernels at the memory's roof: no schedule is faster."""
    bound = [k for k in facts.kernels if k.bound == "memory" and not k.reason]
    time = sum([k.us for k in bound])
    if time < 0.25 * facts.run_us:
        return None
    seen = f"{number_of(len(bound), 'kernel')} bound by memory"
    change = "move fewer bytes: bf16 for what is stored, one kernel for what is read twice (the refused fusions), donated arguments"
    return Advice(time / 2, f"{seen}: {change}", facts.longest(bound))


def start_fewer_kernels(facts: OwnFacts) -> Advice | None:
    """Advise to start fewer kernels that are shorter than their launch."""
    short = [k for k in facts.kernels if k.bound == "launch"]
    time = sum([k.us for k in short])
    if len(short) < 5 or time < 2 * NOTABLE * facts.run_us:
        return None
    seen = f"{number_of(len(short), 'kernel')} shorter than their start"
    change = (
        "give a call more to do (jax.vmap over a batch), or fuse them: session.decisions('fusion')"
    )
    return Advice(time, f"{seen}: {change}", facts.longest(short))


OWN_RULES: Final[tuple[OwnRule, ...]] = (
    leave_the_evaluator, force_refused_fusions, use_more_threads, tune_what_waits, move_fewer_bytes, start_fewer_kernels,
)  # fmt: skip
SHARED_RULES: Final = (
    flatten_products,
    batch_stacked_weights,
    copy_less_in_loops,
    halve_doubles,
    *SLOW_FORMS,
    *WASTE_IN_LOOPS,
    *LOOP_FORMS,
    *WASTED_WORK,
    slices_for_known_gathers,
)


class SessionAdvice(Report):
    """Advice on a session.

    advice: changes to try, the largest possible gain first. facts: those that the rules read.
    captured: large constants of the program.
    """

    def __init__(
        self,
        name: str,
        facts: OwnFacts,
        advice: Sequence[Advice],
        captured: Sequence[CapturedConstant] = (),
    ) -> None:
        self.name, self.facts, self.advice, self.captured = (
            name,
            facts,
            list(advice),
            list(captured),
        )

    def headline(self) -> str:
        """Return the time of a run and its source."""
        known = (
            "measured"
            if self.facts.measured
            else "by the cost model, not run yet: session.profile() measures"
        )
        return f"{self.name}: {microseconds(self.facts.run_us)} in {number_of(len(self.facts.kernels), 'kernel')}, {known}"

    def blocks(self) -> Blocks:
        """Yield the advice in order."""
        if self.advice:
            yield Listing(
                "try first:",
                [advice_sentence(one, self.facts.run_us) for one in self.advice],
                numbered=True,
            )
        else:
            yield Sentence("no rule has a change to propose that gains a notable part of a run")
        if self.captured:
            yield Sentence(captured_sentence(self.captured))

    def records(self) -> Table:
        """Return a row per change: gain_us (upper bound per run), share, sentence, line."""
        whole = self.facts.run_us or 1.0
        return Table(
            columns_of(AdviceRow),
            [(a.gain_us, a.gain_us / whole, a.sentence, a.line) for a in self.advice],
        )


def advice_sentence(advice: Advice, run_us: float) -> str:
    """Return a piece of advice as a sentence with its bound."""
    place = f" ({advice.line})" if advice.line else ""
    share = f", {advice.gain_us / run_us:.0%}" if run_us else ""
    return f"{advice.sentence}{place}; {advice.evidence}{share}"


def own_facts(session: Compilation) -> OwnFacts:
    """Return facts with measured times if there is a profile, else with predicted ones."""
    steps = {step.instruction: step for step in program_steps(session)}
    threads = kernel_threads(session)
    measured = measured_kernels(session)
    limits = limits_here() if measured and session.backend == "cpu" else None
    kernels = []
    for cost in costs_of(session):
        i, step = cost.instruction, steps.get(cost.instruction.id)
        us, _ = measured.get(i.id, (0.0 if measured else cost.nanoseconds / 1e3, 0))
        own, least, bound = threads.get(i.name, 1), None, cost.bound
        if limits is not None and us > 0:
            memory = 1e6 * cost.times * cost.cost.bytes_accessed / limits.bandwidth(own)
            arithmetic = (
                1e6
                * cost.times
                * (cost.cost.flops + cost.cost.transcendentals)
                / limits.flops(threads=own)
            )
            least, bound = (
                min(us, max(memory, arithmetic)),
                measured_bound(us, memory, arithmetic, cost.times),
            )
        reason = str(step.reason) if step is not None and step.runs_on == "evaluator" else ""
        fact = KernelFact(i, us, max(1, round(cost.times)), source_line(session, i.id), least)
        kernels.append(OwnKernel(fact, bound, own, reason))
    refused = [
        d
        for d in decisions_of(session.passes.record, session.passes.lineage, with_checks=0)
        if d.verdict == "refused"
    ]
    cores = limits.cores if limits is not None else 1
    return OwnFacts(sum([kernel.us for kernel in kernels]), kernels, refused, cores, bool(measured))


def session_advice(session: Compilation) -> SessionAdvice:
    """Return the advice on a session; see `Session.explain`."""
    facts = own_facts(session)
    shared = Facts(facts.run_us, 0.0, [kernel.fact for kernel in facts.kernels])
    found = [advice for rule in OWN_RULES if (advice := rule(facts)) is not None]
    found += [advice for common in SHARED_RULES if (advice := common(shared)) is not None]
    found.sort(key=lambda advice: -advice.gain_us)
    return SessionAdvice(session.source.name, facts, found[:_MOST], captured_constants(session))
