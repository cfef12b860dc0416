"""What the views ask beyond the passes: buffers, kernels, the machine's roof, LLVM's passes, single rewrites, what-ifs.

`Reports` answers everything with "nothing known", so that a source only overrides what it can say.
All rows are named tuples of plain values, as in `source`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xla_explorer.explorer.code.loop_rows import AccessPattern, DirectiveStep, Fold
from xla_explorer.explorer.pictures.layers import Layer
from xla_explorer.explorer.pictures.picture import PictureGraph, PictureGroup
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText

Pair = tuple[str, str]
Asked = tuple[str, ...]
"""What is forced or forbidden: the kind of a decision, the names that it is about."""
Request = Callable[[Any, Mapping[str, Any]], Any]
"""From the reports of a view and a message the data that answer it."""


class BufferRow(NamedTuple):
    """One value: where it lives and when.

    offset, size: bytes. start, end: positions in program order. buffer_start, buffer_end: of the
    memory, which several values may use in turn (`shared_with`). held: bytes that it holds where
    most of the arena is in use, 0: none. line: of the source.
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
    """One instruction in program order, and the bytes of the arena that are in use while it runs."""

    instruction: int
    name: str
    position: float
    bytes_in_use: int
    source_line: str = ""


class ApartReason(NamedTuple):
    """Why two values are not in one place. code: empty when they are."""

    first: str
    second: str
    code: str
    message: str


class BufferView(NamedTuple):
    """The memory of a program.

    peak: the row of `schedule` with most bytes in use, None without an arena. hidden: rows left
    out, the smallest of those that hold nothing at the peak. why_apart: for pairs of the largest
    buffers that do not share memory; a live view asks for any pair.
    """

    rows: tuple[BufferRow, ...]
    arena_bytes: int
    lower_bound_bytes: int
    schedule: tuple[ScheduleMoment, ...]
    peak: int | None = None
    hidden: int = 0
    why_apart: tuple[ApartReason, ...] = ()


class KernelRow(NamedTuple):
    """One kernel.

    computes: its work as a formula. calls: how often a run executes it. bytes, flops: of one run
    (estimates). predicted_us: by the cost model. measured_us: median, None when not run. reason:
    why it is no native code. bound: what it takes its time for, `memory`, `arithmetic`, `launch` or
    `latency`, empty where the machine is not known. layers: the blocks of the graph that it is in,
    from the outside in.
    """

    name: str
    opcode: str
    computes: str
    runs_on: str
    calls: float
    bytes_read: int
    bytes_written: int
    flops: int
    predicted_us: float | None
    measured_us: float | None
    line: str
    instruction: int | None
    reason: str = ""
    bound: str = ""
    layers: tuple[Layer, ...] = ()


class LoopAxis(NamedTuple):
    """An axis of a loop nest.

    turns: how often its body runs. share: of the kernel's estimated cycles, 0 to 1.
    """

    name: str
    kind: str
    extent: int
    turns: int
    share: float


class LoopKernel(NamedTuple):
    """A kernel as loops.

    first, length: its lines in the pane `loops`. code, reason: why it is opaque, empty for a nest.
    made_by: `user` or `policy` where its code is made from the nest, else `writer`. schedule: its
    directives as text. nanoseconds, limit: the estimate for one core or for a GPU (`where`). part:
    which of several kernels of one nest, as `1 of 2`.
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


class MachineRoof(NamedTuple):
    """Measured limits of as many cores as the program uses: flop/s, bytes/s from memory, and (bytes touched, bytes/s) from the caches."""

    machine: str
    flops_per_second: float
    bytes_per_second: float
    cached: tuple[tuple[int, float], ...] = ()
    cores: int = 1


class Column(NamedTuple):
    """Numbers by instruction id, to colour the graph with. unit: `us`, `bytes` or any word."""

    title: str
    unit: str
    values: Mapping[int, float]


class LlvmPassRow(NamedTuple):
    """One run of an LLVM pass.

    level: `ir` or `machine`. diff: unified, empty where nothing changed.
    """

    name: str
    level: str
    lines_before: int
    lines_after: int
    added: int
    removed: int
    diff: str


class RemarkRow(NamedTuple):
    """What LLVM says.

    kind: passed, missed, analysis. instruction: name of what it is about, line: of the user's
    source.
    """

    kind: str
    by: str
    message: str
    instruction: str
    line: str
    id: int | None = None


class PtxCountRow(NamedTuple):
    """What one line of PTX did on the emulator.

    line: from 1. warps: instructions of warps. share: of those of its kernel, 0 to 1. mark: the
    worst that is to be seen there (`explorer.counted_ptx.MARKS`), empty for none; why: its numbers.
    """

    line: int
    warps: int
    share: float
    mark: str
    why: str


class ComparisonRow(NamedTuple):
    """One measure of two compiles.

    unit: `us`, `ms`, `bytes`, `error`, or empty for a count or a word. less_is_better: None where
    neither is. spread: a smaller change of a measured value is none.
    """

    what: str
    unit: str
    less_is_better: bool | None
    now: Any
    before: Any
    spread: float | None = None


class ChangedDecision(NamedTuple):
    """A decision that two compiles took differently.

    now, before: `accepted`, `refused` or `not asked`; the codes: why it was refused.
    """

    kind: str
    producer: str
    consumer: str
    now: str
    before: str
    now_code: str = ""
    before_code: str = ""


class OverrideRow(NamedTuple):
    """A pair that was forced or forbidden, as a sentence of what became of it."""

    sentence: str
    granted: bool


class ComparisonTable(NamedTuple):
    """Two compiles beside each other, what matters most first.

    title: what was forced or forbidden.
    """

    title: str
    rows: tuple[ComparisonRow, ...]
    decisions: tuple[ChangedDecision, ...] = ()
    note: str = ""
    overrides: tuple[OverrideRow, ...] = ()


class Reports:
    """The empty answers.

    A question that a source cannot answer raises with the reason; the view shows it.

    requests: answers that are data as they are, by the word of the request (see requests.py).
    """

    requests: Mapping[str, Request] = {}

    def buffers(self, *, with_reasons: bool = False) -> BufferView | None:
        """The buffer assignment, None where there is none.

        with_reasons: fill `why_apart` (costs a check per pair).
        """
        return None

    def why_apart(self, a: str, b: str) -> ApartReason:
        """Why two values are not in one place; the code is empty when they are."""
        raise ValueError("the backend assigned no buffers")

    def kernels(self) -> Sequence[KernelRow]:
        """What runs, in order."""
        return ()

    def loops(self) -> Sequence[LoopKernel]:
        """The kernels as loop nests, in the order in which they run."""
        return ()

    def beside(self, *, live: bool) -> dict[str, Any]:
        """The kernels and columns of the tab of code side by side; without a kernel that answers, the rows of those that take longest."""
        return {"stages": [], "open": [], "kernels": [], "made": {}}

    def pass_costs(self, *, live: bool = False) -> dict[str, Any]:
        """The passes that changed something in numbers. ValueError where that is not known."""
        raise ValueError("the passes of this view have no modules")

    def measure(self) -> None:
        """Run the program with random arguments and time its kernels, where that is a matter of seconds."""
        raise ValueError("this view has no program to run")

    def roof(self) -> MachineRoof | None:
        """The limits of the machine that the times are of."""
        return None

    def columns(self) -> Sequence[Column]:
        """Numbers that the graph can be coloured by."""
        return ()

    def column(self, given: Any) -> Column:
        """The user's own numbers as a column.

        ValueError when they cannot be matched to instructions.
        """
        raise ValueError("this source has no instructions to colour")

    def llvm_kernels(self) -> Sequence[str]:
        """Kernels whose LLVM passes can be asked for, the most expensive first."""
        return ()

    def llvm_passes(self, kernel: str) -> Sequence[LlvmPassRow]:
        """The LLVM passes that changed a kernel."""
        raise ValueError("this view has no LLVM behind it")

    def remarks(self) -> Sequence[RemarkRow]:
        """What LLVM's vectorisers say."""
        return ()

    def ptx_counts(self) -> Sequence[PtxCountRow]:
        """The lines of PTX that ran on the emulator.

        ValueError when it has not run and would take long.
        """
        raise ValueError("this view has no PTX behind it")

    def ptx_counted(self) -> bool:
        """Whether `ptx_counts` has its answer already."""
        return False

    def rules(self, names: Iterable[str]) -> dict[str, RuleText]:
        """The rules among `names` that are written down."""
        return {}

    def rewrite(self, step: int, number: int) -> RewriteStep:
        """The `number`-th row of `rewrites(step)` alone, done again."""
        raise ValueError("the rewrites of this view cannot be done again one by one")

    def changes(self, step: int) -> tuple[Iterable[int], Iterable[int]] | None:
        """Ids of the instructions that a pass added, and of those that it changed; None where that is not known."""
        return None

    def picture(self, step: int, **how: Any) -> PictureGraph:
        """Another part of a step, by the arguments of `snapshot_picture`: around an instruction, between two, with some blocks open."""
        raise ValueError("this page holds no other part of the picture")

    def whole_picture(self, step: int) -> PictureGraph | None:
        """All instructions of a step of which `picture` shows a part, for a page that nothing answers; None where that is not known."""
        return None

    def whole_blocks(self, step: int) -> tuple[list[PictureGroup], dict[int, int]]:
        """The blocks of that picture as boxes, and the place in that list of the block of each instruction."""
        return [], {}

    def no_decisions(self) -> str:
        """What to say where no decision is recorded: why, and how to get them."""
        return 'no decisions were recorded: compile with journal="decisions"'

    def reasons(self) -> Mapping[str, str]:
        """Reason code -> what it means in general, one sentence."""
        return {}

    def opcode_help(self) -> Mapping[str, str]:
        """Opcode -> one sentence, for the opcodes that occur."""
        return {}

    def variant(
        self, force: Sequence[Asked], forbid: Sequence[Asked]
    ) -> tuple[Any, ComparisonTable]:
        """The same compile with decisions forced or forbidden, as an `ExplorerSource`, and what that changes."""
        raise ValueError("this compile cannot be done again")


NOTHING = Reports()
