"""Two compiles side by side, one module on several backends, two texts line by line."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.display import (
    Blocks,
    CodeText,
    Report,
    Sentence,
    Table,
    drawn,
    printed,
    wide_frame,
)
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM, program_cost
from xla_explorer.explorer.measures.profiling import (
    is_emulated,
    profile,
    spread,
    time_calls,
)
from xla_explorer.explorer.questions.control import overridden
from xla_explorer.explorer.questions.decisions import decisions_of
from xla_explorer.explorer.questions.overrides import Overrides, overrides_of
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import (
    Compilation,
    compile_as,
    program_steps,
    source_line,
)
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.explorer.sessions.progress import counted
from xla_explorer.explorer.tables.kernel import PROFILE_COLUMNS
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.evaluator import evaluate, flatten_value

if TYPE_CHECKING:
    import pandas


Row = tuple[str, Any, Any]
_FLIPS = [
    "kind", "producer", "consumer", "was", "is", "granted", "kernels", "bytes", "predicted_us",
    "median_us", "iqr_us", "n", "reason",
]  # fmt: skip
_CHANGES = ("kernels", "bytes read and written (estimate)", "predicted us (cost model)")
_DIFFERENCES = ["kind", "producer", "consumer", "this", "other", "code this", "code other"]


class Comparison(Report):
    """Two compiles side by side.

    Attributes
    ----------
    rows : list of tuple
        (quantity, left, right).
    changed_decisions : list of tuple
        (kind, producer, consumer, verdict left, verdict right, code left, code right).
    overrides : Overrides
        The overrides of `left` and whether they were granted.
    left, right : Session
        The two compiles.
    """

    def __init__(
        self,
        left: Compilation,
        right: Compilation,
        rows: list[Row],
        changed_decisions: list[tuple[str, ...]],
    ) -> None:
        self.left, self.right, self.rows, self.changed_decisions = (
            left,
            right,
            rows,
            changed_decisions,
        )
        self.overrides: Overrides | tuple[()] = overrides_of(left) if left.base is not None else ()

    def flips(self, *arrays: Any, repeats: int = 20) -> pandas.DataFrame:
        """Return the effect of each fusion that the two decided differently, one at a time.

        For each one the other session is compiled again with that decision inverted. Columns: kind,
        producer, consumer, the verdict there (`was`) and here (`is`), granted, the change of
        kernels, bytes and predicted_us; with arrays also of the measured median_us, in n
        alternating runs. A change of the median below iqr_us, the larger interquartile range of
        the two, is noise. If a decision is not granted alone, because another must come first,
        `reason` says so.
        """
        flipped = [
            row
            for row in self.changed_decisions
            if row[0] in FUSION_KINDS and row[2] and "undecided" not in row[3:5]
        ]
        return wide_frame([self._flip(row, arrays, repeats) for row in flipped], _FLIPS)

    def _flip(self, row: tuple[str, ...], arrays: Sequence[Any], repeats: int) -> list[Any]:
        kind, producer, consumer, now, before, *_ = row
        pairs = [(kind, producer, consumer)]
        head = [kind, producer, consumer, before, now]
        try:
            flipped = (
                overridden(self.right, force=pairs)
                if now == "accepted"
                else overridden(self.right, forbid=pairs)
            )
        except XlaExplorerError as problem:
            return [*head, False, *[None] * 6, problem.message]
        refused = [str(one.reason) for one in overrides_of(flipped) if not one.granted]
        figures = {
            what: (a, b)
            for what, a, b in compare_sessions(flipped, self.right, arrays, repeats).rows
        }
        changes = [
            figures[name][0] - figures[name][1] if name in figures else None
            for name in (*_CHANGES, "median us")
        ]
        spread = max(figures["iqr us"]) if "iqr us" in figures else None
        runs = min(figures["n"]) if "n" in figures else None
        return [*head, not refused, *changes, spread, runs, refused[0] if refused else ""]

    def blocks(self) -> Blocks:
        """Yield the rows, the overrides, and the decisions that differ."""
        yield Table(["what", "this", "other"], self.rows)
        if isinstance(self.overrides, Overrides) and self.overrides:
            yield printed(Sentence("\n".join(map(str, self.overrides)) + "\n"))
            yield drawn(self.overrides)
        if self.changed_decisions:
            yield Table(
                _DIFFERENCES, self.changed_decisions, "decisions that differ", limit=60, printed=40
            )


@as_one_run
def compare_sessions(
    left: Compilation, right: Compilation, arrays: Sequence[Any] = (), repeats: int = 20
) -> Comparison:
    """Compare two compiles: see `Session.compare`.

    With arrays the two are timed in alternating runs, and their values are compared with those of
    the evaluator.
    """
    a, b = [program_cost(session.module, session.passes.record.target) for session in (left, right)]
    rows: list[Row] = [
        ("backend", left.backend, right.backend),
        ("passes", left.passes.last, right.passes.last),
        ("instructions", left.module.instruction_count(), right.module.instruction_count()),
        ("kernels", len(program_steps(left)), len(program_steps(right))),
        ("launches a run", round(a.launches), round(b.launches)),
        ("bytes read and written (estimate)", int(a.bytes_accessed), int(b.bytes_accessed)),
        ("predicted us (cost model)", a.microseconds, b.microseconds),
        (
            "flops (estimate)",
            int(module_cost(left.module).flops),
            int(module_cost(right.module).flops),
        ),
        ("compile ms", sum(left.seconds.values()) * 1e3, sum(right.seconds.values()) * 1e3),
    ]
    if (
        left.result is not None
        and right.result is not None
        and left.result.buffers is not None
        and right.result.buffers is not None
    ):
        rows.append(
            ("arena bytes", left.result.buffers.arena_size, right.result.buffers.arena_size)
        )
    if arrays:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(repeats):
            times[0].extend(time_calls(left, arrays, 1))
            times[1].extend(time_calls(right, arrays, 1))
        (middle, width), (other_middle, other_width) = spread(times[0]), spread(times[1])
        rows += [
            ("median us", middle, other_middle),
            ("iqr us", width, other_width),
            ("n", repeats, repeats),
        ]
        leaves = left.signature.leaves(arrays)
        want = flatten_value(evaluate(left.source, *leaves))
        rows.append(
            (
                "largest error against the evaluator",
                largest_error(want, left.executable.execute(leaves))[0],
                largest_error(want, right.executable.execute(leaves))[0],
            )
        )
    return Comparison(left, right, rows, _changed(left, right))


def _changed(left: Compilation, right: Compilation) -> list[tuple[str, ...]]:
    def verdicts(session: Compilation) -> dict[tuple[str, tuple[str, ...]], tuple[str, str]]:
        return {
            (d.kind, d.about): (d.verdict, d.code)
            for d in decisions_of(session.passes.record, session.passes.lineage)
        }

    a, b, undecided = verdicts(left), verdicts(right), ("undecided", "")
    found: list[tuple[str, ...]] = []
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            kind, about = key
            (now, now_code), (before, before_code) = a.get(key, undecided), b.get(key, undecided)
            found.append(
                (
                    kind,
                    about[0] if about else "",
                    about[1] if len(about) > 1 else "",
                    now,
                    before,
                    now_code,
                    before_code,
                )
            )
    return found


def compare_backends(
    module: Any,
    backends: Sequence[str] | str,
    arrays: Sequence[Any],
    repeats: int,
    passes: PipelineLike,
) -> pandas.DataFrame:
    """Return rows for each backend: the whole program, and each kernel; see `xe.compare`."""
    import pandas

    source = as_module(module)
    arguments = tuple(arrays) or random_arguments(source)
    backends = backends.split(",") if isinstance(backends, str) else backends
    frames, want = [], None
    for backend in counted(backends, f"comparing {source.name}", noun="backends"):
        try:
            session = compile_as(Compilation, source, backend=backend, passes=passes)
            leaves = session.signature.leaves(arguments)
            values = session.executable.execute(leaves)
            emulated = is_emulated(session)
            # The emulator's time is not that of a device, so one run for the values is enough.
            frame = _untimed(session) if emulated else profile(session, arguments, repeats)
        except XlaExplorerError as problem:
            if isinstance(problem, LookupError):
                raise
            frames.append(
                pandas.DataFrame([{"backend": backend, "kernel": "", "status": problem.message}])
            )
            continue
        want = flatten_value(evaluate(source, *leaves)) if want is None else want
        frame.insert(0, "backend", backend)
        error, fine = largest_error(want, values)
        frame["max_error"] = [error, *[None] * (len(frame) - 1)]
        frame["status"] = "ok" if fine else "values differ"
        frames.append(frame)
    made = pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
    return made.reindex(columns=["backend", *PROFILE_COLUMNS, "max_error", "status"])


def _untimed(session: Compilation) -> pandas.DataFrame:
    """Return the rows of a profile without times."""
    rows = [{"kernel": WHOLE_PROGRAM, "runs_on": "PTX emulator", "n": 1}]
    rows += [
        {
            "kernel": f"%{s.name}",
            "opcode": s.opcode,
            "runs_on": "PTX emulator",
            "n": 1,
            "line": source_line(session, s.instruction),
        }
        for s in program_steps(session)
    ]
    return wide_frame(rows, PROFILE_COLUMNS)


@explains_arguments
def diff(a: Any, b: Any, context_lines: int = 3) -> CodeText:
    """Return a unified diff of two modules, sessions (their results) or HLO texts.

    It is empty if they are equal.

    Parameters
    ----------
    a, b
        Modules, sessions or HLO texts.
    context_lines
        Unchanged lines around each change.

    Returns
    -------
    CodeText
        The diff.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY m { x = f32[4] parameter(0) e = f32[4] tanh(x) ROOT r = f32[4] add(e, x) }"
    >>> found = xe.compare.text(text, text.replace("tanh", "sine"))
    >>> [line for line in str(found).splitlines() if line.startswith("+ ")]
    ['+  %e = f32[4]{0} sine(%x)']
    """
    texts, names = [], []
    for given in (a, b):
        module = as_module(given)
        texts.append(module.to_text().splitlines(keepends=True))
        names.append(module.name)
    return CodeText(
        "".join(difflib.unified_diff(texts[0], texts[1], names[0], names[1], n=context_lines)),
        "diff",
        "xe.compare.text(a, b)",
    )
