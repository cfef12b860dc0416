"""The rows that only a view draws: steps, rewrites, times, memory over time, what-ifs.

Rows are named tuples of plain values (ids, names, numbers, sentences), never graph objects.
Instruction ids are integers that are never reused, so one id links pictures, text lines, decisions,
code lines and times. Rows of tables are in `explorer.tables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from xla_explorer.explorer.tables.rows import Buffer
from xla_explorer.foundation.decision import Verdict


class StepRow(NamedTuple):
    """One pass in pipeline order; index 0 is the module as written.

    Attributes
    ----------
    seconds : float
        The time of the pass alone.
    rewrites : int
        The number of applied rules.
    error : str, optional
        The error that ended the pipeline here.
    values_differ : bool, optional
        True at the first step after which results exceed the tolerance; None if not checked.
    level : str
        `hlo` or `llvm`, so that LLVM's passes can continue the list.
    entry : int, optional
        The first instruction of the entry computation, at which a text opens.
    """

    index: int  # type: ignore[assignment]  # the method of tuple is not used
    pipeline: str
    name: str
    changed: bool
    seconds: float = 0.0
    instructions_before: int = 0
    instructions_after: int = 0
    rewrites: int = 0
    error: str | None = None
    values_differ: bool | None = None
    level: Literal["hlo", "llvm"] = "hlo"
    entry: int | None = None


class RewriteRow(NamedTuple):
    """One rule at one place: accepted or refused.

    `sentence` is the rule's summary, `place` is file:line of the rule.
    """

    rule: str
    verdict: Verdict = "accepted"
    subject: int | None = None
    produced: tuple[int, ...] = ()
    sentence: str = ""
    place: str = ""
    subject_name: str = ""
    reason: str = ""


class ScheduleMoment(NamedTuple):
    """One instruction in program order, and the bytes of the arena that are live while it runs."""

    instruction: int
    name: str
    position: float
    bytes_in_use: int
    line: str = ""


class SharingReason(NamedTuple):
    """The reason why two values do not share memory. code: empty if they do."""

    first: str
    second: str
    code: str
    reason: str


class BufferView(NamedTuple):
    """The memory of a program.

    Attributes
    ----------
    peak : int, optional
        The row of `schedule` with most bytes in use; None without an arena.
    hidden : int
        Rows left out, the smallest of those that are not live at the peak.
    why_not_shared : tuple of SharingReason
        For pairs of the largest buffers that do not share memory; a live view requests any pair.
    """

    rows: tuple[Buffer, ...]
    arena_bytes: int
    lower_bound_bytes: int
    schedule: tuple[ScheduleMoment, ...]
    peak: int | None = None
    hidden: int = 0
    why_not_shared: tuple[SharingReason, ...] = ()


class Column(NamedTuple):
    """Numbers by instruction id, to colour the graph with. unit: `us`, `bytes` or any word."""

    title: str
    unit: str
    values: Mapping[int, float]


class LlvmPassRow(NamedTuple):
    """One run of an LLVM pass.

    level: `ir` or `machine`. diff: unified, empty without a change.
    """

    name: str
    level: str
    lines_before: int
    lines_after: int
    added: int
    removed: int
    diff: str


class RemarkRow(NamedTuple):
    """A remark of LLVM.

    kind: passed, missed, analysis. instruction: its subject; line: of the user's source.
    """

    kind: str
    by: str
    message: str
    instruction: str
    line: str
    id: int | None = None


class PtxCountRow(NamedTuple):
    """The counters of one line of PTX on the emulator.

    line: from 1. warps: instructions of warps. share: of those of its kernel, 0 to 1. mark: the
    worst finding there (`explorer.counted_ptx.MARKS`), or empty; reason: its numbers.
    """

    line: int
    warps: int
    share: float
    mark: str
    reason: str


class ComparisonRow(NamedTuple):
    """One measure of two compiles.

    unit: `us`, `ms`, `bytes`, `error`, or empty for a count or a word. less_is_better: None if
    neither. spread: a smaller difference of a measured value is noise.
    """

    what: str
    unit: str
    less_is_better: bool | None
    now: Any
    before: Any
    spread: float | None = None


class ChangedDecision(NamedTuple):
    """A decision that two compiles took differently.

    now, before: `accepted`, `refused` or `undecided`; the codes of refusals.
    """

    kind: str
    producer: str
    consumer: str
    now: str
    before: str
    now_code: str = ""
    before_code: str = ""


class OverrideRow(NamedTuple):
    """The result of a forced or forbidden pair, as a sentence."""

    sentence: str
    granted: bool


class ComparisonTable(NamedTuple):
    """Two compiles side by side, the most important rows first.

    title: the overrides.
    """

    title: str
    rows: tuple[ComparisonRow, ...]
    decisions: tuple[ChangedDecision, ...] = ()
    note: str = ""
    overrides: tuple[OverrideRow, ...] = ()
