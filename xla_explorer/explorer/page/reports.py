"""Queries of the views beyond the passes: buffers, kernels, the roof, LLVM, what-ifs.

`Reports` answers each with "nothing known"; a source overrides the answers that it has. All rows
are named tuples of plain values, as in `source`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xla_explorer.explorer.code.loop_rows import AccessPattern, DirectiveStep, Fold
from xla_explorer.explorer.pictures.layers import Layer
from xla_explorer.explorer.pictures.picture import PictureGraph, PictureGroup
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.tables.kernel import Kernel, MachineRoof

Pair = tuple[str, str]
OverrideKey = tuple[str, ...]
"""A forced or forbidden decision: its kind, and the names of its subjects."""


class BufferRow(NamedTuple):
    """One value with its memory and live range.

    Attributes
    ----------
    offset, size : int
        Bytes.
    start, end : float
        Positions in program order.
    buffer_start, buffer_end : float
        Those of the memory, which several values may reuse (`shared_with`).
    held : int
        Bytes live at the peak of the arena; 0 if none.
    line : str
        Of the source.
    """

    name: str
    instruction: int | None
    opcode: str
    shape: str
    kind: str
    allocation: str
    offset: int
    size: int
    start: float
    end: float
    buffer_start: float
    buffer_end: float
    shared_with: tuple[str, ...] = ()
    held: int = 0
    line: str = ""


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
    message: str


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

    rows: tuple[BufferRow, ...]
    arena_bytes: int
    lower_bound_bytes: int
    schedule: tuple[ScheduleMoment, ...]
    peak: int | None = None
    hidden: int = 0
    why_not_shared: tuple[SharingReason, ...] = ()


class LoopAxis(NamedTuple):
    """An axis of a loop nest.

    iterations: how often its body runs. share: of the kernel's estimated cycles, 0 to 1.
    """

    name: str
    kind: str
    extent: int
    iterations: int
    share: float


class LoopKernel(NamedTuple):
    """A kernel as loops.

    Attributes
    ----------
    first, length : int
        Its lines in the pane `loops`.
    code, reason : str
        The reason why it is opaque; empty for a nest.
    made_by : str
        `user` or `policy` if its code is made from the nest, else `writer`.
    schedule : str
        Its directives as text.
    nanoseconds, limit : float, str
        The estimate for one core or for a GPU (`where`), and its limiting resource.
    part : str
        The number among several kernels of one nest, as `1 of 2`.
    """

    name: str
    instruction: int
    family: str
    first: int
    length: int
    code: str
    reason: str
    made_by: str
    schedule: str
    nanoseconds: float | None
    limit: str
    axes: tuple[LoopAxis, ...] = ()
    folds: tuple[Fold, ...] = ()
    steps: tuple[DirectiveStep, ...] = ()
    accesses: tuple[AccessPattern, ...] = ()
    part: str = ""
    where: str = "on one core"


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
    worst finding there (`explorer.counted_ptx.MARKS`), or empty; why: its numbers.
    """

    line: int
    warps: int
    share: float
    mark: str
    why: str


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


NO_COMPILE = "this view has no compile: xe.explore(xe.compile(module)) has one"


class Reports:
    """The empty answers.

    A query without an answer raises ValueError with the reason; the view shows it.
    """

    def buffers(self, *, with_reasons: bool = False) -> BufferView | None:
        """Return the buffer assignment, None without one.

        with_reasons: fill `why_not_shared` (costs a check per pair).
        """
        return None

    def why_not_shared(self, a: str, b: str) -> SharingReason:
        """Return why two values do not share memory; the code is empty if they do."""
        raise ValueError("the backend assigned no buffers")

    def kernels(self) -> Sequence[Kernel]:
        """Return the kernels, in execution order."""
        return ()

    def kernel_layers(self) -> Sequence[Sequence[Layer]]:
        """Return the graph's blocks around each kernel, from the outside in."""
        return [() for _ in self.kernels()]

    def loops(self) -> Sequence[LoopKernel]:
        """Return the kernels as loop nests, in execution order."""
        return ()

    def side_by_side(self, *, live: bool) -> dict[str, Any]:
        """Return the kernels and columns of the tab of code side by side.

        live: without it also the rows of the most expensive ones, for a page.
        """
        return {"stages": [], "open": [], "kernels": [], "made": {}}

    def flame(self, *, again: bool) -> list[Any]:
        """Return the flame graph of the compile. again: with rules and LLVM's passes timed now."""
        raise ValueError("the passes of this view have no times")

    def callers(self) -> dict[str, Any]:
        """Return stack frames, and the innermost frame of each instruction."""
        return {"frames": [], "of": {}}

    def values(self, instruction: int, step: int) -> dict[str, Any]:
        """Return the tensor of an instruction after a step, on random arguments."""
        raise ValueError("this view has no record of passes")

    def advice(self) -> list[list[Any]]:
        """Return the advice: sentence, upper bound of the gain in us per run, source line."""
        raise ValueError(NO_COMPILE)

    def try_loop(self, kernel: int, schedule: str, *, run: bool) -> Any:
        """Return the nest of a kernel by another schedule; run: compiled and timed."""
        raise ValueError(NO_COMPILE)

    def lowering(self, kernel: int) -> Any:
        """Return the steps of a kernel from its nest to LLVM IR."""
        raise ValueError(NO_COMPILE)

    def side_by_side_kernel(self, kernel: int, stages: Sequence[str]) -> dict[str, Any]:
        """Return the rows of one kernel, with the code of some stages."""
        raise ValueError(NO_COMPILE)

    def blocks(self, kernel: int, stage: str) -> dict[str, Any]:
        """Return the basic blocks of a kernel."""
        raise ValueError(NO_COMPILE)

    def stage_text(self, name: str) -> list[str]:
        """Return all lines of a stage."""
        raise ValueError(NO_COMPILE)

    def source_text(self) -> str:
        """Return the text that an editor opens."""
        raise ValueError(NO_COMPILE)

    def faults(self, text: str) -> list[dict[str, Any]]:
        """Return the errors of an edited text."""
        raise ValueError(NO_COMPILE)

    def pass_costs(self, *, live: bool = False) -> dict[str, Any]:
        """Return the costs of the passes that changed the module. ValueError if unknown."""
        raise ValueError("the passes of this view have no modules")

    def measure(self) -> None:
        """Run the program with random arguments and time its kernels, if that takes seconds."""
        raise ValueError("this view has no program to run")

    def roof(self) -> MachineRoof | None:
        """Return the limits of the machine of the times."""
        return None

    def columns(self) -> Sequence[Column]:
        """Return the numbers by which the graph can be coloured."""
        return ()

    def column(self, given: Any) -> Column:
        """Return the user's own numbers as a column.

        ValueError if they cannot be matched to instructions.
        """
        raise ValueError("this source has no instructions to colour")

    def llvm_kernels(self) -> Sequence[str]:
        """Return the kernels with LLVM passes, the most expensive first."""
        return ()

    def llvm_passes(self, kernel: str) -> Sequence[LlvmPassRow]:
        """Return the LLVM passes that changed a kernel."""
        raise ValueError("this view has no LLVM passes")

    def remarks(self) -> Sequence[RemarkRow]:
        """Return the remarks of LLVM's vectorisers."""
        return ()

    def ptx_counts(self) -> Sequence[PtxCountRow]:
        """Return the lines of PTX that ran on the emulator.

        ValueError if it has not run and would take long.
        """
        raise ValueError("this view has no PTX code")

    def ptx_counted(self) -> bool:
        """Return True if `ptx_counts` needs no run."""
        return False

    def rules(self, names: Iterable[str]) -> dict[str, RuleText]:
        """Return the declared rules among `names`."""
        return {}

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """Return the `number`-th row of `rewrites(step)`, repeated alone."""
        raise ValueError("the rewrites of this view cannot be done again one by one")

    def changes(self, step: int) -> tuple[Iterable[int], Iterable[int]] | None:
        """Return ids of the instructions that a pass added and changed; None if unknown."""
        return None

    def picture(self, step: int, **how: Any) -> PictureGraph:
        """Return another part of a step, by the fields of `Region`."""
        raise ValueError("this page holds no other part of the picture")

    def whole_picture(self, step: int) -> PictureGraph | None:
        """Return all instructions of a step, for an exported page; None if unknown."""
        return None

    def whole_blocks(self, step: int) -> tuple[list[PictureGroup], dict[int, int]]:
        """Return the blocks of that picture as boxes, and the index of each instruction's box."""
        return [], {}

    def no_decisions(self) -> str:
        """Return why no decision is recorded, and how to record them."""
        return 'no decisions were recorded: compile with journal="decisions"'

    def reasons(self) -> Mapping[str, str]:
        """Return the general meaning of each reason code, in a sentence."""
        return {}

    def opcode_help(self) -> Mapping[str, str]:
        """Return a sentence for each opcode that occurs."""
        return {}

    def variant(
        self, force: Sequence[OverrideKey], forbid: Sequence[OverrideKey]
    ) -> tuple[Any, ComparisonTable]:
        """Compile again with overrides; return its source and the comparison."""
        raise ValueError("this compile cannot be repeated")


NOTHING = Reports()
