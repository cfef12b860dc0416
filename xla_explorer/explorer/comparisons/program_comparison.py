"""`xe.compare.programs`: many programs compiled and timed by two compilers, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from xla_explorer.explorer.comparisons.fusion_comparison import FUSED, compare_fusions_of
from xla_explorer.explorer.display import Blocks, Report, Table
from xla_explorer.explorer.measures.kernel_costs import program_cost
from xla_explorer.explorer.measures.profiling import spread
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    check_compile_options,
    compile_as,
)
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments


class ProgramRow(NamedTuple):
    """One program.

    Attributes
    ----------
    left_*, right_*
        Of the two compiles: kernels; *_mb: MB read and written by all kernels (estimate);
        *_compile_ms: of this compile; *_us: median run time, in alternating runs.
    fused_both, fused_left_only, fused_right_only : int
        Edges of the program fused by both, by one only.
    ratio : float
        Of the run times, left to right.
    agree : bool
        True if the values agree.
    status : str
        `ok`, or the reason why there are no figures.
    """

    program: str
    left_kernels: int | None = None
    right_kernels: int | None = None
    fused_both: int | None = None
    fused_left_only: int | None = None
    fused_right_only: int | None = None
    left_mb: float | None = None
    right_mb: float | None = None
    left_compile_ms: float | None = None
    right_compile_ms: float | None = None
    left_us: float | None = None
    right_us: float | None = None
    ratio: float | None = None
    agree: bool | None = None
    status: str = "ok"


class ProgramTable(Report):
    """Programs compared on two backends. rows: a ProgramRow each. backends: left and right."""

    def __init__(self, backends: tuple[str, str], rows: list[ProgramRow]) -> None:
        self.backends, self.rows = backends, rows

    def records(self) -> Table:
        """Return the rows with the fields of ProgramRow."""
        return Table(ProgramRow._fields, self.rows)

    def blocks(self) -> Blocks:
        """Yield a row for each program, rounded."""
        left, right = self.backends
        columns = ["program", f"kernels {left}", right, "fused by both", f"{left} only", f"{right} only", f"MB {left}", right,
                   f"compile ms {left}", right, f"run us {left}", right, "ratio", "values"]  # fmt: skip
        digits = [2, 2, 0, 0, 1, 1, 2]
        rows = [
            (*r[:6], *[v if v is None else round(v, n or None) for v, n in zip(r[6:13], digits, strict=True)],
             r.status if r.agree is None else "agree" if r.agree else "DIFFER") for r in self.rows
        ]  # fmt: skip
        yield Table(columns, rows)


@explains_arguments
def compare_programs(
    modules: Any,
    backends: tuple[str, str] = ("cpu", "xla"),
    *,
    repeats: int = 20,
    rounds: int = 5,
    seed: int = 0,
    **options: Any,
) -> ProgramTable:
    """Compile and run each program on two backends and put the results in one table.

    A program that fails on one of them has a row with the reason.

    Parameters
    ----------
    modules
        A mapping from names, a list or one of whatever `xe.compile` takes.
    backends
        Two names; `xla` is the real one (extra `jax`).
    repeats
        Timed runs in each round.
    rounds
        Rounds in which the two alternate.
    seed
        Of the random arguments.
    **options
        Those of `xe.compile`, for both.

    Returns
    -------
    ProgramTable
        A row a program.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> table = xe.compare.programs({"gelu": text}, ("cpu", "interpreter"), repeats=1, rounds=1)
    >>> list(table.to_frame()["status"])
    ['ok']
    """
    if not isinstance(modules, Mapping | list | tuple):
        modules = [modules]  # one program is a table of one row
    for backend in backends:
        check_compile_options(backend, options)
    named = (
        modules.items() if isinstance(modules, Mapping) else [(None, given) for given in modules]
    )
    rows = []
    for name, given in named:
        module = as_module(given)
        try:
            rows.append(_row(name or module.name, module, backends, repeats, rounds, seed, options))
        except XlaExplorerError as problem:
            rows.append(ProgramRow(name or module.name, status=problem.message.splitlines()[0]))
    return ProgramTable(backends, rows)


def _row(
    name: str,
    module: Any,
    backends: tuple[str, str],
    repeats: int,
    rounds: int,
    seed: int,
    options: dict[str, Any],
) -> ProgramRow:
    left, right = [
        compile_as(Compilation, module, backend=backend, verify=False, **options)
        for backend in backends
    ]
    edges = compare_fusions_of(left, right).edges
    costs = [
        program_cost(session.module, session.passes.record.target) for session in (left, right)
    ]
    leaves = left.signature.leaves(random_arguments(module, seed))
    _, agree = largest_error(right.run_flat(leaves), left.run_flat(leaves))
    samples: tuple[list[float], list[float]] = ([], [])
    if rounds < 1:
        raise XlaExplorerError(f"rounds must be at least 1, got {rounds}", "such as rounds=5")
    for _ in range(rounds):
        for session, found in zip((left, right), samples, strict=True):
            found += session.executable.profile(leaves, max(repeats // rounds, 1)).total_us
    times = [spread(found)[0] for found in samples]
    return ProgramRow(
        name,
        costs[0].kernels,
        costs[1].kernels,
        len([e for e in edges if e.left == e.right == FUSED]),
        len([e for e in edges if e.left == FUSED != e.right]),
        len([e for e in edges if e.right == FUSED != e.left]),
        costs[0].bytes_accessed / 1e6,
        costs[1].bytes_accessed / 1e6,
        _compile_ms(left),
        _compile_ms(right),
        times[0],
        times[1],
        times[0] / times[1] if times[1] else None,
        agree,
    )


def _compile_ms(session: Compilation) -> float:
    return sum(session.seconds.values()) * 1e3
