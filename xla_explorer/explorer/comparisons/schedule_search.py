"""`xe.tune`: schedules of kernels, ranked by the estimate, checked, and the best ones timed."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

from xla_explorer import __version__
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.object_cache import (
    CACHES,
    ObjectCache,
    cache_enabled_by_environment,
    user_cache_folder,
)
from xla_explorer.backends.llvm.target_machine import host_target, llvm_version
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.compiler.codegen.nest.search import Candidate, candidates
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.tuning import tuning_of
from xla_explorer.compiler.codegen.nest_kernels import scheduled as scheduled_by_policy
from xla_explorer.explorer.code.kernel_alone import (
    compiled_alone,
    module_of_kernel,
    operands_of_kernel,
)
from xla_explorer.explorer.code.kernel_run import checked_values, threads_of, times_of
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule, schedule_of, schedules_beside
from xla_explorer.explorer.code.named_kernel import kernel_of
from xla_explorer.explorer.comparisons.gpu_schedule_search import COUNTED, search_on_gpu
from xla_explorer.explorer.display import Blocks, Report, Sentence, Table, microseconds
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import EvaluationError

C = TypeVar("C", bound=Compilation)
ROUNDS = 9  # of a trial; the winner is timed again, three times as long
LEAST_GAIN = 0.02
HOPELESS = 1.5  # times the default kernel's time in one round, after which a trial ends
_COLUMNS = [
    "kernel",
    "default_us",
    "tuned_us",
    "ratio",
    "schedule",
    "schedules",
    "tried",
    "seconds",
    "found",
]


class TunedKernel(NamedTuple):
    """The result of a search for one kernel.

    Attributes
    ----------
    kernel : str
        Its name.
    schedule : str or None
        The directives of the winner; None if nothing beat the default kernel significantly.
    default_us, tuned_us : float
        Least times of one run; equal without a winner. On a GPU: of its description, for the
        emulator's counters.
    ratio : float
        The median of winner / default over alternating rounds; on a GPU that of these times.
    schedules, tried : int
        Schedules with an estimate, and those that were compiled, checked and timed.
    seconds : float
        Time of the search.
    found : str
        `search`, `counters of the emulator`, `cache`, or the reason why there was none.
    """

    kernel: str
    schedule: str | None
    default_us: float
    tuned_us: float
    ratio: float
    schedules: int
    tried: int
    seconds: float
    found: str


class Tuned(Report, Generic[C]):
    """The result of `xe.tune`.

    Attributes
    ----------
    kernels : list of TunedKernel
        One for each kernel.
    base : Session
        The session that was tuned.
    schedules : str
        The winners as text, for `xe.compile(..., schedules=...)`.
    """

    def __init__(self, base: C, kernels: list[TunedKernel]) -> None:
        self.base, self.kernels = base, kernels

    @property
    def schedules(self) -> str:
        """The winners, a line a kernel."""
        return "".join(
            [f"%{k.kernel}: {k.schedule}\n" for k in self.kernels if k.schedule is not None]
        )

    def session(self) -> C:
        """Return the program compiled with the winners; the base without any."""
        return (
            overridden(self.base, schedules=schedules_beside(self.base, [self.schedules]))
            if self.schedules
            else self.base
        )

    def headline(self) -> str:
        """Return the number of faster kernels, and the time saved."""
        better = [k for k in self.kernels if k.schedule is not None]
        saved = sum([k.default_us - k.tuned_us for k in better])
        return (
            f"tuned {self.base.source.name}: {len(better)} of {len(self.kernels)} kernels are "
            f"faster, {microseconds(saved)} less a run"
        )

    def blocks(self) -> Blocks:
        """Yield a row for each kernel, and the call that uses the winners."""
        yield self.records()
        if self.schedules:
            yield Sentence("compile with schedules=tuned.schedules, or take tuned.session()")

    def records(self) -> Table:
        """Return a row for each kernel."""
        rows = [(f"%{k.kernel}", k.default_us, k.tuned_us, round(k.ratio, 3), k.schedule if k.schedule is not None else "(default)",
                 k.schedules, k.tried, round(k.seconds, 2), k.found) for k in self.kernels]  # fmt: skip
        return Table(_COLUMNS, rows)


def tuned(session: C, kernel: str | int | None, budget: float, tried: int, cache: bool) -> Tuned[C]:
    """Search schedules of kernels: see `xe.tune`."""
    if session.backend not in ("cpu", "gpu"):
        raise XlaExplorerError(
            "schedules are tuned for the backends cpu and gpu, this session is of "
            f"{session.backend}",
            'compile for "cpu" or "gpu"',
        )
    if budget <= 0 or tried < 1:
        raise XlaExplorerError(
            f"budget is {budget} seconds for {tried} trials",
            "give a budget above 0, and at least one trial",
        )
    if kernel is not None:
        return Tuned(
            session, [_tuned_kernel(session, schedule_of(session, kernel), budget, tried, cache)]
        )
    return Tuned(
        session,
        [_tuned_kernel(session, made, budget, tried, cache) for made in _schedules(session)],
    )


def _schedules(session: Compilation) -> Iterator[KernelSchedule]:
    """Yield the schedules of the kernels with a nest, equal nests once."""
    seen: set[str] = set()
    for step in program_steps(session):
        i = kernel_of(session, step.instruction)
        try:
            made = schedule_of(session, i.id)
        except ScheduleError:
            continue
        key = _text_without_names(made.start)
        if key not in seen and step.runs_on == "kernel":
            seen.add(key)
            yield made


def _tuned_kernel(
    session: Compilation, made: KernelSchedule, budget: float, most: int, cache: bool
) -> TunedKernel:
    """Search schedules of one kernel within a time limit; an earlier result is in the cache."""
    started = time.perf_counter()
    enabled = cache and cache_enabled_by_environment()
    store = ObjectCache(
        user_cache_folder() / "schedules", max_bytes=CACHES["schedules"].max_bytes, enabled=enabled
    )
    if session.backend == "gpu":
        machine: tuple[str, ...] = (
            repr(session.passes.record.target.gpu),
            llvm_version(),
            __version__,
        )
    else:
        machine = (
            host_target().cache_key(),
            llvm_version(),
            platform.node(),
            str(session.options.threads),
            __version__,
        )
    key = store.key(_text_without_names(made.start), str(made), *machine)
    if (kept := _read(store.get(key), made)) is not None:
        return kept._replace(
            kernel=made.kernel, seconds=time.perf_counter() - started, found="cache"
        )
    try:
        found = _searched(session, made, started, budget, most)
    except (XlaExplorerError, EvaluationError) as problem:
        return TunedKernel(
            made.kernel,
            None,
            float("nan"),
            float("nan"),
            1.0,
            0,
            0,
            time.perf_counter() - started,
            str(problem)[:200],
        )
    store.put(key, json.dumps(found._asdict()).encode())
    return found


def _searched(
    session: Compilation, made: KernelSchedule, started: float, budget: float, most: int
) -> TunedKernel:
    def spent(share: float) -> Callable[[], bool]:
        return lambda: time.perf_counter() - started > share * budget

    if session.backend == "gpu":
        best = search_on_gpu(session, made, spent, most, LEAST_GAIN)
        schedule = None if best.schedule is None else str(best.schedule)
        return TunedKernel(made.kernel, schedule, best.default / 1e3, best.tuned / 1e3, best.tuned / best.default, best.ranked, best.tried,
                           time.perf_counter() - started, COUNTED)  # fmt: skip
    module = module_of_kernel(made.instruction)
    given = operands_of_kernel(made.instruction, module)
    default, plain = [compiled_alone(session, module, text) for text in (None, "")]
    threads = threads_of(default)
    ranked = candidates(
        made.start,
        described_cpu(),
        4 * threads if threads > 1 else 1,
        _policy_schedules(made),
        spent(0.35),
    )
    trials: list[tuple[float, Candidate, Compilation]] = []
    for candidate in ranked[:most]:
        if trials and spent(0.65)():
            break
        scheduled = compiled_alone(session, module, str(candidate.schedule))
        ratio = times_of(default, scheduled, given, 1)[0].ratio
        if ratio < HOPELESS:
            ratio = times_of(default, scheduled, given, ROUNDS)[0].ratio
        trials.append((ratio, candidate, scheduled))
    for _, candidate, scheduled in sorted(trials, key=lambda trial: trial[0]):
        times, _ = times_of(default, scheduled, given, 3 * ROUNDS)
        if times.ratio + times.iqr / 2 > 1 - LEAST_GAIN:
            break
        if checked_values(candidate.schedule, module, given, default, plain, scheduled)[0]:
            return TunedKernel(made.kernel, str(candidate.schedule), times.first_us, times.second_us, times.ratio, len(ranked), len(trials),
                               time.perf_counter() - started, "search")  # fmt: skip
    base = times_of(default, default, given, 3)[0].first_us
    return TunedKernel(
        made.kernel,
        None,
        base,
        base,
        1.0,
        len(ranked),
        len(trials),
        time.perf_counter() - started,
        "search",
    )


def _policy_schedules(made: KernelSchedule) -> list[Schedule]:
    """Return the schedules that the policy of the family makes with other parameters."""
    numbers = tuning_of(described_cpu(libraries=True))
    changed = [
        replace(numbers, interleave=interleave, interleave_functions=functions)
        for interleave in (1, 2, 4, 8)
        for functions in (1, 2, 4)
    ]
    return [
        found
        for one in changed
        if isinstance(found := scheduled_by_policy(made.start, one), Schedule)
    ]


def _text_without_names(nest: LoopNest) -> str:
    """Return the text of a nest without its name and the numbers of instructions."""
    lines = [line.partition("  # ")[0] for line in nest_text(nest).splitlines()]
    return "\n".join([lines[0].replace(f"@{nest.name}(", "@kernel(", 1), *lines[1:]])


def _read(data: bytes | None, made: Schedule) -> TunedKernel | None:
    """Return the cached result, if it can be read and is still legal."""
    try:
        found = TunedKernel(**json.loads(data)) if data else None
        if found is not None and found.schedule is not None:
            made.plain().then(found.schedule)
    except (ValueError, TypeError):
        return None
    return found
